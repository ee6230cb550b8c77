//! Progress events of a headless run, and who receives them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::{
    AgentName, CheckVerdict, DispatchId, Entry, Fact, Seconds, StageName, StepId, Time, Usage,
};
use runtime::workspace::OpenRun;

use super::prompt::Prompt;

/// Something that happened, in the past tense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The orchestrator drives the run; `again` if the run had started before.
    Driving {
        again: bool,
    },
    /// The run moved to another stage.
    Moved {
        from: StageName,
        to: StageName,
        /// How long it was in each stage that it has left.
        spent: BTreeMap<StageName, Seconds>,
    },
    WorkerBegan {
        worker: Worker,
    },
    /// The last action of a worker, in its program's words.
    WorkerActed {
        dispatch: DispatchId,
        action: String,
    },
    /// The last line that a worker said.
    WorkerSaid {
        dispatch: DispatchId,
        text: String,
    },
    /// A tool call of a worker was refused.
    WorkerRefused {
        dispatch: DispatchId,
        tool: String,
    },
    /// What a worker has used so far.
    WorkerUsed {
        dispatch: DispatchId,
        usage: Usage,
    },
    /// It tried to finish and the engine sent it back, with the reason.
    WorkerSentBack {
        dispatch: DispatchId,
        reason: String,
    },
    /// How the engine judged its end: an outcome, or a fault with its reason.
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
        verdict: CheckVerdict,
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
    /// Nothing happens until then, with the reason.
    Pausing {
        until: Time,
        why: String,
    },
    /// Every slot of this runner is taken.
    AwaitingSlot {
        runner: String,
    },
    /// An agent program is asked for its version, which may take a while.
    AskingVersion {
        program: String,
    },
    /// A remark for people.
    Remark {
        text: String,
    },
    /// The orchestrator released the run: it is over, waits for a person, or a signal stopped us.
    DriveEnded {
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

/// A worker at work, with its last action.
#[derive(Clone, Debug)]
pub struct AtWork {
    pub worker: Worker,
    pub since: Instant,
    pub action: Option<String>,
    /// The last line that it said.
    pub said: Option<String>,
    /// How many of its tool calls were refused.
    pub refused: u32,
    pub usage: Usage,
}

/// The state of the run when a progress event is reported.
#[derive(Clone, Copy)]
pub struct ProgressContext<'a> {
    pub opened: &'a OpenRun,
    pub at_work: &'a [AtWork],
    /// How long this orchestrator has driven the run.
    pub elapsed: Duration,
    /// The driven time that the journal does not have yet.
    pub driven_ms: u64,
    pub now: Time,
}

/// What a person at a live view may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Answer,
    Skip,
    Stop,
}

/// Receives progress.
pub trait Watcher {
    fn tell(&mut self, at: &ProgressContext<'_>, what: &Progress);
    /// Nothing happened for a moment; a display may be redrawn.
    fn tick(&mut self, at: &ProgressContext<'_>);
    /// A line that is not about the run itself.
    fn remark(&mut self, text: &str);
    /// What the person at the live view asks for, by a key. Without a live view nobody does.
    fn wish(&mut self) -> Option<Wish> {
        None
    }
    /// The person at the terminal, if any. Drawing pauses until they have answered.
    fn prompt(&mut self) -> Option<Box<dyn Prompt>>;
}

/// The visited stages, in the order of the first visits.
pub fn visited<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<StageName> {
    let mut visited = Vec::new();
    for entry in entries {
        let stage = if let Fact::Started(started) = &entry.fact {
            &started.stage
        } else if let Fact::Moved(moved) = &entry.fact {
            &moved.to
        } else {
            continue;
        };
        if !visited.contains(stage) {
            visited.push(stage.clone());
        }
    }
    visited
}
