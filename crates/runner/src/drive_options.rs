//! How a run is driven, and why driving it ended.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::Status;

use super::slots::AgentLimits;

/// How one process drives a run.
#[derive(Clone)]
pub struct DriveOptions {
    pub when_waiting: WhenWaiting,
    pub limits: AgentLimits,
    pub stop: Arc<AtomicBool>,
}

/// Why the orchestrator released a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveEnd {
    Over(Status),
    /// A person must act first.
    Waiting(String),
    /// A signal stopped this process; `resume` continues the run.
    Stopped,
}

/// What to do if a person is asked and nobody sits at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenWaiting {
    /// Exit and leave the run waiting.
    Exit,
    /// Stay until somebody answers elsewhere.
    Stay,
}
