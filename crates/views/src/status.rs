//! The status of one run: gathered once, shown as text and as JSON.

mod gather;
mod json;
mod text;

use engine::{
    AgentName, ArtifactName, CounterName, DispatchId, Driver, Duty, Gate, Hash, Mode, Outcome,
    ParamName, Pipeline, PipelineName, Process, Run, RunId, Seconds, Service, ServiceLimit,
    StageName, Status, Step, Time, Unguarded, Usage,
};
pub use engine::{BudgetLine, Resource};
pub(crate) use json::{
    bypass as bypass_json, journal as journal_json, reason, session as session_json,
};
use serde_json::Value;
pub(crate) use text::status_words;

use crate::cause::Causes;
use crate::facts::{
    self, GateEvidence, InboxEntry, Liveness, Remark, RemarkKind, Rest, RunSpan, Timeline,
    Undelivered, Visit, WaitSpan, WayCounts, WorkerSign,
};
use crate::paint::Paint;
use crate::safe::Untrusted;

/// What is known about a run besides the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunContext<'a> {
    /// The project's folder.
    pub project: &'a str,
    pub now: Time,
    pub freshness: Freshness,
}

/// Has something happened within the pipeline's `ttl`?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    Stale,
}

/// Everything that `status` shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusView {
    pub run: RunId,
    pub pipeline: PipelineName,
    pub definition: Hash,
    pub task: Untrusted,
    pub params: Vec<(ParamName, Untrusted)>,
    pub project: Untrusted,
    pub driver: Driver,
    pub mode: Mode,
    pub session: Option<SessionLine>,
    pub bypass: Option<BypassLine>,
    /// How many events were not judged although the host continued.
    pub unjudged: u32,
    /// How many changes outside a worker's folder were recorded.
    pub outside: u32,
    /// The branch of its own, and how far its delivery is.
    pub place: Option<engine::RunPlace>,
    /// Its work, if it is completed and that was not handed over.
    pub undelivered: Option<Undelivered>,
    /// The work that no hook guarded.
    pub unguarded: Vec<UnguardedLine>,
    pub status: Status,
    /// Absent where nobody looked for signs.
    pub liveness: Option<Liveness>,
    /// Until when nobody works on it, where it waits for a service or for a cap.
    pub rest: Option<Rest>,
    /// What it asks a person, where somebody has read it.
    pub inbox: Option<InboxEntry>,
    pub freshness: Freshness,
    pub stage: StageLine,
    pub counters: Vec<CounterLine>,
    pub review: Option<ReviewLine>,
    pub steps: Vec<StepLine>,
    pub dispatches: Vec<DispatchLine>,
    /// The services that ask to wait now.
    pub limits: Vec<ServiceLimit>,
    pub artifacts: Vec<ArtifactLine>,
    pub gates: Vec<(StageName, Gate)>,
    /// What the journal says about it; absent where nobody has read it.
    pub journal: Option<JournalFacts>,
    pub overrides: Vec<OverrideLine>,
    /// What led here, for people and as JSON.
    pub causes: Causes,
    pub budget: Vec<BudgetLine>,
    /// With what those who are at work have used so far, where somebody has looked.
    pub used: Usage,
    pub started_at: Time,
    pub touched_at: Time,
    /// Did a program of a person play the agents?
    pub rehearsal: bool,
    /// From its beginning to its end; without the journal from its start to the last event.
    pub span: RunSpan,
    /// Since it was started.
    pub age: Seconds,
    /// Since something last happened.
    pub idle: Seconds,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLine {
    pub session: engine::SessionId,
    pub state: engine::BindingState,
    pub process: Option<Process>,
}

/// A person has bypassed the guards of the run for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BypassLine {
    pub until: Time,
    pub by: Untrusted,
    pub reason: Untrusted,
    /// When it ends, for people: without the day if that is today.
    moment: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageLine {
    pub name: StageName,
    pub kind: &'static str,
    pub shown: Option<Untrusted>,
    /// The current attempt, from 1.
    pub attempt: u32,
    pub retries: u32,
    pub visit: u32,
    pub since: Time,
    pub retry_limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterLine {
    pub name: CounterName,
    pub used: u32,
    pub max: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewLine {
    pub round: u32,
    pub rounds: Option<u32>,
    pub turn: engine::Turn,
    /// Who works next: the reviewer, or the owner who fixes.
    pub agent: Option<AgentName>,
    pub approved_by: Vec<AgentName>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    pub step: Step,
    pub title: Untrusted,
    pub state: engine::MemberState,
    /// Steps that it needs and that are not done.
    pub waits_for: Vec<engine::StepId>,
    pub retries: u32,
    pub took: Option<Seconds>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchLine {
    pub id: DispatchId,
    pub agent: AgentName,
    pub duty: Duty,
    pub stage: StageName,
    pub attempt: u32,
    pub started_at: Time,
    /// Nobody works on it at the moment.
    pub rests: bool,
    pub service: Option<Service>,
    pub running_for: Seconds,
    /// What it did last, and how long ago; absent where nobody has looked.
    pub sign: Option<WorkerSign>,
    pub silent_for: Option<Seconds>,
}

/// What the journal says about a run, other than its present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFacts {
    /// The number of its entries, and the hash of the last one.
    pub entries: u64,
    /// Absent where it is not known.
    pub head: Option<Hash>,
    /// The stays in stages, the latest last.
    pub visits: Vec<Visit>,
    /// How many earlier ones are not kept.
    pub visits_dropped: u64,
    /// How often it entered each stage and took each way, of all stays.
    pub ways: WayCounts,
    /// The times in which only a person could help.
    pub waits: Vec<WaitSpan>,
    /// Every gate of the pipeline with its evidence.
    pub gates: Vec<GateEvidence>,
    /// What must not be overlooked, and what people did.
    pub remarks: Vec<Remark>,
    /// How often something was refused. The latest are among the remarks.
    pub refused: u64,
    /// From the beginning of the run to its end.
    pub span: RunSpan,
    /// Has a stand-in played an agent?
    pub rehearsed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactLine {
    pub name: ArtifactName,
    pub content: Hash,
    pub dispatch: Option<DispatchId>,
    pub approval: Approval,
}

/// Has a person approved this artifact?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    None,
    /// This very content.
    Approved,
    /// Another content than the current one.
    Stale,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverrideLine {
    pub stage: StageName,
    pub outcome: Outcome,
    pub reason: Untrusted,
    pub by: Untrusted,
    pub at: Time,
}

/// Gathers everything to show about a run.
pub fn status(pipeline: &Pipeline, run: &Run, context: RunContext<'_>) -> StatusView {
    gather::view(pipeline, run, context)
}

impl JournalFacts {
    /// What was folded from the journal of this run, up to this head.
    pub fn new(pipeline: &Pipeline, run: &Run, timeline: &Timeline, head: Option<Hash>) -> Self {
        Self {
            entries: timeline.version(),
            head,
            visits: timeline.visits().cloned().collect(),
            visits_dropped: timeline.dropped(),
            ways: timeline.ways().clone(),
            waits: timeline.waits().to_vec(),
            gates: facts::gates(pipeline, run, timeline),
            remarks: timeline.remarks(),
            refused: timeline.count(RemarkKind::Refused),
            span: timeline.span(),
            rehearsed: timeline.rehearsed(),
        }
    }
}

impl StatusView {
    /// The end of the run, or the last event of one that is not over.
    pub fn until(&self) -> Time {
        self.span.ended_at.unwrap_or(self.touched_at)
    }

    /// How long it took until then.
    pub fn took(&self) -> Seconds {
        let began_at = self.span.began_at.unwrap_or(self.started_at);
        self.until().since(began_at)
    }

    /// The journal knows more than the present state: the time of a run, and who worked.
    pub(crate) fn know_journal(&mut self, journal: &JournalFacts) {
        self.rehearsal |= journal.rehearsed;
        let RunSpan { began_at, ended_at } = journal.span;
        self.span.began_at = began_at.or(self.span.began_at);
        self.span.ended_at = self.span.ended_at.map(|last| ended_at.unwrap_or(last));
        let here = journal.visits.last();
        if let Some(visit) = here.filter(|visit| visit.stage == self.stage.name) {
            self.stage.since = self.stage.since.max(visit.entered_at);
        }
    }

    /// The same with what the signs say.
    pub fn with_liveness(mut self, liveness: Liveness) -> Self {
        self.liveness = Some(liveness);
        self
    }

    /// The same with what it rests for.
    pub fn with_rest(mut self, rest: Option<Rest>) -> Self {
        self.rest = rest;
        self
    }

    /// The same with what the settings of the run say: also one that has not begun is a rehearsal.
    pub fn with_rehearsal(mut self, rehearsal: bool) -> Self {
        self.rehearsal |= rehearsal;
        self
    }

    /// The same with what its delivery still lacks.
    pub fn with_undelivered(mut self, undelivered: Option<Undelivered>) -> Self {
        self.undelivered = undelivered;
        self
    }

    /// The driver as people read it, with what weakens the evidence of the run.
    pub(crate) fn driver_text(&self) -> &'static str {
        crate::words::driver_text(self.driver, self.rehearsal)
    }

    /// The same with what it asks a person.
    pub fn with_inbox(mut self, entry: Option<InboxEntry>) -> Self {
        self.inbox = entry;
        self
    }

    /// The same with what the journal says, as far as this entry.
    pub fn with_journal(
        mut self,
        pipeline: &Pipeline,
        run: &Run,
        timeline: &Timeline,
        head: Hash,
    ) -> Self {
        let journal = JournalFacts::new(pipeline, run, timeline, Some(head));
        self.know_journal(&journal);
        self.journal = Some(journal);
        self
    }

    /// The same with what those who are at work did last.
    pub fn with_workers(
        mut self,
        pipeline: &Pipeline,
        run: &Run,
        signs: Vec<WorkerSign>,
        now: Time,
    ) -> Self {
        let used = signs.iter().map(|sign| sign.used);
        let usage = used.fold(Usage::default(), Usage::and);
        self.budget = gather::budget(pipeline, run, now, usage);
        for sign in signs {
            self.used = self.used.and(sign.used);
            let mut lines = self.dispatches.iter_mut();
            if let Some(line) = lines.find(|line| line.id == sign.dispatch) {
                line.silent_for = Some(now.since(sign.at));
                line.sign = Some(sign);
            }
        }
        self
    }

    pub fn text(&self, paint: Paint) -> String {
        text::render(self, paint)
    }

    pub fn json(&self) -> Value {
        json::render(self)
    }
}

/// A piece of work that no hook guarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnguardedLine {
    pub found: Unguarded,
    pub settled: bool,
}

impl UnguardedLine {
    pub fn all(run: &Run) -> Vec<Self> {
        let line = |work: &engine::UnguardedWork| Self {
            found: work.found.clone(),
            settled: work.settled,
        };
        run.unguarded.iter().map(line).collect()
    }

    /// What a witness shows and no entry has.
    pub fn unrecorded(found: Unguarded) -> Self {
        Self {
            found,
            settled: false,
        }
    }

    /// Loud on purpose, like an override: it marks the run permanently.
    pub fn text(&self) -> String {
        let accepted = if self.settled { " (accepted)" } else { "" };
        crate::safe::line(&format!(
            "{}{accepted}",
            crate::words::unguarded(&self.found)
        ))
    }
}

/// `2 events were not judged`.
pub fn unjudged_words(number: u32) -> String {
    match number {
        1 => "1 event was not judged".to_owned(),
        number => format!("{number} events were not judged"),
    }
}

/// `2 changes outside a worker's folder`.
pub fn outside_words(number: u32) -> String {
    format!(
        "{} outside a worker's folder",
        crate::words::count(number.into(), "change")
    )
}

impl SessionLine {
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let binding = run.session.as_ref()?;
        Some(Self {
            session: binding.session.clone(),
            state: binding.state,
            process: binding.process,
        })
    }

    pub(crate) fn text(&self) -> String {
        let state = match self.state {
            engine::BindingState::Active => "holds the run",
            engine::BindingState::Ended => "has ended",
        };
        let process = self
            .process
            .map(|process| format!(" (process {})", process.id));
        format!("{} {state}{}", self.session, process.unwrap_or_default())
    }
}

impl BypassLine {
    /// The bypass of this run, while it lasts.
    pub(crate) fn of(run: &Run, now: Time) -> Option<Self> {
        let bypass = run.bypass.as_ref().filter(|bypass| now < bypass.until)?;
        Some(Self {
            until: bypass.until,
            by: Untrusted::new(&bypass.by),
            reason: Untrusted::new(&bypass.reason),
            moment: crate::time::moment(bypass.until, now),
        })
    }

    /// `NOT GUARDED until 14:30 UTC`.
    pub(crate) fn mark(&self) -> String {
        format!("NOT GUARDED until {}", self.moment)
    }

    /// Loud on purpose, like an override.
    pub fn text(&self) -> String {
        let (by, reason) = (self.by.line(), self.reason.line());
        format!("{}, by {by}: {reason}", self.mark())
    }
}

impl OverrideLine {
    /// Loud on purpose: an override marks the run permanently, in every view.
    pub fn text(&self) -> String {
        let (by, reason) = (self.by.line(), self.reason.line());
        let Self { stage, outcome, .. } = self;
        let at = crate::time::rfc3339(self.at);
        format!("OVERRIDDEN: {stage} skipped as {outcome} by {by} at {at} because: {reason}")
    }
}
