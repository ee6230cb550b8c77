//! Submits what Gatewright itself has done to a run.

use engine::{EngineEvent, Happening, Reply, Who};
use runtime::failure::Failure;
use runtime::transact::{self, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use store::Key;

/// Records the event, also if another process has changed the run meanwhile. With a key it counts once.
pub(crate) fn submit(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    event: &EngineEvent,
    key: Option<&Key>,
) -> Result<OpenRun, Failure> {
    let mut make =
        |_: &Workspace<'_>, _: &OpenRun, _| Ok(Request::from(Happening::Engine(event.clone())));
    let options = Options {
        by: &Who::Engine,
        key,
    };
    let target = Target::Seen(Box::new(opened));
    let decided = transact::transact(workspace, target, options, &mut make)?;
    match decided.reply {
        Reply::Refuse(refusal) => Err(Failure::refused(refusal.reason)),
        _ => Ok(decided.opened),
    }
}
