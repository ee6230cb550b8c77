//! `gatewright fork`: starts a new run from a recorded point of another one.

use engine::{Reply, RunId};
use runtime::context::Context;
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::idempotency::{self, KeyedCommand};
use runtime::person_only;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, find_run, ids, signs, view_files, worker_environment};
use store::{Backend, Key, NewRun};

use super::restore::find_point;
use super::start::{parse_id, tell_begun};
use crate::arguments::Writing;
use crate::exit::Exit;
use crate::output::Output;

/// Start a new run from an earlier point of another run
///
/// Both runs use the same artifact paths, unless the paths contain {run}: work on one of them at a
/// time.
#[derive(Debug, clap::Args)]
pub(crate) struct Fork {
    /// The run's id, or its first characters
    #[arg(value_name = "RUN")]
    run: String,
    /// The entry to continue from: its number, or a checkpoint's name
    #[arg(long, value_name = "ENTRY")]
    at: String,
    /// The new run's id, starting with `r-` [default: a new id]
    #[arg(long, value_name = "RUN", value_parser = parse_id)]
    id: Option<RunId>,
    #[command(flatten)]
    writing: Writing,
}

impl Fork {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = Workspace::for_writing(context)?;
        let stored = find_run::find(&workspace, Some(&self.run))?;
        person_only::require_person(context, "fork", engine::held(&stored.run))?;
        if context.fleet().is_some() {
            let message = "a run of the fleet cannot be forked";
            return Err(Failure::refused(message)
                .hint("start a new one with `gatewright start --queue --fleet`"));
        }
        let opened = workspace.opened(stored)?;
        let command = KeyedCommand::new("fork")
            .with("run", &opened.run().id)
            .with("at", &self.at)
            .with_all("id", self.id.iter().map(ToString::to_string));
        let (key, earlier) =
            idempotency::start_key(&workspace, self.writing.key.as_ref(), &command)?;
        if let Some(earlier) = earlier {
            output.say("a command with this key ran before: nothing was changed");
            // A power cut may have happened right after the run was stored.
            worker_environment::copy_older(&workspace.state, &opened.run().id, &earlier.run.id)?;
            let opened = workspace.opened(earlier)?;
            return tell_begun(&opened, signs::owner(&workspace, &opened), output);
        }
        // The fork works where the other run works.
        workspace.require_project(&opened)?;
        let entry = find_point(&workspace, &opened.run().id, &self.at)?;
        let forked = self.fork(&mut workspace, &opened, entry, &key)?;
        tell_begun(&forked, signs::owner(&workspace, &forked), output)
    }

    fn fork(
        &self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        entry: u64,
        key: &Key,
    ) -> Result<OpenRun, Failure> {
        let OpenRun { stored, pipeline } = opened;
        let state = workspace.store.folded_at(&stored.run.id, entry)?;
        let id = self.id.clone().map_or_else(ids::run_id, Ok)?;
        if workspace.store.run(&id)?.is_none() {
            // Invariant: durable before the run, so that nobody drives the fork in another way.
            DriveSettings::copy(&workspace.state, &stored.run.id, &id)?;
        }
        let by = workspace.context.who();
        let decision = engine::fork(pipeline, &state, entry, &id, clock::now(), &by);
        if let Reply::Refuse(refusal) = &decision.reply {
            return Err(Failure::refused(views::refusal(refusal)));
        }
        let hash = state.definition;
        let files = workspace
            .store
            .definition(hash)?
            .ok_or(store::Error::UnknownDefinition { hash })?;
        let new = NewRun {
            project: &stored.project,
            worktree: stored.worktree(),
            files: &files,
            compiled: pipeline.definition(),
            key: Some(key),
            contents: &[],
            secrets: workspace.context.environment.secrets(),
            status: &|run| engine::status(pipeline, run),
        };
        let forked = workspace.store.begin(&new, &decision)?;
        worker_environment::copy_older(&workspace.state, &stored.run.id, &forked.run.id)?;
        let opened = workspace.opened(forked)?;
        Ok(view_files::render(workspace, opened))
    }
}
