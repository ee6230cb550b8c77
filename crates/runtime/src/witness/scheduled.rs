//! Prompts that a schedule of the host submits: its hooks get them as if a person had typed them, and only its
//! own record of the conversation says otherwise.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::{CommandName, SessionId, Time};
use hosts::{RecordedSchedule, SessionHost};

use super::answers::tail;

/// A prompt that is due is submitted as soon as the session is idle. One that was never submitted is
/// forgotten after so long.
const MOST_WAIT_MS: u64 = 10 * 60 * 1000;

/// The command that a session is given, and what the host says about itself.
pub struct GivenCommand<'a> {
    pub command: &'a CommandName,
    pub session: &'a SessionId,
    /// The host's record of the conversation. It begins after the first prompt.
    pub record: &'a Path,
    /// The folders with its file of schedules.
    pub folders: &'a [PathBuf],
}

/// Does the host say that this command is not typed, but submitted by a schedule?
pub fn is_scheduled(given: &GivenCommand<'_>, host: &SessionHost, now: Time) -> bool {
    let name = given.record.file_stem().and_then(|name| name.to_str());
    // Another conversation's record says nothing about this one.
    let is_its = name == Some(given.session.as_str());
    let record = if is_its {
        tail(given.record).ok()
    } else {
        None
    };
    let record = record.unwrap_or_default();
    let is_first = is_its && !has_prompts(&record);
    is_due(&record, given.command, host, now) || is_first && is_planned(given, host)
}

fn has_prompts(record: &[u8]) -> bool {
    let prompt = br#""type":"user""#;
    record.windows(prompt.len()).any(|part| part == prompt)
}

/// What is due was not submitted yet.
fn is_due(record: &[u8], command: &CommandName, host: &SessionHost, now: Time) -> bool {
    let mut due = BTreeSet::new();
    let lines = record.split(|byte| *byte == b'\n');
    for said in lines.filter_map(|line| (host.read_schedule)(line)) {
        match said {
            RecordedSchedule::Due {
                id,
                command: Some(named),
                at,
            } if named == *command && now.0.saturating_sub(at.0) < MOST_WAIT_MS => {
                due.insert(id);
            }
            RecordedSchedule::Due { .. } => {}
            RecordedSchedule::Submitted { id } => {
                due.remove(&id);
            }
        }
    }
    !due.is_empty()
}

/// A schedule that is overdue when the session starts is its first prompt, before there is a record.
fn is_planned(given: &GivenCommand<'_>, host: &SessionHost) -> bool {
    given.folders.iter().any(|folder| {
        let file = tail(&folder.join(host.places.schedules)).unwrap_or_default();
        (host.read_schedules)(&file).contains(given.command)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hosts::DEFAULT_SESSION_HOST;

    use super::*;

    #[test]
    fn a_command_is_scheduled_from_when_it_is_due_until_it_was_submitted() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("s1.jsonl");
        let due = |id: &str, prompt: &str| {
            format!(
                r#"{{"type":"system","subtype":"scheduled_task_fire","uuid":"{id}","prompt":"{prompt}","timestamp":"1970-01-01T00:01:00.000Z"}}"#
            )
        };
        let submitted = |id: &str| format!(r#"{{"type":"user","scheduledFireId":"{id}"}}"#);
        let asked = |lines: &[String], session: &str, now: u64| {
            fs::write(&record, lines.join("\n")).unwrap();
            let session = SessionId::parse(session).unwrap();
            let given = GivenCommand {
                command: &CommandName::parse("yes").unwrap(),
                session: &session,
                record: &record,
                folders: &[folder.path().to_owned()],
            };
            is_scheduled(&given, DEFAULT_SESSION_HOST, Time(now))
        };
        let (one, two) = (due("1", "/yes"), due("2", "/yes please"));
        for (lines, expected) in [
            (vec![], false),
            (vec!["{}".to_owned()], false),
            (vec![one.clone()], true),
            (vec![one.clone(), submitted("1")], false),
            (vec![one.clone(), submitted("1"), two.clone()], true),
            (vec![one.clone(), two, submitted("1")], true),
            (vec![due("1", "/no")], false),
            (vec![due("1", "yes")], false),
        ] {
            assert_eq!(asked(&lines, "s1", 61_000), expected, "{lines:?}");
        }
        let lines = [one];
        assert!(!asked(&lines, "s2", 61_000), "another session");
        assert!(!asked(&lines, "s1", 60_000 + MOST_WAIT_MS), "long ago");
        // Before the first prompt there is only the plan.
        let plan = folder.path().join(DEFAULT_SESSION_HOST.places.schedules);
        let prompt = r#"{"type":"user","turnOrigin":"human"}"#.to_owned();
        for (planned, expected) in [("/yes", true), ("/no", false)] {
            fs::write(&plan, format!(r#"{{"tasks":[{{"prompt":"{planned}"}}]}}"#)).unwrap();
            assert_eq!(asked(&[], "s1", 1), expected, "{planned}");
            assert!(!asked(std::slice::from_ref(&prompt), "s1", 1), "{planned}");
        }
    }
}
