//! What a run would do, before it does anything: the stages with their workers, the programs, the limits.

mod json;
mod text;

use engine::{Conversation, Pipeline, Run, StageName};
use serde_json::Value;

use crate::paint::Paint;
use crate::safe::Untrusted;

/// Everything that `dry-run` shows.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    pub pipeline: &'a Pipeline,
    /// The run as it would start; none if it would be refused.
    pub run: Option<&'a Run>,
    /// The task, if one was given.
    pub task: Option<Untrusted>,
    /// Where the definition comes from: a file, or the program itself.
    pub origin: Untrusted,
    pub trust: Trust,
    pub workers: Vec<PlannedWorker>,
    pub programs: Vec<NeededProgram>,
    /// What prevents the start, each with what to do about it.
    pub missing: Vec<Untrusted>,
    /// Notes that do not prevent the start.
    pub remarks: Vec<Untrusted>,
}

/// Is the definition trusted?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It comes with the program.
    Shipped,
    /// A person has seen what it may run.
    Trusted,
    /// Nobody has, or it has changed since, with the reason.
    Untrusted(Untrusted),
}

/// A worker of a stage, with who starts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedWorker {
    pub stage: StageName,
    pub who: Untrusted,
    pub runner: Untrusted,
    pub model: Option<Untrusted>,
    pub conversation: Conversation,
}

/// A program that the run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededProgram {
    pub name: Untrusted,
    /// What for, each in a few words.
    pub needed_for: Vec<String>,
    pub state: ProgramState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramState {
    Found {
        path: Untrusted,
        /// Its version, if it was asked.
        version: Option<Untrusted>,
        /// A caution about this version.
        caution: Option<Untrusted>,
    },
    /// It exists but cannot be started.
    Unfit {
        path: Untrusted,
        reason: Untrusted,
        remedy: Untrusted,
    },
    Missing {
        install: Untrusted,
    },
}

impl Plan<'_> {
    pub fn text(&self, paint: Paint) -> String {
        text::render(self, paint)
    }

    pub fn json(&self) -> Value {
        json::render(self)
    }

    /// Could a run start?
    pub fn is_ready(&self) -> bool {
        self.missing.is_empty()
    }
}
