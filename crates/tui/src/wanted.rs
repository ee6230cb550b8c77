//! What the reader is to read: the shown run, and the details that are on the screen.

use engine::{DispatchId, RunId};

/// What the screen shows now.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub run: Option<RunId>,
    pub detail: Option<WantedDetail>,
}

impl Wanted {
    /// No run.
    pub(crate) fn nothing() -> Self {
        Self {
            run: None,
            detail: None,
        }
    }
}

/// What is read of the run only where it is shown.
#[derive(Clone)]
pub(crate) enum WantedDetail {
    Output(WantedOutput),
    Changes,
}

#[derive(Clone)]
pub(crate) enum WantedOutput {
    Latest,
    Of(DispatchId),
}
