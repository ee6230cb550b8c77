//! A scenario file and its folder.

use std::rc::Rc;

use language::Sources;

/// A file of scenarios.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name in messages.
    pub name: String,
    pub text: Rc<str>,
}

/// The folder of a scenario file. The error says why a file cannot be read.
pub trait Folder {
    /// The definition at this path, with its references.
    fn file(&self, path: &str) -> Result<Sources, String>;

    /// This definition, with its references.
    fn text(&self, definition: &[u8]) -> Result<Sources, String>;
}
