//! The laws, shown over the real `decide`: by an exhaustive walk, by chance, and by breaking them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says by panicking what is wrong"
)]

mod acts;
mod alive;
mod audit;
mod broken;
mod broken_hosts;
mod causes;
mod chance;
mod definitions;
mod guarded;
mod hosted;
mod lint;
mod monitor;
mod places;
mod races;
mod random;
mod small;
mod ties;
mod walk;
mod world;
