//! Caps on what all machines of a fleet spend in a day.

use std::time::{Duration, Instant};

use engine::{BudgetLine, Run, Time, Usage};
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use store::{ReachedCap, StoredRun};

/// How often a worker tells what it uses, and looks at what all use.
const INTERVAL: Duration = Duration::from_secs(2);

/// The caps of the fleet for one worker, as it works.
#[derive(Debug, Default)]
pub struct FleetCapWatch {
    looked: Option<Instant>,
}

impl FleetCapWatch {
    /// Tells the fleet what the run has used with all that is in flight, and returns the cap that it has reached with
    /// others, if it is time to look.
    pub(crate) fn look(
        &mut self,
        workspace: &Workspace<'_>,
        stored: &StoredRun,
        in_flight: Usage,
    ) -> Result<Option<String>, Failure> {
        let Some(fleet) = workspace.store.fleet() else {
            return Ok(None);
        };
        if self.looked.is_some_and(|at| at.elapsed() < INTERVAL) {
            return Ok(None);
        }
        self.looked = Some(Instant::now());
        let run = &stored.run;
        fleet.note_spending(&run.id, workspace.fence, run.used.and(in_flight))?;
        let cap = fleet.cap_reached(&run.id)?;
        Ok(cap.map(|cap| words(&cap)))
    }
}

/// What the caps of the fleet leave for a run, in cents, if there are any. The fleet hears first what the run has used
/// with all that is in flight.
pub(crate) fn cost_left(
    workspace: &Workspace<'_>,
    run: &Run,
    in_flight: Usage,
) -> Result<Option<u64>, Failure> {
    let Some(fleet) = workspace.store.fleet() else {
        return Ok(None);
    };
    fleet.note_spending(&run.id, workspace.fence, run.used.and(in_flight))?;
    Ok(fleet.cost_left(&run.id)?)
}

/// The cap of the fleet that a run has reached with others: when the day ends, and what it is.
pub(crate) fn reached(
    workspace: &Workspace<'_>,
    stored: &StoredRun,
) -> Result<Option<(Time, String)>, Failure> {
    let Some(fleet) = workspace.store.fleet() else {
        return Ok(None);
    };
    let cap = fleet.cap_reached(&stored.run.id)?;
    Ok(cap.map(|cap| (cap.until, words(&cap))))
}

/// `the cap of the fleet (user ada) is used up (cost 20.10 of 20.00)`.
fn words(cap: &ReachedCap) -> String {
    let cost = BudgetLine::cost(cap.spent_cents, Some(cap.cents), false);
    let whose = views::line(&cap.whose);
    format!(
        "the cap of the fleet ({whose}) is used up ({})",
        cost.text()
    )
}
