//! The paths that a word of a shell's text names: variables, braces and globs expanded as a shell
//! would, against the files that are there. A word that depends on more than the text says names nothing.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use glob::Pattern;
use hosts::shell::Word;
use runtime::environment::Environment;

use super::resolve::Resolver;

/// A text that names more files than this is not followed further.
const MOST_PATHS: usize = 4096;

/// Braces in braces are expanded to this many words.
const MOST_WORDS: usize = 256;

/// A shell at work in a folder.
pub(super) struct Shell<'e> {
    pub environment: &'e Environment,
    pub resolver: &'e Resolver,
    /// Where its text begins, as it was told.
    told: &'e Path,
    /// The same with every link followed. Most texts name no file, and need no folder.
    folder: OnceCell<PathBuf>,
}

impl<'e> Shell<'e> {
    pub(super) fn new(
        environment: &'e Environment,
        resolver: &'e Resolver,
        told: &'e Path,
    ) -> Self {
        let folder = OnceCell::new();
        Self {
            environment,
            resolver,
            told,
            folder,
        }
    }

    /// Where its text begins.
    pub(super) fn folder(&self) -> &Path {
        self.folder
            .get_or_init(|| self.resolver.resolved(self.told))
    }

    /// The folder in which the text is after these `cd`s; none where it does not tell.
    pub(super) fn after(&self, entered: &[Word]) -> Option<PathBuf> {
        let start = self.folder().to_owned();
        entered.iter().try_fold(start, |folder: PathBuf, word| {
            if &**word == "-" {
                return None;
            }
            let mut paths = self.paths(&folder, word).into_iter();
            match (paths.next(), paths.next()) {
                (Some(path), None) => Some(path),
                (_, Some(_)) | (None, _) => None,
            }
        })
    }

    /// Every path that this word names in a folder.
    pub(super) fn paths(&self, folder: &Path, word: &Word) -> Vec<PathBuf> {
        let Some(pattern) = self.with_values(folder, word.pattern()) else {
            return Vec::new();
        };
        let words = braces(&pattern);
        let paths = words.iter().flat_map(|word| globbed(folder, word));
        paths.take(MOST_PATHS).collect()
    }

    /// The pattern with a value for each variable and `~`; none where one is unknown.
    fn with_values(&self, folder: &Path, pattern: &str) -> Option<String> {
        let value = |path: PathBuf| path.to_str().map(protected);
        let (mut text, rest) = match pattern.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                (value(self.environment.home()?)?, rest)
            }
            // Another person's home.
            Some(_) => return None,
            None => (String::new(), pattern),
        };
        let mut rest = rest.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\\' => text.extend([Some('\\'), rest.next()].into_iter().flatten()),
                '$' => {
                    let braced = rest.next_if_eq(&'{').is_some();
                    let mut name = String::new();
                    let is_letter = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
                    while let Some(c) = rest.next_if(is_letter) {
                        name.push(c);
                    }
                    if braced && rest.next() != Some('}') {
                        return None;
                    }
                    text.push_str(&value(self.variable(folder, &name)?)?);
                }
                '`' => return None,
                c => text.push(c),
            }
        }
        Some(text)
    }

    fn variable(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        match name {
            "PWD" => Some(folder.to_owned()),
            name => self.environment.path_in(name),
        }
    }
}

/// A value is plain text: nothing in it is expanded.
fn protected(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        if "*?[]{},~$\\".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// `a{b,c}` as `ab` and `ac`. Braces without a comma are plain text, and so is `{1..3}`, whose words
/// name no file of ours.
fn braces(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(word) = open.pop() {
        match choices(&word) {
            Some(words) if open.len() + done.len() < MOST_WORDS => open.extend(words),
            Some(_) | None => done.push(word),
        }
    }
    done
}

/// The words that the first choice in braces stands for.
fn choices(word: &str) -> Option<Vec<String>> {
    let mut starts = special(word, '{');
    starts.find_map(|start| {
        let (mut depth, mut commas, mut end) = (0_usize, Vec::new(), None);
        for (place, c) in unprotected(word).filter(|(place, _)| *place >= start) {
            match c {
                '{' => depth += 1,
                ',' if depth == 1 => commas.push(place),
                '}' if depth == 1 => {
                    end = Some(place);
                    break;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        let end = end.filter(|_| !commas.is_empty())?;
        let (before, after) = (word.get(..start)?, word.get(end + 1..)?);
        let mut from = start + 1;
        let parts = commas.into_iter().chain([end]).filter_map(|to| {
            let part = word.get(from..to);
            from = to + 1;
            part
        });
        Some(parts.map(|part| format!("{before}{part}{after}")).collect())
    })
}

/// The characters that no backslash protects, with their places.
fn unprotected(word: &str) -> impl Iterator<Item = (usize, char)> {
    let mut protected = false;
    word.char_indices().filter(move |(_, c)| {
        let is_plain = !protected && *c != '\\';
        protected = !protected && *c == '\\';
        is_plain
    })
}

fn special(word: &str, wanted: char) -> impl Iterator<Item = usize> {
    unprotected(word).filter_map(move |(place, c)| (c == wanted).then_some(place))
}

/// The files that a glob matches, or the one path of a word without one.
fn globbed(folder: &Path, word: &str) -> Vec<PathBuf> {
    if !is_glob(word) {
        return vec![folder.join(plain(word))];
    }
    let start = if word.starts_with('/') {
        PathBuf::from("/")
    } else {
        folder.to_owned()
    };
    let parts = word.split('/').filter(|part| !part.is_empty());
    parts.fold(vec![start], |folders, part| {
        if !is_glob(part) {
            let part = plain(part);
            return folders.iter().map(|folder| folder.join(&part)).collect();
        }
        let Ok(pattern) = Pattern::new(&as_pattern(part)) else {
            return Vec::new();
        };
        let found = folders.iter().flat_map(|folder| matched(folder, &pattern));
        found.take(MOST_PATHS).collect()
    })
}

fn is_glob(word: &str) -> bool {
    unprotected(word).any(|(_, c)| matches!(c, '*' | '?' | '['))
}

/// What a folder holds that the pattern matches. Only a pattern with a leading dot matches hidden files.
fn matched(folder: &Path, pattern: &Pattern) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().take(MOST_PATHS);
    let matches = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| {
            let is_hidden = name.starts_with('.') && !pattern.as_str().starts_with('.');
            !is_hidden && pattern.matches(name)
        })
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths.filter(matches).collect()
}

/// The word without its backslashes.
fn plain(word: &str) -> String {
    let mut rest = word.chars();
    std::iter::from_fn(|| match rest.next()? {
        '\\' => rest.next(),
        c => Some(c),
    })
    .collect()
}

/// The word as a pattern: what a backslash protects stands in brackets, and `**` is `*`.
fn as_pattern(word: &str) -> String {
    let mut pattern = String::new();
    let mut rest = word.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                let mut bytes = [0; 4];
                let c = rest.next().map(|c| &*c.encode_utf8(&mut bytes));
                pattern.push_str(&Pattern::escape(c.unwrap_or_default()));
            }
            '*' if pattern.ends_with('*') => {}
            c => pattern.push(c),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(rows: &[(&str, &[&str])]) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["home/.cfg", "work/src", "work/.hidden"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        for file in ["work/a.md", "work/b.md", "work/a*b", "work/src/c.rs"] {
            fs::write(root.join(file), "").unwrap();
        }
        let home = root.join("home").into_os_string();
        let environment = Environment::new([("HOME".into(), home)]);
        let (resolver, work) = (Resolver::default(), root.join("work"));
        let shell = Shell::new(&environment, &resolver, &work);
        for (text, expected) in rows {
            let commands = hosts::shell::commands(&format!("rm {text}"));
            let words = commands[0].words.iter().skip(1);
            let mut paths: Vec<_> = words
                .flat_map(|word| shell.paths(shell.folder(), word))
                .map(|path| path.strip_prefix(&root).unwrap().to_owned())
                .map(|path| path.to_str().unwrap().to_owned())
                .collect();
            paths.sort();
            assert_eq!(paths, *expected, "{text}");
        }
    }

    #[test]
    fn words_are_expanded_against_the_files_that_are_there() {
        check(&[
            ("a.md", &["work/a.md"]),
            ("new.md", &["work/new.md"]),
            ("*.md", &["work/a.md", "work/b.md"]),
            ("*", &["work/a*b", "work/a.md", "work/b.md", "work/src"]),
            (".h*", &["work/.hidden"]),
            ("**/*.rs", &["work/src/c.rs"]),
            ("'*.md'", &["work/*.md"]),
            ("a\\*b", &["work/a*b"]),
            ("\"a*\"b", &["work/a*b"]),
            ("*.none", &[]),
            ("{a,b}.md", &["work/a.md", "work/b.md"]),
            ("{x,{y,z}w}", &["work/x", "work/yw", "work/zw"]),
            ("{}", &["work/{}"]),
            ("'{a,b}'", &["work/{a,b}"]),
            ("~/.cfg", &["home/.cfg"]),
            ("$HOME/.cfg", &["home/.cfg"]),
            ("\"${HOME}\"/x", &["home/x"]),
            ("$PWD/x", &["work/x"]),
            ("'$HOME'", &["work/$HOME"]),
            ("'~'", &["work/~"]),
            ("$UNKNOWN/x", &[]),
            ("${HOME:-x}/y", &[]),
            ("~other/x", &[]),
            ("$(pwd)/x", &[]),
        ]);
    }

    #[test]
    fn many_braces_end() {
        let environment = Environment::default();
        let resolver = Resolver::default();
        let shell = Shell::new(&environment, &resolver, Path::new("/nowhere"));
        let text = "{a,b}".repeat(64);
        let paths = shell.paths(shell.folder(), &Word::from(text.as_str()));
        assert!(paths.len() <= MOST_PATHS, "{}", paths.len());
    }
}
