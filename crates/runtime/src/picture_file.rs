//! Pictures of the files as they were, in the state folder: before a piece of work, and before a guarded run in a
//! large project, whose start is too short for a look at every file.
//!
//! They are for people and reviewers, and decide nothing. What cannot be written is lost, and the run goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use engine::{Driver, RunId};
use evidence::{ChangedText, ChangedTexts, Side, TreePicture};
use serde_json::{Map, Value, json};

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
        let value = picture_json(&picture, workspace.context.environment.secrets());
        let _ = state::write_quickly(
            &at_start(&workspace.state, &run.id),
            value.to_string().as_bytes(),
        );
    }
}

/// What has changed since the picture before the run; nothing where there is none.
pub(crate) fn change_since_start(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
) -> Result<Option<Result<ChangedTexts, String>>, Failure> {
    let text = fs::read_to_string(at_start(&workspace.state, &opened.run().id));
    let value = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    let Some(picture) = value.as_ref().and_then(parse_picture) else {
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

pub(crate) fn picture_json(picture: &TreePicture, secrets: &[String]) -> Value {
    let files = picture.files.iter().map(|(path, side)| {
        let value = match redacted_side(side.clone(), secrets) {
            Side::Absent => Value::Null,
            Side::Text(text) => json!({ "text": text }),
            Side::Unseen(reason) => json!({ "unseen": reason }),
        };
        (path.clone(), value)
    });
    json!({ "commit": picture.commit, "files": files.collect::<Map<_, _>>() })
}

pub(crate) fn parse_picture(value: &Value) -> Option<TreePicture> {
    let side = |value: &Value| match (value["text"].as_str(), value["unseen"].as_str()) {
        (Some(text), _) => Side::Text(text.to_owned()),
        (None, Some(reason)) => Side::Unseen(reason.to_owned()),
        (None, None) => Side::Absent,
    };
    let files = value["files"].as_object()?.iter();
    Some(TreePicture {
        commit: value["commit"].as_str()?.to_owned(),
        files: files.map(|(path, it)| (path.clone(), side(it))).collect(),
    })
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
        let read = parse_picture(&serde_json::from_str(stored).unwrap()).unwrap();
        assert_eq!(
            (&read.commit, &read.files),
            (&picture.commit, &picture.files)
        );
        assert_eq!(picture_json(&picture, &[]).to_string(), stored);
        // A picture of a step says more.
        let more = r#"{"commit":"c1","files":{},"folder":"/w"}"#;
        assert!(parse_picture(&serde_json::from_str(more).unwrap()).is_some());
        for damaged in ["null", "[]", r#"{"files":{}}"#, r#"{"commit":"c1"}"#] {
            let value = serde_json::from_str(damaged).unwrap();
            assert!(parse_picture(&value).is_none(), "{damaged}");
        }
    }
}
