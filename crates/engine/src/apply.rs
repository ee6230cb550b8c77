//! `apply`: folds one entry into a run. It asks no question; an entry that does not fit is damage.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::entry::{Along, Entry, Fact, Move, Started, WorkResult};
use crate::names::{DispatchId, StageName, StepId, Time};
use crate::run::{
    Binding, BindingState, Captured, Dispatch, Duty, Gate, Graph, Member, MemberState, Override,
    Panel, Position, Reach, Run, Standing, Turn, Usage,
};
use crate::stage::Step;

/// A journal that cannot have been written by `decide`.
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

/// The run after this entry. `None` stands for the run before its first entry.
pub fn apply(run: Option<Run>, entry: &Entry) -> Result<Run, Damage> {
    match (run, &entry.fact) {
        (None, Fact::Started(started)) => Ok(begun(started, entry.at)),
        (None, Fact::Forked { state, .. }) => Ok(Run {
            touched_at: entry.at,
            ..(**state).clone()
        }),
        (None, _) => damage("its first entry does not begin a run"),
        (Some(_), Fact::Started(_) | Fact::Forked { .. }) => damage("a run begins twice"),
        (Some(mut run), _) => {
            fold_entry(&mut run, entry)?;
            Ok(run)
        }
    }
}

/// Folds an entry into a run that has begun.
pub(crate) fn fold_entry(run: &mut Run, entry: &Entry) -> Result<(), Damage> {
    fold(run, &entry.fact, entry)?;
    if !matches!(entry.fact, Fact::WentStale) {
        run.touched_at = entry.at;
    }
    Ok(())
}

/// The run that these entries tell of.
pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Run, Damage> {
    let last = entries
        .into_iter()
        .try_fold(None, |run, entry| apply(run, entry).map(Some))?;
    last.map_or_else(|| damage("it has no entries"), Ok)
}

fn begun(started: &Started, at: Time) -> Run {
    let binding = |session| Binding {
        session,
        state: BindingState::Active,
    };
    Run {
        id: started.id.clone(),
        definition: started.definition,
        task: started.task.clone(),
        params: started.params.clone(),
        driver: started.driver,
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
        gates: BTreeMap::new(),
        stale_returns: 0,
        dispatches: BTreeMap::new(),
        last_dispatch: DispatchId(0),
        panels: BTreeMap::new(),
        graphs: BTreeMap::new(),
        given_steps: started.steps.clone(),
        session: started.session.clone().map(binding),
        overrides: Vec::new(),
        used: Usage::default(),
        grants: 0,
        holds: 0,
    }
}

fn arrival(stage: StageName, visit: u32, at: Time) -> Position {
    Position {
        stage,
        visit,
        entered_at: at,
        retries: 0,
        resume: None,
    }
}

fn fold(run: &mut Run, fact: &Fact, entry: &Entry) -> Result<(), Damage> {
    match fact {
        Fact::Started(_) | Fact::Forked { .. } => return damage("a run begins twice"),
        Fact::Checked { .. }
        | Fact::Answered { .. }
        | Fact::Warned { .. }
        | Fact::Noted { .. }
        | Fact::Refused { .. }
        | Fact::Checkpointed { .. } => {}

        Fact::TakenUp | Fact::Unstuck => going(run),
        Fact::Attached { session } => {
            run.session = Some(Binding {
                session: session.clone(),
                state: BindingState::Active,
            });
        }
        Fact::Detached { session } => match &mut run.session {
            Some(binding) if binding.session == *session => binding.state = BindingState::Ended,
            _ => return damage("a session ends that did not hold the run"),
        },

        Fact::Admitted { dispatch } => admitted(run, dispatch)?,
        Fact::Ended {
            dispatch,
            result,
            usage,
        } => ended(run, *dispatch, result, *usage, entry.at)?,
        Fact::Captured {
            artifact,
            content,
            dispatch,
            step,
        } => {
            let captured = Captured {
                content: *content,
                dispatch: *dispatch,
            };
            run.artifacts.insert(artifact.clone(), captured);
            if let Some(step) = step {
                let stage = run.position.stage.clone();
                member(run, &stage, step)?
                    .left
                    .insert(artifact.clone(), *content);
            }
        }

        Fact::Retried { .. } => run.position.retries += 1,
        Fact::StepRetried { stage, step, .. } => member(run, stage, step)?.retries += 1,
        Fact::StepFailed {
            stage,
            step,
            fault,
            reason,
        } => {
            member(run, stage, step)?.state = MemberState::Failed {
                fault: *fault,
                reason: reason.clone(),
            };
        }
        Fact::Stuck { fault, reason } => {
            run.standing = Standing::Stuck {
                fault: *fault,
                reason: reason.clone(),
            };
        }

        Fact::GatePassed { stage, gate } => {
            run.gates.insert(stage.clone(), gate.clone());
        }
        Fact::ReviewerApproved {
            stage,
            reviewer,
            subject,
        } => {
            let panel = panel(run, stage)?;
            panel.approvals.insert(*reviewer, *subject);
            panel.turn = Turn::Reviewing {
                reviewer: reviewer + 1,
            };
        }
        Fact::ReviewerFound { stage, reviewer } => {
            let panel = panel(run, stage)?;
            panel.approvals.remove(reviewer);
            panel.turn = Turn::Fixing {
                reviewer: *reviewer,
            };
        }
        Fact::Fixed { stage, reviewer } => {
            panel(run, stage)?.turn = Turn::Reviewing {
                reviewer: reviewer + 1,
            };
        }
        Fact::RoundStarted { stage, round } => {
            let turn = Turn::Reviewing { reviewer: 0 };
            let panel = Panel {
                round: *round,
                turn,
                approvals: BTreeMap::new(),
            };
            run.panels.insert(stage.clone(), panel);
            run.position.retries = 0;
        }
        Fact::RoundsSpent { stage } => panel(run, stage)?.turn = Turn::Spent,

        Fact::Planned { stage, steps } => {
            run.graphs.insert(
                stage.clone(),
                Graph {
                    members: steps.iter().map(planned).collect(),
                },
            );
        }
        Fact::StepsRevived { stage } => revived(run, stage)?,

        Fact::Approved { artifact, content } => {
            run.approved.insert(artifact.clone(), *content);
        }
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

        Fact::Moved(step) => moved(run, step, entry.at)?,

        Fact::Held { holds } => run.holds = *holds,
        Fact::Abandoned => run.standing = Standing::Abandoned,
        Fact::WentStale => run.standing = Standing::Stale,
        Fact::OverBudget { what } => run.standing = Standing::OverBudget { what: what.clone() },
        Fact::Continued { budget_again } => {
            going(run);
            run.holds = 0;
            run.grants += u32::from(*budget_again);
        }
        Fact::Cancelled { reason } => {
            run.standing = Standing::Cancelled {
                reason: reason.clone(),
            };
        }
        Fact::Reset { stage, .. } => reset(run, stage, entry.at),
        Fact::Restored { state, .. } => restored(run, state, entry.at),
    }
    Ok(())
}

fn going(run: &mut Run) {
    run.standing = Standing::Going;
    run.position.retries = 0;
}

fn admitted(run: &mut Run, dispatch: &Dispatch) -> Result<(), Damage> {
    if dispatch.id != DispatchId(run.last_dispatch.0 + 1) {
        return damage(format!(
            "dispatch {} follows {}",
            dispatch.id, run.last_dispatch
        ));
    }
    if let Duty::Step { step } = &dispatch.duty {
        let member = member(run, &dispatch.stage, step)?;
        member.state = MemberState::Working {
            dispatch: dispatch.id,
        };
        member.started_at = member.started_at.or(Some(dispatch.started_at));
    }
    if dispatch.reach == Reach::MayWrite {
        run.gates.values_mut().for_each(supersede);
    }
    run.last_dispatch = dispatch.id;
    run.standing = Standing::Going;
    run.holds = 0;
    run.dispatches.insert(dispatch.id, dispatch.clone());
    Ok(())
}

/// An approval holds for the tree that it looked at. A worker who may change the tree is no accident,
/// but what it changes is reviewed or checked again before the run completes.
fn supersede(gate: &mut Gate) {
    if let Gate::Tree(tree) = gate {
        *gate = Gate::Superseded(*tree);
    }
}

fn ended(
    run: &mut Run,
    id: DispatchId,
    result: &WorkResult,
    usage: Usage,
    at: Time,
) -> Result<(), Damage> {
    let Some(dispatch) = run.dispatches.remove(&id) else {
        return damage(format!("dispatch {id} ends and was not open"));
    };
    run.used.turns = run.used.turns.saturating_add(usage.turns);
    run.used.tokens = run.used.tokens.saturating_add(usage.tokens);
    run.used.cost_cents = run.used.cost_cents.saturating_add(usage.cost_cents);
    if let Duty::Step { step } = &dispatch.duty
        && let Ok(member) = member(run, &dispatch.stage, step)
        && member.state == (MemberState::Working { dispatch: id })
    {
        member.ended_at = Some(at);
        member.state = match result {
            WorkResult::Outcome(_) => MemberState::Done,
            WorkResult::Fault { .. } | WorkResult::Late | WorkResult::Dropped => {
                MemberState::Pending
            }
        };
    }
    Ok(())
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
        Along::StaleGate => run.stale_returns += 1,
        Along::Interrupted => run.graphs.retain(|_, graph| !is_done(graph)),
        Along::Edge | Along::Full(_) => {
            run.panels.remove(&step.to);
            run.graphs.remove(&step.to);
        }
    }
    run.position = Position {
        resume: step.resume.clone(),
        ..arrival(step.to.clone(), run.position.visit + 1, at)
    };
    run.standing = Standing::Going;
    run.holds = 0;
    Ok(())
}

/// A graph that is done is planned anew when the run comes back; an unfinished one goes on.
fn is_done(graph: &Graph) -> bool {
    graph
        .members
        .iter()
        .all(|member| member.state == MemberState::Done)
}

/// Everything goes back to the start but what must not be forgotten: overrides and what was used.
fn reset(run: &mut Run, stage: &StageName, at: Time) {
    run.position = arrival(stage.clone(), run.position.visit + 1, at);
    run.standing = Standing::Going;
    run.counters.clear();
    run.artifacts.clear();
    run.approved.clear();
    run.gates.clear();
    run.stale_returns = 0;
    run.dispatches.clear();
    run.panels.clear();
    run.graphs.clear();
    run.holds = 0;
}

fn restored(run: &mut Run, state: &Run, at: Time) {
    let position = Position {
        visit: run.position.visit + 1,
        entered_at: at,
        ..state.position.clone()
    };
    *run = Run {
        position,
        dispatches: BTreeMap::new(),
        last_dispatch: run.last_dispatch,
        session: run.session.clone(),
        overrides: core::mem::take(&mut run.overrides),
        used: run.used,
        grants: run.grants,
        holds: 0,
        ..state.clone()
    };
    for graph in run.graphs.values_mut() {
        graph.members.iter_mut().for_each(interrupted);
    }
}

/// Work that was under way at the restored point is not under way any more.
fn interrupted(member: &mut Member) {
    if matches!(member.state, MemberState::Working { .. }) {
        member.state = MemberState::Pending;
    }
}

fn revived(run: &mut Run, stage: &StageName) -> Result<(), Damage> {
    let Some(graph) = run.graphs.get_mut(stage) else {
        return damage(format!("stage {stage} has no task graph"));
    };
    for member in &mut graph.members {
        if matches!(member.state, MemberState::Failed { .. }) {
            member.state = MemberState::Pending;
            member.retries = 0;
        }
    }
    Ok(())
}

fn planned(step: &Step) -> Member {
    Member {
        step: step.clone(),
        state: MemberState::Pending,
        retries: 0,
        left: BTreeMap::new(),
        started_at: None,
        ended_at: None,
    }
}

fn panel<'a>(run: &'a mut Run, stage: &StageName) -> Result<&'a mut Panel, Damage> {
    match run.panels.get_mut(stage) {
        Some(panel) => Ok(panel),
        None => damage(format!("stage {stage} has no panel")),
    }
}

fn member<'a>(
    run: &'a mut Run,
    stage: &StageName,
    step: &StepId,
) -> Result<&'a mut Member, Damage> {
    let graph = run.graphs.get_mut(stage);
    let members = graph.into_iter().flat_map(|graph| &mut graph.members);
    match members.into_iter().find(|member| member.step.id == *step) {
        Some(member) => Ok(member),
        None => damage(format!("stage {stage} has no step {step}")),
    }
}
