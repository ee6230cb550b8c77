//! The Gantt chart of a run: a bar for each attempt, waves side by side, and waiting for people hatched.
//!
//! Invariant: every text of a run is escaped when the SVG is written.

mod fold;
mod layout;
mod rows;
mod scale;
mod svg;

use engine::Time;

use crate::picture::{Area, TextLine};

pub use fold::GanttFold;
pub use rows::{Lasting, rows};

/// A stage, or one worker of it, with everything that it did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GanttRow {
    /// The stage. Rows of one stage that follow each other show it once.
    pub name: String,
    /// The worker, and its step.
    pub note: String,
    pub bars: Vec<GanttBar>,
}

/// One attempt, or one wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GanttBar {
    pub begin: Time,
    /// Now, if it is not over.
    pub end: Time,
    pub kind: BarKind,
    /// The outcome, or what is waited for.
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarKind {
    Done,
    Failed,
    /// The run moved on without it.
    Dropped,
    AtWork,
    /// For a person.
    Waiting,
}

impl BarKind {
    pub const ALL: [Self; 5] = [
        Self::Done,
        Self::Failed,
        Self::Dropped,
        Self::AtWork,
        Self::Waiting,
    ];

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Done => "✓",
            Self::Failed => "✕",
            Self::Dropped => "–",
            Self::AtWork => "●",
            Self::Waiting => "⚑",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
            Self::AtWork => "at work",
            Self::Waiting => "waits for a person",
        }
    }
}

/// A chart with the place of everything in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gantt {
    /// All that is drawn lies in here.
    pub canvas: Area,
    /// Where bars may be.
    pub plot: Area,
    /// Every bar of every row once, row by row.
    pub bars: Vec<PlacedBar>,
    /// The names and notes of rows, the axis, and the explanation of symbols.
    pub texts: Vec<TextLine>,
    /// Where the lines of the time axis stand.
    pub ticks: Vec<i32>,
    /// Where the axis leaves out time in which nobody worked.
    pub breaks: Vec<Area>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedBar {
    pub row: usize,
    pub kind: BarKind,
    pub area: Area,
    /// Its symbol, and what else has room.
    pub text: TextLine,
    pub title: String,
}

impl Gantt {
    pub fn of(rows: &[GanttRow]) -> Self {
        layout::laid(rows)
    }

    /// A whole SVG with its style, to be written to a file or put into a page.
    pub fn svg(&self) -> String {
        svg::render(self, crate::picture::Styled::Inside)
    }

    /// The same for a page that has `picture::STYLE` already.
    pub fn svg_without_style(&self) -> String {
        svg::render(self, crate::picture::Styled::ByPage)
    }
}
