//! Shows the progress of a headless run: a live view, one line per event, or JSON.

pub(crate) mod frame;
mod lines;
mod live;
mod plain;
pub(crate) mod relay;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use engine::{Seconds, StageName, Who};
use runner::progress::Watcher;
use runtime::context::Context;

use crate::output::{Format, Output};
use lines::Lines;
use live::Live;
use plain::{Plain, Teller};

/// The stages that the run was in before this process drives it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StagesBefore {
    /// In the order of the first visits.
    pub visited: Vec<StageName>,
    /// How long it was in each that it has left.
    pub spent: BTreeMap<StageName, Seconds>,
}

/// The view for an output: JSON lines if requested, a live view at a terminal, or else one line per
/// event.
pub(crate) fn watcher<'a>(
    output: &'a mut Output,
    context: &Context,
    before: StagesBefore,
) -> Box<dyn Watcher + 'a> {
    let environment = &context.environment;
    let teller = Teller::new(environment.secrets());
    match output.format() {
        Format::Json => Box::new(Lines::new(output, environment.secrets())),
        Format::Text if output.is_talking_to_a_person() && !environment.has_dumb_terminal() => {
            let has_keys = output.is_terminal();
            let live = Live::new(output, teller, before);
            Box::new(match context.who() {
                Who::Person(_) if has_keys => live.with_keys(context.state().ok()),
                // Keys are a person's.
                Who::Person(_)
                | Who::Unattended(_)
                | Who::Agent(_)
                | Who::Through(_)
                | Who::Session(_)
                | Who::Engine => live,
            })
        }
        Format::Text => Box::new(Plain::new(output, teller)),
    }
}
