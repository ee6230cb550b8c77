//! Drives headless runs: starts the agents, checks what they leave, asks people where the pipeline says
//! so, and goes on after a kill. It reports progress as events; drawing them is the command's.

pub mod agent;
pub mod backoff;
pub mod drive_options;
pub mod drive_run;
pub mod drop_sender;
mod due;
mod job;
pub mod lease;
mod leftovers;
pub mod notify;
mod orchestrator;
mod people;
mod pool;
pub mod progress;
pub mod prompt;
mod recent_journal;
pub mod recovery;
pub mod run_step;
pub mod slots;
mod step_folder;
pub mod worktree;
