//! Pipelines of tests: one that two files need is written once, in `testkit::pipelines`.

use crate::Rule;
use crate::source::File;

/// What has fewer lines is not worth a name.
const SHORTEST: usize = 6;

/// How many of ten lines in common make two definitions nearly the same.
const NEARLY: usize = 8;

/// A pipeline in the text of a program.
struct Definition<'a> {
    path: &'a str,
    line: usize,
    /// Its lines, without what names and describes it.
    lines: Vec<String>,
}

pub(crate) fn written_twice(files: &[File]) -> Vec<String> {
    let rust = files.iter().filter(|file| file.is_rust());
    let all: Vec<Definition<'_>> = rust.flat_map(definitions).collect();
    let mut found = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let others = all[at + 1..].iter().filter(|it| it.path != one.path);
        for other in others.filter(|it| are_nearly_the_same(&it.lines, &one.lines)) {
            found.push(format!(
                "{}:{} is nearly {}:{}",
                one.path, one.line, other.path, other.line
            ));
        }
    }
    found
}

/// The raw strings that define stages.
fn definitions(file: &File) -> Vec<Definition<'_>> {
    let openings = file.text.match_indices("r#\"");
    let found = openings.filter_map(|(at, opening)| {
        let (text, _) = file.text[at + opening.len()..].split_once("\"#")?;
        let lines = essential_lines(text);
        let is_one = text.contains("[stages.") && lines.len() >= SHORTEST;
        is_one.then(|| Definition {
            path: &file.path,
            line: file.text[..at].matches('\n').count() + 1,
            lines,
        })
    });
    found.collect()
}

/// Spaces that align do not count, and neither do the braces that a format doubles.
fn essential_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ").replace("{{", "{").replace("}}", "}")
    });
    let is_essential = |line: &String| {
        !line.is_empty() && !line.starts_with("name =") && !line.starts_with("about =")
    };
    lines.filter(is_essential).collect()
}

fn are_nearly_the_same(one: &[String], other: &[String]) -> bool {
    let mut left: Vec<&String> = other.iter().collect();
    for line in one {
        if let Some(at) = left.iter().position(|it| *it == line) {
            left.swap_remove(at);
        }
    }
    let common = other.len() - left.len();
    common * 10 >= one.len().max(other.len()) * NEARLY
}

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[Rule {
    says: "a pipeline that two files need is written once, in testkit::pipelines",
    find: written_twice,
    broken: &[
        // The same under another name, in the tests and in xtask.
        &[
            (
                "crates/a/tests/one.rs",
                "const A: &str = r#\"\nname = \"a\"\nstart = \"s\"\n[stages.s]\nagent = \"x\"\non.done = \"e\"\n\
                 [stages.e]\nend = \"completed\"\n\"#;\n",
            ),
            (
                "xtask/src/two.rs",
                "const B: &str = r#\"\nname  = \"b\"\nabout = \"B.\"\nstart = \"s\"\n\n[stages.s]\nagent   = \"x\"\n\
                 on.done = \"e\"\n\n[stages.e]\nend = \"completed\"\n\"#;\n",
            ),
        ],
        // With one line more, and as a format.
        &[
            (
                "crates/a/tests/one.rs",
                "const A: &str = r#\"\nstart = \"s\"\n[stages.s]\nsteps = [{ id = \"a\" }]\non.done = \"e\"\n\
                 [stages.e]\nend = \"completed\"\n\"#;\n",
            ),
            (
                "crates/a/tests/two.rs",
                "fn b() -> String { format!(r#\"\nstart = \"s\"\n[stages.s]\nsteps = [{{ id = \"a\" }}]\nretry = 0\n\
                 on.done = \"e\"\n[stages.e]\nend = \"completed\"\n\"#) }\n",
            ),
        ],
    ],
    kept: &[
        // Twice in one file, another one elsewhere, and lines that define no stage.
        (
            "crates/a/tests/one.rs",
            "const A: &str = r#\"\nstart = \"s\"\n[stages.s]\nagent = \"x\"\non.done = \"e\"\n[stages.e]\n\
             end = \"completed\"\n\"#;\nconst B: &str = r#\"\nstart = \"s\"\n[stages.s]\nagent = \"x\"\non.done = \"e\"\n\
             [stages.e]\nend = \"completed\"\n\"#;\nconst C: &str = r#\"\na\nb\nc\nd\ne\nf\n\"#;\n",
        ),
        (
            "crates/a/tests/two.rs",
            "const A: &str = r#\"\nstart = \"s\"\n[stages.s]\nask = \"x?\"\non.yes = \"e\"\n[stages.e]\n\
             end = \"completed\"\n\"#;\nconst C: &str = r#\"\na\nb\nc\nd\ne\nf\n\"#;\n",
        ),
    ],
}];
