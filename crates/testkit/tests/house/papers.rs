//! `ARCHITECTURE.md` names the files and modules that are there, and examples in comments are texts or compiled.

use crate::Rule;
use crate::source::File;

const PAGE: &str = "ARCHITECTURE.md";

/// Crates whose modules the page lists, layer by layer.
const LISTED: [&str; 2] = ["crates/engine/src/", "crates/runtime/src/"];

pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: "ARCHITECTURE.md names no file that is not there",
        find: absent_files,
        broken: &[&[
            (PAGE, "See `agent/gone.rs`."),
            ("crates/runner/src/agent/work.rs", ""),
        ]],
        kept: &[
            (PAGE, "See `agent/work.rs`, `x.rs` and `main.rs`."),
            ("crates/runner/src/agent/work.rs", ""),
            ("crates/runner/src/main.rs", ""),
        ],
    },
    Rule {
        says: "ARCHITECTURE.md names every module of the engine and the runtime",
        find: unnamed_modules,
        broken: &[&[
            (PAGE, "| words | `names` |"),
            ("crates/engine/src/names.rs", ""),
            ("crates/engine/src/outcome.rs", ""),
        ]],
        kept: &[
            (PAGE, "| words | `names`, `decide.rs` |"),
            ("crates/engine/src/names.rs", ""),
            ("crates/engine/src/decide.rs", ""),
            ("crates/engine/src/decide/admit.rs", ""),
            ("crates/engine/src/lib.rs", ""),
            ("crates/store/src/lease.rs", ""),
        ],
    },
    Rule {
        says: "an example in a comment says that it is text: `cargo xtask test` compiles only those of the test kit",
        find: unrun_examples,
        broken: &[&[(
            "crates/a/src/lib.rs",
            "//! Doc.\n/// ```\n/// f();\n/// ```\n",
        )]],
        kept: &[(
            "crates/a/src/lib.rs",
            "//! Doc.\n/// ```text\n/// f()\n/// ```\n",
        )],
    },
];

/// Words in code marks that end in `.rs`. A path is looked for anywhere in a crate; `x.rs` stands for any file.
fn absent_files(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return Vec::new();
    };
    let named = page.text.split('`').skip(1).step_by(2);
    let named = named.filter(|word| word.ends_with(".rs") && !word.contains([' ', '*', '{']));
    let named = named.filter(|word| *word != "x.rs" && !word.contains("/x"));
    let is_there = |word: &str| {
        let ending = format!("/{word}");
        let mut paths = files.iter().map(|file| &file.path);
        paths.any(|path| path == word || path.ends_with(&ending) || is_inside(path, word))
    };
    let absent = named.filter(|word| !is_there(word));
    absent.map(|word| format!("{PAGE}: {word}")).collect()
}

/// `hosts/src/program.rs` is meant below `crates`.
fn is_inside(path: &str, word: &str) -> bool {
    let without = word
        .split_once('/')
        .map(|(crate_name, rest)| format!("crates/{crate_name}/src/{rest}"));
    without.is_some_and(|meant| path == meant)
}

fn unnamed_modules(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return Vec::new();
    };
    let words: Vec<&str> = page.text.split('`').skip(1).step_by(2).collect();
    let modules = files.iter().filter_map(|file| {
        let inside = LISTED.iter().find_map(|it| file.path.strip_prefix(it))?;
        let module = inside.strip_suffix(".rs")?;
        (!module.contains('/') && module != "lib").then_some((module, file))
    });
    let unnamed =
        modules.filter(|(module, _)| !words.iter().any(|it| it.trim_end_matches(".rs") == *module));
    unnamed.map(|(_, file)| file.path.clone()).collect()
}

fn unrun_examples(files: &[File]) -> Vec<String> {
    let sources = files.iter().filter(|file| file.is_rust());
    let sources = sources.filter(|file| !file.path.starts_with("crates/testkit/src/"));
    let found = sources.flat_map(|file| {
        let mut is_open = false;
        let lines = file.text.lines().enumerate();
        let fences = lines.filter_map(|(number, line)| Some((number, fence(line)?)));
        let begun: Vec<_> = fences
            .filter(|_| {
                is_open = !is_open;
                is_open
            })
            .collect();
        let plain = begun.into_iter().filter(|(_, word)| *word != "text");
        plain.map(|(number, _)| format!("{}:{}", file.path, number + 1))
    });
    found.collect()
}

/// The word behind a fence of a doc comment.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let comment = line.strip_prefix("///").or(line.strip_prefix("//!"))?;
    comment.trim_start().strip_prefix("```")
}
