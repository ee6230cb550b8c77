//! Scenarios: what must be true of a pipeline, played over the real engine with no model.
//!
//! Invariant: nothing here reads a file or prints; the command does.

mod checking;
mod demand;
mod expectation;
mod file;
mod generate;
mod grammar;
mod judge;
mod known;
mod leaving;
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
mod working;
mod world;

pub use file::{File, Folder};
pub use generate::{Generated, Leg, Route, Routes, examples, generate};
pub use report::Report;
pub use runner::is_run_elsewhere;
pub use shipped::{NoFolder, shipped, shipped_for};
