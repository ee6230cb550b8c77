//! The end of the journal: how long to wait after a fault, and whether somebody has worked.

use engine::{CheckVerdict, DispatchId, Entry, Fact, Fault, StageName, StepId, Time};
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use crate::agent::choice::Choice;

/// How many entries are read: one visit of a stage has fewer.
const LOOKED_BACK: u64 = 400;

/// The end of the journal, the latest entry first.
pub(crate) struct RecentJournal(Vec<Entry>);

impl RecentJournal {
    pub(crate) fn of(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Self, Failure> {
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

    /// When this worker may start after a fault, with the reason.
    pub(crate) fn pause(&self, opened: &OpenRun, choice: &Choice) -> Option<(Time, String)> {
        let stage = opened.pipeline.stage(&choice.stage)?;
        let (at, fault, reason) = self.0.iter().find_map(|entry| {
            let (retried, step, fault, reason) = match_retry(&entry.fact)?;
            let is_same = *retried == choice.stage && step == choice.step.as_ref();
            is_same.then_some((entry.at, fault, reason))
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
    pub(crate) fn has_worked(&self, opened: &OpenRun) -> bool {
        let run = opened.run();
        self.0.iter().any(|entry| {
            matches!(&entry.fact, Fact::Admitted { dispatch }
                if dispatch.visit == run.position.visit
                    && !run.dispatches.contains_key(&dispatch.id))
        })
    }

    /// The verdict of the latest check of this stage, and the tail of its output.
    pub(crate) fn checked(&self, name: &StageName) -> Option<(CheckVerdict, String)> {
        self.0.iter().find_map(|entry| {
            let Fact::Checked {
                stage,
                verdict,
                results,
                ..
            } = &entry.fact
            else {
                return None;
            };
            let tail = results.last().map(|result| result.tail.clone());
            (stage == name).then(|| (*verdict, tail.unwrap_or_default()))
        })
    }

    /// How this work was judged, in a few words, and whether that is a fault.
    pub(crate) fn judged(&self, dispatch: DispatchId) -> Option<(String, bool)> {
        use engine::WorkResult;
        let result = self.0.iter().find_map(|entry| {
            let Fact::Ended {
                dispatch: id,
                result,
                ..
            } = &entry.fact
            else {
                return None;
            };
            (*id == dispatch).then_some(result)
        })?;
        Some(match result {
            WorkResult::Outcome(outcome) => (outcome.to_string(), false),
            WorkResult::Fault { fault, reason } => (format!("{}: {reason}", fault.word()), true),
            WorkResult::Late => ("late: the run had moved on".to_owned(), true),
            WorkResult::Dropped => ("dropped".to_owned(), true),
        })
    }
}

/// The stage, the step, the fault and the reason of a retry.
fn match_retry(fact: &Fact) -> Option<(&StageName, Option<&StepId>, Fault, &String)> {
    if let Fact::Retried {
        stage,
        fault,
        reason,
    } = fact
    {
        Some((stage, None, *fault, reason))
    } else if let Fact::StepRetried {
        stage,
        step,
        fault,
        reason,
    } = fact
    {
        Some((stage, Some(step), *fault, reason))
    } else {
        None
    }
}

fn retries_of(opened: &OpenRun, stage: &StageName, step: &StepId) -> u32 {
    let graph = opened.run().graphs.get(stage);
    let members = graph.into_iter().flat_map(|graph| &graph.members);
    let mut members = members.filter(|member| member.step.id == *step);
    members.next().map_or(0, |member| member.retries)
}
