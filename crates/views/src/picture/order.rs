//! The order of a pipeline: which ways lead back, and which stages are the main way.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use engine::{Definition, End, Work};

use super::links::{Link, LinkKind};

/// A pipeline without its loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// From the start to the end, if all goes well and nothing is left out.
    pub main: Vec<usize>,
    /// The links, by their number, that lead back to a stage from which the run may have come.
    pub back: BTreeSet<usize>,
    /// Every stage after all that lead to it forwards.
    pub sequence: Vec<usize>,
}

/// What it costs to end elsewhere than in `completed`.
const OTHER_END: u64 = 1_000_000;
const NO_END: u64 = 2_000_000;

impl Order {
    pub(super) fn of(definition: &Definition, start: usize, links: &[Link]) -> Self {
        let ways = ways(definition.stages.len(), links);
        let mut search = Search::new(definition.stages.len());
        search.visit(start, links, &ways);
        for place in 0..definition.stages.len() {
            search.visit(place, links, &ways);
        }
        let Search { back, ended, .. } = search;
        let main = main_way(definition, start, links, &ways, &back, &ended);
        let sequence = ended.into_iter().rev().collect();
        Self {
            main,
            back,
            sequence,
        }
    }
}

/// The links that leave each stage, the good ones first.
fn ways(stages: usize, links: &[Link]) -> Vec<Vec<usize>> {
    let mut ways = vec![Vec::new(); stages];
    for (number, link) in links.iter().enumerate() {
        if let Some(ways) = ways.get_mut(link.from) {
            ways.push(number);
        }
    }
    for ways in &mut ways {
        ways.sort_by_key(|number| links.get(*number).map(|link| (link.kind, link.cost)));
    }
    ways
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WalkState {
    Unseen,
    Open,
    Ended,
}

/// A depth-first search, without recursion: a definition may be long.
struct Search {
    visits: Vec<WalkState>,
    back: BTreeSet<usize>,
    ended: Vec<usize>,
}

impl Search {
    fn new(stages: usize) -> Self {
        Self {
            visits: vec![WalkState::Unseen; stages],
            back: BTreeSet::new(),
            ended: Vec::new(),
        }
    }

    fn visit(&mut self, from: usize, links: &[Link], ways: &[Vec<usize>]) {
        if self.visits[from] != WalkState::Unseen {
            return;
        }
        self.visits[from] = WalkState::Open;
        let mut path = vec![(from, 0)];
        while let Some((place, next)) = path.pop() {
            let Some(number) = ways[place].get(next).copied() else {
                self.visits[place] = WalkState::Ended;
                self.ended.push(place);
                continue;
            };
            path.push((place, next + 1));
            let to = links[number].to;
            match self.visits[to] {
                WalkState::Unseen => {
                    self.visits[to] = WalkState::Open;
                    path.push((to, 0));
                }
                WalkState::Open => {
                    self.back.insert(number);
                }
                WalkState::Ended => {}
            }
        }
    }
}

/// The way with the fewest mishaps to `completed`; among these the one with the most stages.
fn main_way(
    definition: &Definition,
    start: usize,
    links: &[Link],
    ways: &[Vec<usize>],
    back: &BTreeSet<usize>,
    ended: &[usize],
) -> Vec<usize> {
    let mut best = vec![(NO_END, Reverse(0_usize)); definition.stages.len()];
    let mut next: Vec<Option<usize>> = vec![None; definition.stages.len()];
    for place in ended.iter().copied() {
        best[place] = (end_cost(definition, place), Reverse(0));
        let is_end = definition.stages[place].work.as_end().is_some();
        let forward = ways[place]
            .iter()
            .filter(|number| !is_end && !back.contains(number));
        for link in forward.map(|number| &links[*number]) {
            let (cost, Reverse(stages)) = best[link.to];
            let found = (cost + u64::from(link.cost), Reverse(stages + 1));
            if link.kind == LinkKind::Way && found < best[place] {
                best[place] = found;
                next[place] = Some(link.to);
            }
        }
    }
    std::iter::successors(Some(start), |place| next[*place]).collect()
}

fn end_cost(definition: &Definition, place: usize) -> u64 {
    match &definition.stages[place].work {
        Work::End(end) => match end.end {
            End::Completed => 0,
            End::Failed | End::Cancelled => OTHER_END,
        },
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::Route(_) => NO_END,
    }
}
