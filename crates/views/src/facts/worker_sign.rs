//! What a worker did last, as its own output shows it.

use engine::{DispatchId, Time, Usage};

use crate::safe::Untrusted;

/// The last signs of a worker that is at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSign {
    pub dispatch: DispatchId,
    /// When it last printed anything; its start, where it has not.
    pub at: Time,
    /// The last tool that it used, with its main argument.
    pub tool: Option<Untrusted>,
    /// The last line that it said.
    pub words: Option<Untrusted>,
    /// What it has used and the run has not counted yet.
    pub used: Usage,
}
