//! The rows of a run's Gantt chart, folded from its journal entry by entry.

use std::collections::BTreeMap;

use engine::{
    CheckVerdict, Damage, Dispatch, DispatchId, Duty, Entry, Fact, Outcome, Pipeline, Run,
    StageName, Time, WorkResult,
};

use super::{BarKind, GanttBar, GanttRow};
use crate::metrics::{Wait, wait_of};

/// A run while its journal is read. Every entry is read once.
pub struct GanttFold<'a> {
    pipeline: &'a Pipeline,
    run: Option<Run>,
    /// In the order of their first bars; the rows of a stage follow each other.
    rows: Vec<GanttRow>,
    /// The row and the bar of each piece of work that is open.
    open: BTreeMap<DispatchId, OpenBar>,
    waiting: Option<(Wait, u32, OpenBar)>,
    checked: Option<Time>,
}

/// A bar that is not over.
struct OpenBar {
    name: String,
    note: String,
    begin: Time,
    label: String,
}

impl<'a> GanttFold<'a> {
    pub fn new(pipeline: &'a Pipeline) -> Self {
        Self {
            pipeline,
            run: None,
            rows: Vec::new(),
            open: BTreeMap::new(),
            waiting: None,
            checked: None,
        }
    }

    /// Adds the next entry.
    pub fn add(&mut self, entry: &Entry) -> Result<(), Damage> {
        let before = self.run.take();
        match &entry.fact {
            Fact::Admitted { dispatch } => self.begin_work(dispatch, entry.at),
            Fact::Ended {
                dispatch, result, ..
            } => self.end_work(*dispatch, result, entry.at),
            Fact::Checked { stage, verdict, .. } => {
                let entered = before.as_ref().map(|run| run.position.entered_at);
                self.check(stage, *verdict, entered, entry.at);
            }
            _ => {}
        }
        let run = engine::apply(before, entry)?;
        self.wait(&run, entry.at);
        self.run = Some(run);
        Ok(())
    }

    /// The rows so far. What is not over lasts until now, or until the end of the run.
    pub fn end(mut self, now: Time) -> Vec<GanttRow> {
        let is_over = self
            .run
            .as_ref()
            .is_some_and(|run| engine::is_over(self.pipeline, run));
        for (_, open) in std::mem::take(&mut self.open) {
            let kind = if is_over {
                BarKind::Dropped
            } else {
                BarKind::AtWork
            };
            self.close(open, kind, now);
        }
        if let Some((_, _, open)) = self.waiting.take() {
            self.close(open, BarKind::Waiting, now);
        }
        self.rows
    }

    fn begin_work(&mut self, dispatch: &Dispatch, at: Time) {
        let name = dispatch.stage.to_string();
        let note = note(dispatch);
        self.row(&name, &note);
        let label = format!("attempt {}", dispatch.attempt);
        let open = OpenBar {
            name,
            note,
            begin: at,
            label,
        };
        self.open.insert(dispatch.id, open);
    }

    fn end_work(&mut self, dispatch: DispatchId, result: &WorkResult, at: Time) {
        let Some(mut open) = self.open.remove(&dispatch) else {
            return;
        };
        let (kind, word) = match result {
            WorkResult::Outcome(outcome) if outcome.is_fault() || *outcome == Outcome::Failed => {
                (BarKind::Failed, outcome.as_str())
            }
            WorkResult::Outcome(outcome) => (BarKind::Done, outcome.as_str()),
            WorkResult::Fault { fault, .. } => (BarKind::Failed, fault.word()),
            WorkResult::Late => (BarKind::Dropped, "late"),
            WorkResult::Dropped => (BarKind::Dropped, "dropped"),
        };
        open.label = format!("{}: {word}", open.label);
        self.close(open, kind, at);
    }

    /// A check ran since the run entered the stage, or since the check before it.
    fn check(&mut self, stage: &StageName, verdict: CheckVerdict, entered: Option<Time>, at: Time) {
        let kind = match verdict {
            CheckVerdict::Passed => BarKind::Done,
            CheckVerdict::Failed => BarKind::Failed,
            CheckVerdict::Void => BarKind::Dropped,
        };
        let begin = entered.max(self.checked).unwrap_or(at);
        self.checked = Some(at);
        let open = OpenBar {
            name: stage.to_string(),
            note: "check".to_owned(),
            begin,
            label: verdict.word().to_owned(),
        };
        self.close(open, kind, at);
    }

    fn wait(&mut self, run: &Run, at: Time) {
        let visit = run.position.visit;
        let now = wait_of(self.pipeline, run);
        let goes_on = self
            .waiting
            .as_ref()
            .is_some_and(|(wait, of, _)| Some(*wait) == now && *of == visit);
        if goes_on {
            return;
        }
        if let Some((_, _, open)) = self.waiting.take() {
            self.close(open, BarKind::Waiting, at);
        }
        self.waiting = now.map(|wait| {
            let open = OpenBar {
                name: run.position.stage.to_string(),
                note: "a person".to_owned(),
                begin: at,
                label: wait.word().to_owned(),
            };
            (wait, visit, open)
        });
    }

    fn close(&mut self, open: OpenBar, kind: BarKind, at: Time) {
        let OpenBar {
            name,
            note,
            begin,
            label,
        } = open;
        let bar = GanttBar {
            begin,
            end: at.max(begin),
            kind,
            label,
        };
        self.row(&name, &note).bars.push(bar);
    }

    /// The row with this name and note; a new one stands after the last of its name.
    fn row(&mut self, name: &str, note: &str) -> &mut GanttRow {
        let mut rows = self.rows.iter();
        let found = rows.position(|row| row.name == name && row.note == note);
        let place = found.unwrap_or_else(|| {
            let last = self.rows.iter().rposition(|row| row.name == name);
            let place = last.map_or(self.rows.len(), |last| last + 1);
            let row = GanttRow {
                name: name.to_owned(),
                note: note.to_owned(),
                bars: Vec::new(),
            };
            self.rows.insert(place, row);
            place
        });
        &mut self.rows[place]
    }
}

/// The worker, and what it is for.
fn note(dispatch: &Dispatch) -> String {
    let agent = &dispatch.agent;
    match &dispatch.duty {
        Duty::Work | Duty::Open => agent.to_string(),
        Duty::Review { .. } => format!("{agent} reviews"),
        Duty::Fix { .. } => format!("{agent} fixes"),
        Duty::Step { step } => format!("{step} · {agent}"),
    }
}
