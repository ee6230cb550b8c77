//! The briefing of an agent: its work, what to read, and what to leave.

use std::collections::BTreeMap;
use std::fs;

use engine::{Dispatch, Hash, Input, Needs};
use store::Backend as _;
use views::BriefingInputs;
use views::change::ChangeReport;

use crate::change_report;
use crate::failure::Failure;
use crate::state;
use crate::workspace::{OpenRun, Workspace};

/// Digits of a content's hash in the name of its copy.
const NAME_DIGITS: usize = 16;

/// The briefing for an admitted dispatch.
pub fn text(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    dispatch: &Dispatch,
) -> Result<String, Failure> {
    let (pipeline, run) = (&opened.pipeline, opened.run());
    let altered = altered(workspace, opened, dispatch)?;
    let wanted = views::quoted_contents(pipeline, run, dispatch, &altered);
    let room = views::smallest_quote(run, wanted.len());
    let mut contents: BTreeMap<Hash, String> = BTreeMap::new();
    let mut copies: BTreeMap<Hash, String> = BTreeMap::new();
    for hash in wanted {
        let Some(bytes) = workspace.store.content(hash)? else {
            continue;
        };
        let content = String::from_utf8_lossy(&bytes).into_owned();
        if content.chars().count() > room {
            copies.extend(copy(workspace, opened, hash, &content).map(|path| (hash, path)));
        }
        contents.insert(hash, content);
    }
    let change = to_review(workspace, opened, dispatch)?;
    if let Some(change) = change
        .as_ref()
        .filter(|it| it.diff.raw().chars().count() > room)
    {
        let copied = copy(workspace, opened, change.hash, change.diff.raw());
        copies.extend(copied.map(|path| (change.hash, path)));
    }
    let handed = BriefingInputs {
        contents: &contents,
        altered: &altered,
        copies: &copies,
        change: change.as_ref(),
    };
    let text = views::briefing(pipeline, run, dispatch, &handed);
    // The agent may work in its own worktree.
    let worktree = views::line(
        workspace
            .host_checkout
            .as_ref()
            .or(workspace.step_folder.as_ref())
            .map_or(opened.stored.worktree(), String::as_str),
    );
    let is_shared = opened.run().place.is_some() || workspace.step_folder.is_some();
    let shared = if is_shared { SHARED_REFS } else { "" };
    Ok(format!(
        "{text}\n\nPaths are relative to {worktree}.{shared}"
    ))
}

/// What a worker in a worktree of its own cannot see.
const SHARED_REFS: &str = " This is a git worktree of its own, but people and other agents share the stash, the \
                           branches and the tags of its repository: do not use `git stash` (commit instead), and \
                           do not move or delete a branch or tag that you did not make.";

/// What this worker looks at, where it looks at the work of others. A change that cannot be shown is left to
/// the worker itself.
fn to_review(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    dispatch: &Dispatch,
) -> Result<Option<ChangeReport>, Failure> {
    if !change_report::is_for(dispatch) {
        return Ok(None);
    }
    let report = change_report::of(workspace, opened)?.ok();
    let report = report.map(ChangeReport::of_the_run_alone);
    Ok(report.filter(|report| !report.is_empty()))
}

/// Files that the worker would read and that differ from the captured content.
fn altered(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    dispatch: &Dispatch,
) -> Result<Vec<Input>, Failure> {
    let needs = Needs {
        inputs: engine::file_inputs(&opened.pipeline, opened.run(), &dispatch.duty),
        ..Needs::default()
    };
    let looked = workspace.look(opened, &needs, &BTreeMap::new(), None)?;
    Ok(looked.evidence.altered)
}

/// A copy of content that is too long to quote, where no agent may write. Without a copy the worker
/// gets the beginning.
fn copy(workspace: &Workspace<'_>, opened: &OpenRun, hash: Hash, content: &str) -> Option<String> {
    let mut digits = hash.to_string();
    digits.truncate(NAME_DIGITS);
    let path = workspace.state.copy_of(&opened.run().id, &digits);
    let is_there = fs::read(&path).is_ok_and(|bytes| bytes == content.as_bytes());
    if !is_there {
        state::write_durably(&path, content).ok()?;
    }
    path.to_str().map(str::to_owned)
}
