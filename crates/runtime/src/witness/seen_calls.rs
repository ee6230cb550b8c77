//! The calls that a hook saw: one line each, beside the store, and a line with the path of the host's own record of
//! the conversation.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use engine::{CallId, RunId, SessionId, Time};
use evidence::small_file;

use super::{folder, memory, session_file};
use crate::state::State;

/// Notes that a hook saw this call. Where that fails the call will look unguarded, and a person is asked.
pub fn note(state: &State, run: &RunId, session: &SessionId, record: Option<&str>, call: &CallId) {
    let path = session_file(state, run, session);
    let noted = append(&path, false, &format!("{call}\n"));
    if noted.is_err_and(|failed| failed.kind() == ErrorKind::NotFound) {
        let record = record.unwrap_or_default().replace('\n', "");
        let _ = memory::make(&folder(state, run));
        let _ = append(&path, true, &format!("{record}\n{call}\n"));
    }
}

fn append(path: &Path, create: bool, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(create).mode(0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// When a hook of the session last saw a call, or the host last wrote its record of the conversation.
pub fn last_sign(state: &State, run: &RunId, session: &SessionId) -> Option<Time> {
    let path = session_file(state, run, session);
    let noted = changed_at(&path)?;
    let record = Noted::read(state, run, session);
    let record = record.record().and_then(changed_at);
    Some(record.map_or(noted, |record| record.max(noted)))
}

fn changed_at(path: &Path) -> Option<Time> {
    let changed = path.metadata().ok()?.modified().ok()?;
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok().map(Time)
}

/// What the hooks of a session noted.
pub(super) struct Noted {
    text: String,
}

impl Noted {
    pub(super) fn read(state: &State, run: &RunId, session: &SessionId) -> Self {
        let bytes = small_file::read_long(&session_file(state, run, session)).unwrap_or_default();
        // A host may use any name for a call; nearly always it is plain text.
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Self { text }
    }

    /// The host's own record of the conversation. It is not always the first line: of two hooks that begin at once, one
    /// makes the file, and the other may write first.
    pub(super) fn record(&self) -> Option<&Path> {
        let mut lines = self.text.lines().map(Path::new);
        lines.find(|line| line.is_absolute())
    }

    /// The path of the record is among them, which is the name of no call.
    pub(super) fn calls(&self) -> BTreeSet<&str> {
        self.text.lines().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_counts_whoever_of_two_hooks_writes_first() {
        for text in [
            "/home/ada/1.jsonl\none\ntwo\n",
            "two\n/home/ada/1.jsonl\none\n",
            "/home/ada/1.jsonl\none\n/home/ada/1.jsonl\ntwo\n",
        ] {
            let noted = Noted {
                text: text.to_owned(),
            };
            assert_eq!(noted.record(), Some(Path::new("/home/ada/1.jsonl")));
            for call in ["one", "two"] {
                assert!(noted.calls().contains(call), "{call} in {text:?}");
            }
        }
        let without = Noted {
            text: "\none\n".to_owned(),
        };
        assert_eq!(without.record(), None);
        assert!(without.calls().contains("one"));
    }
}
