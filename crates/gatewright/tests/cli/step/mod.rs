//! Workers that we start ourselves: played by scripts on the search path.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod choosing;
mod conversations;
mod ending;
mod fixture;
mod guarded;
mod outcomes;
mod scripts;
mod surroundings;
