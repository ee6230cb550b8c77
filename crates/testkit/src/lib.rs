//! What tests share: a temporary project, the program run in it, and the real host with a scripted model.
//!
//! Everything here panics instead of returning an error: a test that cannot be set up has failed.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod agents;
pub mod ansible;
pub mod browser;
pub mod claude;
pub mod codex;
pub mod database;
pub mod detour;
mod executable;
pub mod gemini;
pub mod model;
mod open_run;
pub mod pipelines;
mod processes;
mod project;
pub mod proxy;
mod ran;
pub mod recorder;
pub mod terminal;
pub mod transcript;
mod typing;
mod waiting;

pub use agents::{Agents, tells_version};
pub use executable::make_executable;
pub use open_run::open_run;
pub use project::Project;
pub use ran::Ran;
pub use waiting::{PATIENCE, until, wait_for, within};
