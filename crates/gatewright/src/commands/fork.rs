//! `gatewright fork`: a new run that goes on from a recorded point of another one.

use engine::{Reply, RunId};
use store::{Backend, NewRun};

use super::restore::find_point;
use super::start::{parse_id, tell_begun};
use crate::arguments::Writing;
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::{chance, clock, runs};

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
        let opened = desk.opened(stored)?;
        let entry = find_point(&desk, &opened.run().id, &self.at)?;
        let forked = self.fork(&mut desk, &opened, entry)?;
        tell_begun(&forked, output)
    }

    fn fork(&self, desk: &mut Desk<'_>, opened: &Opened, entry: u64) -> Result<Opened, Failure> {
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
        let key = self.writing.key()?;
        let new = NewRun {
            project: &stored.project,
            worktree: &stored.worktree,
            files: &files,
            compiled: pipeline.definition(),
            key: Some(&key),
            contents: &[],
            secrets: &desk.context.environment.secrets,
            status: &|run| engine::status(pipeline, run),
        };
        let forked = desk.store.begin(&new, &decision)?;
        if let Some(search) = desk.state.search_path(&stored.run.id) {
            desk.state.keep_search_path(&forked.run.id, &search)?;
        }
        desk.opened(forked)
    }
}
