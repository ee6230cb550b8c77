//! An interactive session: a person at a terminal.

use std::ops::Deref;
use std::process::Command;
use std::time::Duration;

use crate::terminal::{Ended, Terminal};
use crate::{PATIENCE, within};

/// An interactive session. All that a [`Terminal`] can, it can. It is ended when this goes.
pub struct Session(Terminal);

/// Where the person writes, and before the choice that Enter would take.
const CURSOR: char = '❯';

/// How long a key may take to have its effect before it is pressed again, and how often it is.
const ONE_PRESS: Duration = Duration::from_secs(3);
const PRESSES: usize = 30;

impl Session {
    #[track_caller]
    pub(super) fn open(command: &Command) -> Self {
        let session = Self(Terminal::open(command));
        session.wait_until(|screen| screen.contains(CURSOR));
        session
    }

    /// Types a prompt or a slash command, of one line, and presses Enter.
    ///
    /// The host takes what comes in one go for a paste, Enter included, so the key waits until the
    /// text stands there.
    #[track_caller]
    pub fn say(&self, prompt: &str) {
        self.type_text(prompt);
        self.wait_until(|screen| written(screen).contains(&squeezed(prompt)));
        self.press_until("Enter", |screen| {
            !written(screen).contains(&squeezed(prompt))
        });
    }

    /// Takes a choice of the question on the screen, by its words: an answer to a question of the
    /// model, or to the host's question whether a tool may run.
    #[track_caller]
    pub fn choose(&self, words: &str) {
        let screen = self.wait_until(|screen| number_of(screen, words).is_some());
        let number = number_of(&screen, words).expect("the choice has just been there");
        self.press_until(&number, |screen| number_of(screen, words).is_none());
    }

    /// Presses a key until it has had its effect. The host swallows keys at the moment at which it
    /// puts up a question, so that nobody answers what he has not read.
    #[track_caller]
    fn press_until(&self, key: &str, holds: impl Fn(&str) -> bool) {
        for _ in 0..PRESSES {
            self.press(key);
            if self.comes_to(&holds, ONE_PRESS) {
                return;
            }
        }
        panic!("{key} has no effect:\n{}", self.screen());
    }

    /// Leaves the session as a person does, and waits until it has ended.
    #[track_caller]
    pub fn leave(&self) -> Ended {
        self.say("/exit");
        // A key that was pressed once more than needed may have stood before it: then it was a prompt.
        if within(PATIENCE / 4, || self.exit()).is_none() {
            self.say("/exit");
        }
        self.wait_for_end()
    }
}

impl Deref for Session {
    type Target = Terminal;

    fn deref(&self) -> &Terminal {
        &self.0
    }
}

/// What stands in the place where the person writes, which is the last one with a cursor. A long
/// prompt is broken into lines, so spaces do not count.
fn written(screen: &str) -> String {
    let after = screen.rsplit(CURSOR).next();
    squeezed(after.unwrap_or_default())
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The number of the choice that begins with these words: `❯ 2. Blue`.
fn number_of(screen: &str, words: &str) -> Option<String> {
    let lines = screen
        .lines()
        .map(|line| line.trim_start_matches([CURSOR, ' ']));
    let mut choices = lines.filter_map(|line| line.split_once(". "));
    let found = choices.find(|(number, choice)| {
        number.chars().all(|c| c.is_ascii_digit()) && choice.starts_with(words)
    });
    found.map(|(number, _)| number.to_owned())
}
