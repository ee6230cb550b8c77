//! Plain English in messages, docs and prompts: phrases that are not used, and the files that still have some.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::Rule;
use crate::source::File;

/// How many phrases each file still has. The numbers only get smaller.
pub(crate) const LIST: &str = "crates/testkit/tests/house/voice.txt";

/// Phrases that are never used, in lower case.
const PHRASES: [&str; 12] = [
    "mend",
    "mends",
    "mended",
    "whoever",
    "is told",
    "are told",
    "be told",
    "what is left of",
    "the world is in the way",
    "is looked at",
    "are looked at",
    "do it again",
];

/// Words that no sentence begins with: a limit is "how many" or "at most", and not "so many".
const OPENINGS: [&str; 4] = ["so many ", "so much ", "so long ", "so often "];

/// A thing does not want. These may.
const MAY_WANT: [&str; 8] = [
    "person", "people", "user", "who", "somebody", "nobody", "anybody", "reader",
];

/// Words after `is no` that make it a plain sentence.
const AFTER_NO: [&str; 5] = ["longer", "more", "less", "different", "better"];

/// Every file has as many phrases as the list says. More is a new one; fewer is a list out of date.
pub(crate) fn plain(files: &[File]) -> Vec<String> {
    let mut listed = listed(files);
    let mut found = Vec::new();
    for file in files {
        let phrases = phrases(file);
        let expected = listed.remove(file.path.as_str()).unwrap_or_default();
        if phrases.len() > expected {
            let places = phrases.join(", ");
            found.push(format!("{}: {places}: {expected} listed", file.path));
        } else if phrases.len() < expected {
            let left = phrases.len();
            found.push(format!(
                "{}: {expected} listed, {left} left: run `UPDATE_VOICE=1 cargo test -p testkit --test house`",
                file.path
            ));
        }
    }
    let gone = listed.keys();
    found.extend(gone.map(|path| format!("{path}: listed in {LIST}, and not in the repository")));
    found
}

fn listed(files: &[File]) -> BTreeMap<&str, usize> {
    let list = files.iter().find(|file| file.path == LIST);
    let lines = list.into_iter().flat_map(|list| list.text.lines());
    let rows = lines.filter_map(|line| line.split_once(' '));
    rows.filter_map(|(count, path)| Some((path, count.parse().ok()?)))
        .collect()
}

/// Writes the list anew if `UPDATE_VOICE` is set. A number never rises; a renamed file keeps its number.
pub(crate) fn update(files: &[File]) {
    if std::env::var_os("UPDATE_VOICE").is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::write(root.join(LIST), shrunk(files)).unwrap();
}

/// The list with the smaller number of each file: as listed, or as counted now.
fn shrunk(files: &[File]) -> String {
    let listed = listed(files);
    let is_there = |path: &str| files.iter().any(|file| file.path == path);
    let gone = listed.iter().filter(|(path, _)| !is_there(path));
    let mut gone: Vec<usize> = gone.map(|(_, count)| *count).collect();
    let mut list = String::new();
    for file in files {
        let now = phrases(file).len();
        let before = match listed.get(file.path.as_str()) {
            Some(count) => *count,
            None => {
                let renamed = gone.iter().position(|count| *count == now);
                renamed.map_or(0, |at| gone.remove(at))
            }
        };
        if now.min(before) > 0 {
            let _ = writeln!(list, "{} {}", now.min(before), file.path);
        }
    }
    list
}

#[test]
fn the_list_only_shrinks() {
    let list = "3 docs/a.md\n1 docs/b.md\n2 docs/old.md\n";
    let files = [
        File::new("docs/a.md", "Mend it."),
        File::new("docs/b.md", "Mend it, whoever you are."),
        File::new("docs/c.md", "Whoever asks."),
        File::new("docs/new.md", "Mend it, whoever you are."),
        File::new(LIST, list),
    ];
    assert_eq!(shrunk(&files), "1 docs/a.md\n1 docs/b.md\n2 docs/new.md\n");
}

/// The phrases of a file, each with its line.
fn phrases(file: &File) -> Vec<String> {
    let prose = prose(file);
    let mut found = Vec::new();
    for (line, text) in prose {
        let text = without_code(&text).to_lowercase();
        let names = phrases_in(&text);
        found.extend(names.map(|phrase| format!("line {line} \"{phrase}\"")));
    }
    found
}

/// The text that people and agents read, line by line: comments and literals of Rust, and all of a
/// page, a prompt or a definition. The literals of tests quote others.
fn prose(file: &File) -> Vec<(usize, String)> {
    let name = file.path.as_str();
    let is_page = [".md", ".j2"].iter().any(|end| name.ends_with(end))
        || name.ends_with(".toml") && (name.contains("/builtin/") || name.starts_with("examples/"));
    let numbered = file.text.lines().zip(1..);
    if is_page {
        return numbered
            .map(|(text, line)| (line, text.to_owned()))
            .collect();
    }
    if !file.is_rust() {
        return Vec::new();
    }
    let comments = numbered.filter_map(|(text, line)| {
        let comment = text.trim_start().strip_prefix("//")?;
        let comment = comment.trim_start_matches(['/', '!']);
        Some((line, comment.to_owned()))
    });
    let literals = file
        .literals()
        .into_iter()
        .filter(|_| !file.is_test() && !name.starts_with("crates/testkit/"));
    comments.chain(literals).collect()
}

/// Names in backticks are not prose.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("_")
}

fn phrases_in(text: &str) -> impl Iterator<Item = String> {
    let fixed = PHRASES
        .iter()
        .flat_map(|phrase| text.match_indices(phrase))
        .filter(|(at, phrase)| is_whole(text, *at, phrase.len()))
        .filter(|(at, phrase)| !text[at + phrase.len()..].starts_with(" apart"));
    let fixed = fixed.map(|(_, phrase)| phrase.to_owned());
    let opening = OPENINGS
        .iter()
        .filter(|opening| text.trim_start().starts_with(**opening))
        .map(|opening| opening.trim_end().to_owned());
    let quotes = text
        .chars()
        .filter(|c| matches!(c, '«' | '»'))
        .map(String::from);
    let words: Vec<&str> = text.split(' ').collect();
    let wants = words.windows(2).filter(|pair| {
        let subject = pair[0].trim_matches(|c: char| !c.is_alphanumeric());
        pair[1] == "wants" && !MAY_WANT.contains(&subject)
    });
    let wants = wants.map(|pair| pair.join(" "));
    let is_no = words.windows(3).enumerate().filter(|(at, three)| {
        let before = at.checked_sub(1).map(|before| words[before]);
        let [verb, no, noun] = three else {
            return false;
        };
        matches!(*verb, "is" | "are")
            && *no == "no"
            && noun.starts_with(char::is_alphabetic)
            && !AFTER_NO.contains(&noun.trim_end_matches(|c: char| !c.is_alphanumeric()))
            && !before.is_some_and(|before| before.ends_with("there"))
    });
    let is_no = is_no.map(|(_, three)| three.join(" "));
    let found: Vec<String> = fixed
        .chain(opening)
        .chain(quotes)
        .chain(wants)
        .chain(is_no)
        .collect();
    found.into_iter()
}

/// Is this a word or phrase of its own, and not a part of a longer word?
fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !text[..at].ends_with(is_letter) && !text[at + length..].starts_with(is_letter)
}

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[Rule {
    says: "messages, docs and prompts are in plain English, and the list of exceptions only shrinks",
    find: plain,
    broken: &[
        &[("crates/a/src/lib.rs", "/// Whoever asks.\nfn f() {}\n")],
        &[("crates/a/src/lib.rs", "//! It is looked at later.\n")],
        &[("crates/a/src/lib.rs", "fn f() {\n    // Whoever asks.\n}\n")],
        &[("crates/a/tests/all.rs", "// The person is told.\n")],
        &[("crates/a/src/lib.rs", "/// So many lines are shown.\n")],
        &[(
            "crates/a/src/lib.rs",
            "const A: &str = \"the file is no JSON\";\n",
        )],
        &[(
            "crates/a/src/lib.rs",
            "const A: &str = \"a run \\\n    wants a task\";\n",
        )],
        &[("crates/a/src/lib.rs", "const A: &str = \"say «go on»\";\n")],
        &[(
            "crates/a/src/lib.rs",
            "const A: &str = r#\"mend \"it\" first\"#;\n",
        )],
        &[("docs/a.md", "The session is told why.\n")],
        &[("README.md", "Disk full: the world is in the way.\n")],
        &[(
            "crates/language/builtin/a.toml",
            "prompt = \"end what is left of it\"\n",
        )],
        &[("crates/language/builtin/a/b.md.j2", "These are no tasks.\n")],
        &[
            ("docs/a.md", "Mend it, whoever you are.\n"),
            (LIST, "1 docs/a.md\n"),
        ],
        &[("docs/a.md", "Mend it.\n"), (LIST, "2 docs/a.md\n")],
        &[(LIST, "1 docs/gone.md\n")],
    ],
    kept: &[
        (
            "crates/a/src/lib.rs",
            "//! There is no run. It is no longer open. The answer is no, and `whoever` is a name.\n\
                 // This is left of so many files.\nconst A: &str = \"a person wants to wait; recommend it\";\n\
                 fn f() { mend(wants) }\n#[cfg(test)]\nmod tests {\n    const B: &str = \"mend\";\n}\n",
        ),
        ("crates/a/tests/all.rs", "const A: &str = \"is told\";\n"),
        (
            "docs/a.md",
            "Amendments are told apart? No, whoever asks: mend them.\n",
        ),
        (LIST, "2 docs/a.md\n"),
    ],
}];
