//! A person who can be asked while a run is driven. The command implements it at its terminal.

use std::time::Duration;

use runtime::failure::Failure;

pub trait Prompt {
    fn say(&mut self, text: &str) -> Result<(), Failure>;

    /// The next line that the person types, if one comes in time.
    fn line(&mut self, patience: Duration) -> Result<Typed, Failure>;
}

/// What came of waiting for a line.
pub enum Typed {
    Line(String),
    /// Nothing yet.
    Nothing,
    /// The terminal was closed.
    Closed,
}
