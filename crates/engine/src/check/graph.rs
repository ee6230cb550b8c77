//! The graph of a definition: every stage once for each possible target of `@interrupted` and each set of
//! routes that took the run a shorter way.

use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::references::way_place;
use crate::amount::Amount;
use crate::definition::Definition;
use crate::names::StageName;
use crate::outcome::Outcome;
use crate::place;
use crate::problem::{CheckRule, Problem};
use crate::route::RouteRule;
use crate::run::Resume;
use crate::stage::{Edge, End, Stage, Target, Way, Work};
use crate::transition::{edge_targets, resume_at};

pub(super) struct StageGraph<'a> {
    pub definition: &'a Definition,
    pub nodes: Vec<Node<'a>>,
    pub links: Vec<Link<'a>>,
    /// Where runs start: at the start stage, and at the stage that takes given steps.
    pub starts: Vec<usize>,
    /// The links out of each node.
    out: Vec<Vec<usize>>,
}

/// A stage, with what decides where a run can go from it.
pub(super) struct Node<'a> {
    pub stage: &'a Stage,
    pub resume: Option<Resume>,
    /// The routes by whose rules the run came here, each with its longer way.
    pub held: HeldRoutes<'a>,
}

type HeldRoutes<'a> = BTreeMap<&'a StageName, &'a StageName>;

type KnownNodes<'a> = BTreeMap<(StageName, Option<Resume>, HeldRoutes<'a>), usize>;

/// A transition from node to node.
pub(super) struct Link<'a> {
    pub from: usize,
    pub to: usize,
    pub way: Way<'a>,
    pub edge: &'a Edge,
    pub kind: LinkKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkKind {
    Straight,
    /// The counter is full: its `then`.
    Full,
    /// Commands were added that nobody approved: the `then` of their artifact.
    Unapproved,
    /// The change has outgrown the rule of a route: its longer way.
    Outgrown,
}

/// By which link a search came to a node in a state, and with which state before it; a start has none.
type CameBy<S> = BTreeMap<(usize, S), Option<(usize, S)>>;

impl<'a> StageGraph<'a> {
    /// Everything that can be reached from the start.
    pub(super) fn of(definition: &'a Definition) -> Self {
        let stages: BTreeMap<&StageName, &Stage> = definition
            .stages
            .iter()
            .map(|stage| (&stage.name, stage))
            .collect();
        let mut graph = Self {
            definition,
            nodes: Vec::new(),
            links: Vec::new(),
            starts: Vec::new(),
            out: Vec::new(),
        };
        let mut known = BTreeMap::new();
        let start = stages.get(&definition.start).copied();
        for start in start.into_iter().chain(definition.begins_with_steps()) {
            let node = graph.node(&mut known, start, None, BTreeMap::new());
            graph.starts.push(node);
        }
        let mut done = 0;
        while done < graph.nodes.len() {
            graph.expand(done, &stages, &mut known);
            done += 1;
        }
        graph
    }

    fn node(
        &mut self,
        known: &mut KnownNodes<'a>,
        stage: &'a Stage,
        resume: Option<Resume>,
        held: HeldRoutes<'a>,
    ) -> usize {
        let next = self.nodes.len();
        let at = *known
            .entry((stage.name.clone(), resume.clone(), held.clone()))
            .or_insert(next);
        if at == next {
            self.nodes.push(Node {
                stage,
                resume,
                held,
            });
            self.out.push(Vec::new());
        }
        at
    }

    fn expand(
        &mut self,
        from: usize,
        stages: &BTreeMap<&StageName, &'a Stage>,
        known: &mut KnownNodes<'a>,
    ) {
        let stage = self.nodes[from].stage;
        for (way, edge) in stage.edges() {
            let straight = arrivals(self.definition, &self.nodes[from], &way, edge);
            let longer = outgrown(&self.nodes[from], stages, &straight);
            for (to, kind, barred) in straight.into_iter().chain(longer) {
                let Some(target) = stages.get(&to) else {
                    continue;
                };
                let resume = resume_at(target, &stage.name, barred);
                let held = held_after(&self.nodes[from], &way, &target.name);
                let to = self.node(known, target, resume, held);
                self.out[from].push(self.links.len());
                self.links.push(Link {
                    from,
                    to,
                    way,
                    edge,
                    kind,
                });
            }
        }
    }

    pub(super) fn links_from(&self, node: usize) -> impl Iterator<Item = (usize, &Link<'a>)> {
        self.out[node]
            .iter()
            .map(|link| (*link, &self.links[*link]))
    }

    /// The shortest path from one of these nodes to a goal, over allowed links.
    pub(super) fn shortest(
        &self,
        from: impl IntoIterator<Item = usize>,
        goal: impl Fn(usize) -> bool,
        usable: impl Fn(&Link<'a>) -> bool,
    ) -> Option<Vec<usize>> {
        let starts = from.into_iter().map(|node| (node, ()));
        let step = |link: &Link<'a>, ()| usable(link).then_some(());
        self.shortest_with(starts, |node, ()| goal(node), step)
    }

    /// The same with a state that each link changes. A link that cannot be taken leads to none.
    pub(super) fn shortest_with<S: Copy + Ord>(
        &self,
        starts: impl IntoIterator<Item = (usize, S)>,
        goal: impl Fn(usize, S) -> bool,
        step: impl Fn(&Link<'a>, S) -> Option<S>,
    ) -> Option<Vec<usize>> {
        let mut queue: VecDeque<(usize, S)> = starts.into_iter().collect();
        let mut came: CameBy<S> = queue.iter().map(|start| (*start, None)).collect();
        while let Some((node, before)) = queue.pop_front() {
            for (at, link) in self.links_from(node) {
                let Some(after) = step(link, before) else {
                    continue;
                };
                if goal(link.to, after) {
                    return Some(self.backwards(&came, (at, before)));
                }
                if let Entry::Vacant(free) = came.entry((link.to, after)) {
                    free.insert(Some((at, before)));
                    queue.push_back((link.to, after));
                }
            }
        }
        None
    }

    fn backwards<S: Copy + Ord>(&self, came: &CameBy<S>, last: (usize, S)) -> Vec<usize> {
        let mut path = Vec::new();
        let mut next = Some(last);
        while let Some((link, before)) = next {
            path.push(link);
            let from = (self.links[link].from, before);
            next = came.get(&from).copied().flatten();
        }
        path.reverse();
        path
    }

    /// A path for people: `generating → escalate (continue) → complete`.
    pub(super) fn describe(&self, path: &[usize]) -> String {
        let mut text = String::new();
        for link in path.iter().map(|link| &self.links[*link]) {
            let stage = self.nodes[link.from].stage;
            let plain = link.way == Way::Outcome(&Outcome::Done);
            text.push_str(stage.name.as_str());
            if !plain {
                text.push_str(&format!(" ({})", link.way));
            }
            if link.kind == LinkKind::Full
                && let Some(counter) = &link.edge.count
            {
                text.push_str(&format!(" [{counter} full]"));
            }
            if link.kind == LinkKind::Unapproved {
                text.push_str(" [new commands]");
            }
            if link.kind == LinkKind::Outgrown {
                text.push_str(" [outgrown]");
            }
            text.push_str(" → ");
        }
        if let Some(last) = path.last() {
            text.push_str(self.nodes[self.links[*last].to].stage.name.as_str());
        }
        text
    }

    pub(super) fn nodes_of<'b>(&'b self, stage: &'b StageName) -> impl Iterator<Item = usize> + 'b {
        let nodes = self.nodes.iter().enumerate();
        nodes
            .filter(move |(_, node)| node.stage.name == *stage)
            .map(|(at, _)| at)
    }
}

type LinkTarget = (StageName, LinkKind, Option<Resume>);

/// Where an edge can lead: straight on, to a full counter's `then`, or to a person who sees commands
/// first.
fn arrivals(
    definition: &Definition,
    node: &Node<'_>,
    way: &Way<'_>,
    edge: &Edge,
) -> Vec<LinkTarget> {
    let mut arrivals = Vec::new();
    let counter = edge
        .count
        .as_ref()
        .filter(|_| edge.to != Target::Interrupted);
    let declared = counter.and_then(|counter| definition.counters.get(counter));
    let always_full = declared.is_some_and(|counter| counter.max == Amount::Fixed(0));
    for to in edge_targets(definition, edge, node.resume.as_ref()) {
        for name in node.stage.delivers(way.outcome()) {
            let declared = definition.artifacts.get(name);
            let approved = declared.and_then(|artifact| artifact.approved.as_ref());
            let barred = Resume {
                to: to.clone(),
                count: counter.cloned(),
                artifact: Some(name.clone()),
            };
            let then = approved.map(|approved| approved.then.clone());
            let arrival = then.map(|then| (then, LinkKind::Unapproved, Some(barred)));
            arrivals.extend(arrival.filter(|(then, ..)| *then != to));
        }
        if let Some(declared) = declared {
            let barred = Resume {
                to: to.clone(),
                count: counter.cloned(),
                artifact: None,
            };
            arrivals.push((declared.then.clone(), LinkKind::Full, Some(barred)));
        }
        if !always_full {
            arrivals.push((to, LinkKind::Straight, None));
        }
    }
    arrivals
}

/// A run that came by the rule of a route goes its longer way, if it has outgrown the rule before it is
/// judged or ends well.
fn outgrown<'a>(
    node: &Node<'a>,
    stages: &BTreeMap<&StageName, &'a Stage>,
    straight: &[LinkTarget],
) -> Vec<LinkTarget> {
    let judged = |to: &StageName| {
        stages.get(to).is_some_and(|stage| {
            stage.is_gate() || matches!(&stage.work, Work::End(end) if end.end == End::Completed)
        })
    };
    let judged: Vec<&StageName> = straight
        .iter()
        .map(|(to, ..)| to)
        .filter(|to| judged(to))
        .collect();
    let held: BTreeSet<&StageName> = node.held.values().copied().collect();
    held.into_iter()
        .filter(|longer| judged.iter().any(|to| to != longer))
        .map(|longer| (longer.clone(), LinkKind::Outgrown, None))
        .collect()
}

/// The routes that still count after this way. A run that arrives at a longer way is on it.
fn held_after<'a>(node: &Node<'a>, way: &Way<'_>, to: &StageName) -> HeldRoutes<'a> {
    let mut held = node.held.clone();
    if let (Some(route), Some(longer)) = (node.stage.work.as_route(), node.stage.longer_way()) {
        held.remove(&node.stage.name);
        let rule = way.outcome().and_then(|outcome| route.rule(outcome));
        if rule.is_some_and(RouteRule::can_be_outgrown) {
            held.insert(&node.stage.name, longer);
        }
    }
    held.retain(|_, longer| *longer != to);
    held
}

/// Where a run that has outgrown the rules of these routes leaves the shorter way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LongerWay {
    pub from: StageName,
    pub route: StageName,
    pub to: StageName,
}

/// Every transition by which a run goes the longer way of a route, each once.
pub fn longer_ways(definition: &Definition) -> Vec<LongerWay> {
    let mut stages = definition.stages.iter();
    if !stages.any(|stage| stage.work.as_route().is_some()) {
        return Vec::new();
    }
    let graph = StageGraph::of(definition);
    let outgrown = graph
        .links
        .iter()
        .filter(|link| link.kind == LinkKind::Outgrown);
    let ways: BTreeSet<LongerWay> = outgrown
        .flat_map(|link| {
            let (node, to) = (&graph.nodes[link.from], &graph.nodes[link.to].stage.name);
            let left = node.held.iter().filter(move |(_, longer)| *longer == &to);
            left.map(move |(route, _)| LongerWay {
                from: node.stage.name.clone(),
                route: (*route).clone(),
                to: to.clone(),
            })
        })
        .collect();
    ways.into_iter().collect()
}

pub(super) fn check(graph: &StageGraph<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let reached: BTreeSet<&StageName> = graph.nodes.iter().map(|node| &node.stage.name).collect();
    for stage in &graph.definition.stages {
        if !reached.contains(&stage.name) {
            problems.push(Problem {
                rule: CheckRule::Unreachable,
                place: place!["stages", stage.name],
                message: format!("`{}` cannot be reached", stage.name),
                hint: String::from("let an outcome lead there, or remove the stage"),
            });
        }
        problems.extend(dead_end(stage));
    }
    problems.extend(at_start(graph));
    problems.extend(nested(graph));
    problems.extend(no_completion(graph));
    problems.extend(traps(graph));
    problems
}

fn dead_end(stage: &Stage) -> Option<Problem> {
    let ends = matches!(stage.work, Work::End(_));
    (!ends && stage.edges().is_empty()).then(|| Problem {
        rule: CheckRule::DeadEnd,
        place: place!["stages", stage.name],
        message: format!("there is no way out of `{}`", stage.name),
        hint: String::from("add `on.… = \"…\"`, or make it an end with `end = \"completed\"`"),
    })
}

fn at_start(graph: &StageGraph<'_>) -> Option<Problem> {
    let mut starts = graph.starts.iter().map(|start| graph.nodes[*start].stage);
    starts.find(|start| start.resumes()).map(|start| Problem {
        rule: CheckRule::InterruptedAtStart,
        place: place!["start"],
        message: format!(
            "`{}` returns to what it interrupted, but it is the start",
            start.name
        ),
        hint: String::from("start at another stage, or name the target"),
    })
}

/// An escalation that returns into another one would lose the other's return target.
fn nested(graph: &StageGraph<'_>) -> Option<Problem> {
    let link = graph
        .links
        .iter()
        .find(|link| link.edge.to == Target::Interrupted && graph.nodes[link.to].stage.resumes())?;
    let (from, to) = (graph.nodes[link.from].stage, graph.nodes[link.to].stage);
    Some(Problem {
        rule: CheckRule::NestedReturn,
        place: way_place(from, &link.way),
        message: format!(
            "`{}` returns to `{}`, which would lose its own return target",
            from.name, to.name
        ),
        hint: format!(
            "name the stage instead of `@interrupted`, or do not lead from `{}` here",
            to.name
        ),
    })
}

fn no_completion(graph: &StageGraph<'_>) -> Option<Problem> {
    let completes = graph
        .definition
        .stages
        .iter()
        .any(|stage| matches!(&stage.work, Work::End(end) if end.end == End::Completed));
    (!completes).then(|| Problem {
        rule: CheckRule::NoCompletion,
        place: place!["stages"],
        message: String::from("no end is `completed`"),
        hint: String::from("add a stage with `end = \"completed\"`"),
    })
}

/// Stages from which no end can be reached.
fn traps(graph: &StageGraph<'_>) -> Vec<Problem> {
    let mut escapes: BTreeSet<usize> = BTreeSet::new();
    let mut into: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for link in &graph.links {
        into.entry(link.to).or_default().push(link.from);
    }
    let ends = graph.nodes.iter().enumerate();
    let ends = ends.filter(|(_, node)| matches!(node.stage.work, Work::End(_)));
    let mut open: Vec<usize> = ends.map(|(at, _)| at).collect();
    while let Some(node) = open.pop() {
        if escapes.insert(node) {
            open.extend(into.get(&node).into_iter().flatten());
        }
    }
    let caught = graph
        .nodes
        .iter()
        .enumerate()
        .filter(|(at, _)| !escapes.contains(at));
    let names: BTreeSet<&StageName> = caught.map(|(_, node)| &node.stage.name).collect();
    let with_exit = |name: &&&StageName| graph.nodes_of(name).any(|at| !graph.out[at].is_empty());
    names
        .iter()
        .filter(with_exit)
        .map(|name| Problem {
            rule: CheckRule::Trap,
            place: place!["stages", name],
            message: format!("no end can be reached from `{name}`"),
            hint: String::from("let one of its outcomes lead to an end"),
        })
        .collect()
}
