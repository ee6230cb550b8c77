//! `gatewright schema`: the JSON Schema of definitions, for editors, and of views that have one.

use runtime::failure::Failure;

use crate::exit::Exit;
use crate::output::Output;

/// Print the JSON Schema of pipeline definitions (for editors), or of a view
#[derive(Debug, clap::Args)]
pub(crate) struct Schema {
    /// Which schema
    #[arg(value_enum, default_value_t = Subject::Definition, value_name = "WHAT")]
    what: Subject,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Subject {
    /// Pipeline files
    Definition,
    /// The view `workflow`
    Workflow,
}

impl Schema {
    pub(crate) fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        match self.what {
            Subject::Definition => output.text(&language::schema())?,
            Subject::Workflow => output.text(language::builtin::workflow_schema())?,
        }
        Ok(Exit::Success)
    }
}
