//! The document: what is shown of one run, line by line, each with what it opens.

mod bars;
mod changes;
mod overview;
mod proofs;
mod question;

use std::ops::Range;

use views::facts::Remark;
use views::history::HistoryLine;
use views::{Style, time, wrap};

use super::text_view::{TextView, from_column, matches};
use super::{Screen, Tab};
use crate::event::{RunFacts, TextTarget, Wrapping};

pub(super) use question::of_question;

/// A longer line is cut before it is wrapped.
const LONGEST_LINE: usize = 1_000;

/// One line of at most as many columns as there is room for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocLine {
    pub pieces: Vec<Piece>,
    pub target: Option<TextTarget>,
    /// The number of the line in its text that it is a part of.
    pub source: Option<usize>,
    /// The columns that have what is searched.
    pub marks: Vec<Range<usize>>,
}

/// A part of a line in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub style: Style,
    pub text: String,
}

impl Piece {
    pub(crate) fn new(style: Style, text: impl Into<String>) -> Self {
        Self {
            style,
            text: text.into(),
        }
    }
}

impl DocLine {
    fn of(pieces: Vec<Piece>) -> Self {
        Self {
            pieces,
            ..Self::default()
        }
    }

    fn one(style: Style, text: impl Into<String>) -> Self {
        Self::of(vec![Piece::new(style, text)])
    }

    fn blank() -> Self {
        Self::default()
    }

    fn opens(mut self, target: TextTarget) -> Self {
        self.target = Some(target);
        self
    }

    fn contains(&self, wanted: &str) -> bool {
        self.text().to_lowercase().contains(wanted)
    }

    fn text(&self) -> String {
        let pieces = self.pieces.iter();
        pieces.map(|piece| piece.text.as_str()).collect()
    }
}

/// The heading of a section.
fn heading(text: &str) -> DocLine {
    DocLine::one(Style::Strong, text.to_uppercase())
}

/// A text on as many lines as it needs. What follows the first is indented.
fn wrapped(style: Style, text: &str, columns: usize, indent: usize) -> Vec<DocLine> {
    let text = views::cut(text, LONGEST_LINE);
    let room = columns.saturating_sub(indent).max(8);
    let lines = wrap(&text, room).into_iter().enumerate();
    lines
        .map(|(place, line)| {
            let indent = if place == 0 { 0 } else { indent };
            DocLine::one(style, format!("{}{line}", " ".repeat(indent)))
        })
        .collect()
}

/// A text to read, laid out and with marks where it has what is searched.
pub(super) fn of_text(lines: &[(Style, String)], columns: usize, view: &TextView) -> Vec<DocLine> {
    let lines = lines.iter().enumerate();
    lines
        .flat_map(|(place, (style, text))| {
            let laid_out = match view.wrapping {
                Wrapping::On => wrapped(*style, text, columns, 2),
                Wrapping::Off => vec![DocLine::one(*style, from_column(text, view.shift))],
            };
            laid_out.into_iter().map(move |line| DocLine {
                source: Some(place),
                marks: matches(&line.text(), &view.wanted),
                ..line
            })
        })
        .collect()
}

/// The present tab of the shown run.
pub(super) fn of_run(screen: &Screen, columns: usize) -> Vec<DocLine> {
    let Some(run) = screen.shown_run() else {
        return Vec::new();
    };
    let mut lines = match screen.tab {
        Tab::Overview => overview::lines(screen, run, columns),
        Tab::Journal => journal(run, columns),
        Tab::Output => return output(run, columns, &screen.output_view),
        Tab::Gates => proofs::gates(screen, run, columns),
        Tab::Artifacts => proofs::artifacts(run),
        Tab::Changes => changes::lines(run, columns),
    };
    let wanted = screen.line_filter.to_lowercase();
    if !wanted.is_empty() {
        lines.retain(|line| line.contains(&wanted));
    }
    lines
}

fn journal(run: &RunFacts, columns: usize) -> Vec<DocLine> {
    let entries = &run.entries.lines;
    let first = entries.first().map_or(1, |entry| entry.number);
    let mut lines = Vec::new();
    if first > 1 {
        let text = format!(
            "… {} earlier entries: gatewright history {}",
            first - 1,
            run.status.run
        );
        lines.push(DocLine::one(Style::Dim, text));
    }
    lines.extend(
        entries
            .iter()
            .flat_map(|entry| entry_lines(run, entry, columns)),
    );
    lines
}

fn entry_lines(run: &RunFacts, entry: &HistoryLine, columns: usize) -> Vec<DocLine> {
    let number = format!("{:>5} ", entry.number);
    let clock = format!("{} ", clock(&time::rfc3339(entry.at)));
    let lead = number.len() + clock.len();
    let what = wrapped(
        entry.style,
        &entry.what.line(),
        columns.saturating_sub(lead),
        0,
    );
    let target = TextTarget::Why {
        run: run.status.run.clone(),
        entry: entry.number,
    };
    let lines = what.into_iter().enumerate().map(|(place, line)| {
        let lead = if place == 0 {
            format!("{number}{clock}")
        } else {
            " ".repeat(lead)
        };
        let mut pieces = vec![Piece::new(Style::Dim, lead)];
        pieces.extend(line.pieces);
        DocLine::of(pieces).opens(target.clone())
    });
    lines.collect()
}

/// The time of day of a moment.
fn clock(moment: &str) -> String {
    moment.get(11..19).unwrap_or_default().to_owned()
}

fn output(run: &RunFacts, columns: usize, view: &TextView) -> Vec<DocLine> {
    let Some(output) = &run.output else {
        let text = match run.workers.len() {
            0 => "no worker that gatewright started has printed anything in this run",
            _ => "reading …",
        };
        return vec![DocLine::one(Style::Dim, text)];
    };
    let mut lines = Vec::new();
    if output.dropped > 0 {
        let (run, dispatch) = (&run.status.run, output.dispatch);
        let text = format!(
            "… {} earlier lines: gatewright logs {run} {dispatch}",
            output.dropped
        );
        lines.push(DocLine::one(Style::Dim, text));
    }
    let texts = output.lines.iter();
    let texts: Vec<_> = texts.map(|line| (Style::Normal, line.line())).collect();
    lines.extend(of_text(&texts, columns, view));
    lines
}

/// What must not be overlooked, each with its reason behind it.
fn remark_lines(run: &RunFacts, remark: &Remark, columns: usize) -> Vec<DocLine> {
    let style = if remark.is_mark() {
        Style::Bad
    } else {
        Style::Normal
    };
    let text = format!(
        "#{} {} {}: {}",
        remark.number,
        remark.kind.word(),
        remark.rule,
        remark.text.line()
    );
    let target = TextTarget::Why {
        run: run.status.run.clone(),
        entry: remark.number,
    };
    wrapped(style, &text, columns, 4)
        .into_iter()
        .map(|line| line.opens(target.clone()))
        .collect()
}
