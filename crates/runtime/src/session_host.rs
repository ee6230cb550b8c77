//! Marks runs whose session may not have a real host.

use engine::{Happening, Process, SessionEvent, Who};

use crate::caller::host::unverified_reason;
use crate::commit;
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};

/// Marks the run if it is not certain that a host saw what its session does.
pub fn mark_unverified_host(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    holder: Option<&Process>,
) -> Result<OpenRun, Failure> {
    match unverified_reason(&opened.run().host, holder) {
        Some(what) => commit::try_once(
            workspace,
            opened,
            &Who::Engine,
            Happening::Session(SessionEvent::Unevaluated { what }),
        ),
        None => Ok(opened),
    }
}
