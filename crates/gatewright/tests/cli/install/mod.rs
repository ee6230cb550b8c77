//! Installing into projects of every shape, taking it back, and the doctor who looks at it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod additions;
mod allowed;
mod back;
mod callers;
mod doctor;
mod fixture;
mod init;
mod interrupted;
mod plugin;
mod scopes;
mod shapes;
mod statusline;

pub(super) use fixture::tree;
