//! `gatewright fork`: a new run that goes on from a recorded point of another one.

use engine::{Reply, RunId};
use store::{Backend, Key, NewRun};

use super::restore::find_point;
use super::start::{parse_id, tell_begun};
use crate::arguments::Writing;
use crate::caller::refusal;
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::key::{self, Command};
use crate::output::Output;
use crate::{chance, clock, rendering, runs, worker};

/// Begin a new run that goes on from an earlier point of another one
///
/// The two runs share their artifacts' paths, unless these hold {run}: work on one of them at a time.
#[derive(Debug, clap::Args)]
pub struct Fork {
    /// The run's id, or the beginning of it
    #[arg(value_name = "RUN")]
    run: String,
    /// The entry after which the new run goes on: its number, or a checkpoint's name
    #[arg(long, value_name = "ENTRY")]
    at: String,
    /// The new run's id, which begins with `r-` [default: a new one]
    #[arg(long, value_name = "RUN", value_parser = parse_id)]
    id: Option<RunId>,
    #[command(flatten)]
    writing: Writing,
}

impl Fork {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut desk = Desk::for_writing(context)?;
        let stored = runs::find(&desk, Some(&self.run))?;
        refusal::persons(context, "fork", engine::held(&stored.run))?;
        let opened = desk.opened(stored)?;
        let command = Command::new("fork")
            .with("run", &opened.run().id)
            .with("at", &self.at)
            .with_all("id", self.id.iter().map(ToString::to_string));
        let (key, earlier) = key::of_beginning(&desk, &self.writing, &command)?;
        if let Some(earlier) = earlier {
            output.say("this key was there before: nothing was done again");
            // The power may have gone right after the run was stored.
            search_alike(&desk, &opened.run().id, &earlier.run.id)?;
            return tell_begun(&desk.opened(earlier)?, output);
        }
        let entry = find_point(&desk, &opened.run().id, &self.at)?;
        let forked = self.fork(&mut desk, &opened, entry, &key)?;
        tell_begun(&forked, output)
    }

    fn fork(
        &self,
        desk: &mut Desk<'_>,
        opened: &Opened,
        entry: u64,
        key: &Key,
    ) -> Result<Opened, Failure> {
        let Opened { stored, pipeline } = opened;
        let state = desk.store.folded_at(&stored.run.id, entry)?;
        let id = self.id.clone().map_or_else(chance::run_id, Ok)?;
        let by = desk.context.who();
        let decision = engine::fork(pipeline, &state, entry, &id, clock::now(), &by);
        if let Reply::Refuse(refusal) = &decision.reply {
            return Err(Failure::no(views::refusal(refusal)));
        }
        let hash = state.definition;
        let files = desk
            .store
            .definition(hash)?
            .ok_or(store::Error::UnknownDefinition { hash })?;
        let new = NewRun {
            project: &stored.project,
            worktree: &stored.worktree,
            files: &files,
            compiled: pipeline.definition(),
            key: Some(key),
            contents: &[],
            secrets: &desk.context.environment.secrets,
            status: &|run| engine::status(pipeline, run),
        };
        let forked = desk.store.begin(&new, &decision)?;
        search_alike(desk, &stored.run.id, &forked.run.id)?;
        let opened = desk.opened(forked)?;
        Ok(rendering::render(desk, opened))
    }
}

/// The checks of a fork look for programs where those of its origin do.
fn search_alike(desk: &Desk<'_>, origin: &RunId, fork: &RunId) -> Result<(), Failure> {
    worker::keep_alike(&desk.state, origin, fork)?;
    match desk.state.search_path(origin) {
        Some(search) => desk.state.keep_search_path(fork, &search),
        None => Ok(()),
    }
}
