//! A step: one thing that happens in a scenario.

use std::collections::BTreeMap;

use engine::{
    AgentName, ArtifactName, Change, CheckpointName, Driver, Fault, Outcome, ParamName, Seconds,
    SessionId, StageName, StepId, Usage,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Given(Given),
    Start(Start),
    /// Somebody edits the tree meanwhile; no hook of ours sees it.
    TreeChanges,
    /// From now on this is what has changed in the tree since the run began.
    Change(Change),
    Wait(Seconds),
    Act {
        by: By,
        act: Act,
    },
}

/// What exists before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    Step(engine::Step),
    Question {
        id: String,
        text: String,
    },
    /// A file of an earlier run exists at the artifact's path.
    Old(ArtifactName),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    pub driver: Driver,
    pub entry: Entrance,
    pub steps: StepsGiven,
    pub params: BTreeMap<ParamName, String>,
}

/// How the steps of a scenario are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepsGiven {
    /// At the start if the pipeline needs them there, otherwise by the planning worker.
    Usual,
    /// At the start, for a pipeline that could also plan them.
    AtStart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance {
    AtOnce,
    Queued,
}

/// Who does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// The usual actor in a run of this kind.
    Usual,
    Session(SessionId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Begin(Subject),
    End {
        subject: Subject,
        begins: Begins,
        how: How,
        usage: Usage,
    },
    Report {
        subject: Subject,
        how: How,
    },
    Check {
        stage: Option<StageName>,
        how: CheckHow,
    },
    Person(PersonAct),
    Host(HostAct),
}

/// The point that a run goes back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    Checkpoint(CheckpointName),
    /// Its last arrival in this stage.
    Stage(StageName),
}

/// What a person does at the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonAct {
    Answer {
        choice: Outcome,
        /// What the person says with it; empty for nothing.
        words: String,
    },
    Answers(BTreeMap<String, String>),
    Continue,
    Finish,
    Skip {
        outcome: Option<Outcome>,
        reason: String,
    },
    Retry,
    Cancel {
        reason: String,
    },
    Reset {
        reason: String,
    },
    Checkpoint(CheckpointName),
    Restore {
        point: Point,
        reason: String,
    },
}

/// What a host's hooks or our orchestrator report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAct {
    Open(SessionId),
    Close(SessionId),
    TakeUp,
    Stop { background: Background },
    Tool(String),
    Prompt,
}

/// The worker of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Agent(AgentName),
    /// The agent that the plan gives this step to.
    Step(StepId),
    AgentWithStep(AgentName, StepId),
}

/// Does the work start before it ends?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// `ends`: only the end is seen.
    Not,
    /// `works`.
    First,
    /// `crashes` and the like: starts it unless it is at work already.
    IfIdle,
}

/// How work ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// With the only outcome, or with `done`.
    Well,
    Outcome(Outcome),
    Fault(Fault),
    /// Successfully, and its artifact has this command.
    Adds(String),
    /// Its verdict is this word, even one that the pipeline does not know.
    Says(String),
    Leaves {
        state: Left,
        artifact: Option<ArtifactName>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Old,
    Invalid,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckHow {
    Passes,
    Fails,
    TimesOut,
    CannotStart,
    ChangesTree,
    PrintsFailure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    None,
    Working,
}

impl CheckHow {
    pub const ALL: [(&'static str, Self); 6] = [
        ("passes", Self::Passes),
        ("fails", Self::Fails),
        ("times out", Self::TimesOut),
        ("cannot start", Self::CannotStart),
        ("changes the tree", Self::ChangesTree),
        ("prints its failure", Self::PrintsFailure),
    ];

    pub fn words(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, how)| *how == self)
            .map_or("", |(words, _)| words)
    }
}

impl Step {
    pub fn usual(act: Act) -> Self {
        Self::Act { by: By::Usual, act }
    }

    /// Does the step get a reply?
    pub fn is_answered(&self) -> bool {
        match self {
            Self::Given(_) | Self::TreeChanges | Self::Change(_) => false,
            Self::Start(_) | Self::Wait(_) | Self::Act { .. } => true,
        }
    }
}
