//! A run that another machine has adopted does not go on here: it would have two homes.
//!
//! The process that ships was told, and has noted it. Nobody waits for the database.

use engine::{Driver, Happening, PersonEvent, RunId, WorkEvent};

use crate::failure::Failure;
use crate::shipping::{self, Halt};
use crate::state::State;
use crate::workspace::OpenRun;

/// Who adopted the run, and what a person does about it here; nothing where nobody did.
pub fn told(state: &State, run: &RunId) -> Option<Failure> {
    let adoption = match shipping::halt_of(state, run)? {
        Halt::Adopted(adoption) => adoption,
        Halt::Differs { .. } | Halt::RolledBack { .. } => return None,
    };
    let (by, person) = (views::line(&adoption.by), views::line(&adoption.person));
    let message = format!(
        "{person} adopted {run} on {by} at entry {}: it continues there, and not here",
        adoption.entry
    );
    Some(Failure::refused(message).hint(format!(
        "`gatewright cancel {run} --reason WHY` closes it on this machine; the run on {by} goes on"
    )))
}

/// Refuses what would move such a run. What has happened is recorded, and a person may close the run.
pub(crate) fn require_home(
    state: &State,
    opened: &OpenRun,
    what: &Happening,
) -> Result<(), Failure> {
    let run = opened.run();
    if run.driver != Driver::Guarded || !goes_on(what) {
        return Ok(());
    }
    told(state, &run.id).map_or(Ok(()), Err)
}

fn goes_on(what: &Happening) -> bool {
    match what {
        Happening::Work(work) => matches!(
            work,
            WorkEvent::Requested { .. }
                | WorkEvent::MessageRequested { .. }
                | WorkEvent::Reported { .. }
        ),
        Happening::Person(act) => !matches!(act, PersonEvent::CancelAsked { .. }),
        Happening::Tool(_) | Happening::Session(_) | Happening::Engine(_) => false,
    }
}
