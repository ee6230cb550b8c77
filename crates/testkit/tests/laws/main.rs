//! The laws, shown over the real `decide`: by an exhaustive walk, by chance, and by breaking them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says by panicking what is wrong"
)]

mod acts;
mod broken;
mod chance;
mod definitions;
mod monitor;
mod races;
mod random;
mod walk;
mod world;
