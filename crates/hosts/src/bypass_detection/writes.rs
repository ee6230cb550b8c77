//! Commands that change files, and which of their words they change.

use super::DEEPEST;
use super::paths::{Path, Reach};
use crate::shell::{self, Command, Fed, Runs};

/// Programs that change every file that they name.
const CHANGERS: [&str; 34] = [
    "rm", "rmdir", "unlink", "tee", "truncate", "touch", "chmod", "chown", "chgrp", "chattr",
    "setfacl", "shred", "mkdir", "mkfifo", "mknod", "mv", "ln", "link", "ed", "ex", "vi", "vim",
    "nvim", "nano", "emacs", "sponge", "patch", "rename", "mount", "umount", "sqlite3", "srm",
    "trash", "gio",
];

/// Programs that change the last file that they name.
const COPIERS: [&str; 5] = ["cp", "install", "rsync", "scp", "ditto"];

const INTERPRETERS: [&str; 10] = [
    "node",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "awk",
    "gawk",
    "osascript",
];

/// What code says when it changes a file.
const CHANGING_CODE: [&str; 32] = [
    "write",
    "unlink",
    "remove",
    "rename",
    "replace(",
    "rmtree",
    "rmdir",
    "rmSync",
    "rm(",
    "truncate",
    "chmod",
    "chown",
    "copy",
    "move",
    "symlink",
    "link(",
    "'w",
    "\"w",
    "'a'",
    "\"a\"",
    "'r+",
    "\"r+",
    "dump(",
    "sqlite",
    "system",
    "subprocess",
    "exec",
    "spawn",
    "touch",
    "mkdir",
    ">",
    "delete",
];

/// How far back the names for `xargs` are looked for.
const LONGEST_PIPE: usize = 4;

/// What is protected, and where the text has gone with `cd`.
struct Look<'p> {
    protected: &'p [Path],
    /// Where the text begins, and where it has gone.
    start: Path,
    folder: Path,
}

pub fn changes_any(folder: &str, command: &str, protected: &[&str]) -> bool {
    let protected: Vec<_> = protected.iter().map(|path| Path::parse(path)).collect();
    let mut look = Look {
        protected: &protected,
        start: Path::parse(folder),
        folder: Path::parse(folder),
    };
    look.text(command, DEEPEST)
}

impl Look<'_> {
    fn text(&mut self, text: &str, depth: usize) -> bool {
        let all = shell::commands(text);
        all.iter().any(|command| self.command(command, &all, depth))
    }

    fn command(&mut self, command: &Command, all: &[Command], depth: usize) -> bool {
        if command
            .written
            .iter()
            .any(|file| self.changes(file, Reach::Itself))
        {
            return true;
        }
        match shell::runs(command, all) {
            Runs::Program {
                name,
                arguments,
                fed,
            } => {
                self.program(&name, &arguments)
                    || fed == Fed::Piped && self.fed(&name, command, all)
                    || self.interpreter(&name, &arguments, &shell::read_text(command, all))
            }
            Runs::Code(code) => depth > 0 && self.text(&code, depth - 1),
            Runs::Nothing => false,
        }
    }

    fn changes(&self, word: &str, reach: Reach) -> bool {
        self.path_changes(&Path::parse(word).within(&self.folder), reach)
    }

    fn path_changes(&self, path: &Path, reach: Reach) -> bool {
        self.protected
            .iter()
            .any(|protected| path.changes(protected, reach))
    }

    fn any_changes<'w>(&self, words: impl IntoIterator<Item = &'w String>, reach: Reach) -> bool {
        words.into_iter().any(|word| self.changes(word, reach))
    }

    /// The same for commands that pick what they change out of a folder. The folder in which the text
    /// begins, or one around it, is everybody's to work in.
    fn any_picks<'w>(&self, words: impl IntoIterator<Item = &'w String>, reach: Reach) -> bool {
        let words = words.into_iter().filter(|word| {
            let path = Path::parse(word).within(&self.folder);
            !path.is_around(&self.start)
        });
        self.any_changes(words, reach)
    }

    fn program(&mut self, name: &str, arguments: &[String]) -> bool {
        let option = |wanted: &[&str]| values(arguments, wanted);
        match name {
            "cd" | "pushd" => {
                self.go(arguments);
                false
            }
            "dd" => self.any_changes(&keyed(arguments, "of="), Reach::Itself),
            "git" => self.git(arguments),
            "find" => changes_found(arguments) && self.any_picks(arguments, Reach::Whole),
            "sed" | "gsed" | "perl" | "ruby" | "yq" if is_in_place(arguments) => {
                self.any_changes(arguments, Reach::Itself)
            }
            "awk" | "gawk" if arguments.iter().any(|word| word == "inplace") => {
                self.any_changes(arguments, Reach::Itself)
            }
            "curl" => self.any_changes(&option(&["-o", "--output"]), Reach::Itself),
            "wget" => self.any_changes(&option(&["-O", "--output-document"]), Reach::Itself),
            "sort" => self.any_changes(&option(&["-o", "--output"]), Reach::Itself),
            "tar" => self.any_changes(&option(&["-C", "--directory"]), Reach::Itself),
            "unzip" => self.any_changes(&option(&["-d"]), Reach::Itself),
            "mv" | "ln" => self.copied(arguments) || self.any_picks(arguments, Reach::Whole),
            "chmod" | "chown" | "chgrp" | "setfacl" => self.any_picks(arguments, reach(arguments)),
            _ if COPIERS.contains(&name) => self.copied(arguments),
            _ if CHANGERS.contains(&name) => self.any_changes(arguments, reach(arguments)),
            _ => false,
        }
    }

    fn go(&mut self, arguments: &[String]) {
        let to = arguments.iter().find(|word| !word.starts_with('-'));
        self.folder = Path::parse(to.map_or("~", String::as_str)).within(&self.folder);
    }

    /// A copy lands at its target, or in it under its own name.
    fn copied(&self, arguments: &[String]) -> bool {
        let mut targets = values(arguments, &["-t", "--target-directory"]);
        let mut words: Vec<_> = arguments
            .iter()
            .filter(|word| !word.starts_with('-'))
            .collect();
        if targets.is_empty() {
            targets.extend(words.pop().cloned());
        }
        targets.iter().any(|target| {
            let target = Path::parse(target).within(&self.folder);
            let inside = |word: &&String| target.holding(&Path::parse(word));
            self.path_changes(&target, Reach::Itself)
                || words
                    .iter()
                    .any(|word| self.path_changes(&inside(word), Reach::Itself))
        })
    }

    fn git(&self, arguments: &[String]) -> bool {
        let word = arguments.iter().find(|word| !word.starts_with('-'));
        let changes = ["checkout", "restore", "rm", "mv", "clean", "update-index"];
        word.is_some_and(|word| changes.contains(&word.as_str()))
            && self.any_picks(arguments, Reach::Whole)
    }

    /// `… | xargs rm`: the names come through the pipe.
    fn fed(&self, name: &str, command: &Command, all: &[Command]) -> bool {
        let changes = CHANGERS.contains(&name) || name == "sed" || name == "cp";
        let before = |command: &&Command| all.get(command.piped_from?);
        let pipe = std::iter::successors(before(&command), before).take(LONGEST_PIPE);
        let texts = pipe.flat_map(|command| command.words.iter().chain(&command.given));
        let mut words = texts.flat_map(|text| text.split_whitespace());
        changes && words.any(|word| self.changes(word, Reach::Itself))
    }

    /// Code on the command line, or read from a text that stands there.
    fn interpreter(&self, name: &str, arguments: &[String], read: &str) -> bool {
        let is_known = INTERPRETERS.contains(&name) || name.starts_with("python");
        is_known && (arguments.iter().any(|code| self.code(code)) || self.code(read))
    }

    fn code(&self, code: &str) -> bool {
        let is_path = |c: char| c.is_alphanumeric() || "/._-~*$".contains(c);
        let mut words = code.split(|c| !is_path(c)).filter(|word| !word.is_empty());
        let changing = || CHANGING_CODE.iter().any(|mark| code.contains(mark));
        words.any(|word| self.changes(word, Reach::Itself)) && changing()
    }
}

/// With a recursive option a program changes all that is in a folder.
fn reach(arguments: &[String]) -> Reach {
    let recursive = |word: &String| {
        let cluster = word.starts_with('-') && !word.starts_with("--");
        word == "--recursive" || cluster && word.contains(['r', 'R'])
    };
    if arguments.iter().any(recursive) {
        Reach::Whole
    } else {
        Reach::Itself
    }
}

/// `-i`, `-i.bak`, `-pi`, `--in-place`: the file itself is changed.
fn is_in_place(arguments: &[String]) -> bool {
    arguments.iter().any(|word| {
        let cluster = word
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'));
        let letters = cluster
            .unwrap_or_default()
            .split('.')
            .next()
            .unwrap_or_default();
        word.starts_with("--in-place")
            || word == "--inplace"
            || letters.contains('i') && letters.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

fn changes_found(arguments: &[String]) -> bool {
    let changes = |word: &String| {
        word == "-delete" || CHANGERS.contains(&word.as_str()) || word.starts_with("-fprint")
    };
    arguments.iter().any(changes)
}

/// The values of an option, as `-o FILE`, `-oFILE` or `--output=FILE`.
fn values(arguments: &[String], wanted: &[&str]) -> Vec<String> {
    let mut values = Vec::new();
    for (place, word) in arguments.iter().enumerate() {
        for option in wanted {
            match word.strip_prefix(option) {
                Some("") => values.extend(arguments.get(place + 1).cloned()),
                Some(value) => values.push(value.trim_start_matches('=').to_owned()),
                None => {}
            }
        }
    }
    values
}

fn keyed(arguments: &[String], key: &str) -> Vec<String> {
    let values = arguments.iter().filter_map(|word| word.strip_prefix(key));
    values.map(str::to_owned).collect()
}
