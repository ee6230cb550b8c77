//! Confirmation of irreversible actions: a person at the terminal types a word.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;

use engine::Who;
use runtime::context::Context;
use runtime::failure::Failure;

use crate::keyboard::discard_typed;

/// The longest answer that we read. A longer one cannot be the word.
const LONGEST: u64 = 512;

/// What will be lost, and the word that confirms it.
pub(crate) struct Question<'a> {
    /// Whole lines, which say what will be lost.
    pub lost: &'a str,
    pub word: &'a str,
    /// What the word does: `cancel it`.
    pub action: &'a str,
}

/// Asks the person at the terminal. Other callers get no question: the engine judges them.
pub(crate) fn confirm(context: &Context, question: &Question<'_>) -> Result<(), Failure> {
    match context.who() {
        Who::Person(_) => ask(question),
        Who::Unattended(_) | Who::Agent(_) | Who::Through(_) | Who::Session(_) | Who::Engine => {
            Ok(())
        }
    }
}

/// Asks on the terminal itself, whatever stdin, stdout and stderr are.
pub(crate) fn ask(question: &Question<'_>) -> Result<(), Failure> {
    let Question { lost, word, action } = question;
    let path = Path::new("/dev/tty");
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let mut terminal = opened.map_err(Failure::file("open", path))?;
    discard_typed(&terminal);
    let text = format!("{lost}\nType {word} to {action}: ");
    terminal
        .write_all(text.as_bytes())
        .map_err(Failure::file("write to", path))?;
    let mut answer = Vec::new();
    BufReader::new(terminal.take(LONGEST))
        .read_until(b'\n', &mut answer)
        .map_err(Failure::file("read", path))?;
    judge(&String::from_utf8_lossy(&answer), word)
}

/// Only the word itself counts: `y` does not.
fn judge(answer: &str, word: &str) -> Result<(), Failure> {
    if answer.trim() == word {
        Ok(())
    } else {
        Err(
            Failure::refused(format!("nothing was done, because you did not type {word}"))
                .hint("retry if you mean it"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_itself_counts() {
        for (answer, expected) in [
            ("r-7f\n", true),
            ("  r-7f \r\n", true),
            ("r-7f", true),
            ("r-7\n", false),
            ("y\n", false),
            ("yes\n", false),
            ("R-7F\n", false),
            ("", false),
            ("\n", false),
        ] {
            assert_eq!(judge(answer, "r-7f").is_ok(), expected, "{answer:?}");
        }
    }
}
