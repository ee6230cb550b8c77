//! Finds runs by id, by a prefix of an id, or because there is only one.

use engine::{Act, Begins, RunId, Status};
use evidence::Project;
use store::{Backend, RunSummary, StoredRun};

use crate::context::Context;
use crate::enrolment;
use crate::failure::Failure;
use crate::fleet_project;
use crate::ids;
use crate::workspace::Workspace;

/// How many runs a message names.
const MOST_NAMED: usize = 5;

/// The run with this id; without one, the only active run of this worktree, else of this project.
pub fn find(workspace: &Workspace<'_>, word: Option<&str>) -> Result<StoredRun, Failure> {
    let id = match word {
        Some(word) => named(workspace, word)?,
        None => only_active(workspace)?,
    };
    let stored = workspace.store.run(&id)?;
    stored.ok_or_else(|| store::Error::UnknownRun { run: id }.into())
}

/// The same for a command that only shows: where no run is active, the project's last run.
pub fn find_to_show(workspace: &Workspace<'_>, word: Option<&str>) -> Result<StoredRun, Failure> {
    match (find(workspace, word), word) {
        (Err(failure), None) => match last_over(workspace)? {
            Some(id) => find(workspace, Some(id.as_str())),
            None => Err(failure),
        },
        (found, _) => found,
    }
}

/// The run with this id; without one, the only candidate. Several are named, and none of them is taken.
pub fn find_candidate(
    workspace: &Workspace<'_>,
    word: Option<&str>,
    candidates: &[RunId],
    what: &str,
) -> Result<StoredRun, Failure> {
    match (word, candidates) {
        (None, [])
            if of_project(workspace)?
                .iter()
                .filter(|it| is_active(it))
                .count()
                > 1 =>
        {
            let failure = Failure::not_found(format!("no run of this project {what}"));
            Err(failure.hint("`gatewright list --all` shows all runs"))
        }
        (Some(_), _) | (None, []) => find_to_show(workspace, word),
        (None, [only]) => find(workspace, Some(only.as_str())),
        (None, several) => {
            let several: Vec<&RunId> = several.iter().collect();
            let message = format!("{} {what}", listed(&several));
            Err(Failure::not_found(message).hint("add the id of one of them"))
        }
    }
}

/// The completed runs of this project, the last one first.
pub fn completed(workspace: &Workspace<'_>) -> Result<Vec<RunId>, Failure> {
    let mut runs = of_project(workspace)?;
    runs.retain(|run| run.status == Status::Completed);
    runs.sort_by_key(|run| std::cmp::Reverse(run.updated_at));
    Ok(runs.into_iter().map(|run| run.id).collect())
}

/// The run of this project that ended last, if none is active.
fn last_over(workspace: &Workspace<'_>) -> Result<Option<RunId>, Failure> {
    let runs = of_project(workspace)?;
    if runs.iter().any(is_active) {
        return Ok(None);
    }
    let last = runs.into_iter().max_by_key(|run| run.updated_at);
    Ok(last.map(|run| run.id))
}

fn named(workspace: &Workspace<'_>, word: &str) -> Result<RunId, Failure> {
    // A complete id is the common case, and needs no list.
    if let Ok(id) = RunId::parse(word)
        && workspace.store.run(&id)?.is_some()
    {
        return Ok(id);
    }
    let runs = workspace.store.runs(None)?;
    let ids: Vec<&RunId> = runs.iter().map(|run| &run.id).collect();
    among(word, &ids).cloned()
}

/// Does this word look like the id of a run, rather than an answer?
pub fn is_run_word(word: &str) -> bool {
    word.starts_with("r-") || word.starts_with(ids::FLEET_PREFIX)
}

/// The run whose id has this prefix, with or without `r-`.
fn among<'a>(word: &str, ids: &[&'a RunId]) -> Result<&'a RunId, Failure> {
    let begins = |id: &&&RunId| {
        let id = id.as_str();
        id.starts_with(word)
            || id
                .strip_prefix("r-")
                .or_else(|| id.strip_prefix(ids::FLEET_PREFIX))
                .is_some_and(|rest| rest.starts_with(word))
    };
    let mut found: Vec<&RunId> = ids.iter().filter(begins).copied().collect();
    found.sort();
    match found.as_slice() {
        [only] if !word.is_empty() => Ok(only),
        [] => Err(unknown(word, ids)),
        several => {
            let failure = Failure::not_found(format!("'{word}' is ambiguous: {}", listed(several)));
            Err(failure.hint("type more of the id"))
        }
    }
}

fn unknown(word: &str, ids: &[&RunId]) -> Failure {
    let failure = Failure::not_found(format!("unknown run '{word}'"));
    let names = ids.iter().map(|id| id.as_str());
    match engine::nearest(word, names) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("`gatewright list --all` shows all runs"),
    }
}

fn only_active(workspace: &Workspace<'_>) -> Result<RunId, Failure> {
    let runs = of_project(workspace)?;
    let root = workspace.project()?.root.to_str();
    let active: Vec<&RunSummary> = runs.iter().filter(|run| is_active(run)).collect();
    let is_here = |run: &&&RunSummary| Some(run.worktree.as_str()) == root;
    let here: Vec<&RunId> = active.iter().filter(is_here).map(|run| &run.id).collect();
    // Runs of this worktree take precedence over those of other worktrees.
    let active = if here.is_empty() {
        active.iter().map(|run| &run.id).collect()
    } else {
        here
    };
    match active.as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(none_active(workspace.context).hint("`gatewright list --all` shows all runs")),
        several => {
            let failure = Failure::not_found(format!("{} are active here", listed(several)));
            Err(failure.hint("add the id of one of them"))
        }
    }
}

/// A workspace for reading, in which this command looks for its run. Where no run was ever started, the answer
/// is the same as where none is active.
pub fn workspace(context: &Context) -> Result<Workspace<'_>, Failure> {
    Workspace::if_exists(context)?.ok_or_else(|| none_active(context))
}

/// Says how a run starts in this project.
fn none_active(context: &Context) -> Failure {
    let failure = Failure::not_found("no run is active in this project");
    let starts = starts(context).unwrap_or_default();
    if starts.is_empty() {
        failure
            .hint("`gatewright init PIPELINE` guards its sessions, `gatewright run PIPELINE --task TEXT` starts the agents itself")
    } else {
        starts.into_iter().fold(failure, Failure::hint)
    }
}

/// How a run of each installed pipeline starts.
fn starts(context: &Context) -> Option<Vec<String>> {
    let project = Project::find(&context.folder).ok()?;
    let installed = enrolment::of_project(&context.state().ok()?, &project.key).ok()??;
    let starts = installed.pipelines.iter().map(|pipeline| {
        let name = &pipeline.name;
        let mut commands = pipeline.commands.iter();
        match (
            pipeline.begins,
            commands.find(|(_, act)| **act == Act::Start),
        ) {
            (Begins::Session, _) => {
                format!("{name} is installed: start `claude`, and every session has a run of it")
            }
            (Begins::Command, Some((command, _))) => {
                format!("{name} is installed: start `claude` and type `/{command} TASK`")
            }
            (Begins::Command, None) => {
                format!("{name} is installed: start `claude` and ask for a run of it")
            }
        }
    });
    Some(starts.collect())
}

/// The runs of the current project. A folder that became a git repository later keeps its runs.
pub fn of_project(workspace: &Workspace<'_>) -> Result<Vec<RunSummary>, Failure> {
    let mut runs = workspace.store.runs(None)?;
    let project = workspace.project()?;
    if workspace.context.fleet().is_some() {
        let remote = fleet_project::remote_of(project, &workspace.context.environment)?;
        runs.retain(|run| run.project == remote);
        return Ok(runs);
    }
    let root = project.root.to_str();
    runs.retain(|run| run.project == project.key || Some(run.worktree.as_str()) == root);
    Ok(runs)
}

pub fn is_active(run: &RunSummary) -> bool {
    match run.status {
        Status::Queued | Status::Running | Status::Waiting(_) => true,
        Status::Completed | Status::Failed | Status::Cancelled => false,
    }
}

/// Some ids for a message, and how many more there are.
fn listed(ids: &[&RunId]) -> String {
    let named: Vec<&str> = ids.iter().take(MOST_NAMED).map(|id| id.as_str()).collect();
    match ids.len().saturating_sub(MOST_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_by_the_beginning_of_its_id() {
        let ids: Vec<RunId> = ["r-abc111", "r-abd222", "r-xyz333"]
            .into_iter()
            .map(|id| RunId::parse(id).unwrap())
            .collect();
        let ids: Vec<&RunId> = ids.iter().collect();
        for (word, expected) in [
            ("r-x", "r-xyz333"),
            ("xyz", "r-xyz333"),
            ("r-abc111", "r-abc111"),
            (
                "r-ab",
                "'r-ab' is ambiguous: r-abc111, r-abd222; type more of the id",
            ),
            (
                "",
                "'' is ambiguous: r-abc111, r-abd222, r-xyz333; type more of the id",
            ),
            ("r-xyz334", "unknown run 'r-xyz334'; did you mean r-xyz333?"),
            (
                "nothing",
                "unknown run 'nothing'; `gatewright list --all` shows all runs",
            ),
        ] {
            let found = match among(word, &ids) {
                Ok(id) => id.to_string(),
                Err(failure) => failure.to_string(),
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_long_list_is_cut() {
        let ids: Vec<RunId> = (0..7)
            .map(|n| RunId::parse(&format!("r-{n}")).unwrap())
            .collect();
        let ids: Vec<&RunId> = ids.iter().collect();
        assert_eq!(listed(&ids), "r-0, r-1, r-2, r-3, r-4 and 2 more");
    }
}
