//! The table of wishes: every row of `docs/seeds.md` names a test or a scenario that is there.

use crate::Rule;
use crate::source::File;

const PAGE: &str = "docs/seeds.md";
const SCENARIOS: &str = "crates/scenario/scenarios/";

/// A row has three cells: what is wished, where it lives, and what shows it.
pub(crate) fn shown(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (index, row) in page.text.lines().enumerate() {
        if let Some(problem) = problem_of(row, files) {
            found.push(format!("{PAGE}:{}: {problem}", index + 1));
        }
    }
    found
}

fn problem_of(row: &str, files: &[File]) -> Option<String> {
    let inner = row.trim().strip_prefix('|')?.strip_suffix('|')?;
    let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
    if cells[0].starts_with("---") || cells.last() == Some(&"shown by") {
        return None;
    }
    let [_, _, shows] = cells.as_slice() else {
        return Some(format!("{} cells, not three", cells.len()));
    };
    let witnesses: Vec<&str> = shows.split('`').skip(1).step_by(2).collect();
    if witnesses.is_empty() {
        return Some("no test shows it".to_owned());
    }
    let missing = witnesses.iter().find(|witness| !is_there(witness, files))?;
    Some(format!("there is no test or scenario `{missing}`"))
}

/// `ansible.md: Happy path` is a scenario; `host::flow::a_test` is a test, by its crate or suite, its
/// modules and its name.
fn is_there(witness: &str, files: &[File]) -> bool {
    match witness.split_once(": ") {
        Some((file, name)) => has_scenario(files, &format!("{SCENARIOS}{file}"), name),
        None => has_test(files, witness),
    }
}

fn has_scenario(files: &[File], path: &str, name: &str) -> bool {
    let file = files.iter().find(|file| file.path == path);
    file.is_some_and(|file| {
        let headings = file
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("## "));
        headings.into_iter().any(|heading| heading == name)
    })
}

pub(crate) fn has_test(files: &[File], witness: &str) -> bool {
    let mut words: Vec<&str> = witness.split("::").collect();
    let Some(name) = words.pop() else {
        return false;
    };
    // The modules of a file are its path, but for `tests`, which may lie inside.
    words.retain(|word| *word != "tests");
    let declared = format!("fn {name}()");
    files.iter().filter(|file| file.is_rust()).any(|file| {
        let path: Vec<&str> = file.path.trim_end_matches(".rs").split('/').collect();
        !words.is_empty()
            && words.iter().all(|word| path.contains(word))
            && is_marked(&file.text, &declared)
    })
}

/// The function stands there, with `#[test]` among the lines right above it.
fn is_marked(text: &str, declared: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.starts_with(declared));
    at.is_some_and(|at| {
        let above = lines[..at].iter().rev();
        let mut attributes = above.take_while(|line| !line.is_empty() && !line.ends_with('}'));
        attributes.any(|line| *line == "#[test]")
    })
}

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[Rule {
    says: "every row of docs/seeds.md names a test or a scenario that is there",
    find: shown,
    broken: &[
        &[("docs/seeds.md", "| wish | place | none yet |\n")],
        &[("docs/seeds.md", "| wish | `host::flow::it_works` |\n")],
        &[(
            "docs/seeds.md",
            "| wish | place | `host::flow::it_works` |\n",
        )],
        &[
            (
                "docs/seeds.md",
                "| wish | place | `host::flow::it_works` |\n",
            ),
            ("crates/a/tests/host/flow.rs", "fn it_works() {}\n"),
        ],
        &[
            ("docs/seeds.md", "| wish | place | `story.md: It works` |\n"),
            ("crates/scenario/scenarios/story.md", "## It works well\n"),
        ],
    ],
    kept: &[
        (
            "docs/seeds.md",
            "| wish | where | shown by |\n| --- | --- | --- |\n\
                 | wish | place | `host::flow::it_works`, `story.md: It works` |\n",
        ),
        (
            "crates/a/tests/host/flow.rs",
            "//! Flow.\n#[test]\nfn it_works() {}\n",
        ),
        ("crates/scenario/scenarios/story.md", "## It works\n"),
    ],
}];
