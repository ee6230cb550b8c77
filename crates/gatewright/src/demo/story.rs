//! The story of the demo: which entries of the journal it tells, and in which words.

use std::collections::BTreeSet;

use engine::{
    CheckEnd, CheckResult, CheckVerdict, Dispatch, DispatchId, Duty, Entry, Fact, Fault, Hash,
    WorkResult,
};
use serde_json::Value;
use views::Style;

/// One thing that happened, as the demo tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub word: &'static str,
    pub style: Style,
    /// One paragraph each.
    pub text: Vec<String>,
    /// The number of the entry that says so, if the journal does.
    pub entry: Option<u64>,
}

impl Act {
    pub(super) fn new(word: &'static str, style: Style, text: &[&str]) -> Self {
        let text = text.iter().map(|text| (*text).to_owned()).collect();
        let entry = None;
        Self {
            word,
            style,
            text,
            entry,
        }
    }
}

/// What the story looks up beside the journal.
pub(super) trait Surroundings {
    /// A captured artifact.
    fn artifact(&self, content: Hash) -> Option<Value>;
    /// The script that the run writes, as it is now.
    fn script(&self) -> Option<String>;
}

/// What the story remembers of the entries so far.
#[derive(Default)]
pub(super) struct Story {
    /// The worker that was admitted last.
    latest: Option<Dispatch>,
    captured: Option<Hash>,
    approvals: BTreeSet<u32>,
    /// The script as it was told last.
    script: String,
    /// Did the last check fail?
    failed: bool,
}

impl Story {
    /// What to tell about the next entry, if anything.
    pub(super) fn tell(&mut self, entry: &Entry, around: &dyn Surroundings) -> Option<Act> {
        let fact = &entry.fact;
        if let Fact::Admitted { dispatch } = fact {
            self.latest = Some((**dispatch).clone());
            None
        } else if let Fact::Captured { content, .. } = fact {
            self.captured = Some(*content);
            None
        } else if let Fact::Refused { what, reason } = fact {
            Some(self.refused(entry, what, reason))
        } else if let Fact::Ended {
            dispatch, result, ..
        } = fact
        {
            self.ended(entry, *dispatch, result, around)
        } else if let Fact::Checked {
            verdict, results, ..
        } = fact
        {
            self.failed = *verdict == CheckVerdict::Failed;
            Some(checked(*verdict, results))
        } else {
            self.reviewed(fact, around)
        }
    }

    fn agent(&self) -> &str {
        self.latest
            .as_ref()
            .map_or("agent", |latest| latest.agent.as_str())
    }

    fn refused(&self, entry: &Entry, what: &str, reason: &str) -> Act {
        let tried = format!(
            "the {} types `gatewright {what}` to get past a gate",
            self.agent()
        );
        let why = format!("{}: {reason}", entry.rule.code());
        Act::new("REFUSED", Style::Bad, &[&tried, &why])
    }

    fn ended(
        &mut self,
        entry: &Entry,
        dispatch: DispatchId,
        result: &WorkResult,
        around: &dyn Surroundings,
    ) -> Option<Act> {
        let latest = self.latest.clone().filter(|latest| latest.id == dispatch)?;
        match result {
            WorkResult::Fault {
                fault: Fault::Strayed,
                reason,
            } => {
                let tried = format!(
                    "the {} writes code before its plan is approved",
                    latest.agent
                );
                let why = format!("{}: {reason}", entry.rule.code());
                Some(Act::new("REFUSED", Style::Bad, &[&tried, &why]))
            }
            WorkResult::Outcome(_) if latest.agent.as_str() == "planner" && latest.attempt > 1 => {
                let text = "the planner reads the reason, removes its code, and leaves a plan";
                Some(Act::new("again", Style::Normal, &[text]))
            }
            WorkResult::Outcome(_) if latest.agent.as_str() == "implementer" => {
                self.implemented(&latest, around)
            }
            WorkResult::Outcome(_)
            | WorkResult::Fault { .. }
            | WorkResult::Late
            | WorkResult::Dropped => None,
        }
    }

    /// The implementer changed the script: shows the lines that are new.
    fn implemented(&mut self, latest: &Dispatch, around: &dyn Surroundings) -> Option<Act> {
        let now = around.script()?;
        let new: Vec<&str> = now
            .lines()
            .filter(|line| !self.script.lines().any(|old| old == *line))
            .collect();
        let shown = new.last().map(|line| format!("+ {line}"))?;
        let (word, told) = if matches!(latest.duty, Duty::Fix { .. }) {
            let told = "the same implementer gets the finding, and adds a line:";
            ("fixed", told.to_owned())
        } else if self.failed {
            let told = "the implementer gets this output, and changes a line:";
            ("fixed", told.to_owned())
        } else {
            ("code", self.claim(around))
        };
        let act = Act::new(word, Style::Normal, &[&told, &shown]);
        self.script = now;
        Some(act)
    }

    /// What the implementer says about the tests. It is a claim, and no evidence.
    fn claim(&self, around: &dyn Surroundings) -> String {
        let result = self.captured.and_then(|content| around.artifact(content));
        let passing = result.and_then(|result| result["tests"]["passing"].as_u64());
        let passing = passing.unwrap_or_default();
        format!("the implementer writes slug.sh and claims: tests passing {passing}")
    }

    fn reviewed(&mut self, fact: &Fact, around: &dyn Surroundings) -> Option<Act> {
        if let Fact::ReviewerApproved { reviewer, .. } = fact {
            self.approvals.insert(*reviewer);
            None
        } else if let Fact::ReviewerFound { .. } = fact {
            self.approvals.clear();
            let verdict = self.captured.and_then(|content| around.artifact(content));
            let summary = verdict
                .as_ref()
                .and_then(|verdict| verdict["summary"].as_str());
            let text = format!(
                "a reviewer asks for changes: {}",
                summary.unwrap_or("see its file")
            );
            Some(Act::new("review", Style::Wait, &[&text]))
        } else if let Fact::Fixed { .. } = fact {
            self.approvals.clear();
            None
        } else if let Fact::Moved(moved) = fact
            && !self.approvals.is_empty()
        {
            let number = std::mem::take(&mut self.approvals).len();
            let text = if moved.from.as_str() == "plan_reviewing" {
                format!("{number} reviewers approve the plan")
            } else if self.failed {
                format!("{number} reviewers approve again, because the code has changed")
            } else {
                format!("{number} reviewers approve the code")
            };
            Some(Act::new("review", Style::Good, &[&text]))
        } else {
            None
        }
    }
}

/// What the command of a check did, and what it printed.
fn checked(verdict: CheckVerdict, results: &[CheckResult]) -> Act {
    let commands = results.iter().map(|result| {
        let ended = match &result.ended {
            CheckEnd::Exit(code) => format!("exit code {code}"),
            CheckEnd::Signal(signal) => format!("signal {signal}"),
            CheckEnd::TimedOut => "it took too long".to_owned(),
            CheckEnd::CouldNotStart(reason)
            | CheckEnd::EnvironmentLost(reason)
            | CheckEnd::ProgramUnaccepted(reason) => reason.clone(),
        };
        format!(
            "gatewright runs `{}` itself: {ended}",
            result.argv.join(" ")
        )
    });
    let printed = results.iter().map(|result| result.tail.trim().to_owned());
    let printed = printed.filter(|text| !text.is_empty());
    let (word, style) = match verdict {
        CheckVerdict::Passed => ("PASSED", Style::Good),
        CheckVerdict::Failed | CheckVerdict::Void => ("FAILED", Style::Bad),
    };
    Act {
        word,
        style,
        text: commands.chain(printed).collect(),
        entry: None,
    }
}
