//! `gatewright gc`: deletes old finished runs, and contents that no run refers to.

use std::collections::BTreeSet;

use engine::{Held, RunId, Seconds, Time};
use runner::place_gc;
use runner::worktree::Worktrees;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::person_only;
use runtime::workspace::Workspace;
use runtime::{check_environment, clock, duration, enrolment, find_run, lease_holder, unused_runs};
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

impl Gc {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let age = self.older_than.0.saturating_mul(1_000);
        let before = Time(clock::now().0.saturating_sub(age));
        let (going, held) = going(context, before)?;
        person_only::require_person(context, "gc", held)?;
        if self.dry_run {
            show(output, &going)
        } else {
            confirmed(context, &going)?;
            collect(context, output, before)
        }
    }
}

/// The runs to delete, and whether a session holds one of them.
fn going(context: &Context, before: Time) -> Result<(Vec<RunSummary>, Held), Failure> {
    let Some(workspace) = Workspace::if_exists(context)? else {
        return Ok((Vec::new(), Held::Nobody));
    };
    let mut going = workspace.store.runs(None)?;
    going.retain(|run| !find_run::is_active(run) && run.updated_at < before);
    let mut free = Vec::new();
    for run in going {
        let held = workspace.store.lease(&run.id)?;
        if held.is_none_or(|held| lease_holder::is_abandoned(&held)) {
            free.push(run);
        }
    }
    let going = free;
    for run in &going {
        let stored = workspace.store.run(&run.id)?;
        if stored.is_some_and(|stored| engine::held(&stored.run) == Held::Session) {
            return Ok((going, Held::Session));
        }
    }
    Ok((going, Held::Nobody))
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

fn show(output: &mut Output, going: &[RunSummary]) -> Result<Exit, Failure> {
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
    });
    output.facts(|_| text, || json)?;
    Ok(Exit::Success)
}

fn collect(context: &Context, output: &mut Output, before: Time) -> Result<Exit, Failure> {
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
        before,
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
    });
    output.facts(|_| text, || json)?;
    Ok(Exit::Success)
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
