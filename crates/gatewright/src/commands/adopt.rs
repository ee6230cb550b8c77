//! `gatewright adopt`: continues a guarded run whose machine is lost.

#[cfg(feature = "fleet")]
mod database;

use engine::RunId;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::person_only;

use crate::exit::Exit;
use crate::output::Output;

/// Continue in this project a guarded run whose machine is lost
///
/// The run is taken from the copy of its journal in the fleet's database, at the last entry that was shipped, and
/// verified as by `import`. Its history names the machine and the entry: what came later there is unknown.
/// The database then refuses further entries of the run from the other machine. Bring the project's files yourself.
/// Without RUN it lists what other machines have shipped and nobody has adopted.
#[derive(Debug, clap::Args)]
pub(crate) struct Adopt {
    /// The run's id; without it, the guarded runs of the other machines are listed
    #[arg(value_name = "RUN", value_parser = parse_run)]
    run: Option<RunId>,
    /// The machine that is lost, where several have shipped the run
    #[arg(long, value_name = "MACHINE", requires = "run")]
    from: Option<String>,
    /// Trust the pipeline of the run, which may run commands as you
    #[arg(long, requires = "run")]
    trust: bool,
    /// Print the files of its pipeline, and adopt nothing
    #[arg(long, requires = "run", conflicts_with_all = ["trust", "force"])]
    show: bool,
    /// Adopt it although its machine gave a sign of life, or another machine has adopted it
    #[arg(long, requires = "run")]
    force: bool,
}

fn parse_run(text: &str) -> Result<RunId, String> {
    RunId::parse(text).map_err(|problem| problem.to_string())
}

impl Adopt {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let held = person_only::session_holds_a_run(context)?;
        person_only::require_person(context, "adopt", held)?;
        match &self.run {
            Some(run) => self.with_database(context, output, run),
            None => Self::list(context, output),
        }
    }

    #[cfg(not(feature = "fleet"))]
    fn with_database(&self, _: &Context, _: &mut Output, _: &RunId) -> Result<Exit, Failure> {
        Err(super::fleet::built_without())
    }

    #[cfg(not(feature = "fleet"))]
    fn list(_: &Context, _: &mut Output) -> Result<Exit, Failure> {
        Err(super::fleet::built_without())
    }
}
