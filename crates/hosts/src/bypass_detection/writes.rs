//! The files that a shell's text plainly writes, as its words name them.
//!
//! Only programs that write each file they name are here. What code does inside an interpreter, in a
//! script or behind a pipe is not read: the comparison of files before and after finds that.

use std::collections::{BTreeMap, BTreeSet};

use super::{DEEPEST, ShellText};
use crate::shell::{self, Command, Runs, Word};

/// A file or folder that a text writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The folders that the text entered with `cd` before, in their order.
    pub entered: Vec<Word>,
    pub path: Word,
    pub reach: Reach,
}

/// How much of what a command names changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The file of this name.
    Itself,
    /// The folder of this name with all that it holds.
    Tree,
    /// The same, unless it is the folder in which the text begins or one around that: such commands
    /// pick what they change.
    Picked,
    /// The file of this name, or in the folder of this name the files that these words are called.
    Copies(Vec<Word>),
}

/// Programs that write each file they name.
const WRITERS: [&str; 11] = [
    "rm", "rmdir", "unlink", "tee", "sponge", "truncate", "touch", "shred", "chmod", "chown",
    "chgrp",
];

/// Programs that write the last file they name.
const COPIERS: [&str; 6] = ["cp", "install", "ln", "mv", "rsync", "scp"];

/// How many relative `cd`s are followed.
const MOST_ENTERED: usize = 32;

/// Everything that this text plainly writes.
pub(super) fn find(text: &ShellText) -> Vec<Write> {
    let mut reader = WriteReader::default();
    reader.text(text, DEEPEST);
    let assigned = reader.assigned;
    let is_known = |word: &Word| !assigned.iter().any(|name| uses_variable(word, name));
    let mut writes = reader.writes;
    writes.retain(|write| is_known(&write.path) && write.entered.iter().all(is_known));
    writes
}

#[derive(Default)]
struct WriteReader {
    writes: Vec<Write>,
    /// The folders entered so far, in each subshell that entered one.
    entered: BTreeMap<Vec<usize>, Vec<Word>>,
    /// Variables that the text itself sets: their values are not read.
    assigned: BTreeSet<String>,
}

impl WriteReader {
    fn text(&mut self, text: &ShellText, depth: usize) {
        for (command, runs) in text.commands.iter().zip(&text.runs) {
            self.command(command, runs, depth);
        }
    }

    fn command(&mut self, command: &Command, runs: &Runs, depth: usize) {
        let assignments = command.words.iter();
        let assignments = assignments.take_while(|word| shell::is_assignment(word));
        let names = assignments.filter_map(|word| word.split('=').next());
        let names: Vec<String> = names
            .map(|name| name.trim_end_matches('+').to_owned())
            .collect();
        self.assigned.extend(names);
        for file in &command.written {
            self.add(command, file, Reach::Itself);
        }
        match runs {
            Runs::Program { name, arguments } => self.program(command, name, arguments),
            Runs::Code(code) if depth > 0 => self.inner_text(command, code, depth - 1),
            Runs::Code(_) | Runs::Nothing => {}
        }
    }

    /// A text that another shell runs begins in the same folder, and its `cd` ends with it.
    fn inner_text(&mut self, command: &Command, code: &str, depth: usize) {
        let here = self.folder_of(command).to_vec();
        let outer = std::mem::replace(&mut self.entered, BTreeMap::from([(Vec::new(), here)]));
        self.text(&ShellText::read(code), depth);
        self.entered = outer;
    }

    fn program(&mut self, command: &Command, program: &str, arguments: &[Word]) {
        match shell::base_name(program) {
            "cd" | "pushd" => self.enter(command, arguments),
            // Where these lead is not in the text.
            "popd" => self.enter(command, &[Word::from("-")]),
            "dd" => {
                let outputs = arguments
                    .iter()
                    .filter_map(|word| word.without_prefix("of="));
                outputs.for_each(|file| self.add(command, &file, Reach::Itself));
            }
            "sed" | "gsed" if is_in_place(arguments) => {
                self.add_all(command, arguments, &Reach::Itself)
            }
            "curl" => self.add_values(command, arguments, &["-o", "--output"]),
            "wget" => self.add_values(command, arguments, &["-O", "--output-document"]),
            "sort" => self.add_values(command, arguments, &["-o", "--output"]),
            "git" => self.git(command, arguments),
            "find" => self.find(command, arguments),
            name if COPIERS.contains(&name) => self.copies(command, name, arguments),
            name if WRITERS.contains(&name) => {
                self.add_all(command, arguments, &writers_reach(name, arguments))
            }
            _ => {}
        }
    }

    fn folder_of(&self, command: &Command) -> &[Word] {
        let mut shells = command.subshells.as_slice();
        loop {
            if let Some(entered) = self.entered.get(shells) {
                return entered;
            }
            match shells.split_last() {
                Some((_, outer)) => shells = outer,
                None => return &[],
            }
        }
    }

    fn enter(&mut self, command: &Command, arguments: &[Word]) {
        let is_option = |word: &&Word| word.starts_with('-') && word.len() > 1;
        let to = arguments.iter().find(|word| !is_option(word));
        let to = to.cloned().unwrap_or_else(|| Word::from("~"));
        let is_absolute = to.pattern().starts_with(['/', '~']);
        let mut entered = match self.folder_of(command) {
            _ if is_absolute => Vec::new(),
            // Further than anybody goes: where this leads is not followed.
            folder if folder.len() >= MOST_ENTERED => vec![Word::from("-")],
            folder => folder.to_vec(),
        };
        entered.push(to);
        self.entered.insert(command.subshells.clone(), entered);
    }

    fn add(&mut self, command: &Command, path: &Word, reach: Reach) {
        let entered = self.folder_of(command).to_vec();
        let path = path.clone();
        self.writes.push(Write {
            entered,
            path,
            reach,
        });
    }

    fn add_all(&mut self, command: &Command, words: &[Word], reach: &Reach) {
        for word in operands(words) {
            self.add(command, word, reach.clone());
        }
    }

    /// The values of an option, as `-o FILE` or `--output=FILE`.
    fn add_values(&mut self, command: &Command, arguments: &[Word], options: &[&str]) {
        for (place, word) in arguments.iter().enumerate() {
            let next = || arguments.get(place + 1).cloned();
            let value = options.iter().find_map(|option| {
                let joined = word.without_prefix(&format!("{option}="));
                if **word == **option { next() } else { joined }
            });
            if let Some(file) = value {
                self.add(command, &file, Reach::Itself);
            }
        }
    }

    fn copies(&mut self, command: &Command, name: &str, arguments: &[Word]) {
        let mut words: Vec<Word> = operands(arguments).cloned().collect();
        let into = ["-t", "--target-directory"];
        let place = arguments.iter().position(|word| into.contains(&&**word));
        let target = match place {
            Some(place) => arguments.get(place + 1).cloned(),
            None => words.pop(),
        };
        if name == "mv" {
            for word in &words {
                self.add(command, word, Reach::Picked);
            }
        }
        if let Some(target) = target {
            self.add(command, &target, Reach::Copies(words));
        }
    }

    fn git(&mut self, command: &Command, arguments: &[Word]) {
        let mut words = operands(arguments);
        let changes = ["checkout", "restore", "rm", "mv"];
        match words.next().map(|word| &**word) {
            Some("clean") => {
                let cleaned = cleaned(arguments);
                cleaned.for_each(|word| self.add(command, word, Reach::Picked));
            }
            // The file stays, or it stays as it is: only the index of git changes.
            Some("rm" | "restore") if only_the_index(arguments) => {}
            Some(name) if changes.contains(&name) => {
                words.for_each(|word| self.add(command, word, Reach::Picked));
            }
            Some(_) | None => {}
        }
    }

    /// `find FOLDER… -delete` empties the folders it names; with `-exec` it runs a program, which may
    /// name a file itself.
    fn find(&mut self, command: &Command, arguments: &[Word]) {
        let is_test = |word: &&Word| word.starts_with(['-', '(', '!']);
        let folders = arguments.iter().take_while(|word| !is_test(word));
        if arguments.iter().any(|word| **word == *"-delete") {
            folders.for_each(|folder| self.add(command, folder, Reach::Itself));
        }
        if let Some([program, rest @ ..]) = super::run_by_find(arguments) {
            self.program(command, program, rest);
        }
    }
}

/// The words that are not options.
fn operands(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().filter(|word| !word.starts_with('-'))
}

/// What `git clean` is to look through. The value of `-e` and `--exclude` is what it leaves alone.
fn cleaned(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    let ended = arguments.iter().position(|word| **word == *"--");
    let (options, paths) = arguments.split_at(ended.unwrap_or(arguments.len()));
    let before = std::iter::once(None).chain(options.iter().map(Some));
    let named = options.iter().zip(before);
    let named = named.filter(|(_, before)| !before.is_some_and(|word| excludes_next(word)));
    let named = named.map(|(word, _)| word);
    named
        .filter(|word| !word.starts_with('-'))
        .skip(1)
        .chain(paths.iter().skip(1))
}

/// `-e`, `-fdxe`, `--exclude` or a beginning of it: the next word is a pattern.
fn excludes_next(word: &str) -> bool {
    let is_long = word.starts_with("--e") && "--exclude".starts_with(word);
    let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
    let pattern = letters.and_then(|letters| letters.split_once('e'));
    is_long || pattern.is_some_and(|(_, joined)| joined.is_empty())
}

/// `git rm --cached`, `git restore --staged`.
fn only_the_index(arguments: &[Word]) -> bool {
    let has = |names: &[&str]| arguments.iter().any(|word| names.contains(&&**word));
    has(&["--cached"]) || has(&["--staged", "-S"]) && !has(&["--worktree", "-W"])
}

fn writers_reach(name: &str, arguments: &[Word]) -> Reach {
    let recursive = |word: &Word| {
        let cluster = word.starts_with('-') && !word.starts_with("--");
        **word == *"--recursive" || cluster && word.contains(['r', 'R'])
    };
    match name {
        _ if !arguments.iter().any(recursive) => Reach::Itself,
        "chmod" | "chown" | "chgrp" => Reach::Picked,
        _ => Reach::Tree,
    }
}

/// `-i`, `-i.bak`, `-Ei`, `--in-place`: sed writes the files themselves.
fn is_in_place(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        word.starts_with("--in-place")
            || letters
                .trim_start_matches(['n', 'E', 'r', 's', 'u', 'z'])
                .starts_with('i')
    })
}

fn uses_variable(word: &Word, name: &str) -> bool {
    word.split('$').skip(1).any(|after| {
        let after = after.trim_start_matches('{');
        let rest = after.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}
