//! A shell's text, read into the commands that it plainly holds.
//!
//! Not a shell: variables keep their names, nothing is run, and what is put together at run time is
//! not seen. Whoever wants to hide a command can; this finds what is written down.

mod program;
mod quote;
mod wrappers;

pub use program::{Fed, Runs, base_name, read_text, runs};
pub use quote::shell_word;

/// What is longer is cut before it is read, at a character.
pub const LONGEST_COMMAND: usize = 64 * 1024;

/// As much of a text for a shell as is read.
pub fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST_COMMAND))
        .unwrap_or(text)
}

/// Deeper nesting is not read.
const DEEPEST: usize = 24;

/// What stands in a word for the output of a command.
const SUBSTITUTED: &str = "$()";

/// One command with its words, without quotes and redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    pub words: Vec<String>,
    /// The files that its output is sent to.
    pub written: Vec<String>,
    /// The texts that it is given to read: here-documents and here-strings.
    pub given: Vec<String>,
    /// The command before it in its pipe, by its place in the list.
    pub piped_from: Option<usize>,
}

/// Every command of a text, also those in parentheses, substitutions and here-documents that are
/// expanded.
pub fn commands(text: &str) -> Vec<Command> {
    let mut reader = Reader::new(text, 0);
    reader.list(None);
    reader.commands
}

struct Reader {
    text: Vec<char>,
    at: usize,
    depth: usize,
    commands: Vec<Command>,
    /// Here-documents that were announced on this line, and for which command.
    announced: Vec<Announced>,
}

struct Announced {
    end: String,
    indented: bool,
    expanded: bool,
    /// Where the command is, or will be: here-documents come after the line, the command with it.
    ticket: usize,
}

/// A command that is being read.
#[derive(Default)]
struct Draft {
    command: Command,
    word: Option<Word>,
    expected: Expected,
    tickets: Vec<usize>,
}

#[derive(Default)]
struct Word {
    text: String,
    quoted: bool,
}

/// What the next word is for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Expected {
    #[default]
    Word,
    Read,
    Written,
    /// The number of an open file, or the name of one.
    Duplicated,
    HereString,
    HereDocument {
        indented: bool,
    },
}

impl Reader {
    fn new(text: &str, depth: usize) -> Self {
        Self {
            text: text.chars().collect(),
            at: 0,
            depth,
            commands: Vec::new(),
            announced: Vec::new(),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek(0);
        self.at += usize::from(next.is_some());
        next
    }

    fn take_if(&mut self, wanted: char) -> bool {
        let is_there = self.peek(0) == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads commands up to what closes them.
    fn list(&mut self, closing: Option<char>) {
        if self.depth >= DEEPEST {
            self.at = self.text.len();
            return;
        }
        self.depth += 1;
        let mut draft = Draft::default();
        while let Some(next) = self.peek(0) {
            if Some(next) == closing {
                self.at += 1;
                break;
            }
            self.token(next, &mut draft);
        }
        self.end_command(&mut draft);
        self.depth -= 1;
    }

    fn token(&mut self, next: char, draft: &mut Draft) {
        match next {
            ' ' | '\t' | '\r' => {
                self.at += 1;
                self.end_word(draft);
            }
            '\n' => {
                self.at += 1;
                self.end_command(draft);
                self.here_documents();
            }
            '&' if self.peek(1) == Some('>') => {
                self.at += 1;
                self.redirection(draft);
            }
            ';' | '&' | '|' => self.separator(next, draft),
            '<' | '>' => self.redirection(draft),
            '(' => {
                self.at += 1;
                self.end_command(draft);
                self.list(Some(')'));
            }
            // Nothing is open, so it closes a pattern of `case`, which is no command.
            ')' => {
                self.at += 1;
                *draft = Draft::default();
            }
            '#' if draft.word.is_none() => {
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            _ => self.word_part(draft),
        }
    }

    fn separator(&mut self, next: char, draft: &mut Draft) {
        self.at += 1;
        let doubled = self.take_if(next);
        let ended = self.end_command(draft);
        if next == '|' && !doubled {
            self.take_if('&');
            draft.command.piped_from = ended;
        }
    }

    fn redirection(&mut self, draft: &mut Draft) {
        // A number before it says which file is redirected.
        let numbered = |word: &Word| !word.quoted && word.text.chars().all(|c| c.is_ascii_digit());
        if draft.word.as_ref().is_some_and(numbered) {
            draft.word = None;
        }
        let first = self.take();
        if self.take_if('(') {
            self.list(Some(')'));
            draft.push(SUBSTITUTED);
            return;
        }
        self.end_word(draft);
        draft.expected = match first {
            Some('<') => self.reading(),
            _ => self.writing(),
        };
    }

    fn reading(&mut self) -> Expected {
        if self.take_if('>') {
            return Expected::Written;
        }
        if self.take_if('&') {
            return Expected::Duplicated;
        }
        if !self.take_if('<') {
            return Expected::Read;
        }
        if self.take_if('<') {
            return Expected::HereString;
        }
        let indented = self.take_if('-');
        Expected::HereDocument { indented }
    }

    fn writing(&mut self) -> Expected {
        if self.take_if('&') {
            return Expected::Duplicated;
        }
        if !self.take_if('>') {
            self.take_if('|');
        }
        Expected::Written
    }

    fn end_word(&mut self, draft: &mut Draft) {
        let Some(word) = draft.word.take() else {
            return;
        };
        let command = &mut draft.command;
        match std::mem::take(&mut draft.expected) {
            Expected::Word => command.words.push(word.text),
            Expected::Read => {}
            Expected::Written => command.written.push(word.text),
            Expected::Duplicated if word.text.chars().all(|c| c.is_ascii_digit() || c == '-') => {}
            Expected::Duplicated => command.written.push(word.text),
            Expected::HereString => command.given.push(word.text),
            Expected::HereDocument { indented } => {
                let ticket = self.announced.len();
                draft.tickets.push(ticket);
                self.announced.push(Announced {
                    end: word.text,
                    indented,
                    expanded: !word.quoted,
                    ticket: usize::MAX,
                });
            }
        }
    }

    /// Puts the command into the list and says where.
    fn end_command(&mut self, draft: &mut Draft) -> Option<usize> {
        self.end_word(draft);
        let draft = std::mem::take(draft);
        if draft.command == Command::default() && draft.tickets.is_empty() {
            return None;
        }
        let place = self.commands.len();
        for ticket in draft.tickets {
            if let Some(announced) = self.announced.get_mut(ticket) {
                announced.ticket = place;
            }
        }
        self.commands.push(draft.command);
        Some(place)
    }

    /// Reads the here-documents that the line before has announced.
    fn here_documents(&mut self) {
        for announced in std::mem::take(&mut self.announced) {
            let body = self.here_document(&announced);
            if announced.expanded {
                let mut inner = Self::new(&body, self.depth);
                inner.quoted(None, &mut Word::default());
                self.commands.extend(inner.commands);
            }
            if let Some(command) = self.commands.get_mut(announced.ticket) {
                command.given.push(body);
            }
        }
    }

    fn here_document(&mut self, announced: &Announced) -> String {
        let mut body = String::new();
        while self.peek(0).is_some() {
            let line = self.line();
            let shown = if announced.indented {
                line.trim_start_matches('\t')
            } else {
                &line
            };
            if shown == announced.end {
                break;
            }
            body.push_str(shown);
            body.push('\n');
        }
        body
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        while let Some(c) = self.take() {
            if c == '\n' {
                break;
            }
            line.push(c);
        }
        line
    }

    fn word_part(&mut self, draft: &mut Draft) {
        let word = draft.word.get_or_insert_default();
        match self.take() {
            Some('\\') => {
                let protected = self.take().filter(|c| *c != '\n');
                word.quoted |= protected.is_some();
                word.text.extend(protected);
            }
            Some('\'') => {
                word.quoted = true;
                self.single_quoted(word);
            }
            Some('"') => {
                word.quoted = true;
                self.quoted(Some('"'), word);
            }
            Some('$') if self.peek(0) == Some('\'') => {
                self.at += 1;
                self.escaped(word);
            }
            Some('$') if self.peek(0) == Some('"') => {}
            Some('$') => self.dollar(word),
            Some('`') => self.substitution('`', word),
            Some(c) => word.text.push(c),
            None => {}
        }
        // A line that goes on is no word.
        if draft
            .word
            .as_ref()
            .is_some_and(|word| word.text.is_empty() && !word.quoted)
        {
            draft.word = None;
        }
    }

    fn single_quoted(&mut self, word: &mut Word) {
        while let Some(c) = self.take().filter(|c| *c != '\'') {
            word.text.push(c);
        }
    }

    /// Text in double quotes, or a here-document that is expanded.
    fn quoted(&mut self, closing: Option<char>, word: &mut Word) {
        while let Some(c) = self.take() {
            match c {
                _ if Some(c) == closing => return,
                '\\' => word.text.extend(self.take().filter(|c| *c != '\n')),
                '$' => self.dollar(word),
                '`' => self.substitution('`', word),
                _ => word.text.push(c),
            }
        }
    }

    /// `$'…'`, in which a backslash protects a quote.
    fn escaped(&mut self, word: &mut Word) {
        word.quoted = true;
        while let Some(c) = self.take().filter(|c| *c != '\'') {
            let c = if c == '\\' { self.take() } else { Some(c) };
            word.text.extend(c);
        }
    }

    fn dollar(&mut self, word: &mut Word) {
        if self.take_if('(') {
            self.substitution(')', word);
            return;
        }
        word.text.push('$');
        if self.peek(0) == Some('{') {
            self.braces(word);
        }
    }

    /// A variable in braces keeps its name, whatever is in there with it.
    fn braces(&mut self, word: &mut Word) {
        let mut open = 0_usize;
        while let Some(c) = self.take() {
            word.text.push(c);
            match c {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }

    fn substitution(&mut self, closing: char, word: &mut Word) {
        let before = self.commands.len();
        self.list(Some(closing));
        let inner = self.commands.get(before..).unwrap_or_default();
        word.text.push_str(looked_up(inner).unwrap_or(SUBSTITUTED));
    }
}

/// `$(which claude)` stands for what it finds.
fn looked_up(inner: &[Command]) -> Option<&str> {
    let [command] = inner else { return None };
    let words: Vec<_> = command.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["which" | "realpath", name] | ["command", "-v", name] | ["type", "-p", name] => Some(name),
        _ => None,
    }
}

impl Draft {
    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().text.push_str(text);
    }
}

#[cfg(test)]
mod tests;
