//! Warnings about decisions that cannot be undone.

use crate::workspace::OpenRun;

/// A run that is over has nothing to lose: no question is asked, and the engine refuses.
pub fn unless_over(opened: &OpenRun, warning: fn(&OpenRun) -> String) -> Option<String> {
    let is_over = engine::is_over(&opened.pipeline, opened.run());
    (!is_over).then(|| warning(opened))
}

/// Skipping leaves the current stage unchecked.
pub fn skip_warning(opened: &OpenRun) -> String {
    let stage = &opened.run().position.stage;
    format!("The run leaves {stage} unchecked, and every view of it will show that.")
}

/// Cancelling ends the run.
pub fn cancel_warning(opened: &OpenRun) -> String {
    let stage = &opened.run().position.stage;
    format!("The run ends in {stage} and cannot be continued. Its history stays.")
}
