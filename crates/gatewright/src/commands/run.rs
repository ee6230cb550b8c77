//! `gatewright run`: takes a task through a pipeline to its end, and starts the agents itself.

use std::path::PathBuf;

use engine::{Held, ParamName, RunId};
use views::Style;

use super::start::{Start, parse_id};
use crate::arguments::Writing;
use crate::caller::refusal;
use crate::context::Context;
use crate::definition::{self, Trouble};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::headless::drive_run;
use crate::headless::flags::{Driving, Sitting};
use crate::output::Output;
use crate::params;
use crate::start_run::{Begun, Holder};
use crate::workspace::Workspace;

/// Run a task through a pipeline to its end; starts the agents itself
///
/// Starts agents one after another, or in parallel waves where the pipeline has steps. If the process is killed, `gatewright resume` continues the run. Questions appear at the
/// terminal. Without a terminal the run waits for `gatewright answer`. Several tasks run one after
/// another, each in its own run.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// A built-in pipeline, one of the project's own (.gatewright/NAME.toml), or a path
    #[arg(value_name = "PIPELINE")]
    pipeline: String,
    /// The task; `-` reads it from stdin. Repeat the option to run several tasks, one after another
    #[arg(long = "task", value_name = "TEXT", required = true)]
    tasks: Vec<String>,
    /// Set a parameter
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = params::parse)]
    params: Vec<(ParamName, String)>,
    /// A file with the steps, for a pipeline that takes them at the start: a task graph in JSON, or
    /// one title per line
    #[arg(long, value_name = "FILE")]
    steps: Option<PathBuf>,
    /// The run's id, starting with `r-` [default: a new id]
    #[arg(long, value_name = "RUN", value_parser = parse_id)]
    id: Option<RunId>,
    #[command(flatten)]
    driving: Driving,
    #[command(flatten)]
    sitting: Sitting,
    #[command(flatten)]
    writing: Writing,
}

impl Run {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        refusal::persons(context, "run", Held::Nobody)?;
        if self.tasks.len() > 1 && (self.id.is_some() || self.writing.key.is_some()) {
            return Err(Failure::usage("several tasks are several runs")
                .hint("give --id and --key with one task"));
        }
        let options = self.sitting.options()?;
        for (number, task) in self.tasks.iter().enumerate() {
            let Some(run) = self.begin(context, output, task)? else {
                return Ok(Exit::No);
            };
            let exit = drive_run::sit(context, output, &run, &options)?;
            if exit != Exit::Success {
                self.tell_rest(output, number);
                return Ok(exit);
            }
        }
        Ok(Exit::Success)
    }

    /// The tasks behind this one are not begun: what stopped it may stop them, too.
    fn tell_rest(&self, output: &mut Output, number: usize) {
        let rest = self.tasks.len() - number - 1;
        if rest > 0 {
            output.say(&format!("{rest} more of the tasks were not begun"));
        }
    }

    /// Begins the run, or says why it does not begin.
    fn begin(
        &self,
        context: &Context,
        output: &mut Output,
        task: &str,
    ) -> Result<Option<RunId>, Failure> {
        match self.begun(context, task) {
            Ok(Begun::Run(opened) | Begun::Earlier(opened)) => Ok(Some(opened.run().id.clone())),
            Ok(Begun::Refused(refusal)) => {
                output.say_in(Style::Bad, &views::refusal(&refusal));
                Ok(None)
            }
            Err(Trouble::Failed(failure)) => Err(failure),
            Err(Trouble::Rejected { text, problems }) => {
                output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                Ok(None)
            }
        }
    }

    fn begun(&self, context: &Context, task: &str) -> Result<Begun, Trouble> {
        let start = Start {
            pipeline: self.pipeline.clone(),
            task: task.to_owned(),
            by_hand: false,
            params: self.params.clone(),
            steps: self.steps.clone(),
            id: self.id.clone(),
            queue: false,
            driving: self.driving.clone(),
            writing: Writing {
                key: self.writing.key.clone(),
            },
        };
        start.start(&mut Workspace::for_writing(context)?, Holder::Headless)
    }
}
