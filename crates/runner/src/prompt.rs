//! A terminal where a person can answer while a run is driven. The command implements it.

use std::time::Duration;

use runtime::failure::Failure;

pub trait Prompt {
    fn say(&mut self, text: &str) -> Result<(), Failure>;

    /// The next line that the person types, if one arrives in time.
    fn line(&mut self, patience: Duration) -> Result<Typed, Failure>;
}

/// The result of waiting for a line.
pub enum Typed {
    Line(String),
    /// Nothing yet.
    Nothing,
    /// The terminal was closed.
    Closed,
}
