//! Tells the demo: its acts one below the other, the live view under them at a terminal, or JSON at the end.

use std::time::{Duration, Instant};

use runtime::context::Context;
use runtime::failure::Failure;
use serde_json::{Value, json};
use views::Paint;
use views::progress::{ProgressView, TerminalSize, width};

use super::story::Act;
use crate::output::{Format, Output};
use crate::progress_view::frame::{Back, back, frame};

/// How wide the first word of an act is.
const WORD: usize = 9;

/// The widest text of an act, beside that word: all fits into 80 columns.
const COLUMNS: usize = 70;

/// How many rows of the live view stand below the acts.
const LIVE_ROWS: usize = 8;

const BETWEEN: Duration = Duration::from_millis(200);

pub(super) struct Narrator<'a> {
    output: &'a mut Output,
    /// Is the live view drawn?
    is_live: bool,
    acts: Vec<Act>,
    /// How wide each line of the live view is that stands there now.
    drawn: Vec<usize>,
    last: Option<Instant>,
}

impl<'a> Narrator<'a> {
    pub(super) fn new(output: &'a mut Output, context: &Context) -> Self {
        let is_text = output.format() == Format::Text;
        let is_live = is_text && output.is_terminal() && !context.environment.has_dumb_terminal();
        Self {
            output,
            is_live,
            acts: Vec::new(),
            drawn: Vec::new(),
            last: None,
        }
    }

    /// Prints text as it is; the live view under it goes.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Failure> {
        match self.output.format() {
            Format::Text => {
                let lines: Vec<String> = text.lines().map(str::to_owned).collect();
                self.put(&lines, &[], &[])
            }
            Format::Json => Ok(()),
        }
    }

    pub(super) fn act(&mut self, act: Act) -> Result<(), Failure> {
        let lines = lines(&act, self.output.paint());
        self.acts.push(act);
        match self.output.format() {
            Format::Text => self.put(&lines, &[], &[]),
            Format::Json => Ok(()),
        }
    }

    /// Was there an act with this word?
    pub(super) fn has_told(&self, word: &str) -> bool {
        self.acts.iter().any(|act| act.word == word)
    }

    /// The entry that refused something first.
    pub(super) fn first_refusal(&self) -> Option<u64> {
        let mut refusals = self.acts.iter().filter(|act| act.word == "REFUSED");
        refusals.find_map(|act| act.entry)
    }

    /// Draws the live view below the acts.
    pub(super) fn draw(&mut self, view: impl FnOnce() -> ProgressView) -> Result<(), Failure> {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= BETWEEN);
        if !self.is_live || !is_due {
            return Ok(());
        }
        self.last = Some(Instant::now());
        let size = self.output.room();
        let room = TerminalSize {
            rows: size.rows.min(LIVE_ROWS),
            ..size
        };
        let view = view();
        let widths: Vec<usize> = view
            .lines(room, Paint::Plain)
            .iter()
            .map(|line| width(line))
            .collect();
        self.put(&[], &view.lines(room, self.output.paint()), &widths)
    }

    /// Lines that stay, and below them a picture in the place of the last one.
    fn put(
        &mut self,
        stays: &[String],
        picture: &[String],
        widths: &[usize],
    ) -> Result<(), Failure> {
        if !self.is_live {
            return stays
                .iter()
                .try_for_each(|line| self.output.text(&format!("{line}\n")));
        }
        let rows = back(&self.drawn, self.output.room());
        let separate = if picture.is_empty() {
            &[][..]
        } else {
            &[String::new()][..]
        };
        let picture = [separate, picture].concat();
        self.drawn = if picture.is_empty() {
            Vec::new()
        } else {
            [&[0], widths].concat()
        };
        self.output.text(&frame(Back::Rows(rows), stays, &picture))
    }

    /// The whole as JSON, for programs. `facts` gets the acts.
    pub(super) fn end(&mut self, facts: impl FnOnce(Vec<Value>) -> Value) -> Result<(), Failure> {
        let act = |act: &Act| {
            let text = act.text.join(" ");
            json!({ "what": act.word, "text": text, "entry": act.entry })
        };
        match self.output.format() {
            Format::Text => Ok(()),
            Format::Json => {
                let acts = self.acts.iter().map(act).collect();
                self.output.json(&facts(acts))
            }
        }
    }
}

/// An act in lines of at most 80 columns.
fn lines(act: &Act, paint: Paint) -> Vec<String> {
    let text = act
        .text
        .iter()
        .flat_map(|text| wrapped(&views::line(text), COLUMNS));
    let lines = text.enumerate().map(|(number, line)| match number {
        0 => format!(
            "{}{line}",
            paint.on(act.style, &format!("{:<WORD$}", act.word))
        ),
        _ => format!("{:<WORD$}{line}", ""),
    });
    lines.collect()
}

/// Breaks a text between its words.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(
            wrapped("incomprehensibilities", 7),
            ["incomprehensibilities"]
        );
    }
}
