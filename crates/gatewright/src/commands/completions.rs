//! `gatewright completions`: prints a shell completion script.

use clap_complete::Shell;
use runtime::failure::Failure;

use crate::exit::Exit;
use crate::output::Output;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(
        &self,
        mut program: clap::Command,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "gatewright", &mut script);
        output.bytes(&script)?;
        Ok(Exit::Success)
    }
}
