//! The tables of `SECURITY.md`: each row has an attack, what happens, what is recorded, and a test that is
//! there.

use crate::Rule;
use crate::source::File;
use crate::wishes::has_test;

const PAGE: &str = "SECURITY.md";
const HEADER: [&str; 4] = ["attack", "what happens", "recorded", "test"];
/// What a row says that has no test.
const NONE: &str = "none";
const BATTERY: &str = "cargo xtask battery ";

fn shown(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let (mut is_inside, mut tables) = (false, 0);
    for (index, line) in page.text.lines().enumerate() {
        let Some(cells) = cells_of(line) else {
            is_inside = false;
            continue;
        };
        if cells == HEADER {
            (is_inside, tables) = (true, tables + 1);
        } else if is_inside && let Some(problem) = problem_of(&cells, files) {
            found.push(format!("{PAGE}:{}: {problem}", index + 1));
        }
    }
    if tables == 0 {
        found.push(format!("{PAGE}: no table has the cells {HEADER:?}"));
    }
    found
}

fn cells_of(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

fn problem_of(cells: &[&str], files: &[File]) -> Option<String> {
    let [attack, happens, recorded, test] = cells else {
        return Some(format!("{} cells, not four", cells.len()));
    };
    if attack.starts_with("---") || (*test == NONE && !recorded.is_empty()) {
        return None;
    }
    if happens.is_empty() || recorded.is_empty() {
        return Some("a cell is empty".to_owned());
    }
    let named: Vec<&str> = test.split('`').skip(1).step_by(2).collect();
    if named.is_empty() {
        return Some(format!("it names no test, and does not say {NONE:?}"));
    }
    let missing = named.iter().find(|name| !is_there(name, files))?;
    Some(format!("there is no test `{missing}`"))
}

fn is_there(name: &str, files: &[File]) -> bool {
    match name.strip_prefix(BATTERY) {
        Some(battery) => {
            let path = format!("xtask/src/battery/{battery}.rs");
            files.iter().any(|file| file.path == path)
        }
        None => has_test(files, name),
    }
}

/// Rows below the header of such a table.
macro_rules! table {
    ($rows:literal) => {
        concat!(
            "| attack | what happens | recorded | test |\n| --- | --- | --- | --- |\n",
            $rows
        )
    };
}

/// The rules of this file, each with small repositories that break it and one that keeps it.
pub(crate) const RULES: &[Rule] = &[Rule {
    says: "every row of SECURITY.md says what happens, what is recorded, and names a test that is there",
    find: shown,
    broken: &[
        &[(PAGE, "| attack | result |\n| --- | --- |\n| a | b |\n")],
        &[(
            PAGE,
            table!("| a | refused | nothing | `cli::doors::it_is_refused` |\n"),
        )],
        &[
            (
                PAGE,
                table!("| a | refused | nothing | `cli::doors::it_is_refused` |\n"),
            ),
            ("crates/a/tests/cli/doors.rs", "fn it_is_refused() {}\n"),
        ],
        &[(PAGE, table!("| a | refused | nothing | – |\n"))],
        &[(PAGE, table!("| a | refused | none |\n"))],
        &[(PAGE, table!("| a | refused | | none |\n"))],
        &[(
            PAGE,
            table!("| a | refused | nothing | `cargo xtask battery storm` |\n"),
        )],
    ],
    kept: &[
        (
            PAGE,
            table!(
                "| a | refused | nothing | `cli::doors::it_is_refused`, `cargo xtask battery kill` |\n\
                 | b | **runs** | nothing | none |\n\n| what | where |\n| --- | --- |\n| runs | here |\n"
            ),
        ),
        (
            "crates/a/tests/cli/doors.rs",
            "//! Doors.\n#[test]\nfn it_is_refused() {}\n",
        ),
        ("xtask/src/battery/kill.rs", "//! Kill.\n"),
    ],
}];
