//! Reads what `status` shows from a pipeline and a run.

use std::collections::BTreeSet;

use engine::{
    CounterName, Graph, InFlight, MemberState, Pipeline, ReviewWork, Run, Stage, StepId, Time,
    Turn, Usage, Work,
};

use super::{
    Approval, ArtifactLine, BudgetLine, BypassLine, CounterLine, DispatchLine, OverrideLine,
    ReviewLine, RunContext, SessionLine, StageLine, StatusView, StepLine, UnguardedLine,
};
use crate::cause::Causes;
use crate::facts::RunSpan;
use crate::limits;
use crate::safe::Untrusted;

/// How often a fault is retried by default.
const USUAL_RETRIES: u32 = 2;

pub(super) fn view(pipeline: &Pipeline, run: &Run, context: RunContext<'_>) -> StatusView {
    let definition = pipeline.definition();
    let stage = pipeline.stage(&run.position.stage);
    let params = run.params.iter();
    let gates = run.gates.iter();
    StatusView {
        run: run.id.clone(),
        pipeline: definition.name.clone(),
        definition: run.definition,
        task: Untrusted::new(&run.task),
        params: params
            .map(|(name, value)| (name.clone(), Untrusted::new(value)))
            .collect(),
        project: Untrusted::new(context.project),
        driver: run.driver,
        mode: definition.mode,
        session: SessionLine::of(run),
        bypass: BypassLine::of(run, context.now),
        unjudged: run.unjudged,
        outside: run.outside.unwrap_or(0),
        place: run.place.clone(),
        undelivered: None,
        unguarded: UnguardedLine::all(run),
        status: engine::status(pipeline, run),
        liveness: None,
        rest: None,
        inbox: None,
        freshness: context.freshness,
        stage: stage_line(pipeline, run, stage),
        counters: counters(pipeline, run),
        review: stage.and_then(|stage| review(pipeline, run, stage)),
        steps: run
            .graphs
            .get(&run.position.stage)
            .map(|graph| steps(graph, context))
            .unwrap_or_default(),
        dispatches: dispatches(run, context),
        limits: run
            .limits
            .iter()
            .filter(|limit| limit.until > context.now)
            .cloned()
            .collect(),
        artifacts: artifacts(run),
        gates: gates
            .map(|(stage, gate)| (stage.clone(), gate.clone()))
            .collect(),
        journal: None,
        overrides: overrides(run),
        causes: Causes::of(pipeline, run),
        budget: budget(pipeline, run, context.now, Usage::default()),
        used: run.used,
        started_at: run.started_at,
        touched_at: run.touched_at,
        rehearsal: false,
        span: span(pipeline, run),
        age: context.now.since(run.started_at),
        idle: context.now.since(run.touched_at),
    }
}

/// Without the journal, the last event is the end.
fn span(pipeline: &Pipeline, run: &Run) -> RunSpan {
    RunSpan {
        began_at: Some(run.started_at),
        ended_at: engine::is_over(pipeline, run).then_some(run.touched_at),
    }
}

fn stage_line(pipeline: &Pipeline, run: &Run, stage: Option<&Stage>) -> StageLine {
    let position = &run.position;
    let retry = stage.and_then(|stage| stage.retry.as_ref());
    let limit = retry.map_or(Some(USUAL_RETRIES), |retry| {
        limits::value(&retry.max, pipeline.definition(), Some(run))
    });
    StageLine {
        name: position.stage.clone(),
        kind: stage.map_or("unknown", crate::words::stage_kind),
        shown: stage
            .and_then(|stage| stage.shown.as_ref())
            .map(Untrusted::new),
        attempt: position.retries + 1,
        retries: position.retries,
        visit: position.visit,
        since: position.entered_at,
        retry_limit: limit.filter(|_| stage.is_some_and(has_workers)),
    }
}

/// Do agents work in this stage, so that a fault can be retried?
fn has_workers(stage: &Stage) -> bool {
    match &stage.work {
        Work::Agent(_) | Work::Review(_) | Work::Steps(_) => true,
        Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => false,
    }
}

/// Every declared counter, used or not: a reader sees how much is left.
fn counters(pipeline: &Pipeline, run: &Run) -> Vec<CounterLine> {
    let definition = pipeline.definition();
    let declared: BTreeSet<&CounterName> = definition
        .counters
        .keys()
        .chain(run.counters.keys())
        .collect();
    let line = |name: &CounterName| CounterLine {
        name: name.clone(),
        used: run.counters.get(name).copied().unwrap_or(0),
        max: definition
            .counters
            .get(name)
            .and_then(|c| limits::value(&c.max, definition, Some(run))),
    };
    declared.into_iter().map(line).collect()
}

fn review(pipeline: &Pipeline, run: &Run, stage: &Stage) -> Option<ReviewLine> {
    let Work::Review(review) = &stage.work else {
        return None;
    };
    let panel = run.panels.get(&stage.name)?;
    let agent = |place: &u32| review.panel.get(*place as usize).map(|r| r.agent.clone());
    Some(ReviewLine {
        round: panel.round,
        rounds: limits::value(&review.rounds, pipeline.definition(), Some(run)),
        turn: panel.turn,
        agent: whose_turn(review, panel.turn),
        approved_by: panel.approvals.keys().filter_map(agent).collect(),
    })
}

fn whose_turn(review: &ReviewWork, turn: Turn) -> Option<engine::AgentName> {
    match turn {
        Turn::Reviewing { reviewer } => review
            .panel
            .get(reviewer as usize)
            .map(|reviewer| reviewer.agent.clone()),
        Turn::Fixing { .. } => Some(review.owner.clone()),
        Turn::Spent => None,
    }
}

fn steps(graph: &Graph, context: RunContext<'_>) -> Vec<StepLine> {
    let members = graph.members.iter();
    let done: BTreeSet<&StepId> = members
        .filter(|member| member.state == MemberState::Done)
        .map(|member| &member.step.id)
        .collect();
    let line = |member: &engine::Member| StepLine {
        step: member.step.clone(),
        title: Untrusted::new(&member.step.title),
        state: member.state.clone(),
        waits_for: member
            .step
            .needs
            .iter()
            .filter(|need| !done.contains(need))
            .cloned()
            .collect(),
        retries: member.retries,
        took: member
            .started_at
            .map(|at| member.ended_at.unwrap_or(context.now).since(at)),
    };
    graph.members.iter().map(line).collect()
}

fn dispatches(run: &Run, context: RunContext<'_>) -> Vec<DispatchLine> {
    let line = |dispatch: &engine::Dispatch| DispatchLine {
        id: dispatch.id,
        agent: dispatch.agent.clone(),
        duty: dispatch.duty.clone(),
        stage: dispatch.stage.clone(),
        attempt: dispatch.attempt,
        started_at: dispatch.started_at,
        rests: dispatch.paused_at.is_some(),
        service: dispatch.service.clone(),
        running_for: dispatch
            .paused_at
            .unwrap_or(context.now)
            .since(dispatch.started_at),
        sign: None,
        silent_for: None,
    };
    run.dispatches.values().map(line).collect()
}

fn artifacts(run: &Run) -> Vec<ArtifactLine> {
    let mut lines = Vec::new();
    for (name, captured) in &run.artifacts {
        let approval = match run.approved.get(name) {
            None => Approval::None,
            Some(content) if *content == captured.content => Approval::Approved,
            Some(_) => Approval::Stale,
        };
        let (content, dispatch) = (captured.content, captured.dispatch);
        lines.push(ArtifactLine {
            name: name.clone(),
            content,
            dispatch,
            approval,
        });
    }
    lines
}

fn overrides(run: &Run) -> Vec<OverrideLine> {
    let line = |taken: &engine::Override| OverrideLine {
        stage: taken.stage.clone(),
        outcome: taken.outcome.clone(),
        reason: Untrusted::new(&taken.reason),
        by: Untrusted::new(&taken.by),
        at: taken.at,
    };
    run.overrides.iter().map(line).collect()
}

/// What is limited or was used, with what those who are at work have used so far.
pub(super) fn budget(pipeline: &Pipeline, run: &Run, now: Time, usage: Usage) -> Vec<BudgetLine> {
    let more = InFlight {
        usage,
        driven_ms: 0,
    };
    let lines = engine::budget_lines(pipeline, run, now, more);
    let counts = |line: &BudgetLine| line.used > 0 || line.limit.is_some();
    lines.filter(counts).collect()
}
