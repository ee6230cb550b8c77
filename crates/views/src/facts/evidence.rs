//! The evidence of each gate: its commands with their exit codes, its reviewers, the tree, and whether it still holds.

use engine::{
    AgentName, ArtifactName, CheckEnd, CheckResult, CheckVerdict, Gate, Hash, Pipeline, Run, Stage,
    StageName, Time, Work, Writes,
};

use super::timeline::{Timeline, subject};
use crate::safe::Untrusted;

/// How many reviews of a gate are kept, the latest.
const MOST_REVIEWS: usize = 50;

/// How many failed runs of its commands are kept of a gate, the latest.
const MOST_FAILURES: usize = 3;

/// How much of the end of the output of a failed run is kept, in bytes.
const LONGEST_TAIL: usize = 4_000;

/// A gate of the pipeline, with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateEvidence {
    pub stage: StageName,
    pub kind: &'static str,
    pub state: GateState,
    /// The latest entry about it.
    pub entry: Option<u64>,
    pub at: Option<Time>,
    /// The tree, or the content of the artifact, that was checked.
    pub subject: Option<Hash>,
    /// The artifact, where it holds for one.
    pub artifact: Option<ArtifactName>,
    /// The latest run of its commands.
    pub verdict: Option<CheckVerdict>,
    pub commands: Vec<CommandEvidence>,
    /// How often its commands failed before that.
    pub failed_before: u64,
    /// The latest of these.
    pub failures: Vec<FailedCheck>,
    /// The current round of a review.
    pub round: Option<u32>,
    pub reviews: Vec<ReviewEvidence>,
}

/// A run of a gate's commands that failed, and was followed by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    pub entry: u64,
    pub at: Time,
    /// Those that failed, each with the end of its output.
    pub commands: Vec<CommandEvidence>,
}

/// How far a gate can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateState {
    /// It has no verdict: the run has not come to it, or nobody has finished there.
    Open,
    /// It was tried, and has not passed since.
    Failed,
    /// It passed, and nobody who may change what it checked has worked since.
    Holds,
    /// It passed, and then somebody worked who may change the tree: a later gate must pass.
    Superseded,
    /// It passed, and the artifact has other content now.
    Stale,
    /// A person skipped it.
    Overridden,
}

impl GateEvidence {
    /// What was checked: `tree`, or the name of the artifact.
    pub fn subject_name(&self) -> &str {
        self.artifact.as_ref().map_or("tree", ArtifactName::as_str)
    }
}

impl GateState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Failed => "failed",
            Self::Holds => "holds",
            Self::Superseded => "superseded",
            Self::Stale => "stale",
            Self::Overridden => "overridden",
        }
    }
}

impl GateState {
    /// Did it pass on something else than what is there now, as far as is known?
    pub fn is_stale(self) -> bool {
        match self {
            Self::Superseded | Self::Stale => true,
            Self::Open | Self::Failed | Self::Holds | Self::Overridden => false,
        }
    }
}

/// One command of a check, as it was last run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEvidence {
    /// As a line for a shell.
    pub command: Untrusted,
    pub exit: Option<i32>,
    /// How it ended, for people.
    pub ended: Untrusted,
    pub duration_ms: u64,
    /// The end of its output, without secrets.
    pub tail: Untrusted,
}

/// What a reviewer said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewEvidence {
    /// From 1.
    pub reviewer: u32,
    pub agent: Option<AgentName>,
    /// What was approved; the reviewer found problems where there is nothing.
    pub approved: Option<Hash>,
    pub at: Time,
    pub entry: u64,
}

/// What the journal says about one gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GateRecord {
    entry: u64,
    at: Option<Time>,
    subject: Option<Hash>,
    verdict: Option<CheckVerdict>,
    results: Vec<CheckResult>,
    /// The entry of the latest run of its commands.
    checked: u64,
    failed: u64,
    failures: Vec<FailedCheck>,
    round: Option<u32>,
    reviews: Vec<ReviewEvidence>,
}

impl GateRecord {
    pub(super) fn checked(
        &mut self,
        entry: u64,
        at: Time,
        verdict: CheckVerdict,
        results: &[CheckResult],
        tree: Hash,
    ) {
        self.entry = entry;
        self.at = Some(at);
        self.subject = Some(tree);
        self.verdict = Some(verdict);
        self.results = results.to_vec();
        self.checked = entry;
        if verdict == CheckVerdict::Failed {
            self.failed += 1;
            self.failures.push(failed_check(entry, at, results));
        }
        // One more than is shown: the latest run of the commands is not among those before it.
        if self.failures.len() > MOST_FAILURES + 1 {
            self.failures.remove(0);
        }
    }

    pub(super) fn passed(&mut self, entry: u64, at: Time, gate: &Gate) {
        self.entry = entry;
        self.at = Some(at);
        self.subject = Some(subject(gate));
    }

    pub(super) fn round(&mut self, round: u32) {
        self.round = Some(round);
    }

    /// Has somebody approved, and does nobody's last word speak against it?
    fn is_under_review(&self) -> bool {
        let is_last = |place: usize, review: &ReviewEvidence| {
            let later = &self.reviews[place + 1..];
            later.iter().all(|it| it.reviewer != review.reviewer)
        };
        let reviews = self.reviews.iter().enumerate();
        let mut last = reviews.filter(|(place, review)| is_last(*place, review));
        !self.reviews.is_empty() && last.all(|(_, review)| review.approved.is_some())
    }

    pub(super) fn reviewed(&mut self, review: ReviewEvidence) {
        self.entry = review.entry;
        self.at = Some(review.at);
        self.reviews.push(review);
        if self.reviews.len() > MOST_REVIEWS {
            self.reviews.remove(0);
        }
    }
}

/// The gates of the pipeline, in the order of its stages.
pub fn gates(pipeline: &Pipeline, run: &Run, timeline: &Timeline) -> Vec<GateEvidence> {
    let stages = pipeline.definition().stages.iter();
    let gates = stages.filter(|stage| is_gate(stage) || run.gates.contains_key(&stage.name));
    gates.map(|stage| evidence(run, stage, timeline)).collect()
}

fn is_gate(stage: &Stage) -> bool {
    match &stage.work {
        Work::Check(_) | Work::Review(_) => true,
        Work::Agent(_) => stage.writes == Writes::Only(Vec::new()),
        Work::Open(_) | Work::Ask(_) | Work::Steps(_) | Work::Route(_) | Work::End(_) => false,
    }
}

fn evidence(run: &Run, stage: &Stage, timeline: &Timeline) -> GateEvidence {
    let record = timeline.gate(&stage.name).cloned().unwrap_or_default();
    let passed = run.gates.get(&stage.name);
    let is_latest = |failure: &FailedCheck| failure.entry == record.checked;
    let failed_before = record.failed - u64::from(record.failures.iter().any(is_latest));
    let failures = record.failures.iter().filter(|it| !is_latest(it)).cloned();
    let failures: Vec<FailedCheck> = failures.collect();
    let first = failures.len().saturating_sub(MOST_FAILURES);
    GateEvidence {
        failed_before,
        failures: failures[first..].to_vec(),
        stage: stage.name.clone(),
        kind: crate::words::stage_kind(stage),
        state: state(run, &stage.name, passed, &record),
        entry: Some(record.entry).filter(|entry| *entry > 0),
        at: record.at,
        subject: passed.map(subject).or(record.subject),
        artifact: passed.and_then(artifact),
        verdict: record.verdict,
        commands: record.results.iter().map(command).collect(),
        round: record.round,
        reviews: record.reviews,
    }
}

fn artifact(gate: &Gate) -> Option<ArtifactName> {
    match gate {
        Gate::Artifact { artifact, .. } => Some(artifact.clone()),
        Gate::Tree(_) | Gate::Superseded(_) => None,
    }
}

fn state(run: &Run, stage: &StageName, passed: Option<&Gate>, record: &GateRecord) -> GateState {
    let skipped = run.overrides.iter().any(|it| it.stage == *stage);
    match passed {
        Some(Gate::Tree(_)) => GateState::Holds,
        Some(Gate::Superseded(_)) => GateState::Superseded,
        Some(Gate::Artifact { artifact, content }) => {
            let current = run.artifacts.get(artifact);
            if current.is_some_and(|current| current.content == *content) {
                GateState::Holds
            } else {
                GateState::Stale
            }
        }
        None if skipped => GateState::Overridden,
        None if record.entry > 0 && !record.is_under_review() => GateState::Failed,
        None => GateState::Open,
    }
}

fn failed_check(entry: u64, at: Time, results: &[CheckResult]) -> FailedCheck {
    let all = || results.iter().map(command);
    let failed: Vec<CommandEvidence> = all().filter(|it| it.exit != Some(0)).collect();
    // Also a command that ends with 0 fails, by what it printed.
    let commands = if failed.is_empty() {
        all().collect()
    } else {
        failed
    };
    let short = commands.into_iter().map(|it| CommandEvidence {
        tail: Untrusted::new(end_of(it.tail.raw())),
        ..it
    });
    FailedCheck {
        entry,
        at,
        commands: short.collect(),
    }
}

fn end_of(text: &str) -> &str {
    let from = text.len().saturating_sub(LONGEST_TAIL);
    &text[text.ceil_char_boundary(from)..]
}

fn command(result: &CheckResult) -> CommandEvidence {
    let exit = match result.ended {
        CheckEnd::Exit(code) => Some(code),
        CheckEnd::Signal(_)
        | CheckEnd::TimedOut
        | CheckEnd::CouldNotStart(_)
        | CheckEnd::EnvironmentLost(_)
        | CheckEnd::ProgramUnaccepted(_) => None,
    };
    CommandEvidence {
        command: Untrusted::new(engine::shell_words(&result.argv)),
        exit,
        ended: Untrusted::new(crate::fact::check_end(result)),
        duration_ms: result.duration_ms,
        tail: Untrusted::new(&result.tail),
    }
}
