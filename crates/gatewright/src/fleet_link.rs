//! The fleet that this machine has joined, for the commands that need it.

#[cfg(feature = "fleet")]
mod linked;
#[cfg(not(feature = "fleet"))]
mod unlinked;

use clap::ArgMatches;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::fleet_membership::FleetMembership;
use runtime::fleet_reach;
use runtime::ids::FLEET_PREFIX;

use crate::output::Output;

#[cfg(feature = "fleet")]
pub(crate) use linked::{FleetLink, for_screens, in_fleet};
#[cfg(not(feature = "fleet"))]
pub(crate) use unlinked::{NoFleetLink as FleetLink, for_screens, in_fleet};

/// The arguments that name runs.
const RUN_ARGUMENTS: [&str; 3] = ["run", "runs", "words"];

/// Is the command about a run of the fleet?
pub(crate) fn names_fleet_run(matches: &ArgMatches) -> bool {
    let Some((_, command)) = matches.subcommand() else {
        return false;
    };
    RUN_ARGUMENTS.iter().any(|argument| {
        // An argument of another command may have the same name and another type.
        let words = command.try_get_many::<String>(argument).ok().flatten();
        let first = words.and_then(|mut words| words.next());
        first.is_some_and(|word| word.starts_with(FLEET_PREFIX))
    })
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
