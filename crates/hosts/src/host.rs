//! The hosts, whose hooks call us by their names: `gatewright hook HOST EVENT`.

use engine::SessionId;

use crate::hook::{self, Answer, Bytes, Event, Payload, Stake, Unreadable, exit_code};
use crate::{claude, codex, gemini};

/// An agent program with hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    Claude,
    Codex,
    Gemini,
}

impl Host {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The event that this host calls so. Events of all hosts have the names of Claude Code's.
    pub fn event(self, word: &str) -> Event {
        match self {
            Self::Claude | Self::Codex => Event::parse(word),
            Self::Gemini => gemini::hook::event(word),
        }
    }

    /// The session, as cheaply as can be: see [`hook::session_of`].
    pub fn session_of(self, stdin: &[u8]) -> Option<SessionId> {
        match self {
            Self::Claude | Self::Codex | Self::Gemini => hook::session_of(stdin),
        }
    }

    /// Reads a payload: see [`claude::read`].
    pub fn read(self, named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), Unreadable> {
        match self {
            Self::Claude => claude::read(named, stdin),
            Self::Codex => codex::hook::read(named, stdin),
            Self::Gemini => gemini::hook::read(named, stdin),
        }
    }

    pub fn write(self, event: Event, answer: &Answer) -> Bytes {
        match self {
            Self::Claude => claude::write(event, answer),
            Self::Codex => exit_code::write(event, event.word(), answer),
            Self::Gemini => exit_code::write(event, gemini::hook::word(event), answer),
        }
    }

    /// The answer when we could not judge.
    pub fn undecided(self, event: Event, stake: Stake, reason: &str) -> Bytes {
        match self {
            Self::Claude => claude::undecided(event, stake, reason),
            Self::Codex | Self::Gemini => exit_code::undecided(event, stake, reason),
        }
    }
}
