//! `gatewright run`: takes a task through a pipeline to its end, and starts the agents itself.

use engine::{Held, RunId};
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::person_only;
use runtime::run_branch::PlaceWish;
use runtime::start_run::{Holder, Started};
use runtime::workspace::Workspace;
use views::Style;

use super::start::{NewRunArguments, StartMode};
use crate::drive_and_show;
use crate::drive_arguments::OrchestratorArguments;
use crate::exit::Exit;
use crate::issue::{self, IssueName};
use crate::output::Output;

/// Run a task through a pipeline to its end; starts the agents itself
///
/// Starts agents one after another, or in parallel waves where the pipeline has steps. If the process is killed, `gatewright resume` continues the run. Questions appear at the
/// terminal. Without a terminal the run waits for `gatewright answer`. Several tasks run one after
/// another, each in its own run.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    new: NewRunArguments,
    /// The task; `-` reads it from stdin. Repeat the option to run several tasks, one after another, each
    /// on a branch of its own
    #[arg(long = "task", value_name = "TEXT", required_unless_present = "issues")]
    tasks: Vec<String>,
    /// Take an issue of the project's tracker as the task, with `gh`, or `glab:NUMBER` with `glab`
    #[arg(long = "from-issue", value_name = "NUMBER", value_parser = issue::parse)]
    issues: Vec<IssueName>,
    #[command(flatten)]
    sitting: OrchestratorArguments,
}

impl Run {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "run", Held::Nobody)?;
        let several = self.tasks.len() + self.issues.len() > 1;
        if several && (self.new.id.is_some() || self.new.writing.key.is_some()) {
            return Err(self.several());
        }
        let tasks = self.tasks(context)?;
        let options = self.sitting.options()?;
        let place = match tasks.len() {
            1 => PlaceWish::AsDefined,
            _ => PlaceWish::BranchIfPossible,
        };
        for (number, task) in tasks.iter().enumerate() {
            let Some(run) = self.begin(context, output, task, place)? else {
                return Ok(Exit::No);
            };
            let exit = drive_and_show::drive(context, output, &run, &options)?;
            if exit != Exit::Success {
                tell_rest(output, &tasks[number + 1..]);
                return Ok(exit);
            }
        }
        Ok(Exit::Success)
    }

    /// Each task is a run of its own, and --id and --key are about one run.
    fn several(&self) -> Failure {
        let each = match (self.tasks.len(), self.issues.len()) {
            (tasks, 0) => format!("{tasks} times --task"),
            (0, issues) => format!("{issues} times --from-issue"),
            (_, _) => "--task and --from-issue together".to_owned(),
        };
        let message = format!("{each} start several runs, and --id and --key name one");
        Failure::usage(message).hint("give one task, or leave --id and --key out")
    }

    fn tasks(&self, context: &Context) -> Result<Vec<String>, Failure> {
        let mut tasks = self.tasks.clone();
        for issue in &self.issues {
            tasks.push(issue.task(context)?);
        }
        Ok(tasks)
    }

    /// Starts the run, or reports why it cannot start.
    fn begin(
        &self,
        context: &Context,
        output: &mut Output,
        task: &str,
        place: PlaceWish,
    ) -> Result<Option<RunId>, Failure> {
        let mut workspace = Workspace::for_writing(context)?;
        let begun = self.begun(&mut workspace, task, place);
        for notice in std::mem::take(&mut workspace.notices) {
            output.say(&notice);
        }
        match begun {
            Ok(Started::Run(opened) | Started::Earlier(opened)) => {
                Ok(Some(opened.run().id.clone()))
            }
            Ok(Started::Refused(refusal)) => {
                output.say_in(Style::Bad, &views::refusal(&refusal));
                Ok(None)
            }
            Err(DefinitionError::Failed(failure)) => Err(failure),
            Err(DefinitionError::Rejected { text, problems }) => {
                output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                Ok(None)
            }
        }
    }

    fn begun(
        &self,
        workspace: &mut Workspace<'_>,
        task: &str,
        place: PlaceWish,
    ) -> Result<Started, DefinitionError> {
        let mode = StartMode {
            queued: false,
            not_before: None,
            holder: Holder::Headless,
            place,
        };
        self.new.start(workspace, task, mode)
    }
}

/// Does not start the next tasks: the same problem may stop them, too.
fn tell_rest(output: &mut Output, rest: &[String]) {
    for task in rest {
        let first = task.lines().next().unwrap_or_default();
        output.say(&format!("not started: {}", views::line(first)));
    }
}
