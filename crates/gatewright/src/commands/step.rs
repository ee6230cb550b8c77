//! `gatewright step`: runs the next worker if the session cannot start it.

use engine::StepId;
use runner::run_step;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::workspace::Workspace;
use views::Style;

use crate::arguments::OfRun;
use crate::exit::Exit;
use crate::output::Output;
use crate::report;

/// Run the next worker that the session cannot start itself: Codex, Gemini or a script
///
/// Admits the worker, runs it in the project and judges its artifacts, as for every agent. The
/// worker gets a reduced environment, a time limit and its own process group, which ends with this
/// command.
#[derive(Debug, clap::Args)]
pub(crate) struct Step {
    #[command(flatten)]
    of: OfRun,
    /// The step of the task graph to run [default: the first step that can start]
    #[arg(long, value_name = "STEP", value_parser = parse_step)]
    step: Option<StepId>,
}

fn parse_step(text: &str) -> Result<StepId, String> {
    StepId::parse(text).map_err(|problem| problem.to_string())
}

impl Step {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = Workspace::for_writing(context)?;
        let stored = find_run::find(&workspace, self.of.run.as_deref())?;
        let opened = workspace.opened(stored)?;
        let mut say = |line: &str| {
            if output.is_talking_to_a_person() {
                output.say_in(Style::Dim, line);
            }
        };
        let decided = run_step::step(&mut workspace, opened, self.step.as_ref(), &mut say)?;
        report::print(&workspace, &decided, output)
    }
}
