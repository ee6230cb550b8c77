//! Claude Code: its hook payloads, our answers, and what its Bash calls could get around.
//!
//! Measured with 2.1.325. `tests/claude-code` holds what it sends.

pub mod doors;
pub mod install;
mod notification;
pub mod plugin;
mod question;
mod read;
pub mod statusline;
mod step;
mod wire;
pub(crate) mod worker;
mod write;

pub use read::read;
pub use write::{undecided, write};
