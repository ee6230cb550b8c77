//! The row and the column of each box: the main way straight down, everything else beside it.

use std::collections::{BTreeMap, BTreeSet};

use super::links::{Link, LinkKind, NOT_PASSING};
use super::order::Order;

/// A cell of the grid. The main way is column 0; others are to its left and right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub row: usize,
    pub column: i32,
}

/// Where each stage stands that is not folded.
pub(super) fn cells(
    links: &[Link],
    order: &Order,
    folded: &BTreeSet<usize>,
) -> BTreeMap<usize, Cell> {
    let placing = Placing::new(links, order, folded);
    let rows = placing.rows();
    let mut cells: BTreeMap<usize, Cell> = BTreeMap::new();
    for place in &order.main {
        let row = rows[place];
        cells.insert(*place, Cell { row, column: 0 });
    }
    let mut chains = placing.chains(&rows);
    chains.sort_by_key(|chain| std::cmp::Reverse(chain.len()));
    for chain in chains {
        let column = free_column(&chain, &rows, &cells);
        for place in chain {
            let row = rows[&place];
            cells.insert(place, Cell { row, column });
        }
    }
    without_empty_rows(cells)
}

struct Placing<'a> {
    links: &'a [Link],
    order: &'a Order,
    folded: &'a BTreeSet<usize>,
    main: BTreeSet<usize>,
    /// The stages beside the main way that only lead back, as those that fix something.
    repairs: BTreeSet<usize>,
}

impl<'a> Placing<'a> {
    fn new(links: &'a [Link], order: &'a Order, folded: &'a BTreeSet<usize>) -> Self {
        let main: BTreeSet<usize> = order.main.iter().copied().collect();
        let mut placing = Self {
            links,
            order,
            folded,
            main,
            repairs: BTreeSet::new(),
        };
        placing.repairs = placing.repairs();
        placing
    }

    fn forward(&self) -> impl DoubleEndedIterator<Item = &'a Link> {
        let back = &self.order.back;
        let links = self.links.iter().enumerate();
        let forward = links.filter(|(number, _)| !back.contains(number));
        forward.map(|(_, link)| link)
    }

    fn is_side(&self, place: usize) -> bool {
        !self.main.contains(&place) && !self.folded.contains(&place)
    }

    fn repairs(&self) -> BTreeSet<usize> {
        let mut onward: BTreeSet<usize> = BTreeSet::new();
        for place in self.order.sequence.iter().rev().copied() {
            let mut out = self.forward().filter(|link| link.from == place);
            let goes_on = |link: &Link| {
                link.kind == LinkKind::Way && link.cost < NOT_PASSING && onward.contains(&link.to)
            };
            let leads_nowhere = self.links.iter().all(|link| link.from != place);
            if self.main.contains(&place) || leads_nowhere || out.any(goes_on) {
                onward.insert(place);
            }
        }
        let side = self.order.sequence.iter().copied();
        side.filter(|place| self.is_side(*place) && !onward.contains(place))
            .collect()
    }

    /// A box is below all that lead to it, except that a mishap never pushes the main way down.
    fn rows(&self) -> BTreeMap<usize, usize> {
        let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
        for place in self.order.sequence.iter().copied() {
            let into = self.forward().filter(|link| link.to == place);
            let above = into.filter_map(|link| self.row_below(link, &rows));
            let row = above.max().unwrap_or(0);
            rows.insert(place, row);
        }
        for place in &self.repairs {
            let sources = self.links.iter().filter(|link| link.to == *place);
            let sources = sources.filter_map(|link| rows.get(&link.from).copied());
            let (least, most) = sources.fold((usize::MAX, 0), |(least, most), row| {
                (least.min(row), most.max(row))
            });
            rows.insert(*place, least.min(most).midpoint(most));
        }
        rows
    }

    fn row_below(&self, link: &Link, rows: &BTreeMap<usize, usize>) -> Option<usize> {
        let row = rows.get(&link.from).copied()?;
        let passes = link.kind == LinkKind::Way && link.cost < NOT_PASSING;
        let mut pairs = self.order.main.windows(2);
        let is_main_step = pairs.any(|pair| pair == [link.from, link.to]);
        let counts = is_main_step
            || !self.main.contains(&link.to)
            || (passes && !self.folded.contains(&link.from));
        let is_repair = self.repairs.contains(&link.from);
        let step = usize::from(!self.folded.contains(&link.to));
        (counts && !is_repair).then_some(row + step)
    }

    /// The stages beside the main way, in pieces that go straight down.
    fn chains(&self, rows: &BTreeMap<usize, usize>) -> Vec<Vec<usize>> {
        let mut placed: BTreeSet<usize> = BTreeSet::new();
        let mut chains = Vec::new();
        for place in self.order.sequence.iter().copied() {
            if !self.is_side(place) || placed.contains(&place) {
                continue;
            }
            let next = |place: &usize| self.next_in_chain(*place, rows, &placed);
            let chain: Vec<usize> = std::iter::successors(Some(place), next).collect();
            placed.extend(&chain);
            chains.push(chain);
        }
        chains
    }

    fn next_in_chain(
        &self,
        place: usize,
        rows: &BTreeMap<usize, usize>,
        placed: &BTreeSet<usize>,
    ) -> Option<usize> {
        let mut out = self.forward().filter(|link| link.from == place);
        let next = out.find(|link| {
            self.is_side(link.to) && !placed.contains(&link.to) && rows[&link.to] > rows[&place]
        });
        next.map(|link| link.to)
    }
}

/// The nearest column in which all the cells between the ends of the chain are free.
fn free_column(
    chain: &[usize],
    rows: &BTreeMap<usize, usize>,
    cells: &BTreeMap<usize, Cell>,
) -> i32 {
    let of_chain = || chain.iter().map(|place| rows[place]);
    let least = of_chain().min().unwrap_or(0);
    let most = of_chain().max().unwrap_or(0);
    let is_free = |column: &i32| {
        let mut taken = cells.values().filter(|cell| cell.column == *column);
        !taken.any(|cell| (least..=most).contains(&cell.row))
    };
    let columns = (1..).flat_map(|distance| [distance, -distance]);
    columns.into_iter().find(is_free).unwrap_or(1)
}

fn without_empty_rows(mut cells: BTreeMap<usize, Cell>) -> BTreeMap<usize, Cell> {
    let used: BTreeSet<usize> = cells.values().map(|cell| cell.row).collect();
    let new_rows: BTreeMap<usize, usize> = used
        .into_iter()
        .enumerate()
        .map(|(new, old)| (old, new))
        .collect();
    for cell in cells.values_mut() {
        cell.row = new_rows[&cell.row];
    }
    cells
}
