//! How each arrow goes from box to box: straight down, around a corner, or through the gutters.

use std::collections::BTreeSet;

use super::grid::Cell;

/// An arrow before it has a way: from a box to a box, with the lines of its label.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub from: Cell,
    pub to: Cell,
    pub is_dashed: bool,
    pub is_main: bool,
    pub label: Vec<String>,
    /// How many lines of the label are outcomes.
    pub heads: usize,
}

/// A gutter is the space to the left of the column with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// From the bottom to the top, in one column.
    Down,
    /// Out of the side, then down to the top.
    Branch,
    /// Out of the bottom, then to the side.
    Join,
    /// Out of the side, along one gutter, and into the side.
    Side { gutter: i32 },
    /// The same along two gutters, with a way above the target's row between them.
    Far { out: i32, into: i32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BoxSide {
    Left,
    Right,
}

/// The ways of all arrows, in their order. Straight ones are chosen first. The top of the start belongs
/// to the mark where runs begin.
pub(super) fn routes(boxes: &BTreeSet<Cell>, start: Option<Cell>, wishes: &[Wish]) -> Vec<Route> {
    let mut space = Space {
        taken: boxes.clone(),
        tops: start.into_iter().collect(),
        bottoms: BTreeSet::new(),
    };
    let mut routes: Vec<Option<Route>> = vec![None; wishes.len()];
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by_key(|number| !wishes[*number].is_main);
    let tries: [fn(&mut Space, &Wish) -> Option<Route>; 3] =
        [Space::down, Space::branch, Space::join];
    for attempt in tries {
        for number in &order {
            if routes[*number].is_none() && !wishes[*number].is_dashed {
                routes[*number] = attempt(&mut space, &wishes[*number]);
            }
        }
    }
    let routes = routes.into_iter().zip(wishes);
    routes
        .map(|(route, wish)| route.unwrap_or_else(|| beside(wish)))
        .collect()
}

/// What is free for arrows that go through cells.
struct Space {
    taken: BTreeSet<Cell>,
    tops: BTreeSet<Cell>,
    bottoms: BTreeSet<Cell>,
}

impl Space {
    fn down(&mut self, wish: &Wish) -> Option<Route> {
        let Wish { from, to, .. } = wish;
        let is_free = !self.tops.contains(to) && !self.bottoms.contains(from);
        let is_below = from.column == to.column && from.row < to.row;
        let cells = column_cells(to.column, from.row + 1, to.row);
        (is_below && is_free && self.take(cells)).then(|| {
            self.tops.insert(*to);
            self.bottoms.insert(*from);
            Route::Down
        })
    }

    fn branch(&mut self, wish: &Wish) -> Option<Route> {
        let Wish { from, to, .. } = wish;
        let is_below = from.column != to.column && from.row < to.row;
        let mut cells = row_cells(from.row, from.column, to.column);
        cells.extend(column_cells(to.column, from.row, to.row));
        (is_below && !self.tops.contains(to) && self.take(cells)).then(|| {
            self.tops.insert(*to);
            Route::Branch
        })
    }

    fn join(&mut self, wish: &Wish) -> Option<Route> {
        let Wish { from, to, .. } = wish;
        let is_below = from.column != to.column && from.row < to.row;
        let mut cells = column_cells(from.column, from.row + 1, to.row + 1);
        cells.extend(row_cells(to.row, from.column, to.column));
        (is_below && !self.bottoms.contains(from) && self.take(cells)).then(|| {
            self.bottoms.insert(*from);
            Route::Join
        })
    }

    fn take(&mut self, cells: Vec<Cell>) -> bool {
        let is_free = cells.iter().all(|cell| !self.taken.contains(cell));
        if is_free {
            self.taken.extend(cells);
        }
        is_free
    }
}

fn column_cells(column: i32, from: usize, until: usize) -> Vec<Cell> {
    (from..until).map(|row| Cell { row, column }).collect()
}

/// The cells strictly between two columns.
fn row_cells(row: usize, one: i32, other: i32) -> Vec<Cell> {
    let between = one.min(other) + 1..one.max(other);
    between.map(|column| Cell { row, column }).collect()
}

/// Loops of the main way and of the columns on its left go to the left, all others to the right.
fn beside(wish: &Wish) -> Route {
    let (from, to) = (wish.from.column, wish.to.column);
    let goes_back = wish.to.row <= wish.from.row;
    if from == to {
        let is_left = from < 0 || (from == 0 && goes_back);
        let gutter = if is_left { from } else { from + 1 };
        return Route::Side { gutter };
    }
    let (out, into) = if from < to {
        (from + 1, to)
    } else {
        (from, to + 1)
    };
    if out == into {
        Route::Side { gutter: out }
    } else {
        Route::Far { out, into }
    }
}

/// On which side of a box of this column the gutter lies.
pub(super) fn side(gutter: i32, column: i32) -> BoxSide {
    if gutter <= column {
        BoxSide::Left
    } else {
        BoxSide::Right
    }
}

impl Route {
    /// The gutter beside the first box that the arrow leaves through, if it leaves sideways.
    pub(super) fn exit(self, wish: &Wish) -> Option<i32> {
        match self {
            Self::Down | Self::Join => None,
            Self::Branch => Some(wish.from.column + i32::from(wish.from.column < wish.to.column)),
            Self::Side { gutter } => Some(gutter),
            Self::Far { out, .. } => Some(out),
        }
    }

    /// The gutter beside the second box through which the arrow arrives, if it arrives sideways.
    pub(super) fn entry(self, wish: &Wish) -> Option<i32> {
        match self {
            Self::Down | Self::Branch => None,
            Self::Join => Some(wish.to.column + i32::from(wish.to.column < wish.from.column)),
            Self::Side { gutter } => Some(gutter),
            Self::Far { into, .. } => Some(into),
        }
    }
}
