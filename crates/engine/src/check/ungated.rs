//! Unchecked changes: a worker that may change the tree after the last gate, or after a gate that a
//! promise names.
//!
//! The engine would send such a run back to its gate for ever, so lint refuses the definition.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::graph::{Link, StageGraph};
use crate::place;
use crate::problem::{CheckRule, Problem};
use crate::run::TreeAccess;
use crate::stage::{End, Stage, Work, Writes};

/// Whether a gate has checked the tree on the path so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tree {
    /// No gate has checked it yet, so none was promised.
    Ungated,
    /// A gate has checked it.
    Seen,
    /// It may have changed since a gate checked it.
    Changed,
}

pub(super) fn check(graph: &StageGraph<'_>) -> Option<Problem> {
    let starts = graph.starts.iter().map(|start| (*start, Tree::Ungated));
    let is_goal =
        |node: usize, tree: Tree| tree == Tree::Changed && completes(graph.nodes[node].stage);
    let step = |link: &Link<'_>, tree: Tree| Some(across(graph.nodes[link.from].stage, link, tree));
    let path = graph.shortest_with(starts, is_goal, step)?;
    Some(problem(graph, &path))
}

/// A promised gate after which every way to the end leads through a worker that may change the tree.
/// A review is not such a worker: it passes without a change when everybody approves.
pub(super) fn unkept(graph: &StageGraph<'_>) -> Vec<Problem> {
    let definition = graph.definition;
    let ends = definition.stages.iter().filter(|stage| completes(stage));
    let pairs = ends.flat_map(|end| {
        let gates = definition.stages.iter().filter(|stage| is_gate(stage));
        let gates = gates.filter(|gate| definition.promises(&gate.name, &end.name));
        gates.map(move |gate| (gate, end))
    });
    pairs
        .filter(|(gate, end)| !can_be_kept(graph, gate, end))
        .map(|(gate, end)| broken_promise(gate, end))
        .collect()
}

fn can_be_kept(graph: &StageGraph<'_>, gate: &Stage, end: &Stage) -> bool {
    let changes = |stage: &Stage| may_write(stage) && !matches!(stage.work, Work::Review(_));
    let passing = |link: &&Link<'_>| {
        let stage = graph.nodes[link.from].stage;
        stage.name == gate.name && stage.passes(&link.way)
    };
    let from: Vec<usize> = graph.links.iter().filter(passing).map(|it| it.to).collect();
    let is_end = |node: usize| graph.nodes[node].stage.name == end.name;
    let at_once = from.iter().any(|node| is_end(*node));
    let unchanged = |link: &Link<'_>| !changes(graph.nodes[link.from].stage);
    // A promise about a gate that leads nowhere is another rule's.
    from.is_empty() || at_once || graph.shortest(from, is_end, unchanged).is_some()
}

fn broken_promise(gate: &Stage, end: &Stage) -> Problem {
    let (gate, end) = (&gate.name, &end.name);
    Problem {
        rule: CheckRule::ChangedUnseen,
        place: place!["stages", gate.as_str()],
        message: format!(
            "`{end}` promises that `{gate}` has passed on what is there, but every way between them leads \
             through a worker that may change it"
        ),
        hint: format!(
            "move `{gate}` behind that worker, or write `writes = []` there if it leaves artifacts only"
        ),
    }
}

fn completes(stage: &Stage) -> bool {
    matches!(&stage.work, Work::End(end) if end.end == End::Completed)
}

fn across(stage: &Stage, link: &Link<'_>, tree: Tree) -> Tree {
    if is_gate(stage) && stage.passes(&link.way) {
        return Tree::Seen;
    }
    match (tree, may_write(stage)) {
        (Tree::Seen, true) => Tree::Changed,
        (tree, _) => tree,
    }
}

/// Does this stage check the tree?
fn is_gate(stage: &Stage) -> bool {
    match &stage.work {
        Work::Check(_) => true,
        Work::Review(work) => work.of.is_none(),
        Work::Agent(_) => TreeAccess::of(stage) == TreeAccess::ReadsOnly,
        Work::Open(_) | Work::Ask(_) | Work::Steps(_) | Work::Route(_) | Work::End(_) => false,
    }
}

fn may_write(stage: &Stage) -> bool {
    let restricted = matches!(&stage.writes, Writes::Only(globs) if globs.is_empty());
    match &stage.work {
        Work::Agent(_) | Work::Open(_) | Work::Steps(_) | Work::Review(_) => !restricted,
        Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => false,
    }
}

fn problem(graph: &StageGraph<'_>, path: &[usize]) -> Problem {
    let mut stages = path
        .iter()
        .map(|link| graph.nodes[graph.links[*link].from].stage);
    let writer = stages.rfind(|stage| may_write(stage));
    let name = writer.map_or("", |stage| stage.name.as_str());
    Problem {
        rule: CheckRule::ChangedUnseen,
        place: place!["stages", name],
        message: format!(
            "`{name}` may change what a gate has checked, and nothing checks it again: {}",
            graph.describe(path)
        ),
        hint: String::from(
            "add a check or review after it, or write `writes = []` if it writes only artifacts",
        ),
    }
}
