//! Tells the demo: its acts one below the other, the live view under them at a terminal, or JSON at the end.

use std::time::{Duration, Instant};

use runtime::context::Context;
use runtime::failure::Failure;
use serde_json::{Value, json};
use views::Paint;
use views::progress::{ProgressView, TerminalSize, width};

use super::screen::DemoScreen;
use super::story::Act;
use crate::output::{Format, Output};
use crate::progress_view::frame::{FrameStart, back, frame};

/// How wide the first word of an act is.
const WORD: usize = 9;

/// The widest text of an act, beside that word: all fits into 80 columns.
const COLUMNS: usize = 70;

/// A narrower terminal breaks the lines itself.
const FEWEST_COLUMNS: usize = 20;

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
    /// While this is open, nothing is printed.
    screen: Option<DemoScreen>,
    /// The story behind the screen.
    hidden: Vec<String>,
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
            screen: None,
            hidden: Vec::new(),
        }
    }

    pub(super) fn paint(&self) -> Paint {
        self.output.paint()
    }

    /// From now on, the story appears when the person has left the screen.
    pub(super) fn hide_behind(&mut self, screen: DemoScreen) {
        self.screen = Some(screen);
    }

    /// Waits until the person has left the screen, and tells what happened meanwhile.
    pub(super) fn leave_screen(&mut self) -> Result<(), Failure> {
        let left = self.screen.take().map_or(Ok(()), DemoScreen::wait);
        self.tell(&[])?;
        left
    }

    fn is_hidden(&self) -> bool {
        self.screen.as_ref().is_some_and(DemoScreen::is_open)
    }

    /// Prints text as it is; the live view under it goes.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Failure> {
        match self.output.format() {
            Format::Text => {
                let lines: Vec<String> = text.lines().map(str::to_owned).collect();
                self.tell(&lines)
            }
            Format::Json => Ok(()),
        }
    }

    pub(super) fn act(&mut self, act: Act) -> Result<(), Failure> {
        let columns = self.columns();
        let lines = lines(&act, columns, self.output.paint());
        self.acts.push(act);
        match self.output.format() {
            Format::Text => self.tell(&lines),
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
        if !self.is_live || !is_due || self.is_hidden() {
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
        self.show(view.lines(room, self.output.paint()), widths)
    }

    /// How wide the text of an act is, beside its word.
    fn columns(&self) -> usize {
        if self.is_live {
            let columns = self.output.room().columns.saturating_sub(WORD + 1);
            columns.clamp(FEWEST_COLUMNS, COLUMNS)
        } else {
            COLUMNS
        }
    }

    /// Prints lines that stay, in the place of the picture. A terminal may break them.
    fn tell(&mut self, lines: &[String]) -> Result<(), Failure> {
        self.hidden.extend_from_slice(lines);
        if self.is_hidden() {
            return Ok(());
        }
        let mut text = self.erased();
        for line in self.hidden.drain(..) {
            text.push_str(&line);
            text.push('\n');
        }
        // What goes on is shown again at once.
        self.last = None;
        self.output.text(&text)
    }

    /// What takes the picture away.
    fn erased(&mut self) -> String {
        let drawn = std::mem::take(&mut self.drawn);
        if drawn.is_empty() {
            return String::new();
        }
        let rows = back(&drawn, self.output.room());
        frame(FrameStart::Rows(rows), &[], &[])
    }

    /// Draws the picture in the place of the last one, below an empty line.
    fn show(&mut self, picture: Vec<String>, widths: Vec<usize>) -> Result<(), Failure> {
        let rows = back(&self.drawn, self.output.room());
        self.drawn = [vec![0], widths].concat();
        let picture = [vec![String::new()], picture].concat();
        self.output
            .text(&frame(FrameStart::Rows(rows), &[], &picture))
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

/// An act in lines, with a text of at most so many columns.
fn lines(act: &Act, columns: usize, paint: Paint) -> Vec<String> {
    let text = act
        .text
        .iter()
        .flat_map(|text| wrapped(&views::line(text), columns));
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
    use views::Style;

    use super::*;

    #[test]
    fn an_act_is_as_narrow_as_the_terminal_and_its_word_stands_once() {
        let texts = [
            "kill -9 hits the orchestrator, process 4711",
            "its worker is gone",
        ];
        let act = Act::new("KILLED", Style::Bad, &texts);
        assert_eq!(
            lines(&act, 25, Paint::Plain),
            [
                "KILLED   kill -9 hits the",
                "         orchestrator, process",
                "         4711",
                "         its worker is gone",
            ]
        );
    }

    #[test]
    fn a_text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(
            wrapped("incomprehensibilities", 7),
            ["incomprehensibilities"]
        );
    }
}
