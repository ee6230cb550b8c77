//! The host of a session, as far as a run is marked because of it.

use engine::{Happening, Process, SessionEvent, Who};

use crate::caller::host::doubt;
use crate::commit;
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};

/// Marks the run where it is not known that a host saw what its session does.
pub fn mark_doubt(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    holder: Option<&Process>,
) -> Result<OpenRun, Failure> {
    match doubt(&opened.run().host, holder) {
        Some(what) => commit::alone(
            workspace,
            opened,
            &Who::Engine,
            Happening::Session(SessionEvent::Unevaluated { what }),
        ),
        None => Ok(opened),
    }
}
