//! What a run has changed since it began, and what its checks said.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::{Dispatch, Duty, Fact, RunBranch, StageName, TreeAccess};
use evidence::{ChangedText, ChangedTexts, Side, Since};
use store::Backend as _;
use views::Untrusted;
use views::change::{ChangeReport, ChangeSince, ChangedFile, CheckRun, FileChange};

use crate::failure::Failure;
use crate::picture_file;
use crate::trust::diff;
use crate::workspace::{OpenRun, Workspace};

/// A longer diff is cut: nobody reads it, and it must fit into memory many times.
const LONGEST_DIFF: usize = 2 * 1024 * 1024;

/// Does this work look at the work of others?
pub fn is_for(dispatch: &Dispatch) -> bool {
    match dispatch.duty {
        Duty::Review { .. } => true,
        Duty::Work => dispatch.reach == TreeAccess::ReadsOnly,
        Duty::Open | Duty::Fix { .. } | Duty::Step { .. } => false,
    }
}

/// The change, and the latest result of each check. The inner error says why the change cannot be shown.
pub fn of(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
) -> Result<Result<ChangeReport, String>, Failure> {
    let run = opened.run();
    let pictured = match run.base {
        Some(_) => None,
        None => picture_file::change_since_start(workspace, opened)?,
    };
    let changed = match (handed_over(workspace, opened), pictured) {
        (Some((branch, to)), _) => between(workspace, opened, branch, &to),
        (None, Some(changed)) => changed,
        (None, None) => workspace.looking(opened, &BTreeMap::new(), |looking| {
            Ok(evidence::changed_texts(run.base, looking))
        })?,
    };
    let changed = match changed {
        Ok(changed) => changed,
        Err(reason) => return Ok(Err(reason)),
    };
    let secrets = workspace.context.environment.secrets();
    let Compared { files, diff: text } = Compared::of(&changed.files, secrets, LONGEST_DIFF);
    Ok(Ok(ChangeReport {
        since: match changed.since {
            Since::Start => ChangeSince::Start,
            Since::LastCommit => ChangeSince::LastCommit,
        },
        files,
        all: changed.all,
        hash: evidence::hash(text.as_bytes()),
        diff: Untrusted::new(text),
        checks: checks(workspace, opened)?,
        shown_by: format!("gatewright diff {}", run.id),
    }))
}

/// The branch of a run that is over and whose work is no longer in a worktree, and the last commit of its work.
fn handed_over<'o>(
    workspace: &Workspace<'_>,
    opened: &'o OpenRun,
) -> Option<(&'o RunBranch, String)> {
    let place = opened.run().place.as_ref()?;
    // In a fleet the worktree is elsewhere, and a copy of the last tree is read.
    let is_ours = workspace.store.fleet().is_none();
    if !is_ours || !engine::is_over(&opened.pipeline, opened.run()) {
        return None;
    }
    match place.delivered() {
        Some(delivered) => Some((&place.branch, delivered.commit.clone())),
        None if opened.has_project() => None,
        None => Some((&place.branch, format!("refs/heads/{}", place.branch.name))),
    }
}

/// The change from the beginning of a branch to this commit, as the repository has it.
fn between(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    branch: &RunBranch,
    to: &str,
) -> Result<ChangedTexts, String> {
    let home = workspace.home_of(opened).map_err(|it| it.to_string())?;
    let change = evidence::commit_change(&home, &branch.base, to).map_err(|reason| {
        format!(
            "the work of a run that is over is on its branch {}, and {reason}",
            branch.name
        )
    })?;
    Ok(ChangedTexts {
        since: Since::Start,
        files: change.files,
        all: change.all,
    })
}

/// Files with the numbers of their lines, and their diff: redacted, and cut at this length.
pub(crate) struct Compared {
    pub files: Vec<ChangedFile>,
    pub diff: String,
}

impl Compared {
    pub(crate) fn of(changed: &[ChangedText], secrets: &[String], longest: usize) -> Self {
        let mut files = Vec::new();
        let mut text = String::new();
        for file in changed {
            let (shown, diff) = compared(file);
            files.push(shown);
            if text.len() < longest {
                text.push_str(&diff);
            }
        }
        if text.len() > longest {
            text.truncate(text.floor_char_boundary(longest));
            text.push_str("\n… (cut here)\n");
        }
        Self {
            files,
            diff: engine::redact(&text, secrets).into_owned(),
        }
    }
}

/// A file with the numbers of its lines, and its diff.
fn compared(file: &ChangedText) -> (ChangedFile, String) {
    let path = Untrusted::new(&file.path);
    let how = match (&file.old, &file.new) {
        (Side::Absent, _) => FileChange::New,
        (_, Side::Absent) => FileChange::Removed,
        (Side::Text(_) | Side::Unseen(_), Side::Text(_) | Side::Unseen(_)) => FileChange::Changed,
    };
    let text = |side: &Side| match side {
        Side::Absent => Ok(String::new()),
        Side::Text(text) => Ok(text.clone()),
        Side::Unseen(reason) => Err(reason.clone()),
    };
    let mut shown = format!(
        "--- {}\n+++ {}\n",
        name("a", &file.old, file),
        name("b", &file.new, file)
    );
    let (mut added, mut removed) = (0, 0);
    match (text(&file.old), text(&file.new)) {
        (Ok(old), Ok(new)) => {
            let changes = diff::unified(&old, &new);
            added = changes.lines().filter(|it| it.starts_with('+')).count();
            removed = changes.lines().filter(|it| it.starts_with('-')).count();
            shown.push_str(&changes);
        }
        // What it was before is not known: what it is now is still worth reading.
        (Err(reason), Ok(new)) => {
            let _ = writeln!(shown, "({reason}; this is what it is now)");
            added = new.lines().count();
            for line in new.lines() {
                let _ = writeln!(shown, "+{line}");
            }
        }
        (Ok(_) | Err(_), Err(reason)) => {
            let _ = writeln!(shown, "({reason})");
        }
    }
    let file = ChangedFile {
        path,
        how,
        added,
        removed,
    };
    (file, shown)
}

fn name(prefix: &str, side: &Side, file: &ChangedText) -> String {
    match side {
        Side::Absent => "/dev/null".to_owned(),
        Side::Text(_) | Side::Unseen(_) => format!("{prefix}/{}", file.path),
    }
}

/// The latest result of each check, in the order of the stages.
fn checks(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Vec<CheckRun>, Failure> {
    let mut latest: BTreeMap<StageName, CheckRun> = BTreeMap::new();
    let run = &opened.run().id;
    workspace.store.walk(run, u64::MAX, &mut |stored| {
        if let Fact::Checked {
            stage,
            verdict,
            results,
            ..
        } = &stored.entry.fact
        {
            let run = CheckRun {
                stage: stage.clone(),
                verdict: *verdict,
                results: results.clone(),
            };
            latest.insert(stage.clone(), run);
        }
        Ok(())
    })?;
    let stages = opened.pipeline.definition().stages.iter();
    Ok(stages
        .filter_map(|stage| latest.remove(&stage.name))
        .collect())
}
