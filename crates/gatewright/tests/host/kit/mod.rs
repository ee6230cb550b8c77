//! The kit and the real hosts: what the tests of guarded and headless mode stand on.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod headless;
mod interactive;
mod workers;
mod world;
