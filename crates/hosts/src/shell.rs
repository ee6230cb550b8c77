//! A shell's text, read into the commands that it plainly holds.
//!
//! Not a shell: variables keep their names, nothing runs, and the reader does not see what is put
//! together at run time. It finds what is written down.

mod program;
mod quote;
mod word;
mod wrappers;

pub use program::{Runs, base_name, is_assignment, runs};
pub use quote::shell_word;
pub use word::Word;

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
    pub words: Vec<Word>,
    /// The files that its output goes to.
    pub written: Vec<Word>,
    /// The texts that it reads: here-documents and here-strings.
    pub given: Vec<String>,
    /// The command before it in its pipe, by its place in the list.
    pub piped_from: Option<usize>,
    /// The subshells around it, from the outside in. A `cd` counts for its own and those inside.
    pub subshells: Vec<usize>,
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
    /// The subshells that are open, and how many there were.
    subshells: Vec<usize>,
    subshells_seen: usize,
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
            subshells: Vec::new(),
            subshells_seen: 0,
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

    /// Reads the commands of a subshell.
    fn subshell(&mut self, closing: char) {
        self.subshells_seen += 1;
        self.subshells.push(self.subshells_seen);
        self.list(Some(closing));
        self.subshells.pop();
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
            '(' => match self.arithmetic_end() {
                Some(end) => self.arithmetic(end, draft.word.get_or_insert_default()),
                None => {
                    self.at += 1;
                    self.end_command(draft);
                    self.subshell(')');
                }
            },
            // Nothing is open, so it closes a pattern of `case`, which is not a command.
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
        let numbered = |word: &Word| !word.is_quoted() && word.chars().all(|c| c.is_ascii_digit());
        if draft.word.as_ref().is_some_and(numbered) {
            draft.word = None;
        }
        let first = self.take();
        if self.take_if('(') {
            self.subshell(')');
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
            Expected::Word => command.words.push(word),
            Expected::Read => {}
            Expected::Written => command.written.push(word),
            Expected::Duplicated if word.chars().all(|c| c.is_ascii_digit() || c == '-') => {}
            Expected::Duplicated => command.written.push(word),
            Expected::HereString => command.given.push(word.to_string()),
            Expected::HereDocument { indented } => {
                let ticket = self.announced.len();
                draft.tickets.push(ticket);
                self.announced.push(Announced {
                    end: word.to_string(),
                    indented,
                    expanded: !word.is_quoted(),
                    ticket: usize::MAX,
                });
            }
        }
    }

    /// Puts the command into the list and says where.
    fn end_command(&mut self, draft: &mut Draft) -> Option<usize> {
        self.end_word(draft);
        let mut draft = std::mem::take(draft);
        if draft.command == Command::default() && draft.tickets.is_empty() {
            return None;
        }
        let place = self.commands.len();
        for ticket in draft.tickets {
            if let Some(announced) = self.announced.get_mut(ticket) {
                announced.ticket = place;
            }
        }
        draft.command.subshells.clone_from(&self.subshells);
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
                if let Some(protected) = self.take().filter(|c| *c != '\n') {
                    word.push_quoted(protected);
                }
            }
            Some('\'') => self.single_quoted(word),
            Some('"') => self.quoted(Some('"'), word),
            Some('$') if self.peek(0) == Some('\'') => {
                self.at += 1;
                self.escaped(word);
            }
            Some('$') if self.peek(0) == Some('"') => {}
            Some('$') => self.dollar(word),
            Some('`') => self.substitution('`', word),
            Some(c) => word.push(c),
            None => {}
        }
        // A backslash at the end of a line makes no word.
        let is_nothing = |word: &Word| word.is_empty() && !word.is_quoted();
        if draft.word.as_ref().is_some_and(is_nothing) {
            draft.word = None;
        }
    }

    fn single_quoted(&mut self, word: &mut Word) {
        word.mark_quoted();
        while let Some(c) = self.take().filter(|c| *c != '\'') {
            word.push_quoted(c);
        }
    }

    /// Text in double quotes, or a here-document that is expanded.
    fn quoted(&mut self, closing: Option<char>, word: &mut Word) {
        word.mark_quoted();
        while let Some(c) = self.take() {
            match c {
                _ if Some(c) == closing => return,
                '\\' => {
                    if let Some(protected) = self.take().filter(|c| *c != '\n') {
                        word.push_quoted(protected);
                    }
                }
                '$' => self.dollar(word),
                '`' => self.substitution('`', word),
                _ => word.push_quoted(c),
            }
        }
    }

    /// `$'…'`, in which a backslash protects a quote.
    fn escaped(&mut self, word: &mut Word) {
        word.mark_quoted();
        while let Some(c) = self.take().filter(|c| *c != '\'') {
            let c = if c == '\\' { self.take() } else { Some(c) };
            c.into_iter().for_each(|c| word.push_quoted(c));
        }
    }

    /// Where `((…))` ends that begins here. A shell takes `((` for a calculation if what closes the second
    /// parenthesis stands directly before what closes the first, and for two subshells otherwise.
    fn arithmetic_end(&self) -> Option<usize> {
        let opening = ['(', '('];
        let rest = self.text.get(self.at..)?.strip_prefix(&opening)?;
        let mut open = 1_usize;
        for (place, c) in rest.iter().enumerate() {
            match c {
                '(' => open += 1,
                ')' if open == 1 => {
                    let closed = rest.get(place + 1) == Some(&')');
                    return closed.then_some(self.at + opening.len() + place + 2);
                }
                ')' => open -= 1,
                // Quotes may hold parentheses.
                '"' | '\'' => return None,
                _ => {}
            }
        }
        None
    }

    /// A calculation runs only the commands that are substituted in it.
    fn arithmetic(&mut self, end: usize, word: &mut Word) {
        let inner = self.text.get(self.at..end).unwrap_or_default();
        let mut inner = Self::new(&inner.iter().collect::<String>(), self.depth);
        inner.quoted(None, &mut Word::default());
        self.commands.extend(inner.commands);
        self.at = end;
        word.push_str(SUBSTITUTED);
    }

    fn dollar(&mut self, word: &mut Word) {
        if let Some(end) = self.arithmetic_end() {
            return self.arithmetic(end, word);
        }
        if self.take_if('(') {
            self.substitution(')', word);
            return;
        }
        word.push('$');
        if self.peek(0) == Some('{') {
            self.braces(word);
        }
    }

    /// A variable in braces keeps its name, whatever is in there with it.
    fn braces(&mut self, word: &mut Word) {
        let mut open = 0_usize;
        while let Some(c) = self.take() {
            word.push(c);
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
        self.subshell(closing);
        let inner = self.commands.get(before..).unwrap_or_default();
        word.push_str(looked_up(inner).unwrap_or(SUBSTITUTED));
    }
}

/// `$(which claude)` stands for what it finds.
fn looked_up(inner: &[Command]) -> Option<&str> {
    let [command] = inner else { return None };
    let words: Vec<&str> = command.words.iter().map(|word| &**word).collect();
    match words.as_slice() {
        ["which" | "realpath", name] | ["command", "-v", name] | ["type", "-p", name] => Some(name),
        _ => None,
    }
}

impl Draft {
    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }
}

#[cfg(test)]
mod tests;
