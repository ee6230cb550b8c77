//! A file of scenarios, and the folder in which it lies.

use std::rc::Rc;

use language::Sources;

/// A file of scenarios.
#[derive(Clone, Debug)]
pub struct File {
    /// As people are shown it.
    pub name: String,
    pub text: Rc<str>,
}

/// The folder of a scenario file. Its reader says why a file cannot be read.
pub trait Folder {
    /// The definition at this path, with what it refers to.
    fn file(&self, path: &str) -> Result<Sources, String>;

    /// This definition, with what it refers to.
    fn text(&self, definition: &[u8]) -> Result<Sources, String>;
}
