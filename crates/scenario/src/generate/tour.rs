//! Tours: few walks through the states, which together take every transition.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::step::Step;
use super::search::{Link, Search};
use super::transition::Transition;

/// A walk from the start of a run, and the transitions that it takes first.
pub(super) struct Tour {
    pub steps: Vec<Step>,
    pub covers: Vec<Transition>,
}

/// A longer tour is unreadable.
const LONGEST: usize = 60;

/// Each tour takes the shortest path to a missing transition, and continues while that is shorter
/// than a new start.
pub(super) fn tours(search: &Search, wanted: &[Transition]) -> Vec<Tour> {
    let mut missing: BTreeSet<Transition> = wanted
        .iter()
        .filter(|one| search.reaches(one))
        .cloned()
        .collect();
    let roots: Vec<usize> = search.roots.iter().map(|(state, _)| *state).collect();
    let mut tours = Vec::new();
    while let Some(way) = nearest(search, &roots, &missing) {
        let Some((_, begin)) = search.roots.iter().find(|(root, _)| *root == way.from) else {
            break;
        };
        let mut tour = Tour {
            steps: begin.clone(),
            covers: Vec::new(),
        };
        let mut at = tour.follow(&way, &mut missing);
        while let Some(on) = nearest(search, &[at], &missing)
            && on.links.len() + tour.steps.len() <= LONGEST
            && is_shorter(search, &roots, &on, &missing)
        {
            at = tour.follow(&on, &mut missing);
        }
        tours.push(tour);
    }
    tours
}

/// Is continuing no longer than a new start for the same transition?
fn is_shorter(
    search: &Search,
    roots: &[usize],
    on: &Path<'_>,
    missing: &BTreeSet<Transition>,
) -> bool {
    let new = on
        .links
        .last()
        .map(|link| link.covers.as_slice())
        .unwrap_or_default();
    let target = missing
        .iter()
        .filter(|one| new.contains(one))
        .cloned()
        .collect();
    nearest(search, roots, &target).is_none_or(|again| on.links.len() <= again.links.len())
}

impl Tour {
    /// Takes this path and returns its last state.
    fn follow(&mut self, way: &Path<'_>, missing: &mut BTreeSet<Transition>) -> usize {
        for link in &way.links {
            self.steps.push(link.step.clone());
            let new = link.covers.iter().filter(|one| missing.remove(*one));
            self.covers.extend(new.cloned());
        }
        way.links.last().map_or(way.from, |link| link.to)
    }
}

struct Path<'a> {
    from: usize,
    links: Vec<&'a Link>,
}

/// The shortest path from one of these states to a missing transition.
fn nearest<'a>(
    search: &'a Search,
    from: &[usize],
    missing: &BTreeSet<Transition>,
) -> Option<Path<'a>> {
    let mut came: BTreeMap<usize, Option<(usize, &Link)>> =
        from.iter().map(|state| (*state, None)).collect();
    let mut queue: VecDeque<usize> = from.iter().copied().collect();
    while let Some(state) = queue.pop_front() {
        for link in search
            .states
            .get(state)
            .map(|s| s.links.as_slice())
            .unwrap_or_default()
        {
            if link.covers.iter().any(|one| missing.contains(one)) {
                return Some(back(&came, state, link));
            }
            if let Entry::Vacant(place) = came.entry(link.to) {
                place.insert(Some((state, link)));
                queue.push_back(link.to);
            }
        }
    }
    None
}

fn back<'a>(
    came: &BTreeMap<usize, Option<(usize, &'a Link)>>,
    mut state: usize,
    last: &'a Link,
) -> Path<'a> {
    let mut links = vec![last];
    while let Some(Some((before, link))) = came.get(&state) {
        links.push(link);
        state = *before;
    }
    links.reverse();
    Path { from: state, links }
}
