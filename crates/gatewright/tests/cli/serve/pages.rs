//! What the pages show: every page answers, text of agents stays text, and a store that goes is a clear line.

use std::fs;

use testkit::Project;

use super::server::Served;
use crate::fixture::{PROGRAM, RUN, project, run, start, started, to_the_end, to_the_question};

#[test]
fn every_page_of_a_run_answers_before_and_after_its_end() {
    let project = started();
    let served = Served::start(&project);
    let paths = [
        "",
        "?q=note",
        "?from=7",
        "run/r-test",
        "run/r-test?at=1",
        "run/r-test?at=999",
        "run/r-test/history",
        "run/r-test/history?to=1",
        "run/r-test/entry/1",
        "run/r-test/output",
        "run/r-test/diff",
        "run/r-test/artifacts",
        "run/r-test/reviews",
        "pipelines",
        "pipeline/small",
        "figures",
        "figures?pipeline=small",
        "compare",
        "compare?a=r-test&b=r-test",
        "docs",
        "docs/rules",
        "metrics",
        "style.css",
        "page.js",
    ];
    let all = || {
        for path in paths {
            let answer = served.page(path);
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        }
    };
    all();
    to_the_question(&project);
    all();
    to_the_end(&project);
    all();
    let gates = served.page("run/r-test").body;
    assert!(gates.contains("grep -q Hello note.md"), "{gates}");
    let past = served.page("run/r-test?at=1").body;
    assert!(past.contains("as it was after entry 1"), "{past}");
    assert!(!past.contains("Completed"), "{past}");
    let figures = served.page("metrics").body;
    assert!(
        figures.contains("gatewright_runs{status=\"completed\"} 1"),
        "{figures}"
    );
    let reviews = served.page("run/r-test/reviews").body;
    assert!(reviews.contains("&quot;approved&quot;"), "{reviews}");
    let note = served.page("run/r-test/artifact/note").body;
    assert!(note.contains("Hello"), "{note}");
}

#[test]
fn what_others_wrote_is_text_on_every_page() {
    let hostile = "<script>alert(1)</script>\u{1b}[31m<img src=x onerror=alert(1)>\u{202e}";
    let project = project();
    project.person(["trust", "small.toml"], "yes\n");
    project
        .run([
            "start",
            "small.toml",
            "--task",
            hostile,
            "--by-hand",
            "--id",
            RUN,
        ])
        .succeeds();
    project.write("note.md", format!("Hello {hostile}\n"));
    run(&project, "report").succeeds();
    run(&project, "check").succeeds();
    let served = Served::start(&project);
    for path in [
        "",
        "run/r-test",
        "run/r-test/history",
        "run/r-test/artifact/note",
        "run/r-test/diff",
        "compare?a=r-test&b=r-test",
    ] {
        let body = served.page(path).body;
        assert!(body.contains("alert(1)"), "{path} shows it: {body}");
        assert!(
            !body.contains("<script>") && !body.contains("<img"),
            "{path}: {body}"
        );
        assert!(
            !body.contains('\u{1b}') && !body.contains('\u{202e}'),
            "{path}"
        );
    }
}

#[test]
fn a_store_that_is_not_there_yet_or_any_more_is_a_clear_line() {
    let project = project();
    let served = Served::start(&project);
    let empty = served.page("");
    assert_eq!(empty.status, 200, "{empty:?}");
    assert!(empty.body.contains("gatewright demo"), "{}", empty.body);
    start(&project, "small.toml").succeeds();
    assert!(served.page("").body.contains(RUN));
    fs::remove_dir_all(project.state()).unwrap();
    let gone = served.page("");
    assert_eq!(gone.status, 200, "{gone:?}");
    assert!(!gone.body.contains(RUN), "{}", gone.body);
    assert_eq!(served.page("run/r-test").status, 404);
    fs::create_dir_all(project.state()).unwrap();
    fs::write(project.state().join("store.db"), "no database").unwrap();
    let damaged = served.page("");
    assert_eq!(damaged.status, 500, "{damaged:?}");
    assert!(
        damaged.body.contains("This page cannot be shown"),
        "{}",
        damaged.body
    );
}

/// A worker that prints markup, escape sequences and a line of ten megabytes.
const LOUD: &str = r#"
name  = "loud"
about = "Print a lot."
start = "printing"

[stages.printing]
agent   = "printer"
runner  = "command"
prompt  = "printer.sh"
on.done = "complete"

[stages.complete]
end = "completed"
"#;

const PRINTER: &str = r#"#!/bin/sh
printf '<script>alert(1)</script>\033[31mred\033[0m\n'
head -c 10000000 /dev/zero | tr '\0' 'x'
printf '\nthe last line\n'
"#;

#[test]
fn the_output_of_a_worker_is_text_however_long_its_lines_are() {
    let project = Project::with_git(PROGRAM);
    project.write("loud.toml", LOUD);
    project.write("printer.sh", PRINTER);
    project.trust("loud.toml");
    let words = ["run", "loud.toml", "--task", "x", "--id", RUN];
    project.run(words).succeeds();
    let served = Served::start(&project);
    let output = served.page("run/r-test/output").body;
    assert!(output.contains("&lt;script&gt;alert(1)"), "{output}");
    assert!(output.contains("the last line"), "{output}");
    assert!(
        !output.contains("<script>") && !output.contains('\u{1b}'),
        "{output}"
    );
    assert!(output.len() < 500_000, "{} bytes", output.len());
}
