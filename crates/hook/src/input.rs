//! What a host gives to a hook: arguments, the payload on stdin, and its environment.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::PathBuf;

use engine::{Hash, SessionId};
use hosts::hook::{self, LARGEST_INPUT};
use hosts::{Event, Payload, PayloadError, Program};
use runtime::environment::Environment;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

pub(super) struct Input {
    pub host: Program,
    bytes: Vec<u8>,
    /// The session, from the payload, else from the environment: an unreadable payload has its
    /// policy, too.
    pub session: Option<SessionId>,
    /// The project, as the host tells it. The payload's folder may be a worktree of an agent.
    pub project: Option<PathBuf>,
}

impl Input {
    pub(super) fn of_process(host: Program, environment: &Environment) -> Self {
        let bytes = all(rustix::stdio::stdin());
        let session = hook::session_of(&bytes).or_else(|| environment.session.clone());
        Self {
            host,
            bytes,
            session,
            project: environment.project.clone(),
        }
    }

    pub(super) fn payload(&self, named: Option<Event>) -> Result<(Event, Payload), PayloadError> {
        self.host.read_hook(named, &self.bytes)
    }

    /// The folder in which the session works: as the host says, else as the payload does.
    pub(super) fn folder(&self, payload: &Payload) -> PathBuf {
        let project = self.project.clone();
        let folder = project.or_else(|| payload.cwd.clone().map(Into::into));
        folder.unwrap_or_default()
    }

    /// When two hooks of one host report one event, both send the same bytes.
    pub(super) fn digest(&self) -> Hash {
        evidence::hash(&self.bytes)
    }

    /// May it take long to understand? A command can be written to be hard to read.
    pub(super) fn is_long(&self) -> bool {
        self.bytes.len() > SHORT
    }
}

/// What is read and judged in no time, whatever it says.
const SHORT: usize = 4 * 1024;

/// What a pipe holds at most, and so what one read of it brings.
const PIPE: usize = 64 * 1024;

/// Most payloads are shorter, and room that nobody uses costs calls, too.
const FIRST_READ: usize = 16 * 1024;

/// Everything up to the end; of what is too large one byte too many, so that it is seen to be. What
/// cannot be read is an empty payload, which has its answer.
fn all(input: impl AsFd) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FIRST_READ);
    while bytes.len() <= LARGEST_INPUT {
        match rustix::io::read(&input, spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
        // Most payloads are short, and to make room for more would touch all that is there.
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len().max(PIPE));
        }
    }
    bytes.truncate(LARGEST_INPUT + 1);
    bytes
}

/// `hook [HOST] [EVENT] [CLAIMS]`: the host and the event, as they stand in the host's settings.
pub(super) fn named(arguments: &[OsString]) -> (Program, Option<Event>) {
    let words: Vec<&str> = arguments
        .iter()
        .map_while(|word| word.to_str().filter(|word| !word.starts_with("--")))
        .collect();
    let words = words.into_iter();
    let host = words.clone().find_map(Program::parse);
    let host = host.unwrap_or(Program::DEFAULT);
    let event = words.rev().find(|word| Program::parse(word).is_none());
    (host, event.map(|word| host.event(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, Write as _};

    #[test]
    fn an_input_is_read_to_its_end_and_not_further_than_can_be_judged() {
        let most = LARGEST_INPUT;
        for (length, expected) in [
            (0, 0),
            (391, 391),
            (FIRST_READ, FIRST_READ),
            (FIRST_READ + 1, FIRST_READ + 1),
            (PIPE, PIPE),
            (3 * PIPE + 1, 3 * PIPE + 1),
            (most + 1, most + 1),
            (most + PIPE, most + 1),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&vec![b' '; length]).unwrap();
            file.rewind().unwrap();
            assert_eq!(all(&file).len(), expected, "{length}");
        }
    }

    #[test]
    fn the_event_is_named_after_the_host_or_not_at_all() {
        let (claude, gemini) = (Program::Claude, Program::Gemini);
        for (words, expected) in [
            (&[][..], (claude, None)),
            (&["claude"], (claude, None)),
            (&["claude", "PreToolUse"], (claude, Some(Event::PreToolUse))),
            (&["codex", "Stop"], (Program::Codex, Some(Event::Stop))),
            (&["gemini", "BeforeTool"], (gemini, Some(Event::PreToolUse))),
            (&["Stop"], (claude, Some(Event::Stop))),
            (&["claude", "Unheard"], (claude, Some(Event::Other))),
            (
                &["claude", "Stop", "--state", "/s"],
                (claude, Some(Event::Stop)),
            ),
        ] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(named(&words), expected);
        }
    }
}
