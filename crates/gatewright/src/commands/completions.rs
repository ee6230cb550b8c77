//! `gatewright completions`: the script that completes commands in a shell.

use clap_complete::Shell;

use crate::command_groups;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        let mut command = command_groups::command();
        clap_complete::generate(self.shell, &mut command, "gatewright", &mut script);
        output.bytes(&script)?;
        Ok(Exit::Success)
    }
}
