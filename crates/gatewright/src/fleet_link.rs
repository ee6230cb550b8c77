//! The fleet that this machine has joined, for the commands that need it.

#[cfg(feature = "fleet")]
mod linked;
#[cfg(not(feature = "fleet"))]
mod unlinked;

use clap::ArgMatches;
use runtime::context::Context;
use runtime::facts;
use runtime::failure::{Failure, FailureKind};
use runtime::fleet_membership::FleetMembership;
use runtime::fleet_reach;
use runtime::ids::FLEET_PREFIX;
use runtime::workspace::Workspace;

use crate::output::Output;

#[cfg(feature = "fleet")]
pub(crate) use linked::{FleetLink, for_screens, in_fleet};
#[cfg(not(feature = "fleet"))]
pub(crate) use unlinked::{NoFleetLink as FleetLink, for_screens, in_fleet};

/// The arguments that name runs.
const RUN_ARGUMENTS: [&str; 3] = ["run", "runs", "words"];

/// The run that the command names, if it names one.
pub(crate) fn named_run(matches: &ArgMatches) -> Option<String> {
    let (_, command) = matches.subcommand()?;
    RUN_ARGUMENTS.iter().find_map(|argument| {
        // An argument of another command may have the same name and another type.
        let mut words = command.try_get_many::<String>(argument).ok().flatten()?;
        words.next().cloned()
    })
}

/// Is it a run that the machines of the fleet share?
pub(crate) fn is_fleets(run: &str) -> bool {
    run.starts_with(FLEET_PREFIX)
}

/// A run that is unknown here may be a guarded run of another machine of the fleet, which the failure then says.
pub(crate) fn with_its_machine(context: &Context, run: &str, failure: Failure) -> Failure {
    if failure.kind != FailureKind::NotFound {
        return failure;
    }
    let Ok(Some(connect)) = for_screens(context) else {
        return failure;
    };
    let shipped = fleet_reach::connected(&connect).and_then(|seat| {
        let context = context.in_fleet(seat);
        facts::elsewhere(&Workspace::for_reading(&context)?)
    });
    let shipped = shipped.unwrap_or_default();
    match shipped.iter().find(|it| it.summary.id.as_str() == run) {
        Some(it) => Failure::not_found(format!("{run} is a guarded run of machine {}", it.name))
            .hint("look at it on that machine")
            .hint(format!("if that machine is lost: `gatewright adopt {run}`")),
        None => failure,
    }
}

/// What this reads of the fleet's runs besides those of this machine, if it has joined one. A fleet that cannot be
/// reached or read is named in one line, and the machine's own runs are shown without it.
pub(crate) fn besides_home<T>(
    context: &Context,
    output: &mut Output,
    read: impl FnOnce(&Context) -> Result<T, Failure>,
) -> Option<T> {
    let connect = for_screens(context).ok().flatten()?;
    let seat = fleet_reach::connected(&connect);
    seat.and_then(|seat| read(&context.in_fleet(seat)))
        .map_err(|failure| output.say(&format!("the fleet is not shown: {failure}")))
        .ok()
}

/// Has this machine joined a fleet? A file that cannot be read says so when it is used.
pub(crate) fn has_joined(context: &Context) -> bool {
    let joined = context
        .state()
        .and_then(|state| FleetMembership::load(&state));
    !matches!(joined, Ok(None))
}
