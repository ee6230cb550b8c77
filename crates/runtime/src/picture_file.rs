//! Pictures of the files as they were, in the state folder: before a piece of work, and before a guarded run in a
//! large project, whose start is too short for a look at every file.
//!
//! They are for people and reviewers, and decide nothing. What cannot be written is lost, and the run goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{Driver, RunId};
use evidence::{ChangedText, ChangedTexts, Side, TreePicture};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::failure::Failure;
use crate::state::{self, State};
use crate::workspace::{OpenRun, Workspace};

/// The folder of all pictures and of what was compared with them.
pub(crate) const FOLDER: &str = "changes";

/// Takes the picture before a guarded run whose tree was not recorded and whose change somebody will ask for.
/// Git tells by its stamps which files differ from the last commit, so that few are read.
pub(crate) fn take_at_start(workspace: &Workspace<'_>, opened: &OpenRun) {
    let run = opened.run();
    if run.driver != Driver::Guarded
        || run.base.is_some()
        || !engine::shows_change(&opened.pipeline)
    {
        return;
    }
    let none = BTreeMap::new();
    let taken = workspace.looking(opened, &none, |looking| Ok(TreePicture::take(looking)));
    if let Ok(Ok(picture)) = taken {
        let secrets = workspace.context.environment.secrets();
        StoredPicture::of(picture, secrets, None).write(&at_start(&workspace.state, &run.id));
    }
}

/// What has changed since the picture before the run; nothing where there is none.
pub(crate) fn change_since_start(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
) -> Result<Option<Result<ChangedTexts, String>>, Failure> {
    let stored = StoredPicture::read(&at_start(&workspace.state, &opened.run().id));
    let Some(picture) = stored.map(StoredPicture::picture) else {
        return Ok(None);
    };
    let none = BTreeMap::new();
    let change = workspace.looking(opened, &none, |looking| Ok(picture.change_of_tree(looking)))?;
    let secrets = workspace.context.environment.secrets();
    Ok(Some(change.map(|change| differing(change, secrets))))
}

/// Both sides without secrets: one that was there before is not a change.
fn differing(change: ChangedTexts, secrets: &[String]) -> ChangedTexts {
    let found = change.files.len();
    let files = change.files.into_iter().map(|file| redacted(file, secrets));
    let files: Vec<ChangedText> = files.filter(|file| file.old != file.new).collect();
    ChangedTexts {
        all: change.all - (found - files.len()),
        files,
        ..change
    }
}

fn at_start(state: &State, run: &RunId) -> PathBuf {
    state.folder().join(FOLDER).join(format!("{run}.start"))
}

pub(crate) fn redacted(file: ChangedText, secrets: &[String]) -> ChangedText {
    ChangedText {
        old: redacted_side(file.old, secrets),
        new: redacted_side(file.new, secrets),
        path: file.path,
    }
}

fn redacted_side(side: Side, secrets: &[String]) -> Side {
    match side {
        Side::Text(text) => Side::Text(engine::redact(&text, secrets).into_owned()),
        Side::Absent | Side::Unseen(_) => side,
    }
}

/// A picture as it is stored. What cannot be written is lost.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredPicture {
    commit: String,
    /// Nothing for a file that was not there.
    files: BTreeMap<String, Option<StoredSide>>,
    /// The worktree of the step that it is of, if it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredSide {
    Text(String),
    Unseen(String),
}

impl StoredPicture {
    pub(crate) fn of(picture: TreePicture, secrets: &[String], folder: Option<&str>) -> Self {
        let side = |side| match redacted_side(side, secrets) {
            Side::Absent => None,
            Side::Text(text) => Some(StoredSide::Text(text)),
            Side::Unseen(reason) => Some(StoredSide::Unseen(reason)),
        };
        let files = picture.files.into_iter();
        Self {
            commit: picture.commit,
            files: files.map(|(path, it)| (path, side(it))).collect(),
            folder: folder.map(str::to_owned),
        }
    }

    pub(crate) fn picture(self) -> TreePicture {
        let side = |side| match side {
            None => Side::Absent,
            Some(StoredSide::Text(text)) => Side::Text(text),
            Some(StoredSide::Unseen(reason)) => Side::Unseen(reason),
        };
        let files = self.files.into_iter();
        TreePicture {
            commit: self.commit,
            files: files.map(|(path, it)| (path, side(it))).collect(),
        }
    }

    pub(crate) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(crate) fn write(&self, path: &Path) {
        let _ = state::write_quickly(path, json!(self).to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let stored =
            r#"{"commit":"c1","files":{"a":null,"b":{"text":"x\n"},"c":{"unseen":"large"}}}"#;
        let picture = TreePicture {
            commit: "c1".to_owned(),
            files: BTreeMap::from([
                ("a".to_owned(), Side::Absent),
                ("b".to_owned(), Side::Text("x\n".to_owned())),
                ("c".to_owned(), Side::Unseen("large".to_owned())),
            ]),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r-1.start");
        fs::write(&path, stored).unwrap();
        let read = StoredPicture::read(&path).unwrap().picture();
        assert_eq!(
            (&read.commit, &read.files),
            (&picture.commit, &picture.files)
        );
        StoredPicture::of(picture, &[], None).write(&path);
        assert_eq!(fs::read_to_string(&path).unwrap(), stored);
        // One before a piece of work has the folder of its step, or says that there is none.
        for (step, expected) in [(r#""/w""#, Some("/w")), ("null", None)] {
            fs::write(
                &path,
                format!(r#"{{"commit":"c1","files":{{}},"folder":{step}}}"#),
            )
            .unwrap();
            let folder = StoredPicture::read(&path).unwrap().folder;
            assert_eq!(folder.as_deref(), expected);
        }
        for damaged in ["null", "[]", r#"{"files":{}}"#, r#"{"commit":"c1"}"#] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(StoredPicture::read(&path), None, "{damaged}");
        }
    }
}
