//! The fleet that this machine has joined, for the commands that need it.

#[cfg(feature = "fleet")]
mod linked;
#[cfg(not(feature = "fleet"))]
mod unlinked;

use clap::ArgMatches;
use runtime::ids::FLEET_PREFIX;

#[cfg(feature = "fleet")]
pub(crate) use linked::{FleetLink, in_fleet};
#[cfg(not(feature = "fleet"))]
pub(crate) use unlinked::{NoFleetLink as FleetLink, in_fleet};

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
