//! Moving: an outcome leads where the definition says, unless a counter is full or a gate is stale.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::{Draft, graph, panel, routing};
use crate::cause::MoveReason;
use crate::change::Routed;
use crate::entry::{Fact, Move};
use crate::limits::counter_limit;
use crate::names::{AgentName, ArtifactName, CounterName, ParamName, StageName};
use crate::outcome::{Fault, Outcome};
use crate::rule::Rule;
use crate::run::{Gate, Resume, Standing};
use crate::stage::{Edge, Target, Work};
use crate::status::is_completed;
use crate::transition::{edge_targets, resume_at};

/// How often the run returns to a stale gate by itself before a person is asked.
const MOST_STALE_RETURNS: u32 = 2;

/// What happens to stale gates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gates {
    /// The run goes back to a stale one.
    Compared,
    /// The same, but no promise asks for more of a gate. Earlier versions compared like this.
    ComparedMildly,
    /// A person has overridden them, and the run is marked with it.
    Overridden,
}

/// What ends a stage.
#[derive(Clone, Copy)]
pub(super) enum Exit<'a> {
    Outcome(&'a Outcome),
    /// This agent of an open stage has ended well.
    After(&'a AgentName),
    /// A person let the run go on that was stopped here.
    Continued,
}

/// As the journal stores it.
impl fmt::Display for Exit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome(outcome) => write!(f, "{outcome}"),
            Self::After(agent) => write!(f, "after {agent}"),
            Self::Continued => f.write_str("continue"),
        }
    }
}

/// Takes an edge.
pub(super) fn take(draft: &mut Draft<'_>, exit: Exit<'_>, edge: &Edge) {
    take_with(draft, exit, edge, Gates::Compared);
}

pub(super) fn take_with(draft: &mut Draft<'_>, exit: Exit<'_>, edge: &Edge, gates: Gates) {
    approve(draft, edge);
    let Some(wanted) = wanted(draft, edge) else {
        return no_way_on(draft, exit);
    };
    let counted = match &edge.to {
        Target::Interrupted => draft
            .run
            .position
            .resume
            .as_ref()
            .and_then(|r| r.count.clone()),
        Target::Stage(_) | Target::Param(_) => edge.count.clone(),
    };
    let destination = match unapproved(draft, exit, &wanted) {
        Some((artifact, then)) => barred_by(artifact, then, wanted, counted),
        None => count(draft, edge, wanted, counted),
    };
    let longer = match gates {
        Gates::Compared | Gates::ComparedMildly => routing::longer_way(draft, &destination.to),
        Gates::Overridden => None,
    };
    if let Some(routed) = longer {
        return go_longer(draft, exit, routed);
    }
    let stale = match gates {
        Gates::Compared | Gates::ComparedMildly => stale_gate(draft, &destination.to, gates),
        Gates::Overridden => None,
    };
    if let Some(gate) = stale {
        return go_back(draft, exit, gate);
    }
    go(draft, exit, destination, edge.reset.clone());
}

/// Only a person approves, whatever leads along this edge.
fn approve(draft: &mut Draft<'_>, edge: &Edge) {
    if !draft.by.is_human() {
        return;
    }
    for artifact in &edge.approves {
        if let Some(captured) = draft.run.artifacts.get(artifact) {
            let content = captured.content;
            let fact = Fact::Approved {
                artifact: artifact.clone(),
                content,
            };
            draft.record(Rule::Answer, fact);
        }
    }
}

fn wanted(draft: &Draft<'_>, edge: &Edge) -> Option<StageName> {
    match &edge.to {
        Target::Param(param) => chosen(draft, param),
        Target::Stage(_) | Target::Interrupted => {
            let resume = draft.run.position.resume.as_ref();
            edge_targets(draft.pipeline.definition(), edge, resume)
                .into_iter()
                .next()
        }
    }
}

fn chosen(draft: &Draft<'_>, param: &ParamName) -> Option<StageName> {
    StageName::parse(draft.run.params.get(param)?).ok()
}

/// The checker makes this impossible; if it happens anyway, a person is asked.
fn no_way_on(draft: &mut Draft<'_>, exit: Exit<'_>) {
    let reason = format!("{} has no edge for '{exit}'", draft.run.position.stage);
    draft.record(
        Rule::WorkFault,
        Fact::Stuck {
            fault: Fault::Crashed,
            reason,
        },
    );
}

struct Destination {
    to: StageName,
    along: MoveReason,
    rule: Rule,
    counted: Option<(CounterName, u32)>,
    barred: Option<Resume>,
}

/// The artifact that was just left with commands which nobody has approved, and where that leads.
fn unapproved(
    draft: &Draft<'_>,
    exit: Exit<'_>,
    wanted: &StageName,
) -> Option<(ArtifactName, StageName)> {
    let artifacts = &draft.pipeline.definition().artifacts;
    let outcome = match exit {
        Exit::Outcome(outcome) => Some(outcome),
        Exit::After(_) | Exit::Continued => None,
    };
    draft
        .stage()?
        .delivers(outcome)
        .into_iter()
        .find_map(|name| {
            let then = &artifacts.get(name)?.approved.as_ref()?.then;
            let barred = *then != *wanted && !draft.run.new_commands(name).is_empty();
            barred.then(|| (name.clone(), then.clone()))
        })
}

/// A person sees the new commands first. The step is counted when it is taken.
fn barred_by(
    artifact: ArtifactName,
    then: StageName,
    wanted: StageName,
    count: Option<CounterName>,
) -> Destination {
    Destination {
        to: then,
        along: MoveReason::Unapproved(artifact.clone()),
        rule: Rule::CommandsAdded,
        counted: None,
        barred: Some(Resume {
            to: wanted,
            count,
            artifact: Some(artifact),
        }),
    }
}

/// Counts the transition, or finds the counter full. A person's return is never blocked: it continues,
/// and the counter stays at its limit unless the answer has reset it.
fn count(
    draft: &Draft<'_>,
    edge: &Edge,
    wanted: StageName,
    counter: Option<CounterName>,
) -> Destination {
    let returns = edge.to == Target::Interrupted;
    // A step that was barred is taken now, as if for the first time; a return goes on where it was.
    let barred = draft
        .run
        .position
        .resume
        .as_ref()
        .is_some_and(Resume::is_barred);
    let (along, rule) = match (returns, barred) {
        (true, true) => (MoveReason::Edge, Rule::Interrupted),
        (true, false) => (MoveReason::Interrupted, Rule::Interrupted),
        (false, _) => (MoveReason::Edge, Rule::OutcomeTaken),
    };
    let Some(counter) = counter else {
        return Destination {
            to: wanted,
            along,
            rule,
            counted: None,
            barred: None,
        };
    };
    let limit = counter_limit(draft.pipeline, &draft.run, &counter);
    let set_back = edge.reset.contains(&counter);
    let value = if set_back {
        0
    } else {
        draft.run.counters.get(&counter).copied().unwrap_or(0)
    };
    match draft.pipeline.definition().counters.get(&counter) {
        Some(declared) if value >= limit && !returns => Destination {
            to: declared.then.clone(),
            along: MoveReason::Full(counter.clone()),
            rule: Rule::CounterFull,
            counted: None,
            barred: Some(Resume {
                to: wanted,
                count: Some(counter),
                artifact: None,
            }),
        },
        _ => {
            let counted = Some((counter, (value + 1).min(limit)));
            Destination {
                to: wanted,
                along,
                rule,
                counted,
                barred: None,
            }
        }
    }
}

fn go(draft: &mut Draft<'_>, exit: Exit<'_>, destination: Destination, reset: Vec<CounterName>) {
    let from = draft.run.position.stage.clone();
    let stage = draft.pipeline.stage(&destination.to);
    let resume = stage.and_then(|stage| resume_at(stage, &from, destination.barred));
    let step = Move {
        from,
        outcome: exit.to_string(),
        to: destination.to,
        along: destination.along.clone(),
        counted: destination.counted,
        reset,
        resume,
    };
    draft.record(destination.rule, Fact::Moved(Box::new(step)));
    enter(draft, &destination.along);
    withhold(draft);
}

/// A run with work that no hook guarded does not complete without a person's word.
pub(super) fn withhold(draft: &mut Draft<'_>) {
    let stopped = matches!(draft.run.standing, Standing::Halted { .. });
    let completes = is_completed(draft.pipeline, &draft.run.position.stage);
    if let Some(reason) = unguarded(draft).filter(|_| completes && !stopped) {
        draft.record(Rule::Unguarded, Fact::Halted { reason });
    }
}

/// Why a run cannot complete yet. What is not enforced keeps nothing from completing.
pub(super) fn unguarded(draft: &Draft<'_>) -> Option<String> {
    let open: Vec<&str> = draft
        .run
        .open_unguarded()
        .map(|it| it.what.as_str())
        .collect();
    let first = open.first().filter(|_| draft.leniency().is_none())?;
    Some(match open.len() {
        1 => format!("unguarded work: {first}"),
        number => format!("unguarded work: {first}, and {} more", number - 1),
    })
}

/// The change has outgrown the rule of a route.
fn go_longer(draft: &mut Draft<'_>, exit: Exit<'_>, routed: Routed) {
    let destination = Destination {
        to: routed.longer.clone(),
        along: MoveReason::Outgrown(routed.route.clone()),
        rule: Rule::Outgrown,
        counted: None,
        barred: None,
    };
    draft.record(Rule::Outgrown, Fact::Routed(Box::new(routed)));
    go(draft, exit, destination, Vec::new());
}

/// The run was stopped at its end and goes on: its routes and gates are compared with the tree once more.
pub(super) fn compare_again(draft: &mut Draft<'_>) {
    let end = draft.run.position.stage.clone();
    if let Some(routed) = routing::longer_way(draft, &end) {
        return go_longer(draft, Exit::Continued, routed);
    }
    if let Some(gate) = stale_gate(draft, &end, Gates::Compared) {
        go(draft, Exit::Continued, return_to(gate), Vec::new());
    }
}

/// What a stage needs at its start.
pub(super) fn enter(draft: &mut Draft<'_>, along: &MoveReason) {
    match draft.stage().map(|stage| &stage.work) {
        Some(Work::Review(work)) => panel::enter(draft, work, along),
        Some(Work::Steps(work)) => graph::enter(draft, work, along),
        // A route needs its evidence first; the shell answers with `RouteReached`.
        Some(
            Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Ask(_)
            | Work::Route(_)
            | Work::End(_),
        )
        | None => {}
    }
}

/// The gate to which the run must return before it may complete. A gate that the pipeline's promises
/// name must have passed on the current tree itself. For the others it is enough that one of them did.
fn stale_gate(draft: &Draft<'_>, to: &StageName, how: Gates) -> Option<StageName> {
    let definition = draft.pipeline.definition();
    if !is_completed(draft.pipeline, to) {
        return None;
    }
    let names = || definition.stages.iter().map(|stage| &stage.name);
    let gates = || names().filter_map(|name| Some((name, draft.run.gates.get(name)?)));
    let is_promised = |name: &StageName| how == Gates::Compared && definition.promises(name, to);
    let stale = gates().find(|(name, gate)| match gate {
        Gate::Superseded(tree) => is_promised(name) && draft.tree != Some(*tree),
        Gate::Tree(_) | Gate::Artifact { .. } => !holds(draft, gate),
    });
    let covered = gates().any(|(_, gate)| match gate {
        Gate::Tree(tree) | Gate::Superseded(tree) => draft.tree == Some(*tree),
        Gate::Artifact { .. } => false,
    });
    let passed_by = gates().rfind(|(_, gate)| matches!(gate, Gate::Superseded(_)));
    stale
        .or(passed_by.filter(|_| !covered))
        .map(|(name, _)| name.clone())
}

/// Without evidence of the tree the gate counts as stale.
fn holds(draft: &Draft<'_>, gate: &Gate) -> bool {
    match gate {
        Gate::Tree(tree) => draft.tree == Some(*tree),
        Gate::Superseded(_) => true,
        Gate::Artifact { artifact, content } => draft
            .run
            .artifacts
            .get(artifact)
            .is_some_and(|now| now.content == *content),
    }
}

fn go_back(draft: &mut Draft<'_>, exit: Exit<'_>, gate: StageName) {
    if draft.run.stale_returns >= MOST_STALE_RETURNS {
        let reason = format!("files keep changing after {gate} has passed");
        draft.record(
            Rule::StaleGate,
            Fact::Stuck {
                fault: Fault::Strayed,
                reason,
            },
        );
        return;
    }
    go(draft, exit, return_to(gate), Vec::new());
}

fn return_to(gate: StageName) -> Destination {
    Destination {
        to: gate,
        along: MoveReason::StaleGate,
        rule: Rule::StaleGate,
        counted: None,
        barred: None,
    }
}

/// Ends the current stage with this outcome.
pub(super) fn leave(draft: &mut Draft<'_>, outcome: &Outcome) {
    leave_with(draft, outcome, Gates::Compared);
}

/// Ends the current stage with this outcome because a person said so.
pub(super) fn leave_anyway(draft: &mut Draft<'_>, outcome: &Outcome) {
    leave_with(draft, outcome, Gates::Overridden);
}

fn leave_with(draft: &mut Draft<'_>, outcome: &Outcome, gates: Gates) {
    let exit = Exit::Outcome(outcome);
    match draft.stage().and_then(|stage| stage.on.get(outcome)) {
        Some(edge) => take_with(draft, exit, edge, gates),
        None => no_way_on(draft, exit),
    }
}

/// The words of a list, for a sentence.
pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}
