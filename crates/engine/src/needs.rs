//! `needs`: the evidence that an event needs before it can be judged. The shell reads it, not this module.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::assign::{assign, canonical_name};
use crate::definition::Source;
use crate::duty::leaves_of;
use crate::event::{
    Answer, EngineEvent, Event, Happening, PersonEvent, SessionEvent, ToolEvent, Who, WorkEvent,
    WorkRef,
};
use crate::evidence::{ArtifactNeed, ChangeNeed, Needs};
use crate::inputs::file_inputs;
use crate::names::{
    AgentName, ArtifactName, CallId, Hash, ParamName, SessionId, StageName, StepId, Time, WorkerId,
};
use crate::next::{Next, next};
use crate::pipeline::Pipeline;
use crate::routing::{change_to_choose, change_to_keep, needs_base};
use crate::run::{BindingState, Dispatch, Duty, Process, Run, TreeAccess};
use crate::stage::{FieldOf, Leaves, Questions, Stage, Work, Writes};
use crate::status::is_completed;
use crate::transition::edge_targets;

/// The evidence that is needed before this event can be judged.
pub fn needs(pipeline: &Pipeline, run: &Run, event: &Event) -> Needs {
    let needs = by_event(pipeline, run, event);
    // What is overdue is settled first, and may end the run.
    let completes = is_overdue(pipeline, run, event.at) && may_complete(pipeline, run);
    Needs {
        tree: needs.tree || completes,
        change: change(pipeline, run, event),
        ..needs
    }
}

/// The change is measured where a route is decided, and where the run may be judged or end by one.
fn change(pipeline: &Pipeline, run: &Run, event: &Event) -> Option<ChangeNeed> {
    let stage = here(pipeline, run)?;
    if let (Happening::Engine(EngineEvent::RouteReached { .. }), Work::Route(work)) =
        (&event.what, &stage.work)
    {
        let kept = change_to_keep(pipeline, run);
        let chosen = change_to_choose(run, work);
        return match (chosen, kept) {
            (Some(one), Some(other)) => Some(ChangeNeed {
                lines: one.lines || other.lines,
                ..one
            }),
            (one, other) => one.or(other),
        };
    }
    let moves = may_move(event) || is_overdue(pipeline, run, event.at);
    if run.routes.is_empty() || !moves || !may_be_judged(pipeline, run, stage) {
        return None;
    }
    change_to_keep(pipeline, run)
}

/// Can this event take the run from its stage?
fn may_move(event: &Event) -> bool {
    match &event.what {
        Happening::Work(work) => {
            matches!(work, WorkEvent::Ended { .. } | WorkEvent::Reported { .. })
        }
        Happening::Session(session) => matches!(session, SessionEvent::StopRequested { .. }),
        Happening::Person(person) => {
            matches!(person, PersonEvent::Answered(_) | PersonEvent::FinishAsked)
        }
        Happening::Engine(engine) => matches!(engine, EngineEvent::ChecksRan { .. }),
        Happening::Tool(_) => false,
    }
}

/// Can the next move lead to a gate, or end the run well? A run may also have been stopped at its end.
fn may_be_judged(pipeline: &Pipeline, run: &Run, stage: &Stage) -> bool {
    let judges = |name: &StageName| {
        is_completed(pipeline, name) || pipeline.stage(name).is_some_and(Stage::is_gate)
    };
    judges(&stage.name) || leads_to(pipeline, run, stage, judges)
}

fn is_overdue(pipeline: &Pipeline, run: &Run, now: Time) -> bool {
    let Some(limit) = here(pipeline, run).and_then(|stage| stage.timeout) else {
        return false;
    };
    let open = run.dispatches.values().map(|open| open.started_at);
    open.chain([run.position.entered_at])
        .any(|since| now.since(since) > limit)
}

fn by_event(pipeline: &Pipeline, run: &Run, event: &Event) -> Needs {
    match &event.what {
        Happening::Work(work) => by_work(pipeline, run, &event.by, work),
        Happening::Tool(tool) => by_tool(pipeline, run, tool),
        Happening::Session(session) => by_session(pipeline, run, &event.by, session),
        Happening::Person(person) => by_person(pipeline, run, person),
        Happening::Engine(engine) => by_engine(pipeline, run, engine),
    }
}

fn by_work(pipeline: &Pipeline, run: &Run, by: &Who, event: &WorkEvent) -> Needs {
    match event {
        WorkEvent::Requested { agent, step, .. } => beginning(pipeline, run, agent, step.as_ref()),
        WorkEvent::MessageRequested { to, .. } => going_on(pipeline, run, to),
        WorkEvent::Began { worker } => going_on(pipeline, run, &worker.id),
        WorkEvent::Ended { work, .. } => match open_work(run, by, work) {
            Some(dispatch) => ending(pipeline, run, dispatch),
            None => session_ending(pipeline, run, work),
        },
        WorkEvent::Reported { agent, step, .. } => {
            reported(pipeline, run, agent.as_ref(), step.as_ref())
        }
        // Where the stage says what follows a limit, the work ends with it.
        WorkEvent::CutShort { dispatch, .. } => match run.dispatches.get(dispatch) {
            Some(dispatch) => ending(pipeline, run, dispatch),
            None => Needs::default(),
        },
        WorkEvent::Launched { .. } | WorkEvent::WentOn { .. } | WorkEvent::Interrupted { .. } => {
            Needs::default()
        }
    }
}

fn by_tool(pipeline: &Pipeline, run: &Run, event: &ToolEvent) -> Needs {
    match event {
        ToolEvent::Used {
            worker: Some(worker),
        } => using(pipeline, run, &worker.id),
        ToolEvent::Used { worker: None } | ToolEvent::Requested { .. } => Needs::default(),
    }
}

fn by_session(pipeline: &Pipeline, run: &Run, by: &Who, event: &SessionEvent) -> Needs {
    match event {
        SessionEvent::Started { session, .. } => Needs {
            holder: holder(run, session),
            ..Needs::default()
        },
        SessionEvent::StopRequested {
            background_work: false,
        } if !run.dispatches.is_empty() => stopping(pipeline, run, by),
        SessionEvent::StopRequested { .. }
        | SessionEvent::Ended { .. }
        | SessionEvent::PromptSubmitted { .. }
        | SessionEvent::TodosMarked { .. }
        | SessionEvent::HooksRemoved { .. }
        | SessionEvent::Remarked { .. }
        | SessionEvent::Unevaluated { .. }
        | SessionEvent::RefusedUnjudged { .. }
        | SessionEvent::Unguarded(_) => Needs::default(),
    }
}

fn by_person(pipeline: &Pipeline, run: &Run, event: &PersonEvent) -> Needs {
    match event {
        PersonEvent::Answered(Answer::Answers { .. }) => Needs {
            artifacts: editable(pipeline, run),
            questions: asked(pipeline, run),
            ..completing(pipeline, run)
        },
        PersonEvent::Answered(Answer::Choice { .. }) => Needs {
            artifacts: editable(pipeline, run),
            ..completing(pipeline, run)
        },
        PersonEvent::EditsTaken => Needs {
            artifacts: editable(pipeline, run),
            ..Needs::default()
        },
        PersonEvent::FinishAsked | PersonEvent::SkipAsked { .. } => completing(pipeline, run),
        // A run may have been stopped at its very end.
        PersonEvent::Answered(Answer::Continue { .. }) => Needs {
            tree: is_completed(pipeline, &run.position.stage) && !run.gates.is_empty(),
            ..Needs::default()
        },
        PersonEvent::RetryAsked
        | PersonEvent::CancelAsked { .. }
        | PersonEvent::ResetAsked { .. }
        | PersonEvent::BypassAsked { .. }
        | PersonEvent::Vouched { .. }
        | PersonEvent::CheckpointAsked { .. }
        | PersonEvent::AdoptAsked { .. }
        | PersonEvent::RestoreAsked { .. } => Needs::default(),
    }
}

fn by_engine(pipeline: &Pipeline, run: &Run, event: &EngineEvent) -> Needs {
    match event {
        EngineEvent::StepsRead { .. } => Needs {
            steps: planned(pipeline, run),
            ..Needs::default()
        },
        EngineEvent::Placed { .. } => {
            let needs = needs_at_start(pipeline, &run.params);
            Needs {
                base: needs.base || shows_change(pipeline),
                ..needs
            }
        }
        EngineEvent::TakenUp
        | EngineEvent::Relocated(_)
        | EngineEvent::Delivered(_)
        | EngineEvent::DeliveryFailed { .. }
        | EngineEvent::RouteReached { .. }
        | EngineEvent::ChecksRan { .. }
        | EngineEvent::ViewChanged { .. }
        | EngineEvent::TimePassed
        | EngineEvent::LeftUnused
        | EngineEvent::Driven { .. }
        | EngineEvent::Capped { .. }
        | EngineEvent::LimitKnown(_)
        | EngineEvent::ChangedOutside(_) => Needs::default(),
    }
}

/// The evidence that is needed before a run starts: files that an earlier run may have left.
/// With the tree as it is, where a route may ask for the change since then.
pub fn needs_at_start(pipeline: &Pipeline, params: &BTreeMap<ParamName, String>) -> Needs {
    let all = pipeline.definition().artifacts.iter();
    let files = all.filter(|(_, artifact)| match &artifact.source {
        // The files of steps are known only when the steps are.
        Source::File(path) => !path.contains("{step}"),
        Source::Reply | Source::Answers => false,
    });
    Needs {
        artifacts: files
            .map(|(artifact, _)| ArtifactNeed {
                artifact: artifact.clone(),
                step: None,
                agent: None,
            })
            .collect(),
        base: needs_base(pipeline, params),
        ..Needs::default()
    }
}

/// Will a reviewer or a person of this run ask what it has changed?
pub fn shows_change(pipeline: &Pipeline) -> bool {
    let mut stages = pipeline.definition().stages.iter();
    stages.any(|stage| match &stage.work {
        Work::Review(_) | Work::Ask(_) => true,
        Work::Agent(_) => stage.writes == Writes::Only(Vec::new()),
        Work::Open(_) | Work::Check(_) | Work::Steps(_) | Work::Route(_) | Work::End(_) => false,
    })
}

/// The captured artifacts whose files a person may change while a question is open.
fn editable(pipeline: &Pipeline, run: &Run) -> Vec<ArtifactNeed> {
    if here(pipeline, run).is_none_or(|stage| stage.work.as_ask().is_none()) {
        return Vec::new();
    }
    let declared = &pipeline.definition().artifacts;
    let is_file = |name: &&ArtifactName| match declared.get(*name).map(|it| &it.source) {
        // Steps have files of their own.
        Some(Source::File(path)) => !path.contains("{step}"),
        Some(Source::Reply | Source::Answers) | None => false,
    };
    let files = run.artifacts.keys().filter(is_file);
    files
        .map(|artifact| ArtifactNeed {
            artifact: artifact.clone(),
            step: None,
            agent: None,
        })
        .collect()
}

fn artifacts(leaves: &Leaves, duty: &Duty, agent: &AgentName) -> Vec<ArtifactNeed> {
    let all = leaves.all().into_iter();
    all.map(|artifact| ArtifactNeed {
        artifact: artifact.clone(),
        step: duty.step().cloned(),
        agent: Some(agent.clone()),
    })
    .collect()
}

fn beginning(pipeline: &Pipeline, run: &Run, agent: &AgentName, step: Option<&StepId>) -> Needs {
    let agent = canonical_name(pipeline, run, agent);
    let Ok(assignment) = assign(pipeline, run, &agent, step) else {
        return Needs::default();
    };
    let compared = here(pipeline, run).is_some_and(|stage| is_compared(stage, &assignment.duty));
    Needs {
        artifacts: artifacts(&assignment.leaves, &assignment.duty, &agent),
        inputs: file_inputs(pipeline, run, &assignment.duty),
        tree: compared || judges_tree(&assignment.duty, assignment.reach),
        keep_tree: compared,
        ..Needs::default()
    }
}

/// A worker whose work is over is admitted again when it gets a message.
fn going_on(pipeline: &Pipeline, run: &Run, worker: &WorkerId) -> Needs {
    match run.workers.get(worker) {
        Some(known) if run.work_of(worker).is_none() => {
            beginning(pipeline, run, &known.agent, None)
        }
        Some(_) | None => Needs::default(),
    }
}

/// What a tool changed is compared where the worker's stage restricts it.
fn using(pipeline: &Pipeline, run: &Run, worker: &WorkerId) -> Needs {
    let open = run.work_of(worker);
    let restricted = open.filter(|open| pipeline.stage(&open.stage).is_some_and(restricts));
    let before = restricted.and_then(|open| open.tree);
    Needs {
        tree: before.is_some(),
        changed_since: before,
        ..Needs::default()
    }
}

/// The process of another session that holds the run.
fn holder(run: &Run, session: &SessionId) -> Option<Process> {
    let binding = run.session.as_ref()?;
    let other = binding.session != *session && binding.state == BindingState::Active;
    binding.process.filter(|_| other)
}

fn ending(pipeline: &Pipeline, run: &Run, dispatch: &Dispatch) -> Needs {
    let stage = pipeline.stage(&dispatch.stage);
    let compared = stage.is_some_and(|stage| is_compared(stage, &dispatch.duty));
    Needs {
        artifacts: artifacts(
            &leaves_of(pipeline, dispatch),
            &dispatch.duty,
            &dispatch.agent,
        ),
        tree: judges_tree(&dispatch.duty, dispatch.reach) || may_complete(pipeline, run),
        changed_since: dispatch.tree.filter(|_| compared),
        ..Needs::default()
    }
}

/// Work whose end was not reported is judged when its session stops, and that may end the run.
fn stopping(pipeline: &Pipeline, run: &Run, by: &Who) -> Needs {
    match sole_work(run, by) {
        Some(open) => ending(pipeline, run, open),
        None => completing(pipeline, run),
    }
}

/// The main session's work is admitted when it is done.
fn session_ending(pipeline: &Pipeline, run: &Run, work: &WorkRef) -> Needs {
    match work {
        WorkRef::Agent { agent, step } if agent.is_session() => {
            reported(pipeline, run, Some(agent), step.as_ref())
        }
        WorkRef::Agent { .. } | WorkRef::Dispatch(_) | WorkRef::Host { .. } => Needs::default(),
    }
}

fn reported(
    pipeline: &Pipeline,
    run: &Run,
    agent: Option<&AgentName>,
    step: Option<&StepId>,
) -> Needs {
    let expected = agent.cloned().or_else(|| sole(pipeline, run));
    let assigned = expected.and_then(|agent| {
        let assignment = assign(pipeline, run, &agent, step).ok()?;
        Some((agent, assignment))
    });
    match assigned {
        Some((agent, assignment)) => Needs {
            artifacts: artifacts(&assignment.leaves, &assignment.duty, &agent),
            tree: judges_tree(&assignment.duty, assignment.reach) || may_complete(pipeline, run),
            ..Needs::default()
        },
        None => Needs::default(),
    }
}

/// The only agent that can work now.
fn sole(pipeline: &Pipeline, run: &Run) -> Option<AgentName> {
    match next(pipeline, run).as_slice() {
        [Next::Agent { agent, .. }] => Some(agent.clone()),
        [Next::Session { .. }] => Some(AgentName::session()),
        _ => None,
    }
}

fn here<'a>(pipeline: &'a Pipeline, run: &Run) -> Option<&'a Stage> {
    pipeline.stage(&run.position.stage)
}

fn restricts(stage: &Stage) -> bool {
    matches!(stage.writes, Writes::Only(_))
}

/// Are the paths named that changed during this work? A reviewer changes nothing.
fn is_compared(stage: &Stage, duty: &Duty) -> bool {
    let reviews = matches!(duty, Duty::Review { .. }) && stage.reviews_tree();
    restricts(stage) || reviews
}

fn judges_tree(duty: &Duty, reach: TreeAccess) -> bool {
    matches!(duty, Duty::Review { .. }) || reach == TreeAccess::ReadsOnly
}

fn completing(pipeline: &Pipeline, run: &Run) -> Needs {
    Needs {
        tree: may_complete(pipeline, run),
        ..Needs::default()
    }
}

/// Can the next move end the run well? Then its gates are compared with the tree once more. Where no gate
/// has passed yet there is nothing to compare, unless this event lets one pass: a panel's last word
/// does. Every other event that may let one pass looks at the tree for that.
fn may_complete(pipeline: &Pipeline, run: &Run) -> bool {
    let Some(stage) = here(pipeline, run) else {
        return false;
    };
    if run.gates.is_empty() && !matches!(stage.work, Work::Review(_)) {
        return false;
    }
    leads_to(pipeline, run, stage, |name| is_completed(pipeline, name))
}

/// Can an edge out of this stage lead to one of these?
fn leads_to(
    pipeline: &Pipeline,
    run: &Run,
    stage: &Stage,
    is_one: impl Fn(&StageName) -> bool,
) -> bool {
    let definition = pipeline.definition();
    let resume = run.position.resume.as_ref();
    stage.edges().iter().any(|(_, edge)| {
        let full = edge
            .count
            .as_ref()
            .and_then(|counter| definition.counters.get(counter));
        edge_targets(definition, edge, resume).iter().any(&is_one)
            || full.is_some_and(|counter| is_one(&counter.then))
    })
}

/// The open work that this names: by its id, else the oldest of that agent in the session that speaks.
pub(crate) fn open_work<'a>(run: &'a Run, by: &Who, work: &WorkRef) -> Option<&'a Dispatch> {
    let session = by.session();
    run.dispatches.values().find(|open| match work {
        WorkRef::Dispatch(id) => open.id == *id,
        WorkRef::Host { call, worker } => {
            open.session.as_ref() == session && is_told(run, open, call.as_ref(), worker.as_ref())
        }
        WorkRef::Agent { agent, step } => {
            open.agent == *agent
                && open.session.as_ref() == session
                && step
                    .as_ref()
                    .is_none_or(|step| open.duty.step() == Some(step))
        }
    })
}

/// The open work of the session that speaks, where there is no other: of several at once what each has
/// left cannot be told apart.
pub(crate) fn sole_work<'a>(run: &'a Run, by: &Who) -> Option<&'a Dispatch> {
    let session = by.session()?;
    let open = run.dispatches.values();
    let mut theirs = open.filter(|open| open.session.as_ref() == Some(session));
    let first = theirs.next();
    first.filter(|_| theirs.next().is_none())
}

/// Does the host mean this work? Of two calls for the same work it does not say which started which
/// worker: a known worker counts more than the call that names it.
fn is_told(run: &Run, open: &Dispatch, call: Option<&CallId>, worker: Option<&WorkerId>) -> bool {
    match worker.filter(|worker| run.workers.contains_key(*worker)) {
        Some(worker) => open.worker.as_ref() == Some(worker) && !is_earlier(run, open, call),
        None => call.is_some() && open.call.as_ref() == call,
    }
}

/// Does this call belong to earlier work of the same worker? A message may have restarted it before its
/// first end was reported. Then the call no longer identifies a worker.
fn is_earlier(run: &Run, open: &Dispatch, call: Option<&CallId>) -> bool {
    let mut known = run.workers.values();
    call.is_some() && open.call.as_ref() != call && !known.any(|known| known.call.as_ref() == call)
}

fn captured(run: &Run, field: &FieldOf) -> Option<(FieldOf, Hash)> {
    let artifact: &ArtifactName = &field.artifact;
    run.artifacts
        .get(artifact)
        .map(|captured| (field.clone(), captured.content))
}

/// The field with the questions of the current stage.
pub fn asked(pipeline: &Pipeline, run: &Run) -> Option<(FieldOf, Hash)> {
    match &here(pipeline, run)?.work.as_ask()?.questions {
        Questions::From { field, .. } => captured(run, field),
        Questions::Choice { .. } => None,
    }
}

fn planned(pipeline: &Pipeline, run: &Run) -> Option<(FieldOf, Hash)> {
    let steps = here(pipeline, run)?.work.as_steps()?;
    captured(run, steps.source.field()?)
}
