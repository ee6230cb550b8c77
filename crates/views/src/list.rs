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
    pub condition: Condition,
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

/// Can the run itself be read?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Sound,
    /// Only what the list keeps of it can be shown.
    Damaged,
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
            condition: Condition::Sound,
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

    fn status(&self) -> (Style, &'static str) {
        match self.condition {
            Condition::Damaged => (Style::Bad, "damaged"),
            Condition::Sound => {
                let (style, _) = crate::status::status_words(&self.status);
                (style, self.status.word())
            }
        }
    }

    fn cells(&self, projects: Projects) -> Vec<(Style, String)> {
        let (style, status) = self.status();
        let marks = self.marks().join(", ");
        let mark_style = if self.overrides > 0 {
            Style::Bad
        } else {
            Style::Wait
        };
        let mut cells = vec![
            (Style::Strong, self.run.to_string()),
            (Style::Normal, self.pipeline.to_string()),
            (style, status.to_owned()),
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
        ];
        if projects == Projects::Several {
            cells.push((Style::Normal, self.project.line()));
        }
        cells.push((Style::Normal, cut(&self.task.line(), TASK_COLUMNS)));
        cells
    }

    fn json(&self) -> Value {
        json!({
            "run": self.run.as_str(),
            "pipeline": self.pipeline.as_str(),
            "status": self.status().1,
            "reason": match self.condition {
                Condition::Sound => reason(&self.status),
                Condition::Damaged => None,
            },
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

/// Whether the runs of a list lie in one folder: then nobody needs to be told in which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Projects {
    One,
    Several,
}

pub fn list(rows: Vec<Row>) -> ListView {
    ListView { rows }
}

impl ListView {
    pub fn text(&self, paint: Paint) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let projects = self.projects();
        let mut headings = vec!["RUN", "PIPELINE", "STATUS", "STAGE", "IDLE", "MARKS"];
        if projects == Projects::Several {
            headings.push("PROJECT");
        }
        headings.push("TASK");
        let mut table = Table::new(&headings);
        for row in &self.rows {
            table.row(row.cells(projects));
        }
        table.text(paint)
    }

    fn projects(&self) -> Projects {
        let mut projects = self.rows.iter().map(|row| &row.project);
        let first = projects.next();
        match projects.all(|project| Some(project) == first) {
            true => Projects::One,
            false => Projects::Several,
        }
    }

    pub fn json(&self) -> Value {
        Value::Array(self.rows.iter().map(Row::json).collect())
    }
}
