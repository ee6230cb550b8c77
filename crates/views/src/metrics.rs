//! Figures over many runs: outcomes, working times, checks, and waiting times.

mod durations;
mod json;
mod run_fold;
mod text;

use std::collections::BTreeMap;

use engine::{AgentName, PipelineName, StageName, Usage};

pub use durations::Durations;
pub use run_fold::RunFold;

/// The figures of some runs. Those of several runs are added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    pub runs: RunFigures,
    pub stages: BTreeMap<StageKey, StageFigures>,
    pub agents: BTreeMap<AgentName, AgentFigures>,
    pub checks: BTreeMap<StageKey, CheckFigures>,
    pub reviews: BTreeMap<StageKey, ReviewFigures>,
    /// What was refused, by the rule's code.
    pub refusals: Counts,
    pub people: PeopleFigures,
}

/// A stage of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StageKey {
    pub pipeline: PipelineName,
    pub stage: StageName,
}

/// How often each word occurred.
pub type Counts = BTreeMap<String, u64>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFigures {
    /// By the word for their status.
    pub statuses: Counts,
    /// Those in which a person overrode something.
    pub overridden: u64,
    /// From start to end, of the completed ones.
    pub time: Durations,
    pub usage: Usage,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageFigures {
    pub entered: u64,
    /// The outcomes with which it was left.
    pub outcomes: Counts,
    /// How long each visit took that is over.
    pub time: Durations,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFigures {
    pub dispatches: u64,
    /// Those that are still at work.
    pub open: u64,
    pub outcomes: Counts,
    /// How often its work was retried after a fault.
    pub retries: u64,
    /// How often it tried to finish without its artifacts.
    pub sent_back: u64,
    pub time: Durations,
    pub usage: Usage,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckFigures {
    pub passed: u64,
    pub failed: u64,
    /// Without a verdict: it could not start, or the tree changed while it ran.
    pub void: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewFigures {
    pub rounds: u64,
    pub approvals: u64,
    /// How often a reviewer found something.
    pub findings: u64,
    pub fixes: u64,
    /// How often the rounds were used up.
    pub exceeded: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeopleFigures {
    pub waits: BTreeMap<Wait, WaitFigures>,
    /// What people did: `answer`, `override`, `reset` and so on.
    pub acts: Counts,
}

/// Why a run waits for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    Question,
    Fault,
    Stale,
    Budget,
    Stopped,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitFigures {
    /// Those that are over.
    pub time: Durations,
    /// Those that last, with how long so far.
    pub open: Durations,
}

impl Wait {
    pub fn word(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Fault => "fault",
            Self::Stale => "stale",
            Self::Budget => "budget",
            Self::Stopped => "stopped",
        }
    }
}

impl Metrics {
    /// Adds the figures of other runs.
    pub fn add(&mut self, other: Self) {
        self.runs.add(other.runs);
        merge(&mut self.stages, other.stages, StageFigures::add);
        merge(&mut self.agents, other.agents, AgentFigures::add);
        merge(&mut self.checks, other.checks, CheckFigures::add);
        merge(&mut self.reviews, other.reviews, ReviewFigures::add);
        merge_counts(&mut self.refusals, other.refusals);
        merge_counts(&mut self.people.acts, other.people.acts);
        merge(&mut self.people.waits, other.people.waits, WaitFigures::add);
    }
}

impl RunFigures {
    pub fn total(&self) -> u64 {
        self.statuses.values().sum()
    }

    fn with(&self, word: &str) -> u64 {
        self.statuses.get(word).copied().unwrap_or(0)
    }

    /// Those that are over.
    pub fn ended(&self) -> u64 {
        self.with("completed") + self.with("failed") + self.with("cancelled")
    }

    /// How many of a thousand that ended were completed; nothing where none has ended.
    pub fn success_permille(&self) -> Option<u64> {
        let ended = self.ended();
        (self.with("completed") * 1_000 + ended / 2).checked_div(ended)
    }

    fn add(&mut self, other: Self) {
        merge_counts(&mut self.statuses, other.statuses);
        self.overridden += other.overridden;
        self.time.add(other.time);
        add_usage(&mut self.usage, other.usage);
    }
}

impl StageFigures {
    fn add(&mut self, other: Self) {
        self.entered += other.entered;
        merge_counts(&mut self.outcomes, other.outcomes);
        self.time.add(other.time);
    }
}

impl AgentFigures {
    fn add(&mut self, other: Self) {
        self.dispatches += other.dispatches;
        self.open += other.open;
        merge_counts(&mut self.outcomes, other.outcomes);
        self.retries += other.retries;
        self.sent_back += other.sent_back;
        self.time.add(other.time);
        add_usage(&mut self.usage, other.usage);
    }
}

impl CheckFigures {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.void += other.void;
    }
}

impl ReviewFigures {
    fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.approvals += other.approvals;
        self.findings += other.findings;
        self.fixes += other.fixes;
        self.exceeded += other.exceeded;
    }
}

impl WaitFigures {
    fn add(&mut self, other: Self) {
        self.time.add(other.time);
        self.open.add(other.open);
    }
}

fn merge<K: Ord, V: Default>(into: &mut BTreeMap<K, V>, from: BTreeMap<K, V>, add: fn(&mut V, V)) {
    for (key, value) in from {
        add(into.entry(key).or_default(), value);
    }
}

fn merge_counts(into: &mut Counts, from: Counts) {
    merge(into, from, |sum, count| *sum += count);
}

fn count(counts: &mut Counts, word: &str) {
    *counts.entry(word.to_owned()).or_default() += 1;
}

/// Hosts report these numbers, so a sum that would overflow saturates.
fn add_usage(sum: &mut Usage, more: Usage) {
    *sum = sum.and(more);
}
