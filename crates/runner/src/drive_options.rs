//! How a run is driven, and why driving it ended.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::Status;

use super::slots::Limits;

/// How one process drives a run.
#[derive(Clone)]
pub struct DriveOptions {
    pub patience: Patience,
    pub limits: Limits,
    pub stop: Arc<AtomicBool>,
}

/// Why the orchestrator let a run go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOff {
    Over(Status),
    /// A person must do something first.
    Waiting(String),
    /// Somebody stopped us; the run goes on with `resume`.
    Stopped,
}

/// What to do where a person is asked and none sits at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Leave the run waiting.
    Leave,
    /// Stay until somebody answers elsewhere.
    Stay,
}
