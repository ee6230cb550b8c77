//! Folding work: dispatches, what they left, and the steps of task graphs.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Damage, damage};
use crate::change::{HeldRoute, Routed};
use crate::entry::WorkResult;
use crate::names::{ArtifactName, DispatchId, Hash, StageName, StepId, Time, WorkerId};
use crate::outcome::{Fault, Outcome};
use crate::run::{
    Captured, Dispatch, Duty, Gate, Graph, KnownWorker, Member, MemberState, Run, Service,
    ServiceLimit, Standing, TreeAccess,
};
use crate::stage::Step;
use crate::usage::Usage;

/// More workers than this are not remembered: a run's state stays small however long it is.
const MOST_KNOWN: usize = 64;

pub(super) fn captured(
    content: Hash,
    dispatch: Option<DispatchId>,
    commands: &[Vec<String>],
) -> Captured {
    Captured {
        content,
        dispatch,
        commands: commands.to_vec(),
    }
}

pub(super) fn capture(
    run: &mut Run,
    artifact: &ArtifactName,
    captured: Captured,
    step: Option<&StepId>,
) -> Result<(), Damage> {
    let content = captured.content;
    run.artifacts.insert(artifact.clone(), captured);
    if let Some(step) = step {
        let stage = run.position.stage.clone();
        let left = &mut member(run, &stage, step)?.left;
        left.insert(artifact.clone(), content);
    }
    Ok(())
}

pub(super) fn admitted(run: &mut Run, dispatch: &Dispatch) -> Result<(), Damage> {
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
    if dispatch.reach == TreeAccess::MayWrite {
        run.gates.values_mut().for_each(supersede);
    }
    run.last_dispatch = dispatch.id;
    run.standing = Standing::Going;
    run.dispatches.insert(dispatch.id, dispatch.clone());
    know(run, dispatch);
    Ok(())
}

pub(super) fn open(run: &mut Run, id: DispatchId) -> Result<&mut Dispatch, Damage> {
    match run.dispatches.get_mut(&id) {
        Some(dispatch) => Ok(dispatch),
        None => damage(format!("dispatch {id} is not open")),
    }
}

pub(super) fn began(run: &mut Run, id: DispatchId, worker: &WorkerId) -> Result<(), Damage> {
    // One worker does one piece of work: what was guessed before gives way.
    for open in run.dispatches.values_mut() {
        open.worker.take_if(|known| known == worker);
    }
    let dispatch = open(run, id)?;
    dispatch.worker = Some(worker.clone());
    let dispatch = dispatch.clone();
    know(run, &dispatch);
    Ok(())
}

/// Remembers who did a piece of work, since its end may be reported twice and it may get messages.
fn know(run: &mut Run, dispatch: &Dispatch) {
    let Some(worker) = &dispatch.worker else {
        return;
    };
    let known = KnownWorker {
        agent: dispatch.agent.clone(),
        dispatch: dispatch.id,
        call: dispatch.call.clone(),
    };
    Arc::make_mut(&mut run.workers).insert(worker.clone(), known);
    if run.workers.len() > MOST_KNOWN {
        // A worker with open work is not forgotten.
        let over =
            |(_, known): &(&WorkerId, &KnownWorker)| !run.dispatches.contains_key(&known.dispatch);
        let over = run.workers.iter().filter(over);
        let oldest = over.min_by_key(|(_, known)| known.dispatch);
        if let Some(oldest) = oldest.map(|(worker, _)| worker.clone()) {
            Arc::make_mut(&mut run.workers).remove(&oldest);
        }
    }
}

/// An approval is valid for the tree that was checked. A later worker may change the tree, but then a
/// review or check must pass again before the run completes.
fn supersede(gate: &mut Gate) {
    if let Gate::Tree(tree) = gate {
        *gate = Gate::Superseded(*tree);
    }
}

pub(super) fn ended(
    run: &mut Run,
    id: DispatchId,
    result: &WorkResult,
    usage: Usage,
    at: Time,
) -> Result<(), Damage> {
    let Some(dispatch) = run.dispatches.remove(&id) else {
        return damage(format!("dispatch {id} ends but was not open"));
    };
    run.used = run.used.and(usage);
    // A service that works again after its time has no limit any more.
    let limited = matches!(result, WorkResult::Fault { fault, .. } if *fault == Fault::Limited);
    run.limits.retain(|limit| {
        limited || limit.until > at || dispatch.service.as_ref() != Some(&limit.service)
    });
    if matches!(result, WorkResult::Outcome(_)) {
        // Starting work is not progress yet: a session could call failing agents for ever.
        run.holds = 0;
        // The next one in a panel begins with what the last has left.
        if matches!(dispatch.duty, Duty::Review { .. } | Duty::Fix { .. }) {
            run.position.strayed_from = None;
        }
    }
    if let WorkResult::Fault {
        fault: Fault::Strayed,
        ..
    } = result
    {
        keep_baseline(run, &dispatch);
    }
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

/// The work stays open, and its time stands still.
pub(super) fn cut_short(
    run: &mut Run,
    id: DispatchId,
    usage: Usage,
    at: Time,
) -> Result<(), Damage> {
    run.used = run.used.and(usage);
    let dispatch = open(run, id)?;
    dispatch.paused_at = dispatch.paused_at.or(Some(at));
    Ok(())
}

pub(super) fn limited(run: &mut Run, limit: &ServiceLimit) {
    run.limits.retain(|known| known.service != limit.service);
    run.limits.push(limit.clone());
}

/// The time in which nobody worked does not count as time of the work.
pub(super) fn went_on(
    run: &mut Run,
    id: DispatchId,
    service: &Service,
    at: Time,
) -> Result<(), Damage> {
    let dispatch = open(run, id)?;
    if let Some(paused_at) = dispatch.paused_at.take() {
        let rested = at.0.saturating_sub(paused_at.0);
        dispatch.started_at = Time(dispatch.started_at.0.saturating_add(rested));
    }
    dispatch.service = Some(service.clone());
    Ok(())
}

fn keep_baseline(run: &mut Run, dispatch: &Dispatch) {
    let baseline = match &dispatch.duty {
        Duty::Step { step } => match member(run, &dispatch.stage, step) {
            Ok(member) => &mut member.strayed_from,
            Err(_) => return,
        },
        Duty::Work | Duty::Open | Duty::Fix { .. } => &mut run.position.strayed_from,
        // In the tree of a person a review fails in this way too when somebody else changed it: the next
        // one begins with what is there, and gates that looked at something else are stale.
        Duty::Review { .. } if run.place.is_none() => return,
        Duty::Review { .. } => &mut run.position.strayed_from,
    };
    *baseline = baseline.or(dispatch.tree);
}

pub(super) fn revived(run: &mut Run, stage: &StageName) -> Result<(), Damage> {
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

pub(super) fn planned(run: &mut Run, stage: &StageName, steps: &[Step]) {
    let members = steps.iter().map(pending).collect();
    run.graphs.insert(stage.clone(), Graph { members });
}

fn pending(step: &Step) -> Member {
    Member {
        step: step.clone(),
        state: MemberState::Pending,
        retries: 0,
        left: BTreeMap::new(),
        started_at: None,
        ended_at: None,
        strayed_from: None,
    }
}

pub(super) fn member<'a>(
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

/// A rule that holds is remembered, because it must go on to hold.
pub(super) fn routed(run: &mut Run, routed: &Routed) {
    run.routes.remove(&routed.route);
    if routed.outcome != Outcome::Otherwise {
        let held = HeldRoute {
            outcome: routed.outcome.clone(),
            longer: routed.longer.clone(),
        };
        run.routes.insert(routed.route.clone(), held);
    }
}
