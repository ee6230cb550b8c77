//! Many runs, a line each.

use engine::{Driver, Mode, Pipeline, PipelineName, Run, RunId, Seconds, StageName, Status, Time};
use serde_json::{Value, json};

use crate::layout::{Table, cut};
use crate::paint::{Paint, Style};
use crate::safe::Outside;
use crate::status::{Freshness, Surroundings, reason};
use crate::time::{rfc3339, span};
use crate::words;

/// A task longer than this is cut in the table; JSON has all of it.
const TASK_COLUMNS: usize = 48;

/// One run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub run: RunId,
    pub pipeline: PipelineName,
    pub status: Status,
    pub stage: StageName,
    pub task: Outside,
    pub project: Outside,
    pub driver: Driver,
    pub mode: Mode,
    pub freshness: Freshness,
    pub overrides: usize,
    pub started_at: Time,
    pub touched_at: Time,
    pub idle: Seconds,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListView {
    pub rows: Vec<Row>,
}

impl Row {
    pub fn new(pipeline: &Pipeline, run: &Run, around: Surroundings<'_>) -> Self {
        Self {
            run: run.id.clone(),
            pipeline: pipeline.definition().name.clone(),
            status: engine::status(pipeline, run),
            stage: run.position.stage.clone(),
            task: Outside::new(&run.task),
            project: Outside::new(around.project),
            driver: run.driver,
            mode: pipeline.definition().mode,
            freshness: around.freshness,
            overrides: run.overrides.len(),
            started_at: run.started_at,
            touched_at: run.touched_at,
            idle: around.now.since(run.touched_at),
        }
    }

    /// What a reader must not overlook about this run.
    fn marks(&self) -> Vec<&'static str> {
        let mut marks = Vec::new();
        if self.overrides > 0 {
            marks.push("OVERRIDDEN");
        }
        if self.freshness == Freshness::Stale {
            marks.push("STALE");
        }
        if self.driver == Driver::ByHand {
            marks.push("unwitnessed");
        }
        if self.mode == Mode::Advisory {
            marks.push("not enforced");
        }
        marks
    }

    fn cells(&self) -> Vec<(Style, String)> {
        let (style, _) = crate::status::status_words(&self.status);
        let marks = self.marks().join(", ");
        let mark_style = if self.overrides > 0 {
            Style::Bad
        } else {
            Style::Wait
        };
        vec![
            (Style::Strong, self.run.to_string()),
            (Style::Normal, self.pipeline.to_string()),
            (style, self.status.word().to_owned()),
            (Style::Normal, self.stage.to_string()),
            (Style::Dim, span(self.idle)),
            (
                mark_style,
                if marks.is_empty() {
                    "–".to_owned()
                } else {
                    marks
                },
            ),
            (Style::Normal, cut(&self.task.line(), TASK_COLUMNS)),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "run": self.run.as_str(),
            "pipeline": self.pipeline.as_str(),
            "status": self.status.word(),
            "reason": reason(&self.status),
            "stage": self.stage.as_str(),
            "task": self.task.raw(),
            "project": self.project.raw(),
            "driver": words::driver(self.driver),
            "witnessed": self.driver != Driver::ByHand,
            "enforced": self.mode == Mode::Enforced,
            "stale": self.freshness == Freshness::Stale,
            "overrides": self.overrides,
            "started_at": rfc3339(self.started_at),
            "updated_at": rfc3339(self.touched_at),
            "idle_seconds": self.idle.0,
        })
    }
}

pub fn list(rows: Vec<Row>) -> ListView {
    ListView { rows }
}

impl ListView {
    pub fn text(&self, paint: Paint) -> String {
        if self.rows.is_empty() {
            return "no runs; begin one with `gatewright start PIPELINE`\n".to_owned();
        }
        let mut table = Table::new(&[
            "RUN", "PIPELINE", "STATUS", "STAGE", "IDLE", "MARKS", "TASK",
        ]);
        for row in &self.rows {
            table.row(row.cells());
        }
        table.text(paint)
    }

    pub fn json(&self) -> Value {
        Value::Array(self.rows.iter().map(Row::json).collect())
    }
}
