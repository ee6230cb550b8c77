//! Guarded mode inside the real Claude Code, which talks to a scripted model on this machine.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod doors;
mod failing;
mod flow;
mod kinds;
mod people;
mod places;
mod seeds;
mod sessions;
mod stage;
mod tampering;
mod work;
