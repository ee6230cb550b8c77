//! Agent programs, one module each: hook payloads become values, our answers become bytes.
//!
//! Invariant: nothing here reads a file, a clock or the environment, and nothing prints. Only a
//! host's `wire.rs` knows the shape of its JSON.

pub mod agent_process;
pub mod bypass_detection;
pub mod claude;
mod codex;
mod descriptor;
mod gemini;
pub mod hook;
pub mod known_agents;
pub mod own_command;
mod program;
mod recognition;
mod session_host;
pub mod settings;
pub mod shell;
pub mod tool_names;
mod version;

pub use descriptor::{Abilities, UsageScope};
pub use hook::{
    Answer, Bytes, Event, Message, Payload, PayloadError, SessionEnd, SessionSource, Stake,
    Verdict, What,
};
pub use program::{DEFAULT_SESSION_HOST, Program};
pub use session_host::{
    HookConnection, RecordedAnswer, RecordedCall, RecordedSchedule, SessionHost, SessionVariables,
    SettingsPlaces,
};
pub use shell::shell_word;
pub use version::{Version, VersionSupport};
