//! The way of a run through its stages, with times and attempts, folded entry by entry from its journal.
//!
//! A screen that shows a run for long keeps it: then a look costs what has happened since the last one.

use std::collections::{BTreeMap, VecDeque};

use engine::{
    AgentName, CheckVerdict, Dispatch, DispatchId, Duty, Entry, Fact, Gate, Hash, Pipeline,
    Seconds, Service, StageName, Time, Usage, Work, WorkResult,
};

use super::evidence::{GateRecord, ReviewEvidence};
use super::remark::{Remark, RemarkKind};
use super::ways::WayCounts;
use crate::fact::AgentNames;

/// How many of the latest visits are kept, and how many attempts of all of them.
const MOST_VISITS: usize = 1_000;
const MOST_ATTEMPTS: usize = 2_000;

/// How many runs of the commands of one visit.
const MOST_CHECKS: usize = 500;

/// How many of the latest remarks of each kind are kept; all are counted.
const MOST_REMARKS: usize = 200;

/// What the entries so far say about the way of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    version: u64,
    names: AgentNames,
    visits: VecDeque<Visit>,
    dropped: u64,
    /// How many attempts the visits have.
    attempts: usize,
    ways: WayCounts,
    waits: Vec<WaitSpan>,
    span: RunSpan,
    /// Has a stand-in played an agent?
    rehearsed: bool,
    /// By the word for their kind.
    remarks: BTreeMap<&'static str, Remarks>,
    gates: BTreeMap<StageName, GateRecord>,
}

/// The time of a run, as far as the journal tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSpan {
    pub began_at: Option<Time>,
    /// When it came to its end, if it is over. What is recorded later, such as a refusal, is not part of it.
    pub ended_at: Option<Time>,
}

/// The remarks of one kind: the latest, and the number of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Remarks {
    latest: VecDeque<Remark>,
    all: u64,
}

/// One stay of the run in a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    pub stage: StageName,
    /// The how manieth stay in this stage it is, from 1.
    pub number: u32,
    /// The entry with which it began.
    pub entry: u64,
    pub entered_at: Time,
    /// How it ended; the present one has not.
    pub left: Option<Left>,
    /// The work of agents, in the order of its start.
    pub attempts: Vec<Attempt>,
    /// How many earlier attempts are not kept.
    pub attempts_dropped: u64,
    /// The runs of the stage's commands.
    pub checks: Vec<CheckAttempt>,
}

/// How a stay in a stage ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub at: Time,
    pub outcome: String,
    pub to: StageName,
}

/// One piece of work of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub dispatch: DispatchId,
    pub agent: AgentName,
    pub duty: Duty,
    /// Its number at the stage.
    pub number: u32,
    pub service: Option<Service>,
    pub started_at: Time,
    /// The tree before the work, where it was looked at.
    pub tree: Option<Hash>,
    pub end: Option<AttemptEnd>,
    pub sent_back: u32,
    pub usage: Usage,
}

/// How a piece of work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptEnd {
    pub at: Time,
    pub entry: u64,
    pub result: WorkResult,
}

impl AttemptEnd {
    /// The outcome, or the fault, in one word.
    pub fn word(&self) -> &str {
        match &self.result {
            WorkResult::Outcome(outcome) => outcome.as_str(),
            WorkResult::Fault { fault, .. } => fault.word(),
            WorkResult::Late => "late",
            WorkResult::Dropped => "dropped",
        }
    }
}

/// One run of a stage's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckAttempt {
    pub at: Time,
    pub entry: u64,
    pub verdict: CheckVerdict,
    pub duration_ms: u64,
}

/// A time in which the run could not continue without a person, other than at a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitSpan {
    pub why: &'static str,
    pub from: Time,
    /// It lasts where there is none.
    pub to: Option<Time>,
}

impl Timeline {
    /// The last entry that was read.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Reads the next entry. Entries come in order, each once.
    pub fn add(&mut self, pipeline: &Pipeline, number: u64, entry: &Entry) {
        if self.version == 0 {
            self.names.add_panels(pipeline);
        }
        self.version = number;
        self.names.add(&entry.fact);
        self.ways.add(&entry.fact);
        self.remark(number, entry);
        self.wait(entry);
        self.travel(number, entry);
        self.end(pipeline, entry);
        self.work(number, entry);
        self.judge(number, entry);
    }

    /// The stays in stages, the latest last.
    pub fn visits(&self) -> impl DoubleEndedIterator<Item = &Visit> {
        self.visits.iter()
    }

    /// How long it was in each stage that it has left, all stays together.
    pub fn spent(&self) -> BTreeMap<StageName, Seconds> {
        let mut spent = BTreeMap::new();
        for visit in &self.visits {
            if let Some(left) = &visit.left {
                let sum: &mut Seconds = spent.entry(visit.stage.clone()).or_insert(Seconds(0));
                sum.0 = sum.0.saturating_add(left.at.since(visit.entered_at).0);
            }
        }
        spent
    }

    /// How often the run has been in this stage.
    pub fn visits_of(&self, stage: &StageName) -> u32 {
        self.ways.entered.get(stage).copied().unwrap_or(0)
    }

    /// Every stage and way, also those of stays that are not kept.
    pub fn ways(&self) -> &WayCounts {
        &self.ways
    }

    /// How many earlier stays are not kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The times in which only a person could help.
    pub fn waits(&self) -> &[WaitSpan] {
        &self.waits
    }

    /// From the beginning of the run to its end.
    pub fn span(&self) -> RunSpan {
        self.span
    }

    /// Has a stand-in played an agent? Then the run is a rehearsal.
    pub fn rehearsed(&self) -> bool {
        self.rehearsed
    }

    /// The latest remarks of each kind, in order. `count` has the number of all.
    pub fn remarks(&self) -> Vec<Remark> {
        let kinds = self.remarks.values();
        let mut all: Vec<Remark> = kinds.flat_map(|it| it.latest.iter().cloned()).collect();
        all.sort_by_key(|remark| remark.number);
        all
    }

    /// How many remarks of this kind there were.
    pub fn count(&self, kind: RemarkKind) -> u64 {
        self.remarks.get(kind.word()).map_or(0, |it| it.all)
    }

    pub(super) fn gate(&self, stage: &StageName) -> Option<&GateRecord> {
        self.gates.get(stage)
    }

    fn remark(&mut self, number: u64, entry: &Entry) {
        let Some(remark) = Remark::of(number, entry, &self.names) else {
            return;
        };
        let same = self.remarks.entry(remark.kind.word()).or_default();
        same.all += 1;
        same.latest.push_back(remark);
        if same.latest.len() > MOST_REMARKS {
            same.latest.pop_front();
        }
    }

    fn wait(&mut self, entry: &Entry) {
        let begins = match &entry.fact {
            Fact::Stuck { .. } => Some("fault"),
            Fact::WentStale => Some("stale"),
            Fact::OverBudget { .. } => Some("budget"),
            Fact::Halted { .. } | Fact::Abandoned => Some("stopped"),
            _ => None,
        };
        let ends = matches!(
            entry.fact,
            Fact::Unstuck
                | Fact::Continued { .. }
                | Fact::Moved(_)
                | Fact::Admitted { .. }
                | Fact::Reset { .. }
                | Fact::Restored { .. }
                | Fact::Cancelled { .. }
        );
        let has_room = self.waits.len() < MOST_VISITS;
        match (self.waits.last_mut(), begins) {
            (Some(open), _) if open.to.is_none() => {
                open.to = ends.then_some(entry.at);
            }
            (Some(_) | None, Some(why)) if has_room => self.waits.push(WaitSpan {
                why,
                from: entry.at,
                to: None,
            }),
            (Some(_) | None, _) => {}
        }
    }

    fn travel(&mut self, number: u64, entry: &Entry) {
        match &entry.fact {
            Fact::Started(started) => self.enter(&started.stage, number, entry.at),
            Fact::Forked { state, .. } => self.enter(&state.position.stage, number, entry.at),
            Fact::TakenUp => self.take_up(entry.at),
            Fact::Moved(moved) => {
                self.leave(entry.at, &moved.outcome, &moved.to);
                self.enter(&moved.to, number, entry.at);
            }
            Fact::Reset { stage, .. } => {
                self.leave(entry.at, "reset", stage);
                self.enter(stage, number, entry.at);
            }
            Fact::Restored { state, .. } => {
                self.leave(entry.at, "restored", &state.position.stage);
                self.enter(&state.position.stage, number, entry.at);
            }
            _ => {}
        }
    }

    /// The time in the queue is nobody's time: the first stay and the run begin now.
    fn take_up(&mut self, at: Time) {
        let Some(visit) = self.visits.back_mut() else {
            return;
        };
        visit.entered_at = at;
        if self.attempts == 0 {
            self.span.began_at = Some(at);
        }
    }

    fn end(&mut self, pipeline: &Pipeline, entry: &Entry) {
        self.span.began_at = self.span.began_at.or(Some(entry.at));
        let stage = match &entry.fact {
            Fact::Started(started) => &started.stage,
            Fact::Forked { state, .. } | Fact::Restored { state, .. } => &state.position.stage,
            Fact::Moved(moved) => &moved.to,
            Fact::Reset { stage, .. } => stage,
            Fact::Cancelled { .. } => {
                self.span.ended_at = self.span.ended_at.or(Some(entry.at));
                return;
            }
            _ => return,
        };
        let is_end = pipeline
            .stage(stage)
            .is_some_and(|stage| matches!(stage.work, Work::End(_)));
        self.span.ended_at = is_end.then_some(entry.at);
    }

    fn leave(&mut self, at: Time, outcome: &str, to: &StageName) {
        if let Some(visit) = self.visits.back_mut().filter(|visit| visit.left.is_none()) {
            visit.left = Some(Left {
                at,
                outcome: outcome.to_owned(),
                to: to.clone(),
            });
        }
    }

    fn enter(&mut self, stage: &StageName, entry: u64, at: Time) {
        self.visits.push_back(Visit {
            stage: stage.clone(),
            number: self.visits_of(stage),
            entry,
            entered_at: at,
            left: None,
            attempts: Vec::new(),
            attempts_dropped: 0,
            checks: Vec::new(),
        });
        if self.visits.len() > MOST_VISITS {
            let first = self.visits.pop_front();
            self.attempts -= first.map_or(0, |visit| visit.attempts.len());
            self.dropped += 1;
        }
    }

    fn work(&mut self, number: u64, entry: &Entry) {
        match &entry.fact {
            Fact::Admitted { dispatch } => self.admit(dispatch, entry.at),
            Fact::SentBack { dispatch, .. } => self.with(*dispatch, |it| it.sent_back += 1),
            Fact::WentOn { dispatch, service } => {
                self.with(*dispatch, |it| it.service = Some(service.clone()));
            }
            Fact::CutShort { dispatch, usage } => {
                self.with(*dispatch, |it| it.usage = it.usage.and(*usage));
            }
            Fact::Ended {
                dispatch,
                result,
                usage,
            } => self.with(*dispatch, |it| {
                it.usage = it.usage.and(*usage);
                it.end = Some(AttemptEnd {
                    at: entry.at,
                    entry: number,
                    result: result.clone(),
                });
            }),
            _ => {}
        }
    }

    fn admit(&mut self, dispatch: &Dispatch, at: Time) {
        let service = dispatch.service.as_ref();
        self.rehearsed |= service.is_some_and(Service::is_stand_in);
        let mut visits = self.visits.iter_mut().rev();
        let Some(visit) = visits.find(|visit| visit.stage == dispatch.stage) else {
            return;
        };
        visit.attempts.push(Attempt {
            dispatch: dispatch.id,
            agent: dispatch.agent.clone(),
            duty: dispatch.duty.clone(),
            number: dispatch.attempt,
            service: dispatch.service.clone(),
            started_at: at,
            tree: dispatch.tree,
            end: None,
            sent_back: 0,
            usage: Usage::default(),
        });
        self.attempts += 1;
        if self.attempts > MOST_ATTEMPTS {
            self.drop_attempt();
        }
    }

    /// The oldest one makes room.
    fn drop_attempt(&mut self) {
        let mut visits = self.visits.iter_mut();
        if let Some(visit) = visits.find(|visit| !visit.attempts.is_empty()) {
            visit.attempts.remove(0);
            visit.attempts_dropped += 1;
            self.attempts -= 1;
        }
    }

    fn with(&mut self, dispatch: DispatchId, change: impl FnOnce(&mut Attempt)) {
        let visits = self.visits.iter_mut().rev();
        let mut attempts = visits.flat_map(|visit| visit.attempts.iter_mut().rev());
        if let Some(attempt) = attempts.find(|it| it.dispatch == dispatch) {
            change(attempt);
        }
    }

    fn judge(&mut self, number: u64, entry: &Entry) {
        match &entry.fact {
            Fact::Checked {
                stage,
                verdict,
                results,
                tree,
            } => {
                let duration_ms = results.iter().map(|it| it.duration_ms).sum();
                let mut visits = self.visits.iter_mut().rev();
                if let Some(visit) = visits.find(|visit| visit.stage == *stage)
                    && visit.checks.len() < MOST_CHECKS
                {
                    visit.checks.push(CheckAttempt {
                        at: entry.at,
                        entry: number,
                        verdict: *verdict,
                        duration_ms,
                    });
                }
                let gate = self.gates.entry(stage.clone()).or_default();
                gate.checked(number, entry.at, *verdict, results, tree.after);
            }
            Fact::GatePassed { stage, gate } => {
                let record = self.gates.entry(stage.clone()).or_default();
                record.passed(number, entry.at, gate);
            }
            Fact::RoundStarted { stage, round } => {
                self.gates.entry(stage.clone()).or_default().round(*round);
            }
            Fact::ReviewerApproved {
                stage,
                reviewer,
                subject,
            } => self.reviewed(number, entry.at, stage, *reviewer, Some(*subject)),
            Fact::ReviewerFound { stage, reviewer } => {
                self.reviewed(number, entry.at, stage, *reviewer, None);
            }
            _ => {}
        }
    }

    fn reviewed(
        &mut self,
        entry: u64,
        at: Time,
        stage: &StageName,
        reviewer: u32,
        approved: Option<Hash>,
    ) {
        let agent = self.names.reviewer_name(stage, reviewer).cloned();
        let record = self.gates.entry(stage.clone()).or_default();
        record.reviewed(ReviewEvidence {
            reviewer: reviewer + 1,
            agent,
            approved,
            at,
            entry,
        });
    }
}

/// What a gate passed on, where only that is known.
pub(super) fn subject(gate: &Gate) -> Hash {
    match gate {
        Gate::Tree(hash) | Gate::Superseded(hash) => *hash,
        Gate::Artifact { content, .. } => *content,
    }
}
