//! Workers that we start ourselves: who is due, what it is started with, how it is watched and judged.
//!
//! The dispatch is in the journal before the worker begins. While we live we hold a lock that is
//! named in the dispatch, so whoever comes next sees whether the work is still going on.

pub mod choice;
pub mod claim;
pub mod conversation;
mod guard;
pub mod listener;
pub mod process;
pub mod record;
mod saved_env;
pub mod spawn_spec;
pub mod verdict;
pub mod version;
mod watchdog;
pub mod work;

pub use saved_env::{keep, keep_alike};
pub use watchdog::{MARK, START, Watchdog, end_marked, end_started, hold};
