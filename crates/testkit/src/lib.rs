//! What integration tests share: a temporary project with a home of its own, and the program run in it.
//!
//! Everything here panics instead of returning an error: a test that cannot be set up has failed.
#![expect(
    clippy::expect_used,
    reason = "a test that cannot be set up has failed"
)]

mod project;
mod ran;

pub use project::Project;
pub use ran::Ran;
