//! Every page as a picture, in light, dark and on a phone: nothing is cut off, overlaps, or is too pale to be read.
//!
//! The pictures are in `target/tmp/pictures`, to be looked at.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::browser::Browser;
use testkit::{Project, Ran};

use super::super::server::Served;
use super::frozen::Owner;
use super::terminal_frame::TerminalFrame;
use crate::fixture::{PROGRAM, SMALL, run, to_the_question};

/// Tells what is wrong with the page that is shown.
const FAULTS: &str = include_str!("faults.js");

/// The name of each picture, and its page.
const PAGES: [(&str, &str); 18] = [
    ("runs", ""),
    ("runs-sorted", "?q=r-&sort=task"),
    ("run-completed", "run/r-demo"),
    ("run-live", "run/r-live"),
    ("run-waits", "run/r-test"),
    ("run-past", "run/r-demo?at=40"),
    ("history", "run/r-demo/history"),
    ("entry", "run/r-demo/entry/23"),
    ("output", "run/r-demo/output"),
    ("diff", "run/r-demo/diff"),
    ("diff-of-work", "run/r-demo/diff?of=d9"),
    ("artifacts", "run/r-demo/artifacts"),
    ("reviews", "run/r-demo/reviews"),
    ("pipelines", "pipelines"),
    ("pipeline", "pipeline/multi-ai"),
    ("figures", "figures"),
    ("compare", "compare?a=r-demo&b=r-test"),
    ("docs", "docs/serve"),
];

/// The name of each way to look, the size of the window, and the scheme.
const LOOKS: [(&str, u32, u32, &str); 3] = [
    ("light", 1280, 900, "light"),
    ("dark", 1280, 900, "dark"),
    ("phone", 390, 844, "light"),
];

/// Runs of all kinds: one of the demo that is over, one that waits, one that somebody works on.
fn project() -> (Project, Owner) {
    let project = Project::with_git(PROGRAM);
    let temporary = project.home().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut demo = project.command(["demo", "--fast", "--keep", "--json"]);
    let told = Ran::from(demo.env("TMPDIR", &temporary).output().unwrap()).succeeds();
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let folder = PathBuf::from(told["folder"].as_str().unwrap());
    fs::rename(folder.join("state/gatewright"), project.state()).unwrap();
    project.write("small.toml", SMALL);
    project.trust("small.toml");
    let task = "Write a note that tells people what has changed";
    let words = ["start", "small.toml", "--by-hand", "--id", "r-test"];
    project
        .run(words.into_iter().chain(["--task", task]))
        .succeeds();
    to_the_question(&project);
    let owner = Owner::start(&project, "r-live", "Move the settings to the new place");
    (project, owner)
}

fn keep(name: &str, picture: &[u8]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.png")), picture).unwrap();
}

#[test]
fn every_page_can_be_read_in_light_in_dark_and_on_a_phone() {
    let (project, _owner) = project();
    let served = Served::start(&project);
    let Served { port, key, .. } = &served;
    let mut browser = Browser::start();
    let mut faults = Vec::new();
    for (look, width, height, scheme) in LOOKS {
        browser.window(width, height, scheme);
        browser.open("about:blank");
        let blank = browser.picture().len();
        for (name, path) in PAGES {
            browser.open(&format!("http://127.0.0.1:{port}/{key}/{path}"));
            browser.wait_for("'script' in document.body.dataset");
            let found = browser.value(FAULTS);
            let found = found
                .as_array()
                .unwrap_or_else(|| panic!("{name}: {found}"));
            faults.extend(
                found
                    .iter()
                    .map(|fault| format!("{name} in {look}: {fault}")),
            );
            let picture = browser.picture();
            if picture.len() < 2 * blank {
                faults.push(format!("{name} in {look}: it is nearly blank"));
            }
            keep(&format!("{name}-{look}"), &picture);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    run(&project, "status r-demo").succeeds();
    let frame = TerminalFrame::of_watch(&project);
    let page = project.write("frame.html", frame.page());
    browser.window(1000, 640, "dark");
    browser.open(&format!("file://{}", page.display()));
    keep("watch", &browser.picture());
    for sign in ["? r-test", "● r-live", "✓ r-demo"] {
        assert!(frame.text.contains(sign), "no {sign:?} in {}", frame.text);
    }
}

/// The check of pages finds what it is there for: each of these pages has one fault.
#[test]
fn what_is_wrong_with_a_page_is_found() {
    let project = Project::new(PROGRAM);
    let mut browser = Browser::start();
    browser.window(390, 844, "light");
    for (fault, page) in [
        ("the page is", "<p style='width: 900px'>wide</p>"),
        (
            "cut off",
            "<p style='width: 50px; overflow: hidden; white-space: nowrap'>a long line of words</p>",
        ),
        (
            "cut off",
            "<input style='width: 40px' placeholder='a long line of words'>",
        ),
        (
            "cut off",
            "<table style='width: 60px; table-layout: fixed'><td style='white-space: nowrap'>a long line of words</table>",
        ),
        (
            "broken",
            "<p style='width: 20px; overflow-wrap: anywhere'>requirements</p>",
        ),
        ("contrast", "<p style='color: #999'>pale</p>"),
        (
            "contrast",
            "<svg width='90' height='30'><rect width='90' height='30' fill='#333'/><text x='9' y='20'>dark</text></svg>",
        ),
        (
            "overlap",
            "<p>below</p><p style='position: absolute; top: 16px; margin: 0'>above</p>",
        ),
    ] {
        let whole = format!(
            "<!doctype html><meta name='viewport' content='width=device-width'><body>{page}"
        );
        let file = project.write("page.html", whole);
        browser.open(&format!("file://{}", file.display()));
        let found = browser.value(FAULTS).to_string();
        assert!(found.contains(fault), "no {fault:?} in {found} of {page}");
    }
    let file = project.write("page.html", "<!doctype html><body><p>as it should be</p>");
    browser.open(&format!("file://{}", file.display()));
    assert_eq!(browser.value(FAULTS), serde_json::json!([]));
}
