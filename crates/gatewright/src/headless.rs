//! Headless: the orchestrator takes a run to its end. It starts the workers, checks what they leave,
//! runs the checks, asks people where the pipeline says so, and goes on after whatever kills it.

mod crew;
mod due;
pub mod flags;
mod job;
pub mod last_word;
pub mod lease;
mod leftovers;
mod lines;
mod live;
mod looking_back;
pub mod notify;
pub mod orchestrator;
mod people;
mod plain;
pub mod progress;
pub mod recovery;
pub mod relay;
pub mod session;
pub mod setbacks;
pub mod settings;
pub mod signals;
pub mod slots;
mod workplace;
