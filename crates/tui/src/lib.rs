//! `gatewright watch`: inbox, runs and one run in detail, in a terminal.
//!
//! `screen` is a value: `update` takes what happened and says what to do, `draw` makes the picture. `watch` is the
//! shell around it.

mod age;
mod ansi;
mod draw;
mod event;
mod fleet;
mod input;
pub mod keeper;
mod person_requests;
mod reader;
mod run_source;
mod screen;
mod terminal;
#[cfg(test)]
mod tests;
mod wanted;
mod watch;

pub use watch::{WatchOptions, once, watch};
