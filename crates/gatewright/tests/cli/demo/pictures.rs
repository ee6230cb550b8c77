//! The pictures in the docs are of a real run: `docs/run.svg`, the screen in the README, and the report in the tutorial.
//!
//! `UPDATE_REFERENCE=1` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

use super::Kept;

const HINT: &str =
    "type `UPDATE_REFERENCE=1 cargo test -p gatewright --test cli demo::what_the_demo`";

pub(super) fn are_of_this_run(kept: &Kept) {
    let drawn = kept.look("graph --run r-demo --format svg").succeeds();
    the_drawing_is(&drawn.stdout);
    let screen = kept.look("watch --once --select r-demo").succeeds();
    the_block_is("README.md", "watch", &screen.stdout);
    let report = kept.look("show r-demo --markdown").succeeds();
    let gates = report.stdout.split("\n## People").next();
    let gates = gates.expect("there is a first part");
    the_block_is("docs/tutorial.md", "report", gates);
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_REFERENCE").is_some()
}

fn the_drawing_is(drawn: &str) {
    let path = path("docs/run.svg");
    if is_update() {
        fs::write(&path, drawn).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == drawn,
        "{HINT}"
    );
}

/// The block of this name on the page shows this, apart from what differs from run to run.
fn the_block_is(page: &str, name: &str, shown: &str) {
    let file = path(page);
    let page = fs::read_to_string(&file).unwrap();
    let fence = format!("```text picture={name}\n");
    let (before, rest) = page.split_once(&fence).expect("the page has the picture");
    // Fences in the block are indented.
    let (block, after) = rest.split_once("\n```").expect("the block ends");
    let lines: Vec<String> = shown.lines().map(placed).collect();
    let drawn = format!("{}\n", lines.join("\n").trim_end());
    if is_update() {
        fs::write(
            file,
            [before, &fence, drawn.trim_end(), "\n```", after].concat(),
        )
        .unwrap();
    } else {
        assert_eq!(alike(block), alike(&drawn), "{HINT}");
    }
}

/// The line as in a project of a reader: the folder of the demo has another name each time.
fn placed(line: &str) -> String {
    match line.split_once(" · /") {
        Some((before, _)) => format!("{before} · /tmp/slug"),
        None => line.trim_end().to_owned(),
    }
}

/// The lines without bars, whose lengths are times, and with every number and hash made alike.
fn alike(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| {
        let words = line.split(|c: char| c.is_whitespace() || "█▓░·✗✓".contains(c));
        let words = words.filter(|word| !word.is_empty()).map(masked);
        words.collect::<Vec<_>>().join(" ")
    });
    lines.filter(|line| !line.is_empty()).collect()
}

fn masked(word: &str) -> String {
    let is_varying = |part: &str| {
        let part = part.trim_end_matches('s');
        part.contains(|c: char| c.is_ascii_digit()) && part.chars().all(|c| c.is_ascii_hexdigit())
    };
    let parts = word.split_inclusive(|c: char| !c.is_alphanumeric());
    let parts = parts.map(|part| {
        let bare = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        if is_varying(bare) {
            part.replacen(bare, "·", 1)
        } else {
            part.to_owned()
        }
    });
    parts.collect()
}
