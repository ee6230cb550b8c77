//! What each piece of work changed: a picture before it, and the difference after it, kept in the state folder for people.
//!
//! It decides nothing. What cannot be written or compared is lost, and the work goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{Dispatch, DispatchId, RunId, TreeAccess};
use evidence::{ChangedText, PictureChange, TreePicture};
use serde_json::{Value, json};
use views::Untrusted;
use views::change::{ChangeStat, ChangedFile, FileChange, WorkChange, WorkChangeState};
use views::facts::{Attempt, Timeline, Visit};

use crate::change_report::Compared;
use crate::picture_file::{FOLDER, StoredPicture, redacted};
use crate::state::{self, State};
use crate::workspace::{OpenRun, Workspace};

/// A longer diff is cut; the list of files stays.
const LONGEST_DIFF: usize = 512 * 1024;

/// Takes the picture before the work, unless there is one of this folder: the same work may go on after a kill, and a
/// step that begins anew has another worktree.
pub fn begin(workspace: &Workspace<'_>, opened: &OpenRun, dispatch: &Dispatch) {
    let path = before(&workspace.state, &opened.run().id, dispatch.id);
    let folder = workspace.step_folder.as_deref();
    if !may_change(dispatch) || has_picture(&path, folder) {
        return;
    }
    let none = BTreeMap::new();
    let taken = workspace.looking(opened, &none, |looking| {
        Ok(match folder {
            Some(_) => TreePicture::of_commit(looking),
            None => TreePicture::take(looking),
        })
    });
    if let Ok(Ok(picture)) = taken {
        let secrets = workspace.context.environment.secrets();
        StoredPicture::of(picture, secrets, folder).write(&path);
    }
}

/// Is there a picture of this folder of a step, or of the run's own?
fn has_picture(path: &Path, folder: Option<&str>) -> bool {
    StoredPicture::read(path).is_some_and(|stored| stored.folder.as_deref() == folder)
}

/// Keeps what the work has changed so far. Its last call counts. What a step changed is kept when it is delivered.
pub fn keep(workspace: &Workspace<'_>, opened: &OpenRun, dispatch: &Dispatch) {
    if !may_change(dispatch) || workspace.step_folder.is_some() {
        return;
    }
    if let Some(Ok(change)) = since_picture(workspace, opened, dispatch.id) {
        keep_change(&workspace.state, &opened.run().id, dispatch.id, &change);
    }
}

/// Keeps what a step changed in a worktree of its own: from the commit that it began with to the commit with its result.
pub fn keep_step(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    dispatch: DispatchId,
    commits: StepCommits<'_>,
) {
    let project = workspace.project_of(opened);
    let project = project.map_err(|failure| failure.message);
    let compared =
        project.and_then(|project| evidence::commit_change(&project, commits.base, commits.result));
    if let Ok(found) = compared {
        let change = redacted_change(found, workspace.context.environment.secrets());
        keep_change(&workspace.state, &opened.run().id, dispatch, &change);
    }
}

/// The commits with what a step began with and with what it left.
#[derive(Clone, Copy, Debug)]
pub struct StepCommits<'a> {
    pub base: &'a str,
    pub result: &'a str,
}

fn keep_change(state: &State, run: &RunId, dispatch: DispatchId, change: &Change) {
    let path = after(state, run, dispatch);
    let _ = state::write_quickly(&path, change_json(change).to_string().as_bytes());
}

/// The work is over: the picture is not needed any more.
pub fn end(workspace: &Workspace<'_>, run: &RunId, dispatch: DispatchId) {
    let _ = fs::remove_file(before(&workspace.state, run, dispatch));
}

/// What a piece of work changed: as it was kept at its end, or so far.
pub fn of(workspace: &Workspace<'_>, opened: &OpenRun, dispatch: DispatchId) -> WorkChangeState {
    let run = &opened.run().id;
    let is_open = opened.run().dispatches.contains_key(&dispatch);
    if is_open && let Some(change) = since_picture(workspace, opened, dispatch) {
        return match change {
            Ok(change) => seen(change, true),
            Err(reason) => unseen(&reason),
        };
    }
    let text = fs::read_to_string(after(&workspace.state, run, dispatch));
    let kept = text.ok().and_then(|text| parse_change(&text));
    match kept {
        Some(change) => seen(change, false),
        None => unseen(&why_unknown(workspace, opened)),
    }
}

/// What the work of a stage changed, or the work with a number (`d3`); all that was done, in its order.
pub fn wanted(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    timeline: &Timeline,
    word: &str,
) -> Vec<WorkChange> {
    let number = word.strip_prefix('d').and_then(|it| it.parse().ok());
    let number = number.map(DispatchId);
    let is_wanted = |visit: &Visit, attempt: &Attempt| {
        visit.stage.as_str() == word || Some(attempt.dispatch) == number
    };
    let mut changes = Vec::new();
    for visit in timeline.visits() {
        let attempts = visit.attempts.iter().filter(|it| is_wanted(visit, it));
        changes.extend(attempts.map(|attempt| WorkChange {
            dispatch: attempt.dispatch,
            agent: attempt.agent.clone(),
            stage: visit.stage.clone(),
            attempt: attempt.number,
            state: of(workspace, opened, attempt.dispatch),
        }));
    }
    changes
}

/// How much a piece of work changed, where that was kept at its end.
pub fn stat(state: &State, run: &RunId, dispatch: DispatchId) -> Option<ChangeStat> {
    let text = fs::read_to_string(after(state, run, dispatch)).ok()?;
    let change = parse_change(&text)?;
    Some(ChangeStat {
        files: change.all,
        added: change.files.iter().map(|file| file.added).sum(),
        removed: change.files.iter().map(|file| file.removed).sum(),
    })
}

/// A worker that may change nothing has no change.
fn may_change(dispatch: &Dispatch) -> bool {
    dispatch.reach == TreeAccess::MayWrite
}

fn why_unknown(workspace: &Workspace<'_>, opened: &OpenRun) -> String {
    let run = &opened.run().id;
    if workspace.is_elsewhere(opened) {
        return format!(
            "the machine of the fleet that did the work keeps this; `gatewright diff {run}` shows the whole run"
        );
    }
    match opened.run().driver {
        engine::Driver::Headless => {
            "nothing was kept, because it may change nothing, its step was not merged, or it worked outside git"
                .to_owned()
        }
        engine::Driver::Guarded => format!(
            "a hook has no time to keep the files before each piece of work; `gatewright diff {run}` shows the whole run"
        ),
        engine::Driver::ByHand => {
            format!("nobody saw the work; `gatewright diff {run}` shows the whole run")
        }
    }
}

struct Change {
    files: Vec<ChangedFile>,
    all: usize,
    diff: String,
}

fn seen(change: Change, so_far: bool) -> WorkChangeState {
    WorkChangeState::Seen {
        files: change.files,
        all: change.all,
        diff: Untrusted::new(change.diff),
        so_far,
    }
}

fn unseen(reason: &str) -> WorkChangeState {
    WorkChangeState::Unseen {
        reason: Untrusted::new(reason),
    }
}

/// The change since the picture; nothing where there is no picture.
fn since_picture(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    dispatch: DispatchId,
) -> Option<Result<Change, String>> {
    let path = before(&workspace.state, &opened.run().id, dispatch);
    let mut stored = StoredPicture::read(&path)?;
    let folder = stored.folder.take();
    let folder = folder.unwrap_or_else(|| opened.stored.worktree().to_owned());
    let picture = stored.picture();
    let compared = workspace.looking_in(opened, &folder, |looking| Ok(picture.change(looking)));
    let compared = match compared {
        Ok(compared) => compared,
        Err(failure) => Err(failure.message),
    };
    let secrets = workspace.context.environment.secrets();
    Some(compared.map(|found| redacted_change(found, secrets)))
}

/// Redacts both sides, so that a secret that was there before does not count as a change.
fn redacted_change(found: PictureChange, secrets: &[String]) -> Change {
    let files = found.files.into_iter().map(|file| redacted(file, secrets));
    let files: Vec<ChangedText> = files.filter(|file| file.old != file.new).collect();
    let Compared { files, diff } = Compared::of(&files, secrets, LONGEST_DIFF);
    Change {
        all: found.all,
        files,
        diff,
    }
}

fn change_json(change: &Change) -> Value {
    let files = change.files.iter().map(|file| {
        json!({
            "path": file.path.raw(),
            "change": file.how.word(),
            "added": file.added,
            "removed": file.removed,
        })
    });
    let files: Vec<Value> = files.collect();
    json!({ "files": files, "all": change.all, "diff": change.diff })
}

fn parse_change(text: &str) -> Option<Change> {
    let value: Value = serde_json::from_str(text).ok()?;
    let number = |value: &Value| value.as_u64().and_then(|it| usize::try_from(it).ok());
    let file = |value: &Value| {
        Some(ChangedFile {
            path: Untrusted::new(value["path"].as_str()?),
            how: FileChange::parse(value["change"].as_str()?)?,
            added: number(&value["added"])?,
            removed: number(&value["removed"])?,
        })
    };
    let files = value["files"].as_array()?.iter();
    Some(Change {
        files: files.map(file).collect::<Option<_>>()?,
        all: number(&value["all"])?,
        diff: value["diff"].as_str()?.to_owned(),
    })
}

fn after(state: &State, run: &RunId, dispatch: DispatchId) -> PathBuf {
    let name = format!("{run}.{dispatch}");
    state.folder().join(FOLDER).join(name)
}

fn before(state: &State, run: &RunId, dispatch: DispatchId) -> PathBuf {
    after(state, run, dispatch).with_added_extension("before")
}
