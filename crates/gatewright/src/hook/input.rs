//! What a host gives to a hook: arguments, the payload on stdin, and its environment.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;

use engine::SessionId;
use hosts::claude::{self, Event};
use hosts::{Payload, Unreadable};

use crate::environment::Environment;

pub struct Input {
    bytes: Vec<u8>,
    /// The session, from the payload, else from the environment: an unreadable payload has its
    /// policy, too.
    pub session: Option<SessionId>,
    /// The project, as the host tells it. The payload's folder may be a worktree of an agent.
    pub project: Option<PathBuf>,
}

impl Input {
    pub fn of_process(environment: &Environment) -> Self {
        let mut bytes = Vec::new();
        // One byte more than is read, so that what is too large is seen to be. What cannot be read
        // is an empty payload, which has its answer.
        let most = claude::LARGEST_INPUT as u64 + 1;
        let _ = std::io::stdin().lock().take(most).read_to_end(&mut bytes);
        let session = claude::session_of(&bytes).or_else(|| environment.session.clone());
        Self {
            bytes,
            session,
            project: environment.project.clone(),
        }
    }

    pub fn payload(&self, named: Option<Event>) -> Result<(Event, Payload), Unreadable> {
        claude::read(named, &self.bytes)
    }
}

/// `hook [claude] [EVENT]`: the host and the event that `init` wrote into the settings.
pub fn named_event(arguments: &[OsString]) -> Option<Event> {
    let words = arguments.iter().filter_map(|word| word.to_str());
    let event = words.rev().find(|word| *word != "claude")?;
    Some(Event::parse(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_is_named_after_the_host_or_not_at_all() {
        for (words, expected) in [
            (&[][..], None),
            (&["claude"], None),
            (&["claude", "PreToolUse"], Some(Event::PreToolUse)),
            (&["Stop"], Some(Event::Stop)),
            (&["claude", "Unheard"], Some(Event::Other)),
        ] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(named_event(&words), expected);
        }
    }
}
