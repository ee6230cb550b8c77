//! The hook as a process: what it does with bad input, with very much of it at once, and with too little time.
#![expect(
    clippy::expect_used,
    reason = "a test that cannot be set up has failed"
)]

mod alive;
mod answers;
mod bad;
mod changed;
mod edited;
mod forged;
mod handing;
mod held;
mod identity;
mod in_a_fleet;
mod interrupted;
mod lists;
mod models;
mod permitted;
mod promised;
mod relied;
mod routed;
mod seat;
mod settings;
mod several;
mod slow;
mod spooled;
mod stored;
mod storm;
mod strangers;
mod unused;
mod viewed;
