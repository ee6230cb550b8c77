//! What the command, the hook and the runner share: open a run, transact, start, answer, trust.
//!
//! Invariant: nothing here parses arguments or prints.

pub mod answers;
pub mod backup;
pub mod briefing;
pub mod caller;
pub mod claim;
pub mod clock;
pub mod commit;
pub mod context;
pub mod current_exe;
pub mod definition;
pub mod drive_settings;
pub mod duration;
pub mod enrolment;
pub mod environment;
pub mod failure;
pub mod file_lock;
pub mod find_run;
pub mod group_members;
pub mod idempotency;
pub mod ids;
pub mod irreversible;
pub mod lint_paths;
pub mod lost_work;
pub mod notify_target;
pub mod params;
pub mod path_collision;
pub mod person_only;
pub mod project_files;
pub mod run_check;
pub mod runners;
pub mod saved_env;
pub mod session_host;
pub mod session_run;
pub mod signals;
pub mod start_run;
pub mod state;
pub mod subprocess;
pub mod task_graph_file;
pub mod transact;
pub mod trust;
pub mod view_files;
pub mod watchdog;
pub mod workspace;
