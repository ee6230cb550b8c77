//! How a run is driven, and why driving it ended.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Status, Time};

use super::slot_bid::SlotBid;
use super::slots::AgentLimits;

/// How one process drives a run.
#[derive(Clone)]
pub struct DriveOptions {
    pub when_waiting: WhenWaiting,
    pub when_limited: WhenLimited,
    pub limits: AgentLimits,
    /// Its place among those that wait for a slot, if it has one already.
    pub bid: Option<Arc<SlotBid>>,
    pub stop: Arc<AtomicBool>,
}

/// Why the orchestrator released a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveEnd {
    Over(Status),
    /// A person must act first.
    Waiting(String),
    /// Every service that it could use asks to wait until then.
    Limited {
        until: Time,
        why: String,
    },
    /// A signal stopped this process; `resume` continues the run or its delivery.
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

/// What to do while every service that the run could use asks to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenLimited {
    /// Stay until one works again.
    Stay,
    /// Release the run, so that others can be driven.
    Leave,
}
