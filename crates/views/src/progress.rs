//! A headless run in progress: its stage, its workers, what it has used and what it waits for.

mod picture;

use std::collections::BTreeMap;

use engine::{AgentName, DispatchId, Pipeline, Run, Seconds, StageName, StepId, Time, Usage};

use crate::layout::cut;
pub use crate::layout::width;
use crate::main_way;
use crate::paint::Paint;
use crate::safe::{Untrusted, line};
use crate::status::{Freshness, RunContext, StatusView, status};

/// A running worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtWork {
    pub dispatch: DispatchId,
    pub agent: AgentName,
    pub step: Option<StepId>,
    pub runner: String,
    pub model: Option<Untrusted>,
    pub attempt: u32,
    pub elapsed: Seconds,
    /// The last thing that it did, in its program's words.
    pub action: Option<Untrusted>,
    /// The last line that it said.
    pub said: Option<Untrusted>,
    /// How many of its tool calls were refused.
    pub refused: u32,
    /// What it has used and the run has not counted yet.
    pub usage: Usage,
}

/// What is known besides the run itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveState {
    /// Stages that the run has been in, in the order of the first visits.
    pub visited: Vec<StageName>,
    /// How long it was in stages that it has left.
    pub spent: BTreeMap<StageName, Seconds>,
    pub at_work: Vec<AtWork>,
    /// For how long it was driven, as far as the run has not counted it yet.
    pub driven_ms: u64,
    /// What the orchestrator waits for, where the run itself does not say.
    pub pause: Option<Untrusted>,
    /// The keys that a person may press.
    pub keys: Option<&'static str>,
}

/// How much fits on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    pub columns: usize,
    pub rows: usize,
}

/// Everything that the live view shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressView {
    status: StatusView,
    /// Visited stages that are not ahead again.
    passed: Vec<StageName>,
    spent: BTreeMap<StageName, Seconds>,
    /// The shortest path from here to the end.
    to_come: Vec<StageName>,
    at_work: Vec<AtWork>,
    pause: Option<Untrusted>,
    keys: Option<&'static str>,
    now: Time,
}

/// Gathers what is to be shown.
pub fn progress(pipeline: &Pipeline, run: &Run, now: Time, live: LiveState) -> ProgressView {
    let context = RunContext {
        project: "",
        now,
        freshness: Freshness::Fresh,
    };
    let LiveState {
        mut visited,
        spent,
        at_work,
        driven_ms,
        pause,
        keys,
    } = live;
    let to_come = main_way::to_completion(pipeline, run, &run.position.stage);
    // A stage that is still ahead is not shown as passed, even if the run has been there.
    visited.retain(|stage| *stage != run.position.stage && !to_come.contains(stage));
    // Running workers use the budget, too.
    let mut so_far = run.clone();
    let in_flight = at_work.iter().map(|at_work| at_work.usage);
    so_far.used = in_flight.fold(run.used, Usage::and);
    let counted = run.driven_ms.unwrap_or(0);
    so_far.driven_ms = Some(counted.saturating_add(driven_ms));
    ProgressView {
        status: status(pipeline, &so_far, context),
        passed: visited,
        spent,
        to_come,
        at_work,
        pause,
        keys,
        now,
    }
}

impl ProgressView {
    /// The picture: no line is wider than the terminal, and there are fewer lines than it has rows.
    pub fn lines(&self, room: TerminalSize, paint: Paint) -> Vec<String> {
        picture::draw(self, room, paint)
    }
}

/// Text from outside on one line of at most this many columns.
pub fn short(text: &str, columns: usize) -> String {
    cut(&line(text), columns)
}
