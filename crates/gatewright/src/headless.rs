//! Headless: the orchestrator takes a run to its end. It starts the workers, checks what they leave,
//! runs the checks, asks people where the pipeline says so, and goes on after whatever kills it.

pub mod backoff;
pub mod drive_run;
pub mod drop_sender;
mod due;
pub mod flags;
mod job;
pub mod lease;
mod leftovers;
mod lines;
mod live;
pub mod notify;
pub mod orchestrator;
mod people;
mod plain;
mod pool;
pub mod progress;
mod recent_journal;
pub mod recovery;
pub mod relay;
pub mod settings;
pub mod signals;
pub mod slots;
mod step_folder;
