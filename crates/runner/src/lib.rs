//! Drives headless runs: starts agents, checks their artifacts, asks people where the pipeline says
//! so, and recovers after a kill. It reports progress as events; the command draws them.

pub mod agent;
pub mod backoff;
pub mod delivery;
pub mod drive_options;
pub mod drive_run;
pub mod drop_sender;
mod due;
mod engine_event;
mod fleet_caps;
mod kept_trees;
pub mod lease;
pub mod merge_branch;
mod notes;
mod notices;
pub mod notify;
mod orchestrator;
mod person_question;
pub mod place_gc;
mod pool;
pub mod progress;
pub mod prompt;
pub mod queue;
mod recent_journal;
pub mod recovery;
mod report;
pub mod run_place;
pub mod run_step;
pub mod slots;
pub mod spending;
mod stale_files;
mod step_folder;
mod surroundings;
pub mod untold_runs;
pub mod wait_note;
mod worker_task;
pub mod worktree;
