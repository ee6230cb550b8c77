//! Workers that we start ourselves: who is due, what it is started with, how it is watched and judged.
//!
//! The dispatch is in the journal before the worker begins. While we live we hold a lock that is
//! named in the dispatch, so whoever comes next sees whether the work is still going on.

pub mod choice;
pub mod claim;
pub mod conversation;
mod guard;
mod kept;
mod leash;
pub mod listener;
pub mod order;
pub mod process;
pub mod record;
pub mod verdict;
pub mod version;
pub mod work;

pub use kept::{keep, keep_alike};
pub use leash::{Leash, MARK, START, end_marked, end_started, hold};
