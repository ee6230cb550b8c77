//! `gatewright schema`: the JSON Schema of definitions, for editors.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Print the JSON Schema of definitions, for editors
#[derive(Debug, clap::Args)]
pub struct Schema {}

impl Schema {
    pub fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        output.text(&language::schema())?;
        Ok(Exit::Success)
    }
}
