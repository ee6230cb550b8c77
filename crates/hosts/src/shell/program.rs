//! What a command runs in the end, behind assignments, keywords and programs that run others.

use super::wrappers::{Wrapper, after_options, code, run_by_package_manager};
use super::{Command, Word};

/// What a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    Program {
        /// Its name, with the folder where the text names one.
        name: String,
        arguments: Vec<Word>,
    },
    /// A text for a shell.
    Code(String),
    Nothing,
}

const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "ash"];

/// Words that stand before a command and change nothing about which it is.
const BEFORE: [&str; 12] = [
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "coproc", "--", "}",
];

/// Words after which there is no command.
const INSTEAD: [&str; 6] = ["for", "case", "select", "function", "[[", "test"];

/// What a command runs. `all` is the list that it is from: a pipe may bring the text for a shell.
pub fn runs(command: &Command, all: &[Command]) -> Runs {
    let mut words = command.words.as_slice();
    // Each turn takes at least one word away.
    loop {
        words = undressed(words);
        let Some((first, rest)) = words.split_first() else {
            return Runs::Nothing;
        };
        let name = base_name(first);
        if let Some(runs) = directly(command, all, first, rest) {
            return runs;
        }
        if let Some(run) = run_by_package_manager(words) {
            words = run;
            continue;
        }
        let Some(wrapper) = Wrapper::find(name) else {
            let (name, arguments) = (first.to_string(), rest.to_vec());
            return Runs::Program { name, arguments };
        };
        if let Some(code) = wrapper.code(rest) {
            return Runs::Code(code);
        }
        words = wrapper.command(rest);
    }
}

/// What is known from the first word alone.
fn directly(command: &Command, all: &[Command], first: &str, rest: &[Word]) -> Option<Runs> {
    let name = base_name(first);
    if INSTEAD.contains(&first) || is_lookup(first, rest) {
        return Some(Runs::Nothing);
    }
    if first.contains(char::is_whitespace) {
        return Some(Runs::Code(first.to_owned()));
    }
    if name == "eval" {
        return Some(Runs::Code(joined(rest)));
    }
    SHELLS
        .contains(&name)
        .then(|| shell(command, all, name, rest))
}

/// The last part of a path, without what Windows adds to a program.
pub fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let known = [".exe", ".cmd"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    known.unwrap_or(name)
}

fn undressed(words: &[Word]) -> &[Word] {
    let dressing = |word: &Word| BEFORE.contains(&&**word) || is_assignment(word);
    let dressed = words.iter().take_while(|word| dressing(word)).count();
    words.get(dressed..).unwrap_or_default()
}

/// `NAME=value`, which sets a variable.
pub fn is_assignment(word: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = word
        .split_once('=')
        .map(|(name, _)| name.trim_end_matches('+'));
    name.is_some_and(|name| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(letter)
    })
}

/// `command -v claude` asks where it is.
fn is_lookup(first: &str, rest: &[Word]) -> bool {
    first == "command"
        && rest
            .first()
            .is_some_and(|word| matches!(&**word, "-v" | "-V"))
}

/// A shell runs the text after `-c`, or what it is given to read, unless it is given a script.
fn shell(command: &Command, all: &[Command], name: &str, rest: &[Word]) -> Runs {
    if let Some(code) = code(rest, 'c') {
        return Runs::Code(code);
    }
    if !after_options(rest, |_| false).is_empty() {
        let (name, arguments) = (name.to_owned(), rest.to_vec());
        return Runs::Program { name, arguments };
    }
    match read_text(command, all) {
        code if code.is_empty() => Runs::Nothing,
        code => Runs::Code(code),
    }
}

/// The text that a command reads, as far as it is written down: here-documents, or what the command
/// before it in the pipe prints.
fn read_text(command: &Command, all: &[Command]) -> String {
    let mut texts = command.given.clone();
    let before = command.piped_from.and_then(|place| all.get(place));
    if let Some(before) = before {
        texts.extend(before.given.iter().cloned());
        let printed = before.words.split_first();
        let printed = printed.filter(|(name, _)| matches!(base_name(name), "echo" | "printf"));
        texts.extend(printed.map(|(_, words)| joined(words)));
    }
    texts.join("\n")
}

fn joined(words: &[Word]) -> String {
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    words.join(" ")
}
