//! Hooks, whatever the host: events, payloads, answers, and the JSON that all hosts have in common.
//!
//! Claude Code had hooks first. Other hosts copied the frame of its payloads and most of its answers,
//! so both are here. Each host's module has what only that host does.

mod agent_name;
mod answer;
mod event;
pub(crate) mod exit_code;
pub(crate) mod field;
mod input;
pub(crate) mod output;
mod payload;
mod wire;

pub(crate) use agent_name::{UNNAMED, agent as agent_name, bare as bare_name};
pub use answer::{Answer, Bytes, Stake, Verdict};
pub use event::Event;
pub(crate) use input::input;
pub use input::{LARGEST_INPUT, session_of};
pub use payload::{
    FileEdit, Message, Payload, PayloadError, Replacement, SessionEnd, SessionSource, What,
};
pub(crate) use wire::{Output, Permission, Raw, Specific, UpdatedMessage, shape, text};

/// A hook answers after this many seconds, whatever delays it. We register a longer timeout with the
/// hosts.
pub const DEADLINE_SECONDS: u64 = 8;
