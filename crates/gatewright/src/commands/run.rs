//! `gatewright run`: takes a task through a pipeline to its end, and starts the agents itself.

use std::sync::atomic::Ordering;

use engine::{Held, RunId};
use runner::drive_options::{DriveOptions, WhenLimited};
use runtime::clock;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::facts::RunReader;
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
        match tasks.as_slice() {
            [task] => match self.begin(context, output, task, PlaceWish::AsDefined)? {
                Some(run) => drive_and_show::drive(context, output, &run, &options),
                None => Ok(Exit::No),
            },
            tasks => self.drive_each(context, output, tasks, &options),
        }
    }

    /// One task after another. On branches of their own they are in nobody's way: whatever becomes of one, the next
    /// begins. In one tree nothing begins before the one before it is done.
    fn drive_each(
        &self,
        context: &Context,
        output: &mut Output,
        tasks: &[String],
        options: &DriveOptions,
    ) -> Result<Exit, Failure> {
        let leaving = DriveOptions {
            when_limited: WhenLimited::Leave,
            ..options.clone()
        };
        let (mut worst, mut resting) = (Exit::Success, Vec::new());
        for (number, task) in tasks.iter().enumerate() {
            let Some(run) = self.begin(context, output, task, PlaceWish::BranchIfPossible)? else {
                tell_rest(output, tasks, number);
                return Ok(worst.or_worse(Exit::No));
            };
            let is_alone = !has_branch(context, &run)?;
            let manner = if is_alone { options } else { &leaving };
            let mut exit = driven(context, output, &run, manner);
            // The signal may come when a run is over: then that one was not stopped, and the next does not begin.
            if options.stop.load(Ordering::Relaxed) && number + 1 < tasks.len() {
                exit = exit.or_worse(Exit::Interrupted);
            }
            let stops = exit == Exit::Interrupted || (is_alone && exit != Exit::Success);
            if stops {
                tell_rest(output, tasks, number + 1);
                return Ok(worst.or_worse(exit));
            }
            if rests(context, &run)? {
                resting.push(run);
            } else {
                worst = worst.or_worse(exit);
            }
        }
        // All have begun: now those are waited for whose service asked to wait.
        for run in resting {
            worst = worst.or_worse(driven(context, output, &run, options));
        }
        Ok(worst)
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
            fleet: None,
        };
        self.new.start(workspace, task, mode)
    }
}

/// Drives one of several runs. If it cannot be driven, this says why, and stops none of the others.
fn driven(context: &Context, output: &mut Output, run: &RunId, options: &DriveOptions) -> Exit {
    drive_and_show::drive(context, output, run, options).unwrap_or_else(|failure| {
        output.failure(&failure);
        Exit::from(&failure)
    })
}

fn has_branch(context: &Context, run: &RunId) -> Result<bool, Failure> {
    let opened = Workspace::for_reading(context)?.read(run)?;
    Ok(opened.run().place.is_some())
}

fn rests(context: &Context, run: &RunId) -> Result<bool, Failure> {
    let mut workspace = Workspace::for_reading(context)?;
    let view = RunReader::new(run.clone()).read(&mut workspace, clock::now())?;
    Ok(view.rest.is_some())
}

/// Names the tasks that were not started, and the command that starts them.
fn tell_rest(output: &mut Output, tasks: &[String], started: usize) {
    let rest = tasks.get(started..).unwrap_or_default();
    for task in rest {
        let first = task.lines().next().unwrap_or_default();
        output.say(&format!("not started: {}", views::line(first)));
    }
    if !rest.is_empty() {
        let arguments = std::env::args_os().skip(1);
        let arguments = arguments.map(|it| it.to_string_lossy().into_owned());
        let command = without_first_tasks(arguments, started);
        let command = views::line(&engine::shell_words(&command));
        output.say(&format!(
            "`gatewright {command}` starts what was not started"
        ));
    }
}

/// The same command without this many of its tasks. Tasks come before issues.
fn without_first_tasks(arguments: impl Iterator<Item = String>, count: usize) -> Vec<String> {
    let mut arguments = arguments.peekable();
    let (mut groups, mut others) = (Vec::new(), Vec::new());
    while let Some(argument) = arguments.next() {
        let kind = ["--task", "--from-issue"].into_iter().position(|name| {
            let rest = argument.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        });
        match kind {
            Some(kind) => {
                let value = (!argument.contains('='))
                    .then(|| arguments.next())
                    .flatten();
                groups.push((kind, [Some(argument), value]));
            }
            None => others.push(argument),
        }
    }
    groups.sort_by_key(|(kind, _)| *kind);
    let left = groups.into_iter().skip(count);
    let left = left.flat_map(|(_, words)| words.into_iter().flatten());
    others.into_iter().chain(left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_for_the_rest_has_all_but_the_tasks_that_were_started() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (typed, count, expected) in [
            ("run fix --task a --task b", 1, "run fix --task b"),
            (
                "run --task=a fix --branch --task b",
                1,
                "run fix --branch --task b",
            ),
            (
                "run fix --from-issue 7 --task a --agents 2",
                1,
                "run fix --agents 2 --from-issue 7",
            ),
            ("run fix --task a --task b", 0, "run fix --task a --task b"),
        ] {
            let left = without_first_tasks(words(typed).into_iter(), count);
            assert_eq!(left, words(expected), "{typed}");
        }
    }
}
