//! A fact of the journal: as a sentence, and as JSON.

mod json;
mod sentence;

use std::collections::BTreeMap;

use engine::{AgentName, DispatchId, Duty, Entry, Fact, StageName};

pub use json::{duty_json, fact_json};
pub use sentence::{check_line, sentence, style};

/// Who is meant by a dispatch's or a reviewer's number, as far as the entries told of it.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    dispatches: BTreeMap<DispatchId, AgentName>,
    reviewers: BTreeMap<(StageName, u32), AgentName>,
}

impl Cast {
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut cast = Self::default();
        for entry in entries {
            cast.hear(&entry.fact);
        }
        cast
    }

    fn hear(&mut self, fact: &Fact) {
        let Fact::Admitted { dispatch } = fact else {
            return;
        };
        self.dispatches.insert(dispatch.id, dispatch.agent.clone());
        if let Duty::Review { reviewer } = dispatch.duty {
            self.reviewers
                .insert((dispatch.stage.clone(), reviewer), dispatch.agent.clone());
        }
    }

    /// `'ansible-validator' (d3)`.
    fn worker(&self, dispatch: DispatchId) -> String {
        match self.dispatches.get(&dispatch) {
            Some(agent) => format!("'{agent}' ({dispatch})"),
            None => format!("the work {dispatch}"),
        }
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
