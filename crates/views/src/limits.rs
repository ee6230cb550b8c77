//! The values of limits, from the definition or from a parameter.

use engine::{Amount, Definition, Run};

/// The number for this run; without a run, the default.
pub(crate) fn value(limit: &Amount, definition: &Definition, run: Option<&Run>) -> Option<u32> {
    match (run, limit) {
        (Some(run), limit) => engine::amount(limit, run),
        (None, Amount::Fixed(number)) => Some(*number),
        (None, Amount::Param(name)) => definition.params.get(name)?.default.as_ref()?.parse().ok(),
    }
}

/// The number, or the parameter's name in braces where nothing supplies it yet.
pub(crate) fn word(limit: &Amount, definition: &Definition, run: Option<&Run>) -> String {
    match (value(limit, definition, run), limit) {
        (Some(number), _) => number.to_string(),
        (None, Amount::Fixed(number)) => number.to_string(),
        (None, Amount::Param(name)) => format!("{{{name}}}"),
    }
}
