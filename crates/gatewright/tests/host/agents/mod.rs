//! Headless runs with the real agent programs, all on one scripted model.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod ansible;
mod at_once;
mod context_first;
mod counting;
mod fleet;
mod guards;
mod killed;
mod multi_ai;
mod phases;
mod services;
mod spending;
pub(crate) mod world;
