//! Scenarios: expectations about a pipeline, played on the real engine without a model.
//!
//! Invariant: nothing here reads a file or prints; the command does.

mod check_result;
mod expectation;
mod expectation_grammar;
mod file;
mod generate;
mod grammar;
mod judge;
mod known_names;
mod markdown;
mod mistake;
mod phrase;
mod pipeline;
mod player;
mod read;
mod report;
mod runner;
mod shipped;
pub mod step;
#[cfg(test)]
mod tests;
mod verdict;
mod wording;
mod words;
mod work_result;
mod worker_acts;
mod world;

pub use file::{File, Folder};
pub use generate::{Generated, Leg, Route, Routes, examples, generate};
pub use report::Report;
pub use runner::is_run_elsewhere;
pub use shipped::{NoFolder, shipped, shipped_for};
