//! Import: a run that an export brought is judged again and stored in the current project.

use engine::{Audit, Entry, Fact, Pipeline, Rule};
use store::{Backend as _, Backup, Import};

use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};
use crate::{clock, definition, run_audit, trust};

/// What a person said about the pipeline in the file, which may run commands as them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trusted {
    /// It must be built in, or that of a run in this store.
    AsKnown,
    /// They have read it.
    ByPerson,
}

/// Stores the run, or nothing at all. The chain of the backup is whole already.
pub fn import(
    workspace: &mut Workspace<'_>,
    backup: &Backup,
    trusted: Trusted,
) -> Result<OpenRun, Failure> {
    let pipeline = accept(workspace, backup, trusted)?;
    let note = note(workspace, backup);
    store(workspace, backup, &pipeline, &[note])
}

/// The pipeline of a run that may be stored here.
pub(crate) fn accept(
    workspace: &Workspace<'_>,
    backup: &Backup,
    trusted: Trusted,
) -> Result<Pipeline, Failure> {
    let run = backup.run();
    if workspace.store.run(&run.id)?.is_some() {
        let message = format!(
            "run {} is in the store already: nothing was imported",
            run.id
        );
        return Err(Failure::refused(message).hint(format!(
            "`gatewright status {}` shows it, and `gatewright restore {} POINT` returns to a point of it",
            run.id, run.id
        )));
    }
    let Some(compiled) = run_audit::compile(&backup.files) else {
        let message = "this gatewright does not accept the pipeline of the run";
        return Err(Failure::refused(message).hint("take the version that wrote it"));
    };
    if trusted == Trusted::AsKnown {
        require_known(workspace, backup)?;
    }
    let pipeline = Pipeline::from_cache(compiled);
    judge(backup, &pipeline)?;
    Ok(pipeline)
}

/// Stores the run in the current project, with entries that say where it comes from.
pub(crate) fn store(
    workspace: &mut Workspace<'_>,
    backup: &Backup,
    pipeline: &Pipeline,
    notes: &[Entry],
) -> Result<OpenRun, Failure> {
    let project = workspace.project()?.key.clone();
    let worktree = workspace.worktree()?;
    let secrets = workspace.context.environment.secrets();
    let imported = workspace.store.import(
        backup,
        &Import {
            project: &project,
            worktree: &worktree,
            compiled: pipeline.definition(),
            notes,
            secrets,
            status: &|run| engine::status(pipeline, run),
        },
    )?;
    workspace.opened(imported)
}

/// A hash chain shows that a file was not changed, not who wrote it.
fn require_known(workspace: &Workspace<'_>, backup: &Backup) -> Result<(), Failure> {
    let is_shipped = trust::is_shipped(&definition::unpinned(&backup.files));
    if is_shipped || workspace.store.definition(backup.files.hash())?.is_some() {
        return Ok(());
    }
    let message = "the pipeline of the run is not trusted here: it may run commands as you";
    Err(Failure::refused(message).hint("read its files, then type the command again with --trust"))
}

/// Could the engine have written this journal?
fn judge(backup: &Backup, pipeline: &Pipeline) -> Result<(), Failure> {
    let mut audit = Audit::new(pipeline);
    let mut last = 0;
    let mut before: Vec<&Entry> = Vec::new();
    for (number, (decision, entry)) in (1_u64..).zip(backup.entries()) {
        if decision != last {
            last = decision;
            audit.decision();
        }
        let judged = audit.entry(entry).map_err(|damage| damage.what);
        judged
            .and_then(|()| same_point(&before, entry))
            .map_err(|why| {
                let message = format!("entry {number} does not follow from the rules: {why}");
                Failure::refused(message).hint("take a copy that nobody has edited")
            })?;
        before.push(entry);
    }
    Ok(())
}

/// A restore names a state that the journal had.
fn same_point(before: &[&Entry], entry: &Entry) -> Result<(), String> {
    let Fact::Restored { entry, state, .. } = &entry.fact else {
        return Ok(());
    };
    let end = usize::try_from(*entry).unwrap_or(usize::MAX);
    let then = before.get(..end).map(|entries| entries.iter().copied());
    let then = then.and_then(|entries| engine::replay(entries).ok());
    let same = then.is_some_and(|then| engine::is_same_point(state, &then));
    let wrong = || format!("it restores what entry {entry} did not have");
    same.then_some(()).ok_or_else(wrong)
}

fn note(workspace: &Workspace<'_>, backup: &Backup) -> Entry {
    let message = format!("imported from an export; the run was in {}", backup.project);
    Entry {
        at: clock::now(),
        by: workspace.context.who(),
        rule: Rule::Imported,
        fact: Fact::Noted { message },
    }
}
