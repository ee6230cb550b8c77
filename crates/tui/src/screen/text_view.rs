//! Long texts on the screen: wrapped or scrolled sideways, and searched.

use std::ops::Range;

use views::{Style, width};

use super::document::DocLine;
use super::{Focus, Mode, Screen, Tab};
use crate::event::{Effect, Key, OpenText, Wrapping};

/// How far one key scrolls sideways.
const SIDEWAYS: usize = 16;

/// How a text is shown, and what is searched in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextView {
    pub wrapping: Wrapping,
    /// The first column that is shown of lines that are not wrapped.
    pub shift: usize,
    /// What is searched, in any case; empty where nothing is.
    pub wanted: String,
}

/// An open text with the place of the reader in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pager {
    pub text: OpenText,
    pub cursor: usize,
    pub view: TextView,
}

impl TextView {
    pub(crate) fn new(wrapping: Wrapping) -> Self {
        Self {
            wrapping,
            shift: 0,
            wanted: String::new(),
        }
    }

    /// `not wrapped, from column 33`, where that is not plain.
    pub(crate) fn note(&self) -> Option<String> {
        match (self.wrapping, self.shift) {
            (Wrapping::On, _) => None,
            (Wrapping::Off, 0) => Some("not wrapped".to_owned()),
            (Wrapping::Off, shift) => Some(format!("from column {}", shift + 1)),
        }
    }
}

impl Pager {
    pub(crate) fn new(text: OpenText) -> Self {
        let view = TextView::new(text.wrapping);
        Self {
            text,
            cursor: 0,
            view,
        }
    }
}

/// Which way a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Here,
    Next,
    Previous,
}

impl Screen {
    /// The open text.
    pub(crate) fn pager(&self) -> Option<&Pager> {
        match &self.mode {
            Mode::Reading(pager) => Some(pager),
            Mode::Search { pager, .. } => pager.as_deref(),
            Mode::Normal
            | Mode::Help
            | Mode::Filter
            | Mode::Command { .. }
            | Mode::Answer { .. }
            | Mode::Confirm { .. } => None,
        }
    }

    /// Is the output of a worker what the keys are for?
    pub(crate) fn is_at_output(&self) -> bool {
        self.focus == Focus::Run && self.tab == Tab::Output
    }

    /// How the open text is shown, or the output.
    pub(crate) fn text_view(&self) -> &TextView {
        self.pager().map_or(&self.output_view, |pager| &pager.view)
    }

    /// The cursor in the open text, or in the document.
    pub(super) fn document_cursor(&mut self) -> &mut usize {
        match self.mode.open_pager() {
            Some(pager) => &mut pager.cursor,
            None => &mut self.cursor,
        }
    }

    fn text_view_mut(&mut self) -> &mut TextView {
        match self.mode.open_pager() {
            Some(pager) => &mut pager.view,
            None => &mut self.output_view,
        }
    }

    /// The keys of a long text. Says whether it was one of them.
    pub(super) fn text_key(&mut self, key: Key) -> bool {
        match key {
            Key::Char('w') => {
                let view = self.text_view_mut();
                view.shift = 0;
                view.wrapping = match view.wrapping {
                    Wrapping::On => Wrapping::Off,
                    Wrapping::Off => Wrapping::On,
                };
                self.keep_cursor();
            }
            Key::Char('<') => self.scroll_sideways(usize::saturating_sub),
            Key::Char('>') => self.scroll_sideways(usize::saturating_add),
            Key::Char('n') => self.jump(Direction::Next),
            Key::Char('N') => self.jump(Direction::Previous),
            Key::Char('/') => self.begin_search(),
            _ => return false,
        }
        true
    }

    /// Lines that are wrapped have no more columns, so they are not wrapped any longer.
    pub(super) fn scroll_sideways(&mut self, by: fn(usize, usize) -> usize) {
        let widest = self.searched_texts().iter().map(|it| width(it)).max();
        let view = self.text_view_mut();
        view.wrapping = Wrapping::Off;
        let last = widest.unwrap_or(0).saturating_sub(1);
        view.shift = by(view.shift, SIDEWAYS).min(last);
        self.keep_cursor();
    }

    /// Another layout has another number of lines.
    fn keep_cursor(&mut self) {
        let last = self.document().len().saturating_sub(1);
        let cursor = self.document_cursor();
        *cursor = (*cursor).min(last);
    }

    fn begin_search(&mut self) {
        let pager = match std::mem::replace(&mut self.mode, Mode::Normal) {
            Mode::Reading(pager) => Some(Box::new(pager)),
            Mode::Normal
            | Mode::Help
            | Mode::Filter
            | Mode::Search { .. }
            | Mode::Command { .. }
            | Mode::Answer { .. }
            | Mode::Confirm { .. } => None,
        };
        self.mode = Mode::Search {
            typed: String::new(),
            pager,
        };
    }

    pub(super) fn search_key(
        &mut self,
        key: Key,
        mut typed: String,
        pager: Option<Box<Pager>>,
    ) -> Vec<Effect> {
        let edited = super::keys::edit(key, &mut typed);
        if edited == super::keys::Edited::Typed {
            self.mode = Mode::Search { typed, pager };
            return Vec::new();
        }
        self.mode = pager.map_or(Mode::Normal, |pager| Mode::Reading(*pager));
        if edited == super::keys::Edited::Sent {
            self.text_view_mut().wanted = typed;
            self.jump(Direction::Here);
        }
        Vec::new()
    }

    /// The lines of the open text, or of the output, as they are without a layout.
    fn searched_texts(&self) -> Vec<String> {
        match (self.pager(), self.shown_run()) {
            (Some(pager), _) => pager.text.lines.iter().map(|it| it.1.clone()).collect(),
            (None, Some(run)) => {
                let output = run.output.iter().flat_map(|output| &output.lines);
                output.map(|line| line.line()).collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// Moves to the next line that has what is searched; behind the last one comes the first.
    fn jump(&mut self, direction: Direction) {
        let wanted = self.text_view().wanted.clone();
        if wanted.is_empty() {
            return;
        }
        let texts = self.searched_texts();
        let document = self.document();
        let cursor = self.pager().map_or(self.cursor, |pager| pager.cursor);
        let here = document.get(cursor).and_then(|line| line.source);
        let found: Vec<usize> = (0..texts.len())
            .filter(|place| !matches(&texts[*place], &wanted).is_empty())
            .collect();
        let Some(source) = next_of(&found, here.unwrap_or(0), direction) else {
            let text = format!("no line has “{}”", views::line(&wanted));
            self.tell(Style::Wait, text);
            return;
        };
        self.show_column(&texts[source], &wanted);
        let document = self.document();
        let is_of = |line: &&(usize, &DocLine)| line.1.source == Some(source);
        let lines: Vec<(usize, &DocLine)> = document.iter().enumerate().collect();
        let of_source = || lines.iter().filter(is_of);
        let marked = of_source().find(|line| !line.1.marks.is_empty());
        let place = marked.or_else(|| of_source().next()).map_or(0, |it| it.0);
        self.follows = false;
        *self.document_cursor() = place;
    }

    /// Scrolls a line that is not wrapped so far that the match shows.
    fn show_column(&mut self, text: &str, wanted: &str) {
        let columns = self.document_columns();
        let first = matches(text, wanted).first().map_or(0, |it| it.end);
        let view = self.text_view_mut();
        let is_shown = first > view.shift && first <= view.shift + columns;
        if view.wrapping == Wrapping::Off && !is_shown {
            view.shift = first.saturating_sub(columns / 2);
        }
    }
}

/// The nearest of these places from here.
fn next_of(found: &[usize], here: usize, direction: Direction) -> Option<usize> {
    let place = match direction {
        Direction::Here => found.iter().find(|place| **place >= here),
        Direction::Next => found.iter().find(|place| **place > here),
        Direction::Previous => found.iter().rev().find(|place| **place < here),
    };
    let around = match direction {
        Direction::Here | Direction::Next => found.first(),
        Direction::Previous => found.last(),
    };
    place.or(around).copied()
}

/// Where a line has the wanted text, in columns, whatever the case of its letters.
pub(super) fn matches(text: &str, wanted: &str) -> Vec<Range<usize>> {
    let wanted: Vec<char> = wanted.chars().flat_map(char::to_lowercase).collect();
    let letters: Vec<char> = text.chars().collect();
    let low = |letter: &char| letter.to_lowercase().next();
    let mut found = Vec::new();
    let (mut place, mut column) = (0, 0);
    while place < letters.len() {
        let rest = &letters[place..];
        let is_match = !wanted.is_empty()
            && rest.len() >= wanted.len()
            && rest
                .iter()
                .map(low)
                .zip(&wanted)
                .all(|(a, b)| a == Some(*b));
        let taken = if is_match { wanted.len() } else { 1 };
        let columns: usize = rest[..taken].iter().map(|it| columns(*it)).sum();
        if is_match {
            found.push(column..column + columns);
        }
        (place, column) = (place + taken, column + columns);
    }
    found
}

/// What of a line stands from this column on.
pub(super) fn from_column(text: &str, shift: usize) -> String {
    let mut used = 0;
    let before = |letter: &char| {
        let is_before = used < shift;
        used += columns(*letter);
        is_before
    };
    text.chars().skip_while(before).collect()
}

fn columns(letter: char) -> usize {
    width(letter.encode_utf8(&mut [0; 4]))
}
