//! The figures of one run, folded entry by entry.

use engine::{
    AgentName, CheckVerdict, Damage, DispatchId, Entry, Fact, Pipeline, Run, Standing, Status,
    Time, Usage, Work, WorkResult,
};

use super::{AgentFigures, Metrics, ReviewFigures, StageFigures, StageKey, Wait, add_usage, count};

/// A run while its journal is read. Every entry is read once.
pub struct RunFold<'a> {
    pipeline: &'a Pipeline,
    run: Option<Run>,
    metrics: Metrics,
    waiting: Option<OpenWait>,
    /// When it was last taken from the queue: its time there counts nowhere.
    taken_up: Time,
    /// When it was taken from the queue first.
    begun: Option<Time>,
    /// Whose work ended last: a retry counts for them.
    latest: Option<AgentName>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct OpenWait {
    wait: Wait,
    visit: u32,
    since: Time,
}

impl<'a> RunFold<'a> {
    pub fn new(pipeline: &'a Pipeline) -> Self {
        Self {
            pipeline,
            run: None,
            metrics: Metrics::default(),
            waiting: None,
            taken_up: Time(0),
            begun: None,
            latest: None,
        }
    }

    /// Adds the next entry.
    pub fn add(&mut self, entry: &Entry) -> Result<(), Damage> {
        let before = self.run.take();
        if let Some(run) = &before {
            self.worked(run, entry);
        }
        let left = before.as_ref().map(|run| run.position.clone());
        let run = engine::apply(before, entry)?;
        let is_sent_back = matches!(entry.fact, Fact::Reset { .. } | Fact::Restored { .. });
        let now = &run.position;
        let same = left
            .as_ref()
            .is_some_and(|left| left.visit == now.visit && left.stage == now.stage);
        if !same || is_sent_back {
            if let Some(left) = left {
                let time = between(left.entered_at.max(self.taken_up), entry.at);
                let figures = self.stage(&stage_key(self.pipeline, &left.stage));
                count(&mut figures.outcomes, way_out(&entry.fact));
                figures.time.push(time);
            }
            self.stage(&stage_key(self.pipeline, &now.stage)).entered += 1;
        }
        if matches!(entry.fact, Fact::TakenUp) {
            self.taken_up = entry.at;
            self.begun = self.begun.or(Some(entry.at));
        }
        self.decided(entry);
        self.wait(&run, entry.at);
        self.run = Some(run);
        Ok(())
    }

    /// The figures of all entries so far, at this time.
    pub fn end(mut self, now: Time) -> Metrics {
        let Some(run) = self.run.take() else {
            return self.metrics;
        };
        let status = engine::status(self.pipeline, &run);
        let figures = &mut self.metrics.runs;
        count(&mut figures.statuses, status.word());
        figures.overridden = u64::from(!run.overrides.is_empty());
        figures.usage = run.used;
        if status == Status::Completed {
            let begun = self.begun.unwrap_or(run.started_at);
            let time = between(begun, run.position.entered_at);
            figures.time.push(time);
        }
        for open in run.dispatches.values() {
            self.agent(&open.agent).open += 1;
        }
        if let Some(waiting) = self.waiting {
            let figures = self.metrics.people.waits.entry(waiting.wait).or_default();
            figures.open.push(between(waiting.since, now));
        }
        self.metrics
    }

    fn stage(&mut self, key: &StageKey) -> &mut StageFigures {
        self.metrics.stages.entry(key.clone()).or_default()
    }

    fn agent(&mut self, agent: &AgentName) -> &mut AgentFigures {
        self.metrics.agents.entry(agent.clone()).or_default()
    }

    fn review(&mut self, stage: &engine::StageName) -> &mut ReviewFigures {
        let key = stage_key(self.pipeline, stage);
        self.metrics.reviews.entry(key).or_default()
    }

    /// The result of somebody's work, as long as the run still knows whose it was.
    fn worked(&mut self, run: &Run, entry: &Entry) {
        match &entry.fact {
            Fact::Admitted { dispatch } => self.agent(&dispatch.agent).dispatches += 1,
            Fact::SentBack { dispatch, .. } => {
                if let Some(open) = run.dispatches.get(dispatch) {
                    self.agent(&open.agent).sent_back += 1;
                }
            }
            Fact::Ended {
                dispatch,
                result,
                usage,
            } => self.ended(run, *dispatch, result, *usage, entry.at),
            Fact::CutShort { dispatch, usage } => {
                if let Some(open) = run.dispatches.get(dispatch) {
                    add_usage(&mut self.agent(&open.agent).usage, *usage);
                }
            }
            Fact::Retried { .. } | Fact::StepRetried { .. } => {
                if let Some(agent) = self.latest.clone() {
                    self.agent(&agent).retries += 1;
                }
            }
            _ => {}
        }
    }

    fn ended(
        &mut self,
        run: &Run,
        dispatch: DispatchId,
        result: &WorkResult,
        usage: Usage,
        at: Time,
    ) {
        let Some(open) = run.dispatches.get(&dispatch) else {
            return;
        };
        let figures = self.agent(&open.agent);
        add_usage(&mut figures.usage, usage);
        let (word, counts) = match result {
            WorkResult::Outcome(outcome) => (outcome.as_str(), true),
            WorkResult::Fault { fault, .. } => (fault.word(), true),
            WorkResult::Late => ("late", false),
            WorkResult::Dropped => ("dropped", false),
        };
        count(&mut figures.outcomes, word);
        // Work that was dropped ended when somebody else did something: that says nothing about its own time.
        if counts {
            figures.time.push(between(open.started_at, at));
        }
        self.latest = Some(open.agent.clone());
    }

    /// What gates and people decided.
    fn decided(&mut self, entry: &Entry) {
        match &entry.fact {
            Fact::Checked { stage, verdict, .. } => {
                let key = stage_key(self.pipeline, stage);
                let figures = self.metrics.checks.entry(key).or_default();
                match verdict {
                    CheckVerdict::Passed => figures.passed += 1,
                    CheckVerdict::Failed => figures.failed += 1,
                    CheckVerdict::Void => figures.void += 1,
                }
            }
            Fact::RoundStarted { stage, .. } => self.review(stage).rounds += 1,
            Fact::ReviewerApproved { stage, .. } => self.review(stage).approvals += 1,
            Fact::ReviewerFound { stage, .. } => self.review(stage).findings += 1,
            Fact::Fixed { stage, .. } => self.review(stage).fixes += 1,
            Fact::RoundsSpent { stage } => self.review(stage).exceeded += 1,
            Fact::Refused { .. } => count(&mut self.metrics.refusals, entry.rule.code()),
            fact => {
                if let Some(word) = act(fact) {
                    count(&mut self.metrics.people.acts, word);
                }
            }
        }
    }

    /// A wait begins, goes on or is over.
    fn wait(&mut self, run: &Run, at: Time) {
        let visit = run.position.visit;
        let now = wait_of(self.pipeline, run);
        let goes_on = self
            .waiting
            .is_some_and(|old| Some(old.wait) == now && old.visit == visit);
        if goes_on {
            return;
        }
        if let Some(old) = self.waiting.take() {
            let figures = self.metrics.people.waits.entry(old.wait).or_default();
            figures.time.push(between(old.since, at));
        }
        self.waiting = now.map(|wait| OpenWait {
            wait,
            visit,
            since: at,
        });
    }
}

fn stage_key(pipeline: &Pipeline, stage: &engine::StageName) -> StageKey {
    StageKey {
        pipeline: pipeline.definition().name.clone(),
        stage: stage.clone(),
    }
}

fn between(from: Time, to: Time) -> u64 {
    to.0.saturating_sub(from.0)
}

/// The word with which a stage was left.
fn way_out(fact: &Fact) -> &str {
    match fact {
        Fact::Moved(moved) => &moved.outcome,
        Fact::Reset { .. } => "reset",
        Fact::Restored { .. } => "restored",
        _ => "left",
    }
}

/// What a person did, in a word.
fn act(fact: &Fact) -> Option<&'static str> {
    match fact {
        Fact::Answered { .. } => Some("answer"),
        Fact::Overridden { .. } => Some("override"),
        Fact::Unstuck => Some("retry"),
        Fact::Continued { .. } => Some("continue"),
        Fact::Cancelled { .. } => Some("cancel"),
        Fact::Reset { .. } => Some("reset"),
        Fact::Restored { .. } => Some("restore"),
        Fact::Adopted { .. } => Some("adopt"),
        Fact::Bypassed { .. } => Some("bypass"),
        Fact::Approved { .. } => Some("approval"),
        _ => None,
    }
}

/// Why the run waits for a person, if it does.
fn wait_of(pipeline: &Pipeline, run: &Run) -> Option<Wait> {
    match &run.standing {
        Standing::Queued | Standing::Cancelled { .. } => None,
        Standing::Stuck { .. } => Some(Wait::Fault),
        Standing::Stale => Some(Wait::Stale),
        Standing::OverBudget { .. } => Some(Wait::Budget),
        Standing::Abandoned | Standing::Halted { .. } => Some(Wait::Stopped),
        Standing::Going => {
            let stage = pipeline.stage(&run.position.stage)?;
            matches!(stage.work, Work::Ask(_)).then_some(Wait::Question)
        }
    }
}
