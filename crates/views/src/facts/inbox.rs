//! The inbox: every question that waits for a person, over all runs and projects, with what to type.

use engine::{
    Next, Pipeline, PipelineName, Question, Run, RunId, Seconds, StageName, Standing, Time,
};
use serde_json::{Value, json};

use super::Undelivered;
use crate::layout::{TextBuilder, cut};
use crate::next::{Actor, NextView, ShownArtifact};
use crate::paint::{Paint, Style};
use crate::safe::Untrusted;
use crate::time::{rfc3339, span};
use crate::words;

/// A longer task is cut; `gatewright status RUN --json` has all of it.
const TASK_COLUMNS: usize = 400;

/// A run that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxEntry {
    pub run: RunId,
    pub pipeline: PipelineName,
    pub project: Untrusted,
    pub task: Untrusted,
    pub stage: StageName,
    pub since: Time,
    pub age: Seconds,
    /// What it asks, word for word, or why it cannot continue by itself.
    pub asks: Untrusted,
    /// The questions of a worker, each to be answered.
    pub questions: Vec<Question>,
    /// What the question is about: what the reviewers of the last round said comes first.
    pub about: Vec<ShownArtifact>,
    /// What to type, each a choice of its own.
    pub commands: Vec<String>,
    /// What to type to see what it is about.
    pub shown_by: String,
}

impl InboxEntry {
    /// The entry of a run that waits with this for somebody. `next` is what `gatewright next` shows of the run.
    pub fn new(pipeline: &Pipeline, run: &Run, next: &NextView, project: &str, now: Time) -> Self {
        let legal = engine::next(pipeline, run);
        let undelivered = next.undelivered.as_ref().map(Undelivered::text);
        let asked = legal.iter().find_map(asked).map(str::to_owned);
        let asked = asked.or(undelivered);
        let reason = || match engine::status(pipeline, run) {
            engine::Status::Waiting(reason) => reason,
            other => other.word().to_owned(),
        };
        let shown_by = format!("gatewright next {}", run.id);
        let persons = next.actions.iter().filter(|it| it.actor == Actor::Person);
        let mut commands: Vec<String> = persons.flat_map(|it| it.commands.clone()).collect();
        if commands.is_empty() {
            commands.push(shown_by.clone());
        }
        let since = Self::since(run);
        Self {
            run: run.id.clone(),
            pipeline: pipeline.definition().name.clone(),
            project: Untrusted::new(project),
            task: Untrusted::new(&run.task),
            stage: run.position.stage.clone(),
            since,
            age: now.since(since),
            asks: Untrusted::new(asked.unwrap_or_else(reason)),
            questions: next.questions.clone(),
            about: next.about.clone(),
            commands,
            shown_by,
        }
    }

    /// Since when the run waits, if it does: a question waits since the run came to it, all else since the last event.
    pub fn since(run: &Run) -> Time {
        match run.standing {
            Standing::Going => run.position.entered_at,
            Standing::Queued
            | Standing::Stuck { .. }
            | Standing::Stale
            | Standing::OverBudget { .. }
            | Standing::Halted { .. }
            | Standing::Abandoned
            | Standing::Cancelled { .. } => run.touched_at,
        }
    }

    /// What reviewers said, for a screen that shows no more of it.
    pub fn review_titles(&self) -> impl Iterator<Item = String> {
        let reviews = self.about.iter().filter(|it| it.review.is_some());
        reviews.map(ShownArtifact::title)
    }

    fn show(&self, builder: &mut TextBuilder) {
        let Self {
            run,
            pipeline,
            stage,
            ..
        } = self;
        let age = span(self.age);
        builder.blank();
        builder.line(
            Style::Strong,
            &format!("{run} · {pipeline} · {stage} · for {age}"),
        );
        builder.field("project", Style::Dim, &self.project.line());
        builder.field("task", Style::Normal, &cut(&self.task.line(), TASK_COLUMNS));
        builder.field("asks", Style::Wait, &self.asks.line());
        let reviews = self.review_titles().map(|it| (Style::Normal, it));
        builder.fields("reviews", reviews);
        crate::next::show_questions(builder, &self.questions);
        let typed = self.commands.iter();
        builder.fields("type", typed.map(|it| (Style::Strong, it.clone())));
        if !self.commands.contains(&self.shown_by) {
            builder.field("see", Style::Dim, &self.shown_by);
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "run": self.run.as_str(),
            "pipeline": self.pipeline.as_str(),
            "project": self.project.raw(),
            "task": self.task.raw(),
            "stage": self.stage.as_str(),
            "since": rfc3339(self.since),
            "age_seconds": self.age.0,
            "asks": self.asks.raw(),
            "questions": self.questions.iter().map(crate::next::question_json).collect::<Vec<_>>(),
            "about": self.about.iter().map(ShownArtifact::json).collect::<Vec<_>>(),
            "commands": self.commands,
            "shown_by": self.shown_by,
        })
    }
}

/// What a person is asked.
fn asked(next: &Next) -> Option<&str> {
    match next {
        Next::Answer { question, .. } | Next::Answers { question } => Some(question),
        Next::Decide { why, .. } => Some(why),
        Next::Agent { .. }
        | Next::Session { .. }
        | Next::AnyOf { .. }
        | Next::Under { .. }
        | Next::Check { .. }
        | Next::Plan { .. }
        | Next::Route { .. }
        | Next::Finish
        | Next::TakeUp
        | Next::Nothing => None,
    }
}

/// Everything that waits, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    entries: Vec<InboxEntry>,
}

impl Inbox {
    pub fn new(mut entries: Vec<InboxEntry>) -> Self {
        entries.sort_by(|a, b| (a.since, &a.run).cmp(&(b.since, &b.run)));
        Self { entries }
    }

    pub fn entries(&self) -> &[InboxEntry] {
        &self.entries
    }

    /// `2 runs wait for you`; nothing where nobody waits.
    pub fn count_line(number: usize) -> Option<String> {
        match number {
            0 => None,
            1 => Some("1 run waits for you".to_owned()),
            more => Some(format!("{} wait for you", words::count(more as u64, "run"))),
        }
    }

    /// The line with which other screens begin.
    pub fn line(number: usize) -> Option<String> {
        Self::count_line(number).map(|line| format!("{line}: `gatewright inbox`"))
    }

    pub fn text(&self, paint: Paint) -> String {
        let mut builder = TextBuilder::new(paint);
        if let Some(line) = Self::count_line(self.entries.len()) {
            builder.line(Style::Wait, &line);
        }
        for entry in &self.entries {
            entry.show(&mut builder);
        }
        builder.finish()
    }

    pub fn json(&self) -> Value {
        Value::Array(self.entries.iter().map(InboxEntry::json).collect())
    }
}
