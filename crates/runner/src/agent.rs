//! Workers that the runner starts itself: choosing them, starting them, watching and judging them.
//!
//! The dispatch is in the journal before the worker starts. This process holds a lock that the
//! dispatch names, so the next orchestrator can see whether the work still runs.

mod allowance;
pub mod choice;
pub mod conversation;
mod guard;
mod hooks;
pub mod listener;
mod meter;
pub mod process;
mod rates;
mod remarks;
mod reset_clock;
pub mod spawn_spec;
pub mod verdict;
pub mod version;
mod version_cache;
pub mod work;
