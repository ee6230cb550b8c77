//! `gatewright doctor`: checks the installation, and lists what the guard does not stop.

use engine::Held;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::person_only;

use crate::exit::Exit;
use crate::output::Output;
use install::health::{DoctorContext, HostTrial, Level};

/// Check whether this project is guarded and whether the guard works
///
/// Checks the program, Claude Code and its settings, Gatewright's hooks, the pipelines and their
/// trust, the state folder and the store. Runs the configured hook command with a test payload, as
/// the host would. Lists what the guard does not stop. A red line means that the guard does not
/// work; the exit code is then 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Start Claude Code once, without a model, and check that it calls the hooks. Its other hooks
    /// run too
    #[arg(long)]
    live: bool,
}

impl Doctor {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "doctor", Held::Nobody)?;
        let trial = if self.live {
            HostTrial::WithHost
        } else {
            HostTrial::Without
        };
        let report = DoctorContext::new(context)?.examine(trial);
        output.facts(|paint| report.text(paint), || report.json())?;
        match report.worst() {
            Level::Red => Ok(Exit::No),
            Level::Fine | Level::Warning => Ok(Exit::Success),
        }
    }
}
