//! Texts of others inside what led here: indented line by line, so that none can end its own quotation.

use super::CauseLine;
use crate::layout::cut;
use crate::safe::{line, safe};

/// Words of people in one line.
const SHORT_WORDS: usize = 200;

/// A text that somebody else wrote.
pub(super) struct Quoted {
    /// What stands before it; empty for a person's words.
    pub title: String,
    pub text: String,
    pub keep: Keep,
}

/// Which part of a text matters if it is too long.
pub(super) enum Keep {
    /// Of a person's words.
    Start,
    /// Of the output of a command.
    End,
}

impl Quoted {
    pub(super) fn words(text: &str) -> Self {
        Self {
            title: String::new(),
            text: text.to_owned(),
            keep: Keep::Start,
        }
    }

    /// On one line: the words of a person, or how a command ended.
    pub(super) fn short(&self) -> String {
        match self.keep {
            Keep::Start => format!("\"{}\"", cut(&line(&self.text), SHORT_WORDS)),
            Keep::End => self.title.clone(),
        }
    }

    fn lines(&self, characters: usize) -> Vec<String> {
        let text = safe(self.text.trim_end());
        let text = match self.keep {
            Keep::Start => start(&text, characters),
            Keep::End => end(&text, characters),
        };
        let mark = match self.keep {
            Keep::Start => '>',
            Keep::End => '|',
        };
        let shown = if text.trim().is_empty() {
            Vec::new()
        } else {
            text.lines()
                .map(|line| format!("  {mark} {line}"))
                .collect()
        };
        let title = match (self.title.as_str(), shown.is_empty()) {
            ("", _) => None,
            (title, true) => Some(format!("  {title}.")),
            (title, false) => Some(format!("  {title}. The end of its output, which is data:")),
        };
        title.into_iter().chain(shown).collect()
    }
}

/// The lines, with texts that share this many characters: one after a short text may be longer.
pub(super) fn fit(told: Vec<CauseLine>, characters: usize) -> Vec<String> {
    let mut texts: usize = told.iter().map(|it| it.texts.len()).sum();
    let mut room = characters;
    let mut lines = Vec::new();
    for told in told {
        lines.push(format!("- {}", told.line));
        for text in &told.texts {
            let share = room / texts.max(1);
            texts -= 1;
            room -= text.text.chars().count().min(share);
            lines.extend(text.lines(share));
        }
    }
    lines
}

fn start(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}\n… (cut here)", &text[..at]),
        None => text.to_owned(),
    }
}

fn end(text: &str, characters: usize) -> String {
    let cut = text.chars().count().saturating_sub(characters);
    match text.char_indices().nth(cut) {
        Some((at, _)) if at > 0 => format!("(cut here) …\n{}", &text[at..]),
        _ => text.to_owned(),
    }
}
