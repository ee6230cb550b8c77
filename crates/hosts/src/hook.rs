//! Hooks, whatever the host: events, payloads, answers, and the JSON that all hosts have in common.
//!
//! Claude Code had hooks first. Other hosts took over the frame of its payloads and most of its
//! answers, so both are here. What only one host knows is in the module of that host.

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
pub use payload::{Ended, Payload, Source, Unreadable, What};
pub(crate) use wire::{Output, Permission, Raw, Specific, shape, text};

/// After how many seconds a hook has answered by itself, whatever delays it. Hosts are told to wait
/// longer.
pub const DEADLINE_SECONDS: u64 = 8;
