//! What is told of a headless run while it goes on, and to whom.

use std::time::{Duration, Instant};

use engine::{AgentName, DispatchId, Entry, Fact, StageName, StepId, Time, Usage};
use runtime::workspace::OpenRun;

use super::prompt::Prompt;

/// Something that happened, in the past tense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The orchestrator drives the run now; `again` if it went on with one that had begun before.
    Driving {
        again: bool,
    },
    /// The run is in another stage.
    Moved {
        from: StageName,
        to: StageName,
    },
    WorkerBegan {
        worker: Worker,
    },
    /// What a worker did last, in its program's words.
    WorkerActed {
        dispatch: DispatchId,
        action: String,
    },
    /// What a worker has used so far.
    WorkerUsed {
        dispatch: DispatchId,
        usage: Usage,
    },
    /// It wanted to end and was sent back, with the reason.
    WorkerSentBack {
        dispatch: DispatchId,
        reason: String,
    },
    /// How the engine judged its end: an outcome's word, or a fault's with its reason.
    WorkerEnded {
        dispatch: DispatchId,
        result: String,
        is_fault: bool,
    },
    CheckBegan {
        stage: StageName,
    },
    CheckEnded {
        stage: StageName,
        passed: bool,
        tail: String,
    },
    /// A person is asked.
    Asked {
        question: String,
        choices: Vec<String>,
    },
    /// Somebody answered, in advance or now.
    Answered {
        by: String,
        answer: String,
    },
    /// Nothing is done until then, with the reason.
    Pausing {
        until: Time,
        why: String,
    },
    /// Something that is worth a line.
    Remark {
        text: String,
    },
    /// The orchestrator lets the run go: it is over, it waits for a person, or somebody stopped us.
    Left {
        status: String,
        reason: String,
    },
}

/// A worker that we started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    pub dispatch: DispatchId,
    pub agent: AgentName,
    pub step: Option<StepId>,
    pub runner: String,
    pub model: Option<String>,
    pub attempt: u32,
}

/// A worker at work, with the last thing that it did.
#[derive(Clone, Debug)]
pub struct AtWork {
    pub worker: Worker,
    pub since: Instant,
    pub action: Option<String>,
    pub usage: Usage,
}

/// How things are when something is told.
#[derive(Clone, Copy)]
pub struct Glance<'a> {
    pub opened: &'a OpenRun,
    pub at_work: &'a [AtWork],
    /// How long this orchestrator has driven the run.
    pub elapsed: Duration,
    pub now: Time,
}

/// Who is told.
pub trait Watcher {
    fn tell(&mut self, at: &Glance<'_>, what: &Progress);
    /// Nothing has happened for a moment; a picture may be drawn again.
    fn tick(&mut self, at: &Glance<'_>);
    /// A line that is not about the run itself.
    fn remark(&mut self, text: &str);
    /// The person at the terminal, if somebody sits there. Drawing pauses until they have answered.
    fn prompt(&mut self) -> Option<Box<dyn Prompt>>;
}

/// The stages that these entries tell of, in the order of the first visits.
pub fn visited<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<StageName> {
    let mut visited = Vec::new();
    for entry in entries {
        let stage = match &entry.fact {
            Fact::Started(started) => &started.stage,
            Fact::Moved(moved) => &moved.to,
            _ => continue,
        };
        if !visited.contains(stage) {
            visited.push(stage.clone());
        }
    }
    visited
}
