//! Shows the progress of a headless run: a live view, one line per event, or JSON.

mod lines;
mod live;
mod plain;
pub(crate) mod relay;
#[cfg(test)]
mod tests;

use engine::StageName;
use runner::progress::Watcher;
use runtime::environment::Environment;

use crate::output::{Format, Output};
use lines::Lines;
use live::Live;
use plain::{Plain, Teller};

/// The view for an output: JSON lines if requested, a live view at a terminal, or else one line per
/// event. `visited` are the stages of the run so far.
pub(crate) fn watcher<'a>(
    output: &'a mut Output,
    environment: &Environment,
    visited: Vec<StageName>,
) -> Box<dyn Watcher + 'a> {
    let teller = Teller::new(environment.secrets());
    match output.format() {
        Format::Json => Box::new(Lines::new(output, environment.secrets())),
        Format::Text if output.is_talking_to_a_person() && !environment.has_dumb_terminal() => {
            Box::new(Live::new(output, teller, visited))
        }
        Format::Text => Box::new(Plain::new(output, teller)),
    }
}
