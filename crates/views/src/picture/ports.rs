//! Where on the sides of boxes arrows begin and end: each with room for its label.

use std::collections::BTreeMap;

use super::grid::Cell;
use super::routes::{BoxSide, Route, Wish, side};

/// The distance between two lines of labels, and so between two ports.
pub(super) const SLOT: i32 = 20;

/// The ports on one side of one box, from top to bottom.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    ports: BTreeMap<(Cell, BoxSide), Vec<Port>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PortUse {
    Exit(usize),
    /// Arrows that come through the same gutter to the same box arrive together.
    Entry(i32),
    /// An arrow that comes straight to the side arrives alone.
    Straight(usize),
}

#[derive(Clone, Copy, Debug)]
struct Port {
    used: PortUse,
    slots: i32,
    /// Where the other end is: up, beside, down, here; and how far.
    order: (u8, i64),
}

impl Ports {
    pub(super) fn of(wishes: &[Wish], routes: &[Route]) -> Self {
        let mut ports = Self::default();
        for (number, (wish, route)) in wishes.iter().zip(routes).enumerate() {
            if let Some(gutter) = route.exit(wish) {
                ports.exit(number, wish, *route, gutter);
            }
            if let Some(gutter) = route.entry(wish) {
                ports.entry(number, wish, *route, gutter);
            }
        }
        for ports in ports.ports.values_mut() {
            ports.sort_by_key(|port| (port.order, port.used));
        }
        ports
    }

    fn exit(&mut self, number: usize, wish: &Wish, route: Route, gutter: i32) {
        let order = match route {
            Route::Branch => (1, 0),
            Route::Down | Route::Join | Route::Side { .. } => order(wish.from, wish.to),
            Route::Far { .. } => match order(wish.from, wish.to) {
                (1, _) => (0, 0),
                other => other,
            },
        };
        let lines = i32::try_from(wish.label.len()).unwrap_or(1);
        self.add(
            (wish.from, side(gutter, wish.from.column)),
            Port {
                used: PortUse::Exit(number),
                slots: lines.max(1),
                order,
            },
        );
    }

    fn entry(&mut self, number: usize, wish: &Wish, route: Route, gutter: i32) {
        let (used, order) = match route {
            Route::Join => (PortUse::Straight(number), (1, 0)),
            Route::Far { .. } => (PortUse::Entry(gutter), (0, 0)),
            Route::Down | Route::Branch | Route::Side { .. } => {
                (PortUse::Entry(gutter), order(wish.to, wish.from))
            }
        };
        let at = (wish.to, side(gutter, wish.to.column));
        let ports = self.ports.entry(at).or_default();
        match ports.iter_mut().find(|port| port.used == used) {
            Some(port) => port.order = port.order.min(order),
            None => ports.push(Port {
                used,
                slots: 1,
                order,
            }),
        }
    }

    fn add(&mut self, at: (Cell, BoxSide), port: Port) {
        self.ports.entry(at).or_default().push(port);
    }

    /// How high a box must be for its ports.
    pub(super) fn least_height(&self, cell: Cell) -> i32 {
        let sides = [BoxSide::Left, BoxSide::Right];
        let slots = sides.map(|side| self.slots(cell, side));
        match slots.into_iter().max() {
            None | Some(0) => 0,
            Some(slots) => slots * SLOT + SLOT,
        }
    }

    fn slots(&self, cell: Cell, side: BoxSide) -> i32 {
        let ports = self.ports.get(&(cell, side));
        let ports = ports.map(Vec::as_slice).unwrap_or_default();
        ports.iter().map(|port| port.slots).sum()
    }

    /// How far below the top of its box an arrow leaves.
    pub(super) fn exit_height(&self, number: usize, at: (Cell, BoxSide), box_height: i32) -> i32 {
        self.height(at, PortUse::Exit(number), box_height)
    }

    /// How far below the top of its box an arrow arrives.
    pub(super) fn entry_height(
        &self,
        number: usize,
        route: Route,
        at: (Cell, BoxSide),
        box_height: i32,
    ) -> i32 {
        let used = match route {
            Route::Join => PortUse::Straight(number),
            Route::Far { into, .. } => PortUse::Entry(into),
            Route::Side { gutter } => PortUse::Entry(gutter),
            Route::Down | Route::Branch => return 0,
        };
        self.height(at, used, box_height)
    }

    /// Ports are in the middle of the side. Those of left sides stand half a slot lower than those of
    /// right sides, so that two that face each other across a gutter never share a line.
    fn height(&self, at: (Cell, BoxSide), used: PortUse, box_height: i32) -> i32 {
        let ports = self.ports.get(&at).map(Vec::as_slice).unwrap_or_default();
        let until = ports.iter().position(|port| port.used == used).unwrap_or(0);
        let before: i32 = ports.iter().take(until + 1).map(|port| port.slots).sum();
        let all: i32 = ports.iter().map(|port| port.slots).sum();
        let free = ((box_height - SLOT / 2) / SLOT - all).max(0) / 2;
        let half = match at.1 {
            BoxSide::Left => SLOT / 2,
            BoxSide::Right => 0,
        };
        (before + free) * SLOT + half - 4
    }
}

/// Nearer ends above come first, farther ends below come first: so lines from one side do not cross.
fn order(here: Cell, other: Cell) -> (u8, i64) {
    let (mine, theirs) = (row(here), row(other));
    if here == other {
        (3, 0)
    } else if theirs < mine {
        (0, -theirs)
    } else if theirs == mine {
        (1, 0)
    } else {
        (2, -theirs)
    }
}

fn row(cell: Cell) -> i64 {
    i64::try_from(cell.row).unwrap_or(i64::MAX)
}
