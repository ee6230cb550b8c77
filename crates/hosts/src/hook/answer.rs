//! Our answer to one event: what we mean, and the bytes that a host gets.

/// What we have to say to one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    /// For the model. Events that cannot carry it lose it.
    pub context: Option<String>,
    /// For the person at the host.
    pub notice: Option<String>,
}

impl Answer {
    /// Nothing to say.
    pub fn nothing() -> Self {
        Self {
            verdict: Verdict::Nothing,
            context: None,
            notice: None,
        }
    }

    /// A no, with the reason.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Nothing,
    Allow,
    /// With the reason.
    Refuse(String),
    /// It may not end yet: a stop that is held, a worker that is sent back. With the reason.
    GoOn(String),
}

/// What the process leaves with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// Empty, or one whole JSON object.
    pub stdout: Vec<u8>,
    /// Empty, or one line.
    pub stderr: Vec<u8>,
    /// 0 or 2.
    pub code: u8,
    /// The code if the host has closed our output: then a refusal is the code alone.
    pub unheard: u8,
}

impl Bytes {
    /// Neither words nor an objection, which means the same to every host.
    pub fn nothing() -> Self {
        Self {
            stdout: Vec::new(),
            stderr: Vec::new(),
            code: 0,
            unheard: 0,
        }
    }
}

/// What depends on a call that could not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stake {
    /// It starts an agent, or may write what is protected: a gate was promised.
    Gate,
    Ordinary,
}
