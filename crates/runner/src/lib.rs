//! Drives headless runs: starts agents, checks their artifacts, asks people where the pipeline says
//! so, and recovers after a kill. It reports progress as events; the command draws them.

pub mod agent;
pub mod backoff;
pub mod drive_options;
pub mod drive_run;
pub mod drop_sender;
mod due;
pub mod lease;
mod notes;
pub mod notify;
mod orchestrator;
mod person_question;
mod pool;
pub mod progress;
pub mod prompt;
mod recent_journal;
pub mod recovery;
pub mod run_step;
pub mod slots;
mod stale_files;
mod step_folder;
mod surroundings;
mod worker_task;
pub mod worktree;
