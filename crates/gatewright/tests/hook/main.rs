//! The hook as a process: what it does with bad input, and with very much of it at once.

mod bad;
mod seat;
mod storm;
