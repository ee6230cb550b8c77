//! Caps on what all machines of a fleet spend in a day, and what each process may use of them.

use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use engine::{DispatchId, Run, Time};
use runtime::clock;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use store::{AtWork, ReachedCap, SharedBackend, StoredRun};

use crate::spending::Spending;

/// How often a worker tells what it uses, and looks at what all use.
const INTERVAL: Duration = Duration::from_secs(2);

/// The caps of the fleet for one worker, as it works.
#[derive(Debug, Default)]
pub struct FleetCapWatch {
    looked: Option<Instant>,
}

impl FleetCapWatch {
    /// Tells the fleet what the run has used with all that is in flight, and returns the cap that it has used up with
    /// others, if it is time to look.
    pub(crate) fn look(
        &mut self,
        workspace: &Workspace<'_>,
        stored: &StoredRun,
        spending: &Spending,
    ) -> Result<Option<String>, Failure> {
        let Some(fleet) = workspace.store.fleet() else {
            return Ok(None);
        };
        if self.looked.is_some_and(|at| at.elapsed() < INTERVAL) {
            return Ok(None);
        }
        // Who tells may wait for a database that is away; the others must still see that they are to end.
        let Some(turn) = spending.turn_if_free() else {
            return Ok(None);
        };
        self.looked = Some(Instant::now());
        tell(fleet, workspace, &stored.run, spending, &turn)?;
        drop(turn);
        // What is reserved for others ends no turn: this one has its own part.
        let cap = fleet.cap_reached(&stored.run.id)?;
        let cap = cap.filter(|cap| cap.spent.is_used_up());
        Ok(cap.map(|cap| words(&cap)))
    }
}

/// What the next process of this worker may cost, in cents: this much, or what the caps of the fleet leave for it. That
/// is reserved for it until it ends. The fleet hears first what the run has used with all that is in flight.
pub(crate) fn reserve(
    workspace: &Workspace<'_>,
    run: &Run,
    spending: &Spending,
    dispatch: DispatchId,
    most_cents: Option<u64>,
) -> Result<Option<u64>, Failure> {
    let (Some(fleet), Some(fence)) = (workspace.store.fleet(), workspace.fence) else {
        return Ok(most_cents);
    };
    let _turn = spending.turn_to_tell();
    spending.release(dispatch);
    let at_work = AtWork {
        fence,
        used: run.used.and(spending.in_flight()),
        reserved_cents: spending.reserved_cents(),
    };
    let Some(given) = fleet.reserve(&run.id, &at_work, most_cents)? else {
        return Ok(most_cents);
    };
    spending.reserve(dispatch, given);
    Ok(Some(given))
}

/// The process of this worker has ended, so the fleet hears what it used, and others may use the rest. If the word is
/// lost, the next one tells.
pub(crate) fn release(
    workspace: &Workspace<'_>,
    run: &Run,
    spending: &Spending,
    dispatch: DispatchId,
) {
    spending.release(dispatch);
    if let Some(fleet) = workspace.store.fleet() {
        let turn = spending.turn_to_tell();
        let _ = tell(fleet, workspace, run, spending, &turn);
    }
}

fn tell(
    fleet: &dyn SharedBackend,
    workspace: &Workspace<'_>,
    run: &Run,
    spending: &Spending,
    _turn: &MutexGuard<'_, ()>,
) -> Result<(), Failure> {
    let used = run.used.and(spending.in_flight());
    match workspace.fence {
        Some(fence) => {
            let reserved_cents = spending.reserved_cents();
            let at_work = AtWork {
                fence,
                used,
                reserved_cents,
            };
            fleet.note_at_work(&run.id, &at_work)?;
        }
        None => fleet.note_spending(&run.id, None, used)?,
    }
    Ok(())
}

/// The cap of the fleet that leaves nothing for a run: until when, and what it is.
pub(crate) fn reached(
    workspace: &Workspace<'_>,
    stored: &StoredRun,
) -> Result<Option<(Time, String)>, Failure> {
    let Some(fleet) = workspace.store.fleet() else {
        return Ok(None);
    };
    let cap = fleet.cap_reached(&stored.run.id)?;
    Ok(cap.map(|cap| (after(cap.remaining), words(&cap))))
}

/// By the clock of this machine: that of the store may differ.
fn after(time: Duration) -> Time {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Time(clock::now().0.saturating_add(millis))
}

/// `the cap of the fleet (user ada) is used up (cost 20.10 of 20.00)`.
fn words(cap: &ReachedCap) -> String {
    let whose = views::line(&cap.whose);
    let cost = cap.spent.line().text();
    if cap.spent.is_used_up() {
        format!("the cap of the fleet ({whose}) is used up ({cost})")
    } else {
        let reserved = engine::cents(cap.spent.reserved_cents);
        format!(
            "runs at work may use the rest of the cap of the fleet ({whose}) ({cost}, {reserved} reserved)"
        )
    }
}
