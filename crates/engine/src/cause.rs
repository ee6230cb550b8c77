//! Causes: what led a run to where it is. Its workers, and a person who is asked, must learn it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change::Routed;
use crate::check_result::{CheckEnd, CheckVerdict};
use crate::names::{AgentName, ArtifactName, CounterName, Hash, StageName, StepId};
use crate::outcome::{Fault, Outcome};

/// A stage that the run has left, and what happened there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Passage {
    pub stage: StageName,
    /// How it ended, as the journal has it.
    pub outcome: String,
    pub along: MoveReason,
    pub happened: Vec<Happened>,
}

/// Why a move goes where it goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MoveReason {
    /// The edge of the definition.
    Edge,
    /// The counter was full: its `then`.
    Full(CounterName),
    /// The artifact has commands that nobody approved: its `then`.
    Unapproved(ArtifactName),
    /// Back to where an escalation interrupted.
    Interrupted,
    /// A gate checked another tree than the current one.
    StaleGate,
    /// The change no longer meets the rule of this route: its longer way.
    Outgrown(StageName),
}

/// Something that happened in a stage and that those who come after it must know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Happened {
    /// An agent ended its work with this outcome, and left these artifacts.
    Worked {
        agent: AgentName,
        step: Option<StepId>,
        outcome: Outcome,
        left: BTreeMap<ArtifactName, Hash>,
    },
    /// Work failed. Without an agent, the run itself could not go on.
    Failed {
        agent: Option<AgentName>,
        step: Option<StepId>,
        fault: Fault,
        reason: String,
    },
    /// Gatewright ran the commands of a check.
    Checked {
        verdict: CheckVerdict,
        commands: Vec<CommandEnd>,
    },
    /// The engine chose a way, or found that the run no longer fits the way that it chose.
    Routed(Routed),
    /// A person answered the question of the stage, perhaps in words of their own.
    Answered {
        by: String,
        choice: Outcome,
        words: Option<String>,
    },
    /// A person overrode the stage.
    Skipped {
        by: String,
        outcome: Outcome,
        reason: String,
    },
    /// A person let a run go on that had stopped.
    Continued { by: String, words: Option<String> },
    /// A person sent the run back to its start.
    Reset { by: String, reason: String },
    /// A person took the run back to an earlier point.
    Restored { by: String, reason: String },
}

/// How one command of a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandEnd {
    pub argv: Vec<String>,
    pub ended: CheckEnd,
    /// The output contains the text that fails the check.
    pub matched_failure: bool,
    /// The expected text that no command printed.
    pub lacks: Option<String>,
    /// The end of its output, where it did not pass.
    pub tail: String,
}

impl CommandEnd {
    pub fn has_passed(&self) -> bool {
        self.ended == CheckEnd::Exit(0) && !self.matched_failure && self.lacks.is_none()
    }
}

impl Happened {
    /// What a person said in words of their own.
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Answered { words, .. } | Self::Continued { words, .. } => words.as_deref(),
            Self::Skipped { reason, .. }
            | Self::Reset { reason, .. }
            | Self::Restored { reason, .. } => Some(reason),
            Self::Worked { .. } | Self::Failed { .. } | Self::Checked { .. } | Self::Routed(_) => {
                None
            }
        }
    }

    /// Has an agent worked?
    pub(crate) fn is_work(&self) -> bool {
        match self {
            Self::Worked { .. } => true,
            Self::Failed { agent, .. } => agent.is_some(),
            Self::Checked { .. }
            | Self::Routed(_)
            | Self::Answered { .. }
            | Self::Skipped { .. }
            | Self::Continued { .. }
            | Self::Reset { .. }
            | Self::Restored { .. } => false,
        }
    }
}

impl Passage {
    pub(crate) fn has_worked(&self) -> bool {
        self.happened.iter().any(Happened::is_work)
    }

    /// Did a person say something on the way? It stays true for all who come later.
    pub(crate) fn has_words(&self) -> bool {
        self.happened.iter().any(|it| it.words().is_some())
    }

    /// The last verdict of the check that this stage is.
    pub(crate) fn verdict(&self) -> Option<CheckVerdict> {
        self.happened.iter().rev().find_map(|it| match it {
            Happened::Checked { verdict, .. } => Some(*verdict),
            _ => None,
        })
    }
}
