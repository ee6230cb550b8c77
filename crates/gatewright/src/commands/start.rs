//! `gatewright start`: a new run of a pipeline, for one task in this project.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{
    Beginning, Decision, Driver, Entry, Hash, ParamName, Pipeline, Refusal, Reply, Run, RunId, Step,
};
use evidence::Project;
use store::{Backend, Files, Key, NewRun, StoredRun};
use views::Style;

use crate::arguments::Writing;
use crate::context::Context;
use crate::definition::{self, Trouble};
use crate::desk::{Desk, Opened};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::key::{self, Command};
use crate::output::{Format, Output};
use crate::{chance, clock, collision, drive, params, rendering, steps, task, tell};

/// How often another id is tried, when the one that chance gave is taken.
const MOST_IDS: u32 = 8;

/// Start a run of a pipeline for a task
///
/// The definition is checked, and the run is pinned to its bytes: what happens to the file
/// afterwards does not touch the run.
#[derive(Debug, clap::Args)]
pub struct Start {
    /// A built-in pipeline, one of the project's own (.gatewright/NAME.toml), or a path
    #[arg(value_name = "PIPELINE")]
    pub pipeline: String,
    /// What is to be done; `-` reads it from the standard input
    #[arg(long, value_name = "TEXT")]
    pub task: String,
    /// Drive the run by hand, with `report`: it is shown as unwitnessed
    #[arg(long)]
    pub by_hand: bool,
    /// Give a parameter its value
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = params::parse)]
    pub params: Vec<(ParamName, String)>,
    /// A JSON file with the steps, for a pipeline that wants them at the start
    #[arg(long, value_name = "FILE")]
    pub steps: Option<PathBuf>,
    /// The run's id, which begins with `r-` [default: a new one]
    #[arg(long, value_name = "RUN", value_parser = parse_id)]
    pub id: Option<RunId>,
    /// Only queue the run: it begins when it is taken up
    #[arg(long)]
    pub queue: bool,
    #[command(flatten)]
    pub writing: Writing,
}

/// Ids begin alike, so that a run is never mistaken for an answer or a checkpoint.
pub fn parse_id(text: &str) -> Result<RunId, String> {
    match text.starts_with("r-") && text.len() > 2 {
        true => RunId::parse(text).map_err(|problem| problem.to_string()),
        false => Err("a run's id begins with `r-`".to_owned()),
    }
}

impl Start {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        match self.started(context) {
            Ok(Begun::Run(opened)) => tell_begun(&opened, output),
            Ok(Begun::Earlier(opened)) => {
                output.say("this key was there before: nothing was done again");
                tell_begun(&opened, output)
            }
            Ok(Begun::Refused(refusal)) => {
                output.say_in(Style::Bad, &views::refusal(&refusal));
                Ok(Exit::No)
            }
            Err(Trouble::Failed(failure)) => Err(failure),
            Err(Trouble::Rejected { text, problems }) => {
                output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                Ok(Exit::No)
            }
        }
    }

    fn started(&self, context: &Context) -> Result<Begun, Trouble> {
        if self.by_hand {
            return self.start(&mut Desk::for_writing(context)?);
        }
        // What is wrong with the pipeline is told first. Nothing is made for what cannot be started.
        let root = Project::find(&context.folder).map_err(Failure::from)?.root;
        definition::compile(&definition::find(&self.pipeline, &context.folder, &root)?)?;
        let message = "this version drives runs by hand only: hooks and headless driving come \
                       with a later one";
        Err(Failure::no(message).hint("add --by-hand").into())
    }

    /// Starts the run, unless its key has started one before.
    pub fn start(&self, desk: &mut Desk<'_>) -> Result<Begun, Trouble> {
        let task = task::read(&self.task)?;
        let (key, earlier) = key::of_beginning(desk, &self.writing, &self.command(&task))?;
        if let Some(earlier) = earlier {
            let Opened { stored, pipeline } = desk.opened(earlier)?;
            return Ok(Begun::Earlier(settled(desk, stored, pipeline)?));
        }
        let sources =
            definition::find(&self.pipeline, &desk.context.folder, &desk.project()?.root)?;
        let compiled = definition::compile(&sources)?;
        self.is_new(desk)?;
        let files = definition::pinned(&sources)?;
        let beginning = self.beginning(desk, files.hash(), &compiled.pipeline, task)?;
        Ok(self.begin(desk, beginning, &key, &files, &compiled.pipeline)?)
    }

    /// That an id is taken is told before anything about the run that has it.
    fn is_new(&self, desk: &Desk<'_>) -> Result<(), Failure> {
        match &self.id {
            Some(id) if desk.store.run(id)?.is_some() => {
                Err(store::Error::RunExists { run: id.clone() }.into())
            }
            Some(_) | None => Ok(()),
        }
    }

    fn command(&self, task: &str) -> Command<'static> {
        let params = self.params.iter();
        let steps = self.steps.iter();
        Command::new("start")
            .with("pipeline", &self.pipeline)
            .with("task", task)
            .with_all(
                "param",
                params.map(|(name, value)| format!("{name}={value}")),
            )
            .with_all("steps", steps.map(|path| path.display().to_string()))
            .with_all("id", self.id.iter().map(ToString::to_string))
            .with("queue", self.queue)
    }

    /// Invariant: from the look for other runs to the begin nobody else begins one.
    fn begin(
        &self,
        desk: &mut Desk<'_>,
        mut beginning: Beginning,
        key: &Key,
        files: &Files,
        pipeline: &Pipeline,
    ) -> Result<Begun, Failure> {
        let home = Home {
            project: desk.project()?.key.clone(),
            worktree: desk.worktree()?,
        };
        let _turn = desk.state.wait_to_start()?;
        for _ in 0..MOST_IDS {
            let decision = engine::begin(pipeline, &beginning);
            if let Reply::Refuse(refusal) = decision.reply {
                let advice = params::advice(pipeline.definition(), &beginning);
                return Ok(Begun::Refused(advised(refusal, advice)));
            }
            let run = begun(&decision.entries)?;
            collision::refuse(desk, pipeline.definition(), &run, &home.worktree)?;
            beginning.before = desk.lying_there(pipeline, &run, &home.worktree)?;
            let decision = engine::begin(pipeline, &beginning);
            match store_begun(desk, &home, key, files, pipeline, &decision) {
                Ok(stored) => return settled(desk, stored, pipeline.clone()).map(Begun::Run),
                Err(store::Error::RunExists { .. }) if self.id.is_none() => {
                    beginning.id = chance::run_id()?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Failure::outside("no free id was found for the run").hint("give one with --id"))
    }

    fn beginning(
        &self,
        desk: &Desk<'_>,
        hash: Hash,
        pipeline: &Pipeline,
        task: String,
    ) -> Result<Beginning, Failure> {
        let definition = pipeline.definition();
        let params = params::gather(definition, &self.params, &desk.project()?.root)?;
        params::refuse_empty(definition, &params)?;
        Ok(Beginning {
            at: clock::now(),
            by: desk.context.who(),
            id: self.id.clone().map_or_else(chance::run_id, Ok)?,
            definition: hash,
            task,
            params,
            driver: Driver::ByHand,
            session: None,
            steps: self.steps(desk.context)?,
            before: BTreeMap::new(),
            queued: self.queue,
        })
    }

    fn steps(&self, context: &Context) -> Result<Vec<Step>, Failure> {
        match &self.steps {
            Some(path) => steps::read(&context.folder.join(path)),
            None => Ok(Vec::new()),
        }
    }
}

/// Tells the id of a new run, and what comes next.
pub fn tell_begun(opened: &Opened, output: &mut Output) -> Result<Exit, Failure> {
    match output.format() {
        Format::Json => output.json(&tell::standing(opened))?,
        Format::Text => {
            let next = tell::next(opened).text(output.paint());
            output.text(&format!("{}\n\n{next}", opened.run().id))?;
        }
    }
    Ok(Exit::Success)
}

/// A refusal that ends with what to type.
fn advised(refusal: Refusal, advice: Option<String>) -> Refusal {
    match advice {
        Some(advice) => Refusal {
            reason: format!("{}; {advice}", refusal.reason),
            ..refusal
        },
        None => refusal,
    }
}

pub enum Begun {
    Run(Opened),
    /// The key had begun this one before.
    Earlier(Opened),
    Refused(Refusal),
}

/// Where a run belongs, as the store keeps it.
struct Home {
    project: String,
    worktree: String,
}

/// The run as its first entries tell it.
fn begun(entries: &[Entry]) -> Result<Run, Failure> {
    engine::replay(entries)
        .map_err(|damage| Failure::bug(format!("the run cannot begin ({damage})")))
}

fn store_begun(
    desk: &mut Desk<'_>,
    home: &Home,
    key: &Key,
    files: &Files,
    pipeline: &Pipeline,
    decision: &Decision,
) -> Result<StoredRun, store::Error> {
    let new = NewRun {
        project: &home.project,
        worktree: &home.worktree,
        files,
        compiled: pipeline.definition(),
        key: Some(key),
        contents: &[],
        secrets: &desk.context.environment.secrets,
        status: &|run| engine::status(pipeline, run),
    };
    desk.store.begin(&new, decision)
}

/// What goes with a run that has just been stored, or that was and then the power went.
fn settled(desk: &mut Desk<'_>, stored: StoredRun, pipeline: Pipeline) -> Result<Opened, Failure> {
    let run = &stored.run.id;
    if desk.state.search_path(run).is_none()
        && let Some(search) = &desk.context.environment.search_path
    {
        desk.state.keep_search_path(run, search)?;
    }
    let opened = drive::prepare(desk, Opened { stored, pipeline })?;
    // A view that cannot be written now is told of by the next change, and the run has begun.
    let _ = rendering::render(desk, &opened);
    Ok(opened)
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
        ] {
            assert_eq!(parse_id(text).is_ok(), expected, "{text}");
        }
    }
}
