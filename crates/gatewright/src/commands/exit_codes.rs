//! `gatewright exit-codes`: what the exit codes mean.

use runtime::failure::Failure;
use serde_json::json;

use crate::exit::Exit;
use crate::output::Output;

/// Show what the exit codes mean
#[derive(Debug, clap::Args)]
#[command(after_help = Exit::table())]
pub(crate) struct ExitCodes {}

impl ExitCodes {
    pub(crate) fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        let code = |exit: Exit| json!({ "code": exit.code(), "meaning": exit.meaning() });
        let json = || json!({ "exit_codes": Exit::ALL.map(code) });
        output.facts(|_| Exit::table(), json)?;
        Ok(Exit::Success)
    }
}
