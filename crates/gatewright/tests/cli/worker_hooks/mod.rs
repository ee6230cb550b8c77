//! The hooks inside a worker that we started, as processes, with the payloads of the three programs.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod arriving;
mod failing;
mod fixture;
mod ground;
mod hosts;
mod judging;
mod stages;
