//! One module a host: its hook payloads as values, our answers as its bytes.
//!
//! Invariant: nothing here reads a file, a clock or the environment, and nothing prints. Only a
//! host's `wire.rs` knows the shape of its JSON.

mod by_code;
pub mod claude;
mod codex;
mod gemini;
mod host;
mod payload;
mod shell;
pub mod worker;

pub use claude::{Answer, Bytes, Event, Stake, Verdict};
pub use host::Host;
pub use payload::{Background, Ended, Payload, Source, Unreadable, What};
