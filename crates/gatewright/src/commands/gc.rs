//! `gatewright gc`: deletes old finished runs, and contents that no run refers to.

use std::collections::BTreeSet;

use engine::{Held, RunId, Seconds, Time};
use runner::delivery;
use runner::place_gc;
use runner::worktree::Worktrees;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::person_only;
use runtime::workspace::Workspace;
use runtime::{
    check_environment, clock, duration, enrolment, find_run, lease_holder, undelivered, unused_runs,
};
use serde_json::json;
use store::{Backend, Claim, Collect, Collected, RunSummary};

use crate::confirm::{self, Question};
use crate::exit::Exit;
use crate::output::Output;

/// Delete old finished runs with their backups, and contents that no run refers to
#[derive(Debug, clap::Args)]
pub(crate) struct Gc {
    /// Delete only runs that ended at least this long ago
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = duration::parse)]
    older_than: Seconds,
    /// Show which runs it would delete, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// What a collection does with the runs that ended long enough ago.
struct Collection {
    before: Time,
    going: Vec<RunSummary>,
    /// Completed runs whose work is still to be delivered.
    undelivered: Vec<RunId>,
    /// Does a session hold one of those that go?
    held: Held,
}

impl Gc {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let age = self.older_than.0.saturating_mul(1_000);
        let before = Time(clock::now().0.saturating_sub(age));
        let collection = Collection::at(context, before)?;
        person_only::require_person(context, "gc", collection.held)?;
        if self.dry_run {
            show(output, &collection)
        } else {
            confirmed(context, &collection.going)?;
            collect(context, output, &collection)
        }
    }
}

impl Collection {
    fn at(context: &Context, before: Time) -> Result<Self, Failure> {
        let mut collection = Self {
            before,
            going: Vec::new(),
            undelivered: Vec::new(),
            held: Held::Nobody,
        };
        let Some(mut workspace) = Workspace::if_exists(context)? else {
            return Ok(collection);
        };
        let noted = undelivered::runs(&workspace.state);
        let mut ended = workspace.store.runs(None)?;
        ended.retain(|run| !find_run::is_active(run) && run.updated_at < before);
        for run in ended {
            let held = workspace.store.lease(&run.id)?;
            if held.is_some_and(|held| !lease_holder::is_abandoned(&held)) {
                continue;
            }
            if noted.contains(&run.id) && is_undelivered(&mut workspace, &run.id) {
                collection.undelivered.push(run.id);
                continue;
            }
            let stored = workspace.store.run(&run.id)?;
            if stored.is_some_and(|stored| engine::held(&stored.run) == Held::Session) {
                collection.held = Held::Session;
            }
            collection.going.push(run);
        }
        Ok(collection)
    }

    /// Why some runs stay, and how a person ends that.
    fn told_kept(&self) -> Option<String> {
        let kept: Vec<&str> = self.undelivered.iter().map(RunId::as_str).collect();
        let runs = count(kept.len() as u64, "run", "runs");
        (!kept.is_empty()).then(|| {
            format!(
                "keeps {runs} whose work is not delivered ({}): `gatewright deliver RUN` delivers it, \
                 `gatewright merge RUN` takes it into your tree instead",
                kept.join(", ")
            )
        })
    }
}

/// Would a deletion take the last chance to deliver? A run that cannot be read is not kept for that, nor one whose
/// worktree and branch are gone.
fn is_undelivered(workspace: &mut Workspace<'_>, run: &RunId) -> bool {
    let opened = workspace.find(run).ok().flatten();
    opened.is_some_and(|it| {
        undelivered::of(&workspace.state, &it).is_some() && delivery::has_work(workspace, &it)
    })
}

/// Deletes unreferenced contents without a question: nobody can miss them.
fn confirmed(context: &Context, going: &[RunSummary]) -> Result<(), Failure> {
    if going.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = going.iter().map(|run| run.id.as_str()).collect();
    let runs = count(ids.len() as u64, "run", "runs");
    let lost = format!(
        "{runs} will be deleted permanently, with history, artifacts and backups:\n{}",
        ids.join("\n")
    );
    let question = Question {
        lost: &lost,
        word: "delete",
        action: &format!("delete {runs}"),
    };
    confirm::confirm(context, &question)
}

fn show(output: &mut Output, collection: &Collection) -> Result<Exit, Failure> {
    let going = &collection.going;
    let ids: Vec<&str> = going.iter().map(|run| run.id.as_str()).collect();
    let text = match ids.as_slice() {
        [] => "no run is old enough to delete\n".to_owned(),
        [only] => format!("would delete 1 run:\n{only}\n"),
        ids => format!("would delete {} runs:\n{}\n", ids.len(), ids.join("\n")),
    };
    let entries: u64 = going.iter().map(|run| run.version).sum();
    // The size of the contents and definitions is known only after the runs are deleted.
    let json = json!({
        "dry_run": true,
        "runs": ids.len(),
        "ids": ids,
        "entries": entries,
        "contents": null,
        "definitions": null,
        "undelivered": undelivered_json(collection),
    });
    if let Some(kept) = collection.told_kept() {
        output.say(&kept);
    }
    output.facts(|_| text, || json)?;
    Ok(Exit::Success)
}

fn collect(
    context: &Context,
    output: &mut Output,
    collection: &Collection,
) -> Result<Exit, Failure> {
    let mut workspace = Workspace::for_writing(context)?;
    let closed = unused_runs::close_all(&mut workspace)?;
    if closed > 0 {
        let runs = count(closed, "run", "runs");
        output.say(&format!(
            "ended {runs} whose session is over and did nothing"
        ));
    }
    // Their work is kept on their branches while the runs are still known.
    let worktrees = place_gc::collect(&mut workspace)?.len() as u64;
    let earlier = workspace.store.runs(None)?;
    release_abandoned(&mut workspace, &earlier)?;
    let collected = workspace.store.gc(&Collect {
        before: collection.before,
        keep: &collection.undelivered,
        shrink: true,
    })?;
    let left: BTreeSet<RunId> = workspace
        .store
        .runs(None)?
        .into_iter()
        .map(|run| run.id)
        .collect();
    let is_left = |run: &str| RunId::parse(run).is_ok_and(|run| left.contains(&run));
    workspace.state.forget_runs(is_left);
    workspace.state.forget_temporary_files();
    forget_environments(&workspace, &left)?;
    Worktrees::forget_runs(&workspace.state, is_left)?;
    enrolment::forget(&workspace.state, |run| is_left(run.as_str()));
    let ids = earlier.iter().map(|run| run.id.as_str());
    let ids: Vec<&str> = ids.filter(|run| !is_left(run)).collect();
    let text = told(&collected, worktrees);
    let json = json!({
        "dry_run": false,
        "runs": collected.runs,
        "ids": ids,
        "entries": collected.entries,
        "contents": collected.contents,
        "definitions": collected.definitions,
        "worktrees": worktrees,
        "undelivered": undelivered_json(collection),
    });
    if let Some(kept) = collection.told_kept() {
        output.say(&kept);
    }
    output.facts(|_| text, || json)?;
    Ok(Exit::Success)
}

fn undelivered_json(collection: &Collection) -> Vec<&str> {
    collection.undelivered.iter().map(RunId::as_str).collect()
}

/// The store deletes no run that is held. A killed orchestrator cannot give its lease back.
fn release_abandoned(workspace: &mut Workspace<'_>, runs: &[RunSummary]) -> Result<(), Failure> {
    for run in runs.iter().filter(|run| !find_run::is_active(run)) {
        let held = workspace.store.lease(&run.id)?;
        if let Some(held) = held.filter(lease_holder::is_abandoned) {
            let fence = held.fence;
            workspace.store.claim(&run.id, &Claim::Release { fence })?;
        }
    }
    Ok(())
}

fn told(collected: &Collected, worktrees: u64) -> String {
    let deleted = format!(
        "deleted {} with {}, {}, {}\n",
        count(collected.runs, "run", "runs"),
        count(collected.entries, "entry", "entries"),
        count(collected.contents, "content", "contents"),
        count(collected.definitions, "definition", "definitions"),
    );
    if worktrees == 0 {
        return deleted;
    }
    let worktrees = count(worktrees, "worktree", "worktrees");
    format!("{deleted}removed {worktrees} of finished runs; their branches stay\n")
}

/// Removes the environments that neither a run nor a project has any more.
fn forget_environments(workspace: &Workspace<'_>, left: &BTreeSet<RunId>) -> Result<(), Failure> {
    let mut used = BTreeSet::new();
    for run in left {
        let stored = workspace.store.run(run)?;
        used.extend(stored.and_then(|stored| stored.run.environment));
    }
    check_environment::forget(&workspace.state, &used);
    Ok(())
}

fn count(number: u64, one: &str, more: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {more}"),
    }
}
