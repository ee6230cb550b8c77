//! The hook as a process: what it does with bad input, and with very much of it at once.
#![expect(
    clippy::expect_used,
    reason = "a test that cannot be set up has failed"
)]

mod bad;
mod seat;
mod storm;
