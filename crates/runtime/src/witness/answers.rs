//! Answers in a session. The host reports an answer before it writes down who gave it, so the answer is
//! noted first, and counts when the host's own record says that it was the person.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use engine::{CallId, RunId, SessionId};
use hosts::{RecordedAnswer, SessionHost};

use super::transcript::records;
use super::{folder, memory};
use crate::state::{self, State};

/// The record of an answer is near the end.
const MOST_READ: u64 = 16 * 1024 * 1024;

/// An answer that waits for the host's record, or for the answers to the questions that are still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedAnswer {
    /// A call of the host takes few questions, so there may be several. The latest is the last.
    pub calls: Vec<CallId>,
    /// Do they answer all that was asked?
    pub is_whole: bool,
    /// The visit of the stage that asked. An answer counts for no other question.
    pub visit: u32,
}

const WHOLE: &str = "whole";
const PART: &str = "part";

fn file(state: &State, run: &RunId, session: &SessionId) -> PathBuf {
    super::session_file(state, run, session).with_extension("answer")
}

/// Notes that these calls were answered.
pub fn note_answer(
    state: &State,
    run: &RunId,
    session: &SessionId,
    noted: &NotedAnswer,
) -> io::Result<()> {
    memory::make(&folder(state, run))?;
    let word = if noted.is_whole { WHOLE } else { PART };
    let calls: Vec<&str> = noted.calls.iter().map(CallId::as_str).collect();
    let text = format!("{} {word} {}\n", noted.visit, calls.join(" "));
    state::write_quickly(&file(state, run, session), text.as_bytes())
}

/// The answer that waits, if there is one.
pub fn noted_answer(state: &State, run: &RunId, session: &SessionId) -> Option<NotedAnswer> {
    let text = fs::read_to_string(file(state, run, session)).ok()?;
    let mut words = text.split_ascii_whitespace();
    let visit = words.next()?.parse().ok()?;
    let is_whole = words.next()? == WHOLE;
    let calls = words.map(|call| CallId::parse(call).ok());
    Some(NotedAnswer {
        calls: calls.collect::<Option<_>>()?,
        is_whole,
        visit,
    })
}

pub fn forget_answer(state: &State, run: &RunId, session: &SessionId) {
    let _ = fs::remove_file(file(state, run, session));
}

/// What the host's record of this session says about the answer to a call. Where several lines are about
/// it, all must say that the person gave it.
pub fn recorded_answer(
    record: &Path,
    session: &SessionId,
    call: &CallId,
    host: &SessionHost,
) -> Option<RecordedAnswer> {
    // Another conversation's record says nothing about this one.
    let name = record.file_stem()?.to_str()?;
    let records = records(record);
    let mut found = records
        .iter()
        .filter(|_| name == session.as_str())
        .flat_map(|path| answers_in(path, call, host));
    let first = found.next()?;
    let by_person = found.fold(first.by_person, |all, next| all && next.by_person);
    Some(RecordedAnswer { by_person, ..first })
}

fn answers_in(path: &Path, call: &CallId, host: &SessionHost) -> Vec<RecordedAnswer> {
    let bytes = tail(path).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| (host.read_answer)(line, call))
        .collect()
}

pub(super) fn tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_READ)))?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use hosts::DEFAULT_SESSION_HOST;

    use super::*;

    fn line(source: &str) -> String {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1"}}]}},"toolUseResult":{{"questions":[],"answers":{{"Go on?":"yes"}}}},"permissionDecision":{{"decision":"accept","source":"{source}"}}}}"#
        )
    }

    #[test]
    fn a_line_of_another_kind_takes_the_persons_word_away() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("s1.jsonl");
        let (session, call) = (
            SessionId::parse("s1").unwrap(),
            CallId::parse("t1").unwrap(),
        );
        let persons = line("user_temporary");
        for (lines, expected) in [
            (vec![], None),
            (vec!["{}".to_owned()], None),
            (vec![persons.clone()], Some(true)),
            (vec![line("hook")], Some(false)),
            (vec![persons.clone(), line("hook")], Some(false)),
            (vec![line("hook"), persons.clone()], Some(false)),
        ] {
            fs::write(&record, lines.join("\n")).unwrap();
            let found = recorded_answer(&record, &session, &call, DEFAULT_SESSION_HOST);
            assert_eq!(found.map(|it| it.by_person), expected, "{lines:?}");
        }
        let other = SessionId::parse("s2").unwrap();
        fs::write(&record, persons).unwrap();
        let found = recorded_answer(&record, &other, &call, DEFAULT_SESSION_HOST);
        assert_eq!(found, None);
    }
}
