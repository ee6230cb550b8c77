//! Many runs, one line each.

use engine::{
    BindingState, Driver, Mode, Pipeline, PipelineName, Run, RunId, Seconds, StageName, Status,
    Time,
};
use serde_json::{Value, json};

use crate::facts::{Inbox, Liveness, Rest, Undelivered};
use crate::layout::{Table, cut};
use crate::paint::{Paint, Style};
use crate::safe::Untrusted;
use crate::status::{
    BypassLine, Freshness, RunContext, SessionLine, bypass_json, reason, session_json,
    unjudged_words,
};
use crate::time::{rfc3339, span};
use crate::words;

/// A task longer than this is cut in the table; JSON has all of it.
const TASK_COLUMNS: usize = 48;
/// A session's id longer than this is cut in the table.
const SESSION_COLUMNS: usize = 8;

/// One run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub run: RunId,
    pub pipeline: PipelineName,
    pub integrity: Integrity,
    pub depth: RowDepth,
    pub status: Status,
    /// Absent where nobody looked for signs.
    pub liveness: Option<Liveness>,
    /// As in `StatusView`.
    pub rest: Option<Rest>,
    pub stage: StageName,
    pub task: Untrusted,
    /// The worktree in which it was started.
    pub project: Untrusted,
    /// The folder of its repository, which all of its worktrees share; without git its folder.
    pub repository: Untrusted,
    pub driver: Driver,
    /// The machine that has the run, where that is another one and only a copy of the journal is known here.
    pub machine: Option<Untrusted>,
    /// As in `StatusView`.
    pub rehearsal: bool,
    pub mode: Mode,
    pub freshness: Freshness,
    pub session: Option<SessionLine>,
    pub bypass: Option<BypassLine>,
    /// As in `StatusView`.
    pub unjudged: u32,
    /// How many pieces of work no hook guarded.
    pub unguarded: usize,
    pub overrides: usize,
    /// Its work, if it is completed and that was not handed over.
    pub undelivered: Option<Undelivered>,
    pub started_at: Time,
    pub touched_at: Time,
    pub idle: Seconds,
}

/// Can the run itself be read?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    Intact,
    /// Only the columns of the list can be shown.
    Damaged,
}

/// How much of the run was read?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowDepth {
    Whole,
    /// Only the columns of the list: the session and the marks are not known.
    Summary,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListView {
    /// How many runs of all projects wait for a person, where somebody has looked.
    pub waiting: usize,
    pub rows: Vec<RunRow>,
}

impl RunRow {
    pub fn new(pipeline: &Pipeline, run: &Run, context: RunContext<'_>) -> Self {
        Self {
            run: run.id.clone(),
            pipeline: pipeline.definition().name.clone(),
            integrity: Integrity::Intact,
            depth: RowDepth::Whole,
            liveness: None,
            rest: None,
            status: engine::status(pipeline, run),
            stage: run.position.stage.clone(),
            task: Untrusted::new(&run.task),
            project: Untrusted::new(context.project),
            repository: Untrusted::new(context.project),
            driver: run.driver,
            machine: None,
            rehearsal: false,
            mode: pipeline.definition().mode,
            freshness: context.freshness,
            session: SessionLine::of(run),
            bypass: BypassLine::of(run, context.now),
            unjudged: run.unjudged,
            unguarded: run.unguarded.len(),
            overrides: run.overrides.len(),
            undelivered: None,
            started_at: run.started_at,
            touched_at: run.touched_at,
            idle: context.now.since(run.touched_at),
        }
    }

    /// The same with what the signs say.
    pub fn with_liveness(mut self, liveness: Liveness) -> Self {
        self.liveness = Some(liveness);
        self
    }

    /// The same with what the run rests for.
    pub fn with_rest(mut self, rest: Option<Rest>) -> Self {
        self.rest = rest;
        self
    }

    /// The same with what the settings of the run say.
    pub fn with_rehearsal(mut self, rehearsal: bool) -> Self {
        self.rehearsal = rehearsal;
        self
    }

    /// The same with what its delivery still lacks.
    pub fn with_undelivered(mut self, undelivered: Option<Undelivered>) -> Self {
        self.undelivered = undelivered;
        self
    }

    /// The same with the project that the store has for it: git's folder, or the folder itself.
    pub fn with_repository(mut self, key: &str) -> Self {
        self.repository = Untrusted::new(key.strip_suffix("/.git").unwrap_or(key));
        self
    }

    /// What a reader must not overlook about this run.
    pub fn marks(&self) -> Vec<String> {
        let machine = self.machine.iter();
        let mut marks: Vec<String> = machine.map(|it| format!("on {}", it.line())).collect();
        if self.overrides > 0 {
            marks.push("OVERRIDDEN".to_owned());
        }
        marks.extend(self.bypass.as_ref().map(BypassLine::mark));
        if self.unjudged > 0 {
            marks.push(unjudged_words(self.unjudged));
        }
        if self.unguarded > 0 {
            marks.push("UNGUARDED".to_owned());
        }
        if self.undelivered.is_some() {
            marks.push(Undelivered::MARK.to_owned());
        }
        if self.freshness == Freshness::Stale {
            marks.push("STALE".to_owned());
        }
        if self.driver == Driver::ByHand {
            marks.push("unwitnessed".to_owned());
        }
        if self.rehearsal {
            marks.push(words::REHEARSAL.to_owned());
        }
        if self.mode == Mode::Advisory {
            marks.push("not enforced".to_owned());
        }
        marks
    }

    /// Enough of the session that holds the run to tell it from others.
    fn holder(&self) -> Option<String> {
        let held = self.session.as_ref();
        let held = held.filter(|line| line.state == BindingState::Active)?;
        Some(
            held.session
                .as_str()
                .chars()
                .take(SESSION_COLUMNS)
                .collect(),
        )
    }

    /// Is one of the marks a breach of what was promised?
    pub fn is_loud(&self) -> bool {
        self.overrides > 0 || self.bypass.is_some() || self.unjudged > 0 || self.unguarded > 0
    }

    fn status(&self) -> (Style, &'static str) {
        match self.integrity {
            Integrity::Damaged => (Style::Bad, "damaged"),
            Integrity::Intact => {
                let (style, _) = crate::status::status_words(&self.status);
                (style, self.status.word())
            }
        }
    }

    fn liveness_cell(&self) -> (Style, String) {
        match self.liveness {
            Some(liveness) => (
                liveness.style(),
                format!("{} {}", liveness.mark(), liveness.text()),
            ),
            None => (Style::Dim, "–".to_owned()),
        }
    }

    fn cells(&self, columns: Columns) -> Vec<(Style, String)> {
        let (style, status) = self.status();
        let marks = self.marks().join(", ");
        let mark_style = if self.is_loud() {
            Style::Bad
        } else {
            Style::Wait
        };
        let mut cells = vec![
            (Style::Strong, self.run.to_string()),
            (Style::Normal, self.pipeline.to_string()),
            (style, status.to_owned()),
        ];
        if columns.liveness {
            let (style, text) = self.liveness_cell();
            cells.push((style, text));
        }
        cells.extend([
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
        ]);
        if columns.sessions {
            let holder = self.holder().unwrap_or_else(|| "–".to_owned());
            cells.push((Style::Normal, holder));
        }
        if columns.projects {
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
            "reason": match self.integrity {
                Integrity::Intact => reason(&self.status),
                Integrity::Damaged => None,
            },
            "stage": self.stage.as_str(),
            "task": self.task.raw(),
            "project": self.project.raw(),
            "driver": words::driver(self.driver),
            "machine": self.machine.as_ref().map(Untrusted::raw),
            "witnessed": self.driver != Driver::ByHand,
            "rehearsal": self.rehearsal,
            "enforced": self.mode == Mode::Enforced,
            "stale": self.freshness == Freshness::Stale,
            "session": self.session.as_ref().map(session_json),
            "bypass": self.bypass.as_ref().map(bypass_json),
            "unjudged": self.unjudged,
            "unguarded": self.unguarded,
            "overrides": self.overrides,
            "undelivered": self.undelivered.as_ref().map(Undelivered::json),
            "started_at": rfc3339(self.started_at),
            "updated_at": rfc3339(self.touched_at),
            "idle_seconds": self.idle.0,
            "liveness": self.liveness.map(Liveness::json),
            "rest": self.rest.as_ref().map(Rest::json),
        })
    }
}

/// The columns that are shown only when they are useful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    /// Somebody looked for signs.
    liveness: bool,
    /// Some run is held by a session.
    sessions: bool,
    /// The runs are in more than one folder.
    projects: bool,
}

pub fn list(rows: Vec<RunRow>) -> ListView {
    ListView { waiting: 0, rows }
}

impl ListView {
    /// The same with the number of runs that wait for a person.
    pub fn with_waiting(mut self, waiting: usize) -> Self {
        self.waiting = waiting;
        self
    }

    /// What waits first, then the table.
    pub fn text(&self, paint: Paint) -> String {
        let waiting = Inbox::line(self.waiting).map(|line| paint.on(Style::Wait, &line));
        let waiting = waiting.map_or_else(String::new, |line| format!("{line}\n"));
        format!("{waiting}{}", self.table(paint))
    }

    fn table(&self, paint: Paint) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let columns = self.columns();
        let mut headings = vec!["RUN", "PIPELINE", "STATUS"];
        if columns.liveness {
            headings.push("ALIVE");
        }
        headings.extend(["STAGE", "IDLE", "MARKS"]);
        if columns.sessions {
            headings.push("SESSION");
        }
        if columns.projects {
            headings.push("PROJECT");
        }
        headings.push("TASK");
        let mut table = Table::new(&headings);
        for row in &self.rows {
            table.row(row.cells(columns));
        }
        table.text(paint)
    }

    fn columns(&self) -> Columns {
        let mut projects = self.rows.iter().map(|row| &row.project);
        let first = projects.next();
        Columns {
            liveness: self.rows.iter().any(|row| row.liveness.is_some()),
            sessions: self.rows.iter().any(|row| row.holder().is_some()),
            projects: projects.any(|project| Some(project) != first),
        }
    }

    pub fn json(&self) -> Value {
        Value::Array(self.rows.iter().map(RunRow::json).collect())
    }
}
