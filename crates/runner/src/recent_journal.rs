//! What the journal tells of the present visit: how long to wait, and whether somebody has worked.

use engine::{CheckVerdict, DispatchId, Entry, Fact, StageName, StepId, Time};
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use crate::agent::choice::Choice;

/// How many entries back are looked at: one visit of a stage has fewer.
const LOOKED_BACK: u64 = 400;

/// The end of the journal, the latest entry first.
pub struct RecentJournal(Vec<Entry>);

impl RecentJournal {
    pub fn of(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Self, Failure> {
        let from = opened.stored.version.saturating_sub(LOOKED_BACK) + 1;
        let journal = workspace
            .store
            .journal(&opened.run().id, from, LOOKED_BACK)?;
        Ok(Self(
            journal
                .into_iter()
                .rev()
                .map(|stored| stored.entry)
                .collect(),
        ))
    }

    /// Until when this worker waits after a fault, with the reason.
    pub fn pause(&self, opened: &OpenRun, choice: &Choice) -> Option<(Time, String)> {
        let stage = opened.pipeline.stage(&choice.stage)?;
        let (at, fault, reason) = self.0.iter().find_map(|entry| match &entry.fact {
            Fact::Retried {
                stage,
                fault,
                reason,
            } if choice.step.is_none() && *stage == choice.stage => {
                Some((entry.at, *fault, reason))
            }
            Fact::StepRetried {
                stage,
                step,
                fault,
                reason,
            } if *stage == choice.stage && Some(step) == choice.step.as_ref() => {
                Some((entry.at, *fault, reason))
            }
            _ => None,
        })?;
        let tries = match &choice.step {
            None => opened.run().position.retries,
            Some(step) => retries_of(opened, &choice.stage, step),
        };
        let wait = engine::backoff(stage, fault, tries.checked_sub(1)?);
        let until = Time(at.0.saturating_add(wait.0.saturating_mul(1000)));
        Some((until, format!("{}: {reason}", fault.word())))
    }

    /// Has an agent ended in this visit of the stage?
    pub fn has_worked(&self, opened: &OpenRun) -> bool {
        let run = opened.run();
        self.0.iter().any(|entry| match &entry.fact {
            Fact::Admitted { dispatch } => {
                dispatch.visit == run.position.visit && !run.dispatches.contains_key(&dispatch.id)
            }
            _ => false,
        })
    }

    /// What the latest check of this stage said: whether it passed, and the end of its output.
    pub fn checked(&self, name: &StageName) -> Option<(bool, String)> {
        self.0.iter().find_map(|entry| match &entry.fact {
            Fact::Checked {
                stage,
                verdict,
                results,
                ..
            } if stage == name => {
                let tail = results.last().map(|result| result.tail.clone());
                Some((*verdict == CheckVerdict::Passed, tail.unwrap_or_default()))
            }
            _ => None,
        })
    }

    /// How this work was judged, in a few words, and whether that is a fault.
    pub fn judged(&self, dispatch: DispatchId) -> Option<(String, bool)> {
        use engine::WorkResult::{Dropped, Fault, Late, Outcome};
        self.0.iter().find_map(|entry| match &entry.fact {
            Fact::Ended {
                dispatch: id,
                result,
                ..
            } if *id == dispatch => Some(match result {
                Outcome(outcome) => (outcome.to_string(), false),
                Fault { fault, reason } => (format!("{}: {reason}", fault.word()), true),
                Late => ("late: the run had gone on".to_owned(), true),
                Dropped => ("dropped".to_owned(), true),
            }),
            _ => None,
        })
    }
}

fn retries_of(opened: &OpenRun, stage: &StageName, step: &StepId) -> u32 {
    let graph = opened.run().graphs.get(stage);
    let members = graph.into_iter().flat_map(|graph| &graph.members);
    let mut members = members.filter(|member| member.step.id == *step);
    members.next().map_or(0, |member| member.retries)
}
