//! What a worker did while nobody looked: the runs that are done, those that wait for a person, and those that failed.

use engine::{Pipeline, Run, RunId, Seconds, Standing, Usage};
use serde_json::{Value, json};

use crate::layout::{TextBuilder, cut};
use crate::paint::{Paint, Style};
use crate::safe::Untrusted;
use crate::status::outside_words;
use crate::time::span;
use crate::{cause, words};

const TASK_COLUMNS: usize = 60;
const REASON_COLUMNS: usize = 300;

/// What became of a run, as a person sorts them in the morning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NightResult {
    WaitsForYou,
    Failed,
    Cancelled,
    /// It could not be driven, or the worker was stopped.
    NotDone,
    /// It is completed, and its work could not be handed over.
    NotDelivered,
    Done,
}

impl NightResult {
    const ALL: [Self; 6] = [
        Self::WaitsForYou,
        Self::Failed,
        Self::Cancelled,
        Self::NotDone,
        Self::NotDelivered,
        Self::Done,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::WaitsForYou => "waits_for_you",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NotDone => "not_done",
            Self::NotDelivered => "not_delivered",
            Self::Done => "done",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::WaitsForYou => "waits for you",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NotDone => "not done",
            Self::NotDelivered => "done, not delivered",
            Self::Done => "done",
        }
    }

    fn counted(self, count: usize) -> &'static str {
        match self {
            Self::WaitsForYou if count > 1 => "wait for you",
            // A comma stands between two counts.
            Self::NotDelivered => "not delivered",
            Self::WaitsForYou | Self::Failed | Self::Cancelled | Self::NotDone | Self::Done => {
                self.heading()
            }
        }
    }

    fn style(self) -> Style {
        match self {
            Self::WaitsForYou => Style::Wait,
            Self::Failed | Self::NotDelivered => Style::Bad,
            Self::Cancelled | Self::NotDone => Style::Normal,
            Self::Done => Style::Good,
        }
    }
}

/// One run of the night.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NightRow {
    pub run: RunId,
    pub task: Untrusted,
    pub project: Untrusted,
    pub result: NightResult,
    /// Why it is not done.
    pub reason: Option<Untrusted>,
    pub used: Usage,
    /// From its start to its last event.
    pub took: Seconds,
    /// The branch with its work, where it has one.
    pub branch: Option<Untrusted>,
    /// How many changes outside a worker's folder were recorded.
    pub outside: u32,
    /// What to type.
    pub command: Option<String>,
}

/// The whole night.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Night {
    pub rows: Vec<NightRow>,
    /// How long the worker was there.
    pub lasted: Seconds,
}

/// Why a run ended as it did: what the person said who cancelled it, else the last thing that led there.
pub fn reason(pipeline: &Pipeline, run: &Run) -> Option<Untrusted> {
    if let Standing::Cancelled { reason } = &run.standing {
        return Some(Untrusted::new(reason));
    }
    let lines = cause::in_short(pipeline, run, REASON_COLUMNS);
    lines
        .last()
        .map(|line| Untrusted::new(line.trim_start_matches("- ")))
}

impl Night {
    /// Did a run end without handing over its work?
    pub fn has_undelivered(&self) -> bool {
        !self.of(NightResult::NotDelivered).is_empty()
    }

    fn of(&self, result: NightResult) -> Vec<&NightRow> {
        let rows = self.rows.iter().filter(|row| row.result == result);
        rows.collect()
    }

    fn used(&self) -> Usage {
        let each = self.rows.iter().map(|row| row.used);
        each.fold(Usage::default(), Usage::and)
    }

    pub fn text(&self, paint: Paint) -> String {
        let mut builder = TextBuilder::new(paint);
        let counts = NightResult::ALL.into_iter().rev().filter_map(|result| {
            let count = self.of(result).len();
            (count > 0).then(|| format!("{count} {}", result.counted(count)))
        });
        let counts: Vec<String> = counts.collect();
        let used = with_dot(&words::usage(&self.used()));
        let runs = words::count(self.rows.len() as u64, "run");
        let lasted = span(self.lasted);
        let head = format!("{runs} in {lasted}: {}{used}", counts.join(", "));
        builder.line(Style::Strong, &head);
        let mut projects = self.rows.iter().map(|row| &row.project);
        let first = projects.next();
        let is_mixed = projects.any(|project| Some(project) != first);
        for result in NightResult::ALL {
            let rows = self.of(result);
            if rows.is_empty() {
                continue;
            }
            builder.blank();
            builder.line(result.style(), result.heading());
            for row in rows {
                row.show(&mut builder);
                if is_mixed {
                    let project = format!("    in {}", row.project.line());
                    builder.line(Style::Dim, &project);
                }
                row.show_rest(&mut builder);
            }
        }
        builder.finish()
    }

    pub fn json(&self) -> Value {
        let counts = NightResult::ALL.map(|result| {
            let count = self.of(result).len();
            (result.word().to_owned(), Value::from(count))
        });
        json!({
            "lasted_seconds": self.lasted.0,
            "counts": Value::Object(counts.into_iter().collect()),
            "used": words::usage_json(&self.used()),
            "runs": self.rows.iter().map(NightRow::json).collect::<Vec<_>>(),
        })
    }
}

impl NightRow {
    fn show(&self, builder: &mut TextBuilder) {
        let Self { run, task, .. } = self;
        let used = with_dot(&words::usage(&self.used));
        let task = cut(&task.line(), TASK_COLUMNS);
        let took = span(self.took);
        builder.line(Style::Normal, &format!("  {run}  {task} · {took}{used}"));
    }

    fn show_rest(&self, builder: &mut TextBuilder) {
        if let Some(reason) = &self.reason {
            let reason = cut(&reason.line(), REASON_COLUMNS);
            builder.line(Style::Normal, &format!("    {reason}"));
        }
        if let Some(branch) = &self.branch {
            builder.line(Style::Normal, &format!("    branch {}", branch.line()));
        }
        if self.outside > 0 {
            let (marks, run) = (outside_words(self.outside), &self.run);
            let line = format!("    {marks}: `gatewright history {run}`");
            builder.line(Style::Wait, &line);
        }
        if let Some(command) = &self.command {
            builder.line(Style::Dim, &format!("    `{command}`"));
        }
    }

    fn json(&self) -> Value {
        json!({
            "run": self.run.as_str(),
            "task": self.task.raw(),
            "project": self.project.raw(),
            "result": self.result.word(),
            "reason": self.reason.as_ref().map(Untrusted::raw),
            "used": words::usage_json(&self.used),
            "took_seconds": self.took.0,
            "branch": self.branch.as_ref().map(Untrusted::raw),
            "outside": self.outside,
            "command": self.command,
        })
    }
}

fn with_dot(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(" · {text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(run: &str, project: &str, result: NightResult) -> NightRow {
        NightRow {
            run: RunId::parse(run).unwrap(),
            task: Untrusted::new("try"),
            project: Untrusted::new(project),
            result,
            reason: Some(Untrusted::new("gh auth login")),
            used: Usage::default(),
            took: Seconds(60),
            branch: None,
            outside: 0,
            command: Some(format!("gatewright deliver {run}")),
        }
    }

    #[test]
    fn projects_are_named_where_there_are_several_and_work_that_stayed_is_told() {
        for (other, is_named) in [("/a", false), ("/b", true)] {
            let night = Night {
                rows: vec![
                    row("r-2", "/a", NightResult::NotDelivered),
                    row("r-1", other, NightResult::NotDelivered),
                ],
                lasted: Seconds(60),
            };
            let text = night.text(Paint::Plain);
            assert!(night.has_undelivered() && text.starts_with("2 runs in 1m: 2 not delivered"));
            assert_eq!(text.contains("\n    in /a\n"), is_named, "{text}");
            assert!(text.find("r-2") < text.find("r-1"), "{text}");
            assert_eq!(night.json()["counts"]["not_delivered"], 2);
        }
        let done = vec![row("r-1", "/a", NightResult::Done)];
        let night = Night {
            rows: done,
            lasted: Seconds(1),
        };
        assert!(!night.has_undelivered());
    }
}
