//! What a person does to a run on a screen or a page: one list for both, put to the engine as by the commands.

use engine::{Happening, PersonEvent, RunId, StageName, Time};

use crate::answers::{Chosen, Edits, answered, chosen};
use crate::failure::Failure;
use crate::transact::Request;
use crate::workspace::{OpenRun, Workspace};

/// What a person does to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonAct {
    pub run: RunId,
    pub what: PersonWish,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonWish {
    /// Chooses an answer to the question of the stage that they saw.
    Choose {
        stage: StageName,
        choice: String,
        text: Option<String>,
        /// Does the person take what they changed in the files of artifacts?
        edits: Edits,
    },
    /// Answers the questions of a worker, by their ids.
    Answer {
        stage: StageName,
        answers: Vec<(String, String)>,
    },
    Retry,
    Cancel {
        reason: String,
    },
}

impl PersonWish {
    /// The request to `transact`. A question that the run has left is not answered: nobody saw the next one.
    pub fn request(
        &self,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        at: Time,
    ) -> Result<Request, Failure> {
        match self {
            Self::Choose {
                stage,
                choice,
                text,
                edits: _,
            } => {
                still_in(opened, stage)?;
                let text = text.as_deref();
                chosen(workspace, opened, Chosen { choice, text }, at)
            }
            Self::Answer { stage, answers } => {
                still_in(opened, stage)?;
                answered(workspace, opened, answers)
            }
            Self::Retry => Ok(Happening::Person(PersonEvent::RetryAsked).into()),
            Self::Cancel { reason } => {
                let reason = reason.clone();
                Ok(Happening::Person(PersonEvent::CancelAsked { reason }).into())
            }
        }
    }

    /// Does the person take their edits of artifacts before they answer?
    pub fn takes_edits(&self) -> bool {
        match self {
            Self::Choose { edits, .. } => *edits == Edits::Taken,
            Self::Answer { .. } | Self::Retry | Self::Cancel { .. } => false,
        }
    }
}

fn still_in(opened: &OpenRun, seen: &StageName) -> Result<(), Failure> {
    let stage = &opened.run().position.stage;
    if stage == seen {
        return Ok(());
    }
    let message = format!("the run left {seen} meanwhile and is in {stage}");
    Err(Failure::refused(message).hint("look at its question again, then answer"))
}
