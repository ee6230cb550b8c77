//! Reports to the engine what Gatewright itself did or saw.

use engine::{Happening, Who};
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};

/// Reports an event, also if somebody else has changed the run since it was read.
pub(crate) fn report(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    what: &Happening,
) -> Result<Decided, Failure> {
    let mut make = |_: &Workspace<'_>, _: &OpenRun, _| Ok(Request::from(what.clone()));
    transact::transact(
        workspace,
        Target::Seen(Box::new(opened)),
        Options {
            by: &Who::Engine,
            key: None,
        },
        &mut make,
    )
}
