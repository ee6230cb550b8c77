//! What the next process of a worker may cost: the least of what the budget of its run and the caps leave.

use engine::{CutReason, DispatchId, Usage};
use runtime::caps::{self, CapReached};
use runtime::clock;
use runtime::failure::Failure;
use runtime::state::State;
use runtime::work_record::Record;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use super::choice::Runner;
use crate::fleet_caps;
use crate::spending::Spending;

/// In cents; `None` if nothing limits it. Workers of a run that are at work at once share its budget: one that has
/// used its share goes on with what is left then.
pub(super) fn most_cents(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    spending: &Spending,
    (dispatch, used): (DispatchId, Usage),
) -> Result<Option<u64>, Failure> {
    let in_flight = spending.note(dispatch, used);
    let stored = workspace.store.run(&opened.run().id)?;
    let run = stored.as_ref().map_or(opened.run(), |stored| &stored.run);
    let of_run = engine::cost_left(&opened.pipeline, run, in_flight);
    let of_run = of_run.map(|left| spending.share(left));
    let of_caps = caps::cost_left(&workspace.state, clock::now())?;
    let most = [of_run, of_caps].into_iter().flatten().min();
    fleet_caps::reserve(workspace, run, spending, dispatch, most)
}

/// The process has ended: what it did not need of the caps of the fleet is free for others.
pub(super) fn release(workspace: &Workspace<'_>, record: &Record, spending: Option<&Spending>) {
    let (Some(spending), Some(_)) = (spending, workspace.store.fleet()) else {
        return;
    };
    let dispatch = record.dispatch;
    spending.note(dispatch, record.used);
    // Without an answer the next word tells.
    if let Ok(Some(stored)) = workspace.store.run(&record.run) {
        fleet_caps::release(workspace, &stored.run, spending, dispatch);
    }
}

/// Does the program end its own turn at a cost that its command line names?
pub(super) fn ends_own_turn(runner: Runner) -> bool {
    match runner {
        Runner::Program(program) => program.abilities().limits_cost,
        Runner::Command | Runner::StandIn => false,
    }
}

/// Why the work rests: what a cap or the budget left is used up.
pub(super) fn nothing_left(state: &State) -> Result<CutReason, Failure> {
    let cap = caps::reached(state, clock::now())?;
    Ok(cap.map_or(CutReason::OverBudget, capped))
}

/// A day ends by itself, and a person may raise its cap: the service is not limited.
pub(super) fn capped(CapReached { what, until }: CapReached) -> CutReason {
    match until {
        Some(_) => CutReason::Stopped,
        None => CutReason::Capped { what },
    }
}
