//! Warnings about decisions that cannot be undone.

use crate::workspace::OpenRun;

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
