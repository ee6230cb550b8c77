//! One module a host: its hook payloads as values, our answers as its bytes.
//!
//! Invariant: nothing here reads a file, a clock or the environment, and nothing prints. Only a
//! host's `wire.rs` knows the shape of its JSON.

pub mod claude;
mod codex;
mod gemini;
pub mod hook;
mod host;
mod shell;
pub mod worker;

pub use hook::{Answer, Bytes, Ended, Event, Payload, Source, Stake, Unreadable, Verdict, What};
pub use host::Host;
pub use shell::shell_word;
