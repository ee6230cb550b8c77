//! Placeholders in the texts of a definition, filled in for one run.

use engine::{Run, StepId};

/// A path with all known placeholders filled in.
pub(crate) fn filled(run: &Run, path: &str, step: Option<&StepId>) -> String {
    let mut path = path.replace("{run}", run.id.as_str());
    if let Some(step) = step {
        path = path.replace("{step}", step.as_str());
    }
    for (name, value) in &run.params {
        path = path.replace(&format!("{{{name}}}"), value);
    }
    path
}

/// The value that a field must have when this agent writes it.
pub(crate) fn wanted(run: &Run, text: &str, step: Option<&StepId>, agent: &str) -> String {
    filled(run, text, step)
        .replace("{stage}", run.position.stage.as_str())
        .replace("{agent}", agent)
}
