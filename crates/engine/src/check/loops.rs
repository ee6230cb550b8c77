//! Loops: every one has a counter that nothing in it resets, or a person.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::graph::{Link, LinkKind, StageGraph};
use crate::names::CounterName;
use crate::outcome::{Fault, Outcome};
use crate::place;
use crate::problem::{CheckRule, Problem};
use crate::stage::{Target, Way, Work};

pub(super) fn check(graph: &StageGraph<'_>) -> Option<Problem> {
    let unattended = graph
        .links
        .iter()
        .enumerate()
        .filter(|(_, link)| !by_person(graph, link));
    let links: BTreeSet<usize> = unattended.map(|(at, _)| at).collect();
    let cycle = unbounded(graph, &links)?;
    let first = cycle
        .first()
        .map(|link| graph.nodes[graph.links[*link].from].stage)?;
    Some(Problem {
        rule: CheckRule::UncountedLoop,
        place: place!["stages", first.name],
        message: format!("this loop may never end: {}", graph.describe(&cycle)),
        hint: String::from(
            "count one of its transitions, such as { to = \"…\", count = \"…\" }, or ask a person",
        ),
    })
}

/// A person takes this transition, so it does not repeat by itself.
fn by_person(graph: &StageGraph<'_>, link: &Link<'_>) -> bool {
    match (&graph.nodes[link.from].stage.work, link.way) {
        (Work::Ask(_), Way::Outcome(outcome)) => *outcome != Outcome::Fault(Fault::Timeout),
        (Work::Open(_), Way::Outcome(outcome)) => *outcome == Outcome::Finish,
        // The run has ended; somebody must start it again.
        (Work::End(_), _) => true,
        _ => false,
    }
}

/// A counter bounds the loops of a component unless something in the component resets it. Its
/// transitions are removed, and the loops that remain are checked again.
fn unbounded(graph: &StageGraph<'_>, links: &BTreeSet<usize>) -> Option<Vec<usize>> {
    for inside in components(graph, links) {
        let resets: BTreeSet<&CounterName> = inside
            .iter()
            .flat_map(|link| &graph.links[*link].edge.reset)
            .collect();
        let bounds = |link: &usize| {
            let link = &graph.links[*link];
            link.kind == LinkKind::Straight
                && link.edge.to != Target::Interrupted
                && link
                    .edge
                    .count
                    .as_ref()
                    .is_some_and(|counter| !resets.contains(counter))
        };
        let rest: BTreeSet<usize> = inside
            .iter()
            .copied()
            .filter(|link| !bounds(link))
            .collect();
        if rest.len() == inside.len() {
            return shortest_cycle(graph, &inside);
        }
        if let Some(cycle) = unbounded(graph, &rest) {
            return Some(cycle);
        }
    }
    None
}

/// A loop for people: one that resets a counter, since that is why counting does not help, else one
/// that counts nothing, else any.
fn shortest_cycle(graph: &StageGraph<'_>, inside: &BTreeSet<usize>) -> Option<Vec<usize>> {
    let resets = |at: &&usize| !graph.links[**at].edge.reset.is_empty();
    let counts = |at: &&usize| graph.links[**at].edge.count.is_some();
    let through = inside.iter().find(resets);
    let through = through.or_else(|| inside.iter().find(|at| !counts(at)));
    let first = *through.or_else(|| inside.first())?;
    let Link { from, to, .. } = graph.links[first];
    if from == to {
        return Some(Vec::from([first]));
    }
    let usable = |link: &Link<'_>| {
        inside
            .iter()
            .any(|at| core::ptr::eq(&raw const graph.links[*at], &raw const *link))
    };
    let back = graph.shortest([to], |node| node == from, usable)?;
    Some([first].into_iter().chain(back).collect())
}

/// The strongly connected components that hold a loop, as sets of links. Kosaraju's two passes, with
/// stacks of our own: a definition must not decide how deep we recurse.
fn components(graph: &StageGraph<'_>, links: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
    let mut out: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut into: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for link in links.iter().map(|link| &graph.links[*link]) {
        out.entry(link.from).or_default().push(link.to);
        into.entry(link.to).or_default().push(link.from);
    }
    let mut component: BTreeMap<usize, usize> = BTreeMap::new();
    for root in finishing_order(&out).into_iter().rev() {
        let mut open = Vec::from([root]);
        while let Some(node) = open.pop() {
            if let alloc::collections::btree_map::Entry::Vacant(free) = component.entry(node) {
                free.insert(root);
                open.extend(into.get(&node).into_iter().flatten());
            }
        }
    }
    let mut inside: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for at in links {
        let link = &graph.links[*at];
        let (from, to) = (component.get(&link.from), component.get(&link.to));
        if let (Some(from), Some(to)) = (from, to)
            && from == to
        {
            inside.entry(*from).or_default().insert(*at);
        }
    }
    inside.into_values().collect()
}

fn finishing_order(out: &BTreeMap<usize, Vec<usize>>) -> Vec<usize> {
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut order = Vec::new();
    for root in out.keys() {
        if !seen.insert(*root) {
            continue;
        }
        let mut stack = Vec::from([(*root, 0)]);
        while let Some((node, child)) = stack.pop() {
            match out.get(&node).and_then(|children| children.get(child)) {
                Some(next) => {
                    stack.push((node, child + 1));
                    if seen.insert(*next) {
                        stack.push((*next, 0));
                    }
                }
                None => order.push(node),
            }
        }
    }
    order
}
