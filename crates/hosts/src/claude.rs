//! Claude Code: its hook payloads, our answers, and what its Bash calls could get around.
//!
//! Measured with 2.1.325. `tests/claude-code` holds what it sends.

pub mod doors;
mod event;
pub mod install;
mod name;
mod notification;
pub mod plugin;
mod question;
mod read;
pub mod statusline;
mod wire;
pub(crate) mod worker;
mod write;

pub use event::Event;
pub use read::{LARGEST_INPUT, read, session_of};
pub use write::{Answer, Bytes, Stake, Verdict, undecided, write};

// Other hosts have copied the frame of these payloads, and much of these answers.
pub(crate) use name::{UNNAMED, agent as agent_name};
pub(crate) use read::{beginning, input, is_writer, known_text, needed_text, owned};
pub(crate) use wire::{Raw, text};
pub(crate) use write::{blocked, context, joined, remarked};
