//! What a person loses for good by a decision about a run.

use crate::workspace::OpenRun;

/// By leaving the present stage unchecked.
pub fn by_skip(opened: &OpenRun) -> String {
    let stage = &opened.run().position.stage;
    format!("The run leaves {stage} unchecked, and every view of it will show that.")
}

/// By ending the run.
pub fn by_cancel(opened: &OpenRun) -> String {
    let stage = &opened.run().position.stage;
    format!("The run ends in {stage} and cannot be continued. Its history stays.")
}
