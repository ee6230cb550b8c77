//! A fact of the journal: as a sentence, and as JSON.

mod json;
mod outside;
mod place;
mod sentence;
mod step_attempts;

use std::collections::BTreeMap;

use engine::{AgentName, Dispatch, DispatchId, Duty, Entry, Fact, Pipeline, StageName, Work};

pub use place::delivered;
pub(crate) use place::{place_json, place_lines};

pub(crate) use json::{duty_json, fact_json, unguarded_json};
use step_attempts::StepAttempts;

pub(crate) use sentence::{check_end, check_line, sentence, style};

/// The agents behind the numbers of dispatches and reviewers, as far as the entries name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentNames {
    dispatches: BTreeMap<DispatchId, AgentName>,
    reviewers: BTreeMap<(StageName, u32), AgentName>,
    /// Where the entries were read for it.
    steps: Option<StepAttempts>,
}

impl AgentNames {
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let (mut names, mut steps) = (Self::default(), StepAttempts::default());
        for entry in entries {
            names.add(&entry.fact);
            steps.add(&entry.fact);
        }
        names.steps = Some(steps);
        names
    }

    /// The reviewers as the definition names them, even if no entry mentions them.
    pub(crate) fn add_panels(&mut self, pipeline: &Pipeline) {
        for stage in &pipeline.definition().stages {
            let Work::Review(review) = &stage.work else {
                continue;
            };
            for (number, reviewer) in (0..).zip(&review.panel) {
                let place = (stage.name.clone(), number);
                self.reviewers.insert(place, reviewer.agent.clone());
            }
        }
    }

    /// Everybody who is known by the number of a dispatch.
    pub(crate) fn workers(&self) -> impl Iterator<Item = (DispatchId, &AgentName)> {
        self.dispatches.iter().map(|(id, agent)| (*id, agent))
    }

    pub(crate) fn insert(&mut self, dispatch: DispatchId, agent: AgentName) {
        self.dispatches.insert(dispatch, agent);
    }

    /// Who did this piece of work. No later entry names it.
    pub(crate) fn remove(&mut self, dispatch: DispatchId) -> Option<AgentName> {
        self.dispatches.remove(&dispatch)
    }

    pub(crate) fn add(&mut self, fact: &Fact) {
        let Fact::Admitted { dispatch } = fact else {
            return;
        };
        self.dispatches.insert(dispatch.id, dispatch.agent.clone());
        if let Duty::Review { reviewer } = dispatch.duty {
            self.reviewers
                .insert((dispatch.stage.clone(), reviewer), dispatch.agent.clone());
        }
    }

    /// Steps are retried one by one. Nothing where the entries do not go back to the beginning of the task graph.
    fn attempt(&self, dispatch: &Dispatch) -> Option<u32> {
        match (&self.steps, dispatch.duty.step()) {
            (Some(steps), Some(_)) => steps.of(dispatch.id),
            (Some(_) | None, _) => Some(dispatch.attempt),
        }
    }

    /// `'ansible-validator' (d3)`.
    fn worker(&self, dispatch: DispatchId) -> String {
        match self.dispatches.get(&dispatch) {
            Some(agent) => format!("'{agent}' ({dispatch})"),
            None => format!("the work {dispatch}"),
        }
    }

    /// Who is the reviewer with this number, from 0.
    pub(crate) fn reviewer_name(&self, stage: &StageName, reviewer: u32) -> Option<&AgentName> {
        self.reviewers.get(&(stage.clone(), reviewer))
    }

    /// `reviewer 2 ('codex-reviewer')`.
    fn reviewer(&self, stage: &StageName, reviewer: u32) -> String {
        let number = reviewer + 1;
        match self.reviewers.get(&(stage.clone(), reviewer)) {
            Some(agent) => format!("reviewer {number} ('{agent}')"),
            None => format!("reviewer {number}"),
        }
    }
}
