//! `gatewright start`: a new run of a pipeline, for one task in this project.

mod delivery_needs;
pub(crate) mod fleet_queue;
mod queue_tasks;

use std::path::PathBuf;

use engine::{Held, ParamName, RunId, Step, Time};
use evidence::Project;
use runtime::caller::host;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::drive_settings::{DriveRequest, FleetWish};
use runtime::failure::Failure;
use runtime::file_lock::LOCK_TIMEOUT;
use runtime::idempotency::{self, KeyedCommand};
use runtime::run_branch::PlaceWish;
use runtime::start_run::{self, Holder, StartRun, Started};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{
    clock, find_run, params, person_only, session_run, shipping, start_time, task_graph_file,
};
use views::{Owner, Style};

use self::fleet_queue::{FleetArguments, FleetQueue};
use crate::arguments::Writing;
use crate::drive_arguments::DriveArguments;
use crate::exit::Exit;
use crate::output::{Format, Output};
use crate::{report, task};

/// Start a run of a pipeline for a task
///
/// Checks the definition and pins the run to its bytes. Later changes to the file do not affect the
/// run.
#[derive(Debug, clap::Args)]
pub(crate) struct Start {
    #[command(flatten)]
    new: NewRunArguments,
    /// The task; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", required_unless_present = "tasks")]
    task: Option<String>,
    /// With --queue: a file of tasks, one on each line, or longer ones with a line `---` between them.
    /// Each becomes a run; `-` reads them from stdin
    #[arg(long, value_name = "FILE", requires = "queue", conflicts_with_all = ["task", "by_hand", "id", "key"])]
    tasks: Option<PathBuf>,
    /// Drive the run by hand with `report`. The run is marked as unwitnessed
    #[arg(long)]
    by_hand: bool,
    /// Queue the run instead of starting it. `gatewright worker` starts it, or with --by-hand your
    /// first `report`
    #[arg(long)]
    queue: bool,
    /// With --queue: start the run at this time, and not before: 02:00, 2026-12-01T02:00 or +2h
    #[arg(long, value_name = "TIME", requires = "queue", conflicts_with = "by_hand", value_parser = parse_time)]
    at: Option<Time>,
    #[command(flatten)]
    fleet: FleetArguments,
}

fn parse_time(text: &str) -> Result<Time, String> {
    start_time::parse(text, clock::now())
}

/// The arguments of every command that starts a run.
#[derive(Debug, clap::Args)]
pub(crate) struct NewRunArguments {
    /// A built-in pipeline, one of the project's own (.gatewright/NAME.toml), or a path
    #[arg(value_name = "PIPELINE")]
    pub pipeline: String,
    /// Set a parameter
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = params::parse)]
    params: Vec<(ParamName, String)>,
    /// A file with the steps, for a pipeline that takes them at the start: a task graph in JSON, or
    /// one title per line
    #[arg(long, value_name = "FILE")]
    steps: Option<PathBuf>,
    /// The run's id, starting with `r-`, or with --fleet with `f-` [default: a new id]
    #[arg(long, value_name = "RUN", value_parser = parse_id)]
    pub id: Option<RunId>,
    #[command(flatten)]
    driving: DriveArguments,
    #[command(flatten)]
    pub writing: Writing,
}

/// How a run starts.
pub(crate) struct StartMode {
    /// The run waits in the queue instead of starting.
    pub queued: bool,
    /// The earliest time at which a worker takes it from the queue.
    pub not_before: Option<Time>,
    pub holder: Holder,
    /// Where it works, if neither the person nor the pipeline says.
    pub place: PlaceWish,
    /// Which machines may take it, where it is for the fleet.
    pub fleet: Option<FleetWish>,
}

/// All ids have the same prefix, so that nobody takes a run for an answer or a checkpoint.
pub(crate) fn parse_id(text: &str) -> Result<RunId, String> {
    if find_run::is_run_word(text) && text.len() > 2 {
        RunId::parse(text).map_err(|problem| problem.to_string())
    } else {
        Err("a run's id begins with `r-`, or in the fleet with `f-`".to_owned())
    }
}

impl Start {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        if let Some(file) = &self.tasks {
            let fleet = self.fleet.open(context)?;
            return queue_tasks::queue(&self.new, file, self.at, fleet.as_ref(), context, output);
        }
        match self.started(context, output) {
            Ok(Started::Run(opened)) => tell_started(&opened, self.at, output),
            Ok(Started::Earlier(opened)) => {
                output.say("a command with this key ran before: nothing was changed");
                tell_started(&opened, self.at, output)
            }
            Ok(Started::Refused(refusal)) => {
                output.say_in(Style::Bad, &views::refusal(&refusal));
                Ok(Exit::No)
            }
            Err(DefinitionError::Failed(failure)) => Err(failure),
            Err(DefinitionError::Rejected { text, problems }) => {
                output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                Ok(Exit::No)
            }
        }
    }

    fn started(&self, context: &Context, output: &mut Output) -> Result<Started, DefinitionError> {
        if self.by_hand {
            // Nobody witnesses such a run, so an agent could report whatever it likes.
            person_only::require_person(context, "start --by-hand", Held::Nobody)?;
        }
        if let Some(run) = session_run::here(context)? {
            let message =
                format!("this session already holds {run}, and a session holds one run at a time");
            return Err(Failure::refused(message)
                .hint(format!("`gatewright next {run}` shows what comes next"))
                .into());
        }
        let holder = match (self.by_hand, self.queue) {
            (true, _) => Holder::Hand,
            (false, true) => Holder::Headless,
            (false, false) => self.session(context)?,
        };
        if holder != Holder::Headless && !self.new.driving.request().is_empty() {
            let failure =
                Failure::usage("--runner, --stand-in, --answer and --notify are for headless runs");
            return Err(failure.hint("type `gatewright run`, or add --queue").into());
        }
        let is_guarded = matches!(holder, Holder::Session { .. });
        let fleet = self.fleet.open(context)?;
        let mut workspace =
            Workspace::for_writing(fleet.as_ref().map_or(context, FleetQueue::context))?;
        let mode = StartMode {
            queued: self.queue,
            not_before: self.at,
            holder,
            place: match &fleet {
                Some(_) => PlaceWish::Branch,
                None => PlaceWish::BranchIfPossible,
            },
            fleet: fleet.as_ref().map(FleetQueue::wish),
        };
        let task = self.task.as_deref().unwrap_or_default();
        let started = self.new.start(&mut workspace, task, mode)?;
        if let (Some(fleet), Started::Run(opened) | Started::Earlier(opened)) = (&fleet, &started) {
            fleet.enqueue(opened, output)?;
        }
        if is_guarded {
            shipping::wake(&workspace.state);
        }
        for notice in std::mem::take(&mut workspace.notices) {
            output.say(&notice);
        }
        Ok(started)
    }

    /// The session that typed the command. Errors in the pipeline come first, before anything is
    /// created.
    fn session(&self, context: &Context) -> Result<Holder, DefinitionError> {
        let project = Project::find(&context.folder).map_err(Failure::from)?;
        definition::compile(&start_run::sources(context, &project, &self.new.pipeline)?)?;
        let environment = &context.environment;
        let (Some(session), Some(program)) =
            (environment.session.clone(), environment.session_program())
        else {
            let failure = Failure::refused(
                "a guarded run needs a session of Claude Code, and this is not one",
            );
            return Err(failure
                .hint("start it inside Claude Code")
                .hint("`gatewright run` starts the agents itself")
                .hint("--by-hand starts a run that you drive with `gatewright report`")
                .into());
        };
        let process = host::named_process(environment)?;
        Ok(Holder::Session {
            session,
            process,
            program,
        })
    }
}

impl NewRunArguments {
    /// Starts the run, unless its key has started one before.
    pub(crate) fn start(
        &self,
        workspace: &mut Workspace<'_>,
        task: &str,
        mode: StartMode,
    ) -> Result<Started, DefinitionError> {
        self.start_with(workspace, task::read(task)?, mode)
    }

    /// The same with the text of the task itself.
    pub(crate) fn start_with(
        &self,
        workspace: &mut Workspace<'_>,
        task: String,
        mode: StartMode,
    ) -> Result<Started, DefinitionError> {
        let drive = DriveRequest {
            not_before: mode.not_before,
            fleet: mode.fleet,
            ..self.driving.request_with(mode.place)
        };
        let (key, earlier) = idempotency::start_key(
            workspace,
            self.writing.key.as_ref(),
            &self.command(&task, mode.queued, &drive),
        )?;
        if let Some(earlier) = earlier {
            let opened = workspace.opened(earlier)?;
            let opened = start_run::complete_start(workspace, opened)?;
            return Ok(Started::Earlier(opened));
        }
        let starting = StartRun {
            pipeline: self.pipeline.clone(),
            task,
            params: self.params.clone(),
            steps: self.steps(workspace.context)?,
            id: self.id.clone(),
            queued: mode.queued,
            patience: LOCK_TIMEOUT,
            by: workspace.context.who(),
            holder: mode.holder,
            drive,
        };
        let deliver = starting.drive.deliver.clone();
        let started = start_run::start(workspace, starting, &key)?;
        if let Started::Run(opened) = &started {
            let lacking = delivery_needs::lacking(workspace, opened, &deliver)?;
            workspace.notices.extend(lacking);
        }
        Ok(started)
    }

    fn command(&self, task: &str, queued: bool, drive: &DriveRequest) -> KeyedCommand<'static> {
        let params = self.params.iter();
        let steps = self.steps.iter();
        KeyedCommand::new("start")
            .with("pipeline", &self.pipeline)
            .with("task", task)
            .with_all(
                "param",
                params.map(|(name, value)| format!("{name}={value}")),
            )
            .with_all("steps", steps.map(|path| path.display().to_string()))
            .with_all("id", self.id.iter().map(ToString::to_string))
            .with("queue", queued)
            .with_all("driving", drive.words())
    }

    fn steps(&self, context: &Context) -> Result<Vec<Step>, Failure> {
        match &self.steps {
            Some(path) => task_graph_file::read(&context.folder.join(path)),
            None => Ok(Vec::new()),
        }
    }
}

/// The same for a run that may wait in the queue until a time.
fn tell_started(
    opened: &OpenRun,
    not_before: Option<Time>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if output.format() == Format::Json {
        return tell_begun(opened, Owner::There, output);
    }
    let next = report::next(opened, Owner::There).with_start_time(not_before, clock::now());
    output.text(&format!(
        "{}\n\n{}",
        opened.run().id,
        next.text(output.paint())
    ))?;
    Ok(Exit::Success)
}

/// Prints the id of a new run, and what comes next.
pub(crate) fn tell_begun(
    opened: &OpenRun,
    owner: Owner,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match output.format() {
        Format::Json => output.json(&report::standing(opened, owner))?,
        Format::Text => {
            let next = report::next(opened, owner).text(output.paint());
            output.text(&format!("{}\n\n{next}", opened.run().id))?;
        }
    }
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_begins_as_every_id_does() {
        for (text, expected) in [
            ("r-1", true),
            ("r-", false),
            ("run", false),
            ("r-a/b", false),
            ("f-1", true),
            ("f-", false),
        ] {
            assert_eq!(parse_id(text).is_ok(), expected, "{text}");
        }
    }
}
