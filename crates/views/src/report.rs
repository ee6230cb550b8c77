//! The report of a run: its verdict, what was proved and checked, what people did, its way and its cost, as text,
//! Markdown, HTML and JSON of one model.

mod gather;
mod html;
mod html_parts;
mod json;
mod markdown;
mod reviews;
mod text;

use std::collections::BTreeMap;

use engine::{AgentName, DispatchId, Entry, Hash, Pipeline, Rule, Run, Seconds, Status, Usage};
use serde_json::Value;

use crate::change::ChangeStat;
use crate::facts::{Remark, RemarkKind, Timeline};
use crate::paint::Paint;
use crate::safe::Untrusted;
use crate::status::{JournalFacts, RunContext, StatusView, status};

/// Everything that a report shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportView {
    pub status: StatusView,
    pub journal: JournalFacts,
    pub verdict: RunVerdict,
    pub promises: Vec<Promise>,
    pub agents: Vec<AgentTotal>,
    pub integrity: JournalIntegrity,
    /// How much each piece of work changed, where that is known.
    pub changes: BTreeMap<DispatchId, ChangeStat>,
    /// Pictures for the HTML page, in order.
    pub figures: Vec<Figure>,
}

/// The run in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunVerdict {
    pub tone: Tone,
    pub title: String,
    /// What else belongs to it: time, gates, marks.
    pub facts: Vec<String>,
}

/// How good the news is. A sign says the same without a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It ended well, and nothing must be overlooked.
    Good,
    /// It ended well or goes on, and something must not be overlooked.
    Marked,
    Bad,
    /// It is not over.
    Open,
}

impl Tone {
    pub fn mark(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Marked => "!",
            Self::Bad => "✗",
            Self::Open => "○",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Marked => "marked",
            Self::Bad => "bad",
            Self::Open => "open",
        }
    }
}

/// A promise of the pipeline. Every path through it keeps the promise, or the pipeline could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    pub name: Untrusted,
    /// What it says, in a sentence.
    pub claim: Untrusted,
    pub state: PromiseState,
}

/// Does the promise hold for this run?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromiseState {
    /// It is proved, and the guards were there.
    Kept,
    /// A person skipped one of the stages that it names, or the guards were off.
    Weakened { why: &'static str },
}

/// What one agent did in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTotal {
    pub agent: AgentName,
    pub attempts: u64,
    pub time: Seconds,
    pub usage: Usage,
}

/// What is known about the journal itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalIntegrity {
    NotVerified,
    Intact,
    /// What is wrong with it.
    Damaged(Untrusted),
}

/// A picture in the HTML page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    pub title: &'static str,
    /// An `<svg>` element. Invariant: its maker has escaped every text in it.
    pub svg: String,
}

impl ReportView {
    /// The report of a run with the facts of its journal.
    pub fn new(pipeline: &Pipeline, run: &Run, status: StatusView, journal: JournalFacts) -> Self {
        gather::report(pipeline, run, status, journal)
    }

    /// The same with what `verify` found.
    pub fn with_integrity(mut self, integrity: JournalIntegrity) -> Self {
        if let JournalIntegrity::Damaged(_) = integrity {
            self.verdict.tone = Tone::Bad;
            self.verdict.title = "the journal is DAMAGED, so this proves nothing".to_owned();
        }
        self.integrity = integrity;
        self
    }

    /// The same with what is known about the changes of each piece of work.
    pub fn with_changes(mut self, changes: BTreeMap<DispatchId, ChangeStat>) -> Self {
        self.changes = changes;
        self
    }

    /// The same for others than the person: what of its delivery failed on the way there is the person's business.
    pub fn published(mut self) -> Self {
        let failed = Rule::DeliveryFailed.code();
        self.journal.remarks.retain(|it| it.rule != failed);
        self
    }

    /// The same with a picture. Pictures stand before the stages.
    pub fn with_figure(mut self, title: &'static str, svg: String) -> Self {
        self.figures.push(Figure { title, svg });
        self
    }

    /// What people did, in order. What they overrode is among it.
    pub fn acts(&self) -> impl Iterator<Item = &Remark> {
        self.journal.remarks.iter().filter(|it| is_act(it))
    }

    /// What else must not be overlooked, in order.
    pub fn marks(&self) -> impl Iterator<Item = &Remark> {
        self.journal.remarks.iter().filter(|it| !is_act(it))
    }

    pub(crate) fn is_over(&self) -> bool {
        match self.status.status {
            Status::Completed | Status::Failed | Status::Cancelled => true,
            Status::Queued | Status::Running | Status::Waiting(_) => false,
        }
    }

    /// What to type to check it.
    pub fn verified_by(&self) -> String {
        format!("gatewright verify {}", self.status.run)
    }

    pub fn text(&self, paint: Paint) -> String {
        text::render(self, paint)
    }

    /// In plain lines without the task, for the message of a commit that has it.
    pub fn commit_text(&self) -> String {
        text::commit(self)
    }

    pub fn markdown(&self) -> String {
        markdown::render(self)
    }

    /// One self-contained page: no script, nothing from elsewhere.
    pub fn html(&self) -> String {
        html::render(self)
    }

    pub fn json(&self) -> Value {
        json::render(self)
    }
}

fn is_act(remark: &Remark) -> bool {
    match remark.kind {
        RemarkKind::Person | RemarkKind::Overridden | RemarkKind::Bypassed => true,
        RemarkKind::Refused
        | RemarkKind::Unjudged
        | RemarkKind::Unguarded
        | RemarkKind::Outside
        | RemarkKind::Warned => false,
    }
}

/// The page that a run leaves when it ends, as Markdown.
pub fn report(
    pipeline: &Pipeline,
    run: &Run,
    entries: &[(u64, &Entry)],
    context: RunContext<'_>,
    head: Option<Hash>,
) -> String {
    let mut timeline = Timeline::default();
    for (number, entry) in entries {
        timeline.add(pipeline, *number, entry);
    }
    let status = status(pipeline, run, context);
    let journal = JournalFacts::new(pipeline, run, &timeline, head);
    ReportView::new(pipeline, run, status, journal).markdown()
}
