//! Our answer to one event, and the bytes that the host reads.

use super::payload::Message;

/// Our answer to one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    /// Text for the model. Events that cannot carry it drop it.
    pub context: Option<String>,
    /// Text for the person at the host.
    pub notice: Option<String>,
    /// What goes to an agent instead of the message of its session.
    pub message: Option<Message>,
}

impl Answer {
    /// No objection and no text.
    pub fn nothing() -> Self {
        Self {
            verdict: Verdict::Nothing,
            context: None,
            notice: None,
            message: None,
        }
    }

    /// A refusal with its reason.
    pub fn refuse(reason: String) -> Self {
        Self::from(Verdict::Refuse(reason))
    }

    /// Text for the model, and no verdict.
    pub fn for_model(context: String) -> Self {
        Self {
            context: Some(context),
            ..Self::nothing()
        }
    }

    /// Text for the person at the host, and no verdict.
    pub fn for_person(notice: String) -> Self {
        Self {
            notice: Some(notice),
            ..Self::nothing()
        }
    }
}

impl From<Verdict> for Answer {
    fn from(verdict: Verdict) -> Self {
        Self {
            verdict,
            ..Self::nothing()
        }
    }
}

/// What an answer lets the host do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// We have no opinion.
    Nothing,
    Allow,
    /// The reason goes to the model.
    Refuse(String),
    /// The session or worker may not stop yet. The reason goes to the model.
    GoOn(String),
}

/// The exit code that every host takes for a refusal.
const REFUSES: u8 = 2;

/// What the hook process prints, and its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// Empty, or one whole JSON object.
    pub stdout: Vec<u8>,
    /// Empty, or one line.
    pub stderr: Vec<u8>,
    /// 0 or 2.
    pub code: u8,
    /// The exit code if the host has closed our output: then only the code can refuse.
    pub unheard: u8,
}

impl Bytes {
    /// No output and exit code 0. Every host takes that for no objection.
    pub fn nothing() -> Self {
        Self {
            stdout: Vec::new(),
            stderr: Vec::new(),
            code: 0,
            unheard: 0,
        }
    }

    /// Does the host take it for a refusal?
    pub fn refuses(&self) -> bool {
        self.code == REFUSES
    }
}

/// What is at stake if we could not judge a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stake {
    /// The call starts an agent or may write a protected file: a gate was promised.
    Gate,
    Ordinary,
}
