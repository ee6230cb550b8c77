//! Charts of figures over many runs: bars as SVG, each with its number beside it.
//!
//! Invariant: every text is escaped when the SVG is written.

mod layout;
mod of_metrics;
mod svg;

use crate::picture::{Area, Styled, TextLine};

pub use of_metrics::charts;

/// One chart: a heading, and a bar for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarChart {
    pub heading: String,
    pub unit: Unit,
    /// In the order in which they are drawn.
    pub rows: Vec<ChartRow>,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Count,
    Milliseconds,
    Cents,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartRow {
    pub name: String,
    /// From left to right, each after the one before.
    pub parts: Vec<ChartPart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChartPart {
    pub kind: PartKind,
    pub value: u64,
}

/// What a part of a bar says, and so how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    Plain,
    Good,
    Bad,
    /// Without a verdict, or dropped.
    Void,
    /// A line from the end of the bar on: from the median to the 90th percentile.
    UpTo90,
}

/// A chart with the place of everything in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedChart {
    pub name: String,
    pub canvas: Area,
    /// Every part that is not zero, row by row.
    pub parts: Vec<PlacedPart>,
    pub texts: Vec<TextLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedPart {
    pub row: usize,
    pub kind: PartKind,
    pub area: Area,
    pub title: String,
}

impl PartKind {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "✓ ",
            Self::Bad => "✕ ",
            Self::Void => "– ",
            Self::UpTo90 => "p90 ",
        }
    }
}

impl BarChart {
    pub fn placed(&self) -> PlacedChart {
        layout::placed(self)
    }

    /// A whole SVG with its style, to be written to a file or put into a page.
    pub fn svg(&self) -> String {
        svg::render(&self.placed(), Styled::Inside)
    }

    /// The same for a page that has `picture::STYLE` already.
    pub fn svg_without_style(&self) -> String {
        svg::render(&self.placed(), Styled::ByPage)
    }
}
