//! Workers that we start ourselves: who is due, what it is started with, how it is watched and judged.
//!
//! The dispatch is in the journal before the worker begins. While we live we hold a lock that is
//! named in the dispatch, so whoever comes next sees whether the work is still going on.

pub mod choice;
pub mod conversation;
mod guard;
pub mod listener;
pub mod process;
pub mod record;
pub mod spawn_spec;
pub mod verdict;
pub mod version;
pub mod work;
