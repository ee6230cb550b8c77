//! `apply`: folds one entry into a run. It asks no question; an entry that does not fit is damage.

mod causes;
mod place;
mod reviewing;
mod working;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::cause::{Happened, MoveReason};
use crate::entry::{Entry, Fact, Move, Started};
use crate::names::{ArtifactName, DispatchId, Hash, SessionId, StageName, Time};
use crate::outcome::Fault;
use crate::place::{DeliveryState, RunPlace};
use crate::run::{
    Binding, BindingState, Bypass, Grant, Graph, Member, MemberState, Override, Position, Process,
    Run, Standing, UnguardedWork,
};
use crate::usage::Usage;

/// A journal that `decide` cannot have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the journal is damaged: {}", self.what)
    }
}

impl core::error::Error for Damage {}

fn damage<T>(what: impl Into<String>) -> Result<T, Damage> {
    Err(Damage { what: what.into() })
}

/// The run after this entry. `None` is the run before its first entry.
pub fn apply(run: Option<Run>, entry: &Entry) -> Result<Run, Damage> {
    match (run, &entry.fact) {
        (None, Fact::Started(started)) => Ok(begun(started, entry.at)),
        (None, Fact::Forked { state, .. }) => Ok(Run {
            touched_at: entry.at,
            ..(**state).clone()
        }),
        (None, _) => damage("its first entry does not start a run"),
        (Some(_), Fact::Started(_) | Fact::Forked { .. }) => damage("a run begins twice"),
        (Some(mut run), _) => {
            fold_entry(&mut run, entry)?;
            Ok(run)
        }
    }
}

/// Folds an entry into a run that has started.
pub(crate) fn fold_entry(run: &mut Run, entry: &Entry) -> Result<(), Damage> {
    causes::note(run, entry);
    fold(run, &entry.fact, entry)?;
    if !matches!(entry.fact, Fact::WentStale) {
        run.touched_at = entry.at;
    }
    Ok(())
}

/// The run of these entries.
pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Run, Damage> {
    let last = entries
        .into_iter()
        .try_fold(None, |run, entry| apply(run, entry).map(Some))?;
    last.map_or_else(|| damage("it has no entries"), Ok)
}

fn begun(started: &Started, at: Time) -> Run {
    Run {
        id: started.id.clone(),
        definition: started.definition,
        task: started.task.clone(),
        task_visit: None,
        next_task: None,
        params: started.params.clone(),
        driver: started.driver,
        host: started.host.clone(),
        started_at: at,
        touched_at: at,
        position: arrival(started.stage.clone(), 1, at),
        standing: if started.queued {
            Standing::Queued
        } else {
            Standing::Going
        },
        counters: BTreeMap::new(),
        before: started.before.clone(),
        artifacts: BTreeMap::new(),
        approved: BTreeMap::new(),
        approved_commands: Vec::new(),
        gates: BTreeMap::new(),
        made: BTreeMap::new(),
        stale_returns: 0,
        dispatches: BTreeMap::new(),
        last_dispatch: DispatchId(0),
        workers: Arc::default(),
        panels: BTreeMap::new(),
        graphs: BTreeMap::new(),
        given_steps: started.steps.clone(),
        session: started
            .session
            .clone()
            .map(|session| active(session, started.process, at)),
        bypass: None,
        overrides: Vec::new(),
        used: Usage::default(),
        driven_ms: None,
        grants: 0,
        granted: Grant {
            used: Usage::default(),
            at,
            driven_ms: None,
        },
        holds: 0,
        unjudged: 0,
        outside: None,
        environment: started.environment,
        unguarded: Vec::new(),
        trail: Vec::new(),
        base: started.base,
        routes: BTreeMap::new(),
        exits: BTreeMap::new(),
        place: started.branch.clone().map(RunPlace::new),
        limits: Vec::new(),
        commit: started.commit.clone(),
    }
}

fn arrival(stage: StageName, visit: u32, at: Time) -> Position {
    Position {
        stage,
        visit,
        entered_at: at,
        retries: 0,
        resume: None,
        strayed_from: None,
        happened: Vec::new(),
    }
}

/// Every fact has its one line here.
fn fold(run: &mut Run, fact: &Fact, entry: &Entry) -> Result<(), Damage> {
    match fact {
        Fact::Started(_) | Fact::Forked { .. } => return damage("a run begins twice"),
        Fact::Checked { tree, .. } => run.made.extend(tree.made.clone()),
        Fact::Answered { .. }
        | Fact::Warned { .. }
        | Fact::Noted { .. }
        | Fact::Refused { .. }
        | Fact::Checkpointed { .. }
        | Fact::Adopted { .. } => {}

        Fact::Admitted { dispatch } => working::admitted(run, dispatch)?,
        Fact::Began { dispatch, worker } => working::began(run, *dispatch, worker)?,
        Fact::Worked { dispatch } => working::open(run, *dispatch)?.worked = true,
        Fact::SentBack { dispatch, .. } => working::open(run, *dispatch)?.sent_back += 1,
        Fact::Ended {
            dispatch,
            result,
            usage,
        } => working::ended(run, *dispatch, result, *usage, entry.at)?,
        Fact::CutShort { dispatch, usage } => {
            working::cut_short(run, *dispatch, *usage, entry.at)?;
        }
        Fact::Limited(limit) => working::limited(run, limit),
        Fact::WentOn { dispatch, service } => {
            working::went_on(run, *dispatch, service, entry.at)?;
        }
        Fact::Captured {
            artifact,
            content,
            dispatch,
            step,
            commands,
        } => {
            let captured = working::captured(*content, *dispatch, commands);
            working::capture(run, artifact, captured, step.as_ref())?;
        }
        Fact::Retried { .. } => run.position.retries += 1,
        Fact::StepRetried { stage, step, .. } => working::member(run, stage, step)?.retries += 1,
        Fact::StepFailed {
            stage,
            step,
            fault,
            reason,
        } => {
            let (fault, reason) = (*fault, reason.clone());
            working::member(run, stage, step)?.state = MemberState::Failed { fault, reason };
        }
        Fact::Planned { stage, steps } => working::planned(run, stage, steps),
        Fact::StepsRevived { stage } => working::revived(run, stage)?,

        Fact::GatePassed { stage, gate } => {
            run.gates.insert(stage.clone(), gate.clone());
        }
        Fact::ReviewerApproved {
            stage,
            reviewer,
            subject,
        } => reviewing::approved(run, stage, *reviewer, *subject)?,
        Fact::ReviewerFound { stage, reviewer } => reviewing::found(run, stage, *reviewer)?,
        Fact::Fixed { stage, reviewer } => reviewing::fixed(run, stage, *reviewer)?,
        Fact::RoundStarted { stage, round } => reviewing::round_started(run, stage, *round),
        Fact::RoundsSpent { stage } => reviewing::spent(run, stage)?,

        Fact::TaskGiven { task } => {
            run.task.clone_from(task);
            run.task_visit = Some(run.position.visit);
        }
        Fact::NextTaskGiven { task } => run.next_task = Some(task.clone()),
        Fact::TaskBegan { task } => begin_task(run, task),

        Fact::Routed(routed) => working::routed(run, routed),
        Fact::Moved(step) => moved(run, step, entry.at)?,
        Fact::Attached { session, process } => attached(run, session, *process, entry.at),
        Fact::Detached { session } => detached(run, session)?,
        Fact::TakenUp => going(run),
        Fact::Unstuck => {
            if let Standing::Stuck {
                fault: Fault::Strayed,
                ..
            } = run.standing
            {
                // The person has seen what changed, and goes on with the files as they are.
                run.position.strayed_from = None;
            }
            going(run);
            run.limits.clear();
        }
        Fact::Placed(placed) => place::made(run, placed)?,
        Fact::Relocated(relocation) => place::relocated(run, relocation)?,
        Fact::Delivered(delivered) => {
            place::of(run)?.delivery = DeliveryState::Done((**delivered).clone());
        }
        Fact::DeliveryFailed { reason } => {
            let reason = reason.clone();
            place::of(run)?.delivery = DeliveryState::Failed { reason };
        }
        Fact::Unevaluated { .. } => run.unjudged = run.unjudged.saturating_add(1),
        Fact::Unguarded(found) => run.unguarded.push(UnguardedWork {
            found: found.clone(),
            settled: false,
        }),
        Fact::AcceptedUnguarded { .. } => settle_unguarded(run),
        Fact::ChangedOutside(_) => {
            run.outside = Some(run.outside.unwrap_or(0).saturating_add(1));
        }
        Fact::Bypassed { until, reason } => {
            run.bypass = Some(Bypass {
                until: *until,
                reason: reason.clone(),
                by: entry.by.name(),
            });
        }
        Fact::Vouched { environment, .. } => run.environment = environment.or(run.environment),
        Fact::Approved { artifact, content } => approved(run, artifact, *content),
        Fact::Overridden {
            stage,
            outcome,
            reason,
        } => run.overrides.push(Override {
            stage: stage.clone(),
            outcome: outcome.clone(),
            reason: reason.clone(),
            by: entry.by.name(),
            at: entry.at,
        }),
        Fact::Stuck { fault, reason } => {
            let (fault, reason) = (*fault, reason.clone());
            run.standing = Standing::Stuck { fault, reason };
        }
        Fact::Held { holds } => run.holds = *holds,
        Fact::Abandoned => run.standing = Standing::Abandoned,
        Fact::Driven { ms } => {
            run.driven_ms = Some(run.driven_ms.unwrap_or(0).saturating_add(*ms));
        }
        Fact::WentStale => run.standing = Standing::Stale,
        Fact::OverBudget { what } => run.standing = Standing::OverBudget { what: what.clone() },
        Fact::Halted { reason } => {
            let reason = reason.clone();
            run.standing = Standing::Halted { reason };
        }
        Fact::Continued { budget_again, .. } => {
            going(run);
            run.holds = 0;
            if *budget_again {
                run.grants += 1;
                run.granted = Grant {
                    used: run.used,
                    at: entry.at,
                    driven_ms: run.driven_ms,
                };
            }
        }
        Fact::Cancelled { reason } => {
            let reason = reason.clone();
            run.standing = Standing::Cancelled { reason };
        }
        Fact::Reset { stage, reason } => {
            reset(run, stage, entry.at);
            let (by, reason) = (entry.by.name(), reason.clone());
            causes::sent(run, Happened::Reset { by, reason });
        }
        Fact::Restored { state, reason, .. } => {
            restored(run, state, entry.at);
            let (by, reason) = (entry.by.name(), reason.clone());
            causes::sent(run, Happened::Restored { by, reason });
        }
    }
    Ok(())
}

/// Open work belongs to the session that holds the run from now on.
fn attached(run: &mut Run, session: &SessionId, process: Option<Process>, at: Time) {
    let before = run.session.take();
    for open in run.dispatches.values_mut() {
        if open.session.is_some() && open.session.as_ref() == before.as_ref().map(|it| &it.session)
        {
            open.session = Some(session.clone());
        }
    }
    // A session that comes back answers for the time between, too.
    let known = before.filter(|before| before.session == *session);
    let since = known.and_then(|known| known.since);
    run.session = Some(active(session.clone(), process, since.unwrap_or(at)));
}

fn detached(run: &mut Run, session: &SessionId) -> Result<(), Damage> {
    match &mut run.session {
        Some(binding) if binding.session == *session => {
            binding.state = BindingState::Ended;
            Ok(())
        }
        _ => damage("a session that does not hold the run ends"),
    }
}

/// Approving the content approves its commands, also when another artifact adds them again.
fn approved(run: &mut Run, artifact: &ArtifactName, content: Hash) {
    run.approved.insert(artifact.clone(), content);
    let captured = run.artifacts.get(artifact);
    let captured = captured.filter(|captured| captured.content == content);
    for command in captured.map(|it| it.commands.clone()).unwrap_or_default() {
        if !run.approved_commands.contains(&command) {
            run.approved_commands.push(command);
        }
    }
}

fn active(session: SessionId, process: Option<Process>, since: Time) -> Binding {
    Binding {
        session,
        state: BindingState::Active,
        process,
        since: Some(since),
    }
}

fn settle_unguarded(run: &mut Run) {
    run.unguarded.iter_mut().for_each(|it| it.settled = true);
}

/// A run that was over guarded nothing: its session answers for its calls from now on.
fn guarded_from(run: &mut Run, at: Time) {
    if let Some(binding) = &mut run.session {
        binding.since = Some(at);
    }
}

fn going(run: &mut Run) {
    run.standing = Standing::Going;
    run.position.retries = 0;
}

fn moved(run: &mut Run, step: &Move, at: Time) -> Result<(), Damage> {
    if run.position.stage != step.from {
        return damage(format!(
            "it leaves {} while in {}",
            step.from, run.position.stage
        ));
    }
    for counter in &step.reset {
        run.counters.remove(counter);
        run.panels
            .retain(|stage, _| stage.as_str() != counter.as_str());
    }
    if let Some((counter, value)) = &step.counted {
        run.counters.insert(counter.clone(), *value);
    }
    match step.along {
        MoveReason::StaleGate => run.stale_returns += 1,
        MoveReason::Outgrown(_) => {
            run.panels.remove(&step.to);
            run.graphs.remove(&step.to);
        }
        MoveReason::Interrupted => run.graphs.retain(|_, graph| !is_done(graph)),
        MoveReason::Edge | MoveReason::Full(_) | MoveReason::Unapproved(_) => {
            run.panels.remove(&step.to);
            run.graphs.remove(&step.to);
        }
    }
    run.exits.insert(step.from.clone(), step.outcome.clone());
    // Who is on the longer way has left the shorter one.
    run.routes.retain(|_, held| held.longer != step.to);
    run.position = Position {
        resume: step.resume.clone(),
        ..arrival(step.to.clone(), run.position.visit + 1, at)
    };
    // Work that was under way may end and lead on; only a person lifts a stop.
    if !matches!(run.standing, Standing::Halted { .. }) {
        run.standing = Standing::Going;
    }
    run.holds = 0;
    Ok(())
}

/// A finished graph is planned again when the run comes back; an unfinished one continues.
fn is_done(graph: &Graph) -> bool {
    graph
        .members
        .iter()
        .all(|member| member.state == MemberState::Done)
}

/// What the last task left does not count for the next one. Its gates stay: what they passed on is
/// compared with the tree before the run completes again.
fn begin_task(run: &mut Run, task: &str) {
    run.task = String::from(task);
    run.task_visit = Some(run.position.visit);
    run.next_task = None;
    set_aside_artifacts(run);
    run.approved.clear();
    run.approved_commands.clear();
    run.panels.clear();
    run.graphs.clear();
    run.trail.clear();
    run.position.happened.clear();
    run.exits.clear();
}

/// Captured files still exist, and count as old from now on.
fn set_aside_artifacts(run: &mut Run) {
    let captured = core::mem::take(&mut run.artifacts).into_iter();
    run.before
        .extend(captured.map(|(artifact, old)| (artifact, old.content)));
}

/// Everything is reset except overrides and usage, which must not be forgotten.
fn reset(run: &mut Run, stage: &StageName, at: Time) {
    run.position = arrival(stage.clone(), run.position.visit + 1, at);
    run.standing = Standing::Going;
    run.counters.clear();
    run.next_task = None;
    set_aside_artifacts(run);
    run.approved.clear();
    run.approved_commands.clear();
    run.gates.clear();
    run.stale_returns = 0;
    run.dispatches.clear();
    run.panels.clear();
    run.graphs.clear();
    run.trail.clear();
    run.routes.clear();
    run.exits.clear();
    run.holds = 0;
    settle_unguarded(run);
    guarded_from(run, at);
    place::reset(run);
}

fn restored(run: &mut Run, state: &Run, at: Time) {
    let position = Position {
        visit: run.position.visit + 1,
        entered_at: at,
        ..state.position.clone()
    };
    // Files captured since still exist, and count as old from now on.
    let mut before = core::mem::take(&mut run.before);
    let captured = run.artifacts.iter();
    before.extend(captured.map(|(artifact, old)| (artifact.clone(), old.content)));
    *run = Run {
        position,
        before,
        dispatches: BTreeMap::new(),
        last_dispatch: run.last_dispatch,
        workers: core::mem::take(&mut run.workers),
        session: run.session.clone(),
        bypass: run.bypass.clone(),
        unjudged: run.unjudged,
        outside: run.outside,
        environment: run.environment,
        made: core::mem::take(&mut run.made),
        base: run.base,
        commit: run.commit.take(),
        overrides: core::mem::take(&mut run.overrides),
        used: run.used,
        driven_ms: run.driven_ms,
        limits: core::mem::take(&mut run.limits),
        grants: run.grants,
        granted: run.granted,
        holds: 0,
        unguarded: core::mem::take(&mut run.unguarded),
        place: run.place.take(),
        ..state.clone()
    };
    guarded_from(run, at);
    for graph in run.graphs.values_mut() {
        graph.members.iter_mut().for_each(interrupted);
    }
}

/// Work that was open at the restored point is no longer open.
pub(crate) fn interrupted(member: &mut Member) {
    if matches!(member.state, MemberState::Working { .. }) {
        member.state = MemberState::Pending;
    }
}
