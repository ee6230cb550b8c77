//! What the pages show: every page answers, text of agents stays text, and a store that goes is a clear line.

use std::fs;

use engine::{Decision, Entry, Fact, Reply, Rule, RunId, Status, Time, Who};
use rusqlite::Connection;
use store::{Access, Backend as _, Commit, Sqlite, StoredRun};
use testkit::pipelines::{PANEL, SCRIPTED};
use testkit::{Project, Ran};

use super::server::Served;
use crate::fixture::{
    PROGRAM, RUN, SMALL, project, run, start, started, to_the_end, to_the_question,
};

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
fn a_question_after_a_review_names_its_reviewers_and_what_they_said() {
    let project = Project::with_git(PROGRAM);
    project.write("panel.toml", PANEL);
    project.trust("panel.toml");
    run(
        &project,
        &format!("start panel.toml --by-hand --task x --id {RUN}"),
    )
    .succeeds();
    let reports = |agent: &str, file: &str, text: &str| {
        project.write(file, text);
        run(&project, &format!("report --agent {agent}")).succeeds();
    };
    reports("writer", "note.txt", "a note");
    for round in 1..=2 {
        let objects = format!(r#"{{"status": "needs_changes", "hole": "<b>{round}</b>"}}"#);
        reports("ca", "ra.json", &objects);
        reports("writer", "note.txt", &format!("note {round}"));
        let approves = format!(r#"{{"status": "approved", "round": {round}}}"#);
        reports("cb", "rb.json", &approves);
    }
    let served = Served::start(&project);
    for path in ["", "run/r-test"] {
        let page = served.page(path).body;
        for title in ["ra, from 'ca' (needs_changes)", "rb, from 'cb' (approved)"] {
            assert!(page.contains(title), "{path}: {title}: {page}");
        }
    }
    let page = served.page("run/r-test").body;
    assert!(page.contains("&lt;b&gt;2&lt;/b&gt;"), "{page}");
    assert!(!page.contains("<b>2</b>"), "{page}");
}

#[test]
fn two_reviewers_who_leave_the_same_artifact_have_their_own_text_on_the_page() {
    let project = Project::with_git(PROGRAM);
    let same = PANEL.replace("leaves = \"rb\"", "leaves = \"ra\"");
    let declared = "[artifacts.rb]\npath    = \"rb.json\"\nformat  = \"json\"\noutcome = { field = \"status\", values = [\"approved\", \"needs_changes\"] }\n";
    project.write("panel.toml", same.replace(declared, ""));
    project.trust("panel.toml");
    run(
        &project,
        &format!("start panel.toml --by-hand --task x --id {RUN}"),
    )
    .succeeds();
    let reports = |agent: &str, file: &str, text: &str| {
        project.write(file, text);
        run(&project, &format!("report --agent {agent}")).succeeds();
    };
    reports("writer", "note.txt", "a note");
    for round in 1..=2 {
        let objects = format!(r#"{{"status": "needs_changes", "hole": {round}}}"#);
        reports("ca", "ra.json", &objects);
        reports("writer", "note.txt", &format!("note {round}"));
        let approves = format!(r#"{{"status": "approved", "round": {round}}}"#);
        reports("cb", "ra.json", &approves);
    }
    let page = Served::start(&project).page("run/r-test").body;
    let count = |text: &str| page.matches(text).count();
    assert_eq!(count("<summary>ra, from 'ca' (needs_changes)"), 1, "{page}");
    assert_eq!(count("<summary>ra, from 'cb' (approved)"), 1, "{page}");
    // The page of the artifact has the latest copy, which is the other's.
    let links = |title: &str| count(&format!("artifact/ra\">{title}"));
    assert_eq!(links("ra, from 'ca' (needs_changes)"), 0, "{page}");
    assert_eq!(links("ra, from 'cb' (approved)"), 1, "{page}");
    let ids: Vec<&str> = page.split(" id=\"").skip(1).collect();
    let ids: Vec<&str> = ids.iter().filter_map(|it| it.split('"').next()).collect();
    let different: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(ids.len(), different.len(), "{ids:?}");
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

/// Prints markup, escape sequences and a line of ten megabytes.
const PRINTER: &str = r#"#!/bin/sh
printf '<script>alert(1)</script>\033[31mred\033[0m\n'
head -c 10000000 /dev/zero | tr '\0' 'x'
printf '\nthe last line\n'
"#;

#[test]
fn the_output_of_a_worker_is_text_however_long_its_lines_are() {
    let project = Project::with_git(PROGRAM);
    project.write("scripted.toml", SCRIPTED);
    project.write("worker.sh", PRINTER);
    project.trust("scripted.toml");
    let words = ["run", "scripted.toml", "--task", "x", "--id", RUN];
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

/// Adds notes to the run until it has so many entries, as a host does whose events advance nothing.
fn grow(project: &Project, entries: u64) {
    let mut store = Sqlite::open(&project.state(), Access::Write).unwrap();
    let id = RunId::parse(RUN).unwrap();
    let mut stored = store.run(&id).unwrap().unwrap();
    while stored.version < entries {
        let commit = Commit {
            run: &id,
            seen: stored.version,
            key: None,
            contents: &[],
            fence: None,
            secrets: &[],
            status: &|_| Status::Running,
        };
        let last = entries.min(stored.version + AT_ONCE);
        let numbers = stored.version + 1..=last;
        let decision = Decision {
            reply: Reply::Done,
            entries: numbers.map(|number| note(&stored, number)).collect(),
            rule: Rule::Unmatched,
        };
        store.transact(&commit, &mut |_| decision.clone()).unwrap();
        stored = store.run(&id).unwrap().unwrap();
    }
    store.close();
}

/// What one decision leaves.
const AT_ONCE: u64 = 250;

fn note(stored: &StoredRun, number: u64) -> Entry {
    Entry {
        at: Time(stored.run.started_at.0 + number),
        by: Who::Engine,
        rule: Rule::Unmatched,
        fact: Fact::Noted {
            message: format!("note {number}"),
        },
    }
}

#[test]
fn a_run_with_a_hundred_thousand_entries_is_shown_a_page_at_a_time() {
    let project = started();
    grow(&project, 100_000);
    let served = Served::start(&project);
    for (path, words) in [
        ("run/r-test", "All 100000 entries"),
        ("run/r-test/history", "99901–100000 of 100000"),
        ("run/r-test/history?to=7", "1–7 of 100000"),
        ("run/r-test?at=50000", "as it was after entry 50000"),
        ("run/r-test/entry/99999", "note 99999"),
        ("", "write a note"),
    ] {
        let answer = served.page(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.body.contains(words), "{path}: {}", answer.body);
        assert!(answer.body.len() < 200_000, "{path}: {}", answer.body.len());
    }
}

#[test]
fn a_store_of_a_newer_version_is_a_clear_line_and_comes_back_with_the_version() {
    let project = started();
    let served = Served::start(&project);
    let version = |number: i64| {
        let database = Connection::open(project.state().join("store.db")).unwrap();
        let was = database.pragma_query_value(None, "user_version", |row| row.get(0));
        database
            .pragma_update(None, "user_version", number)
            .unwrap();
        was.unwrap()
    };
    let was = version(99);
    for path in ["", "run/r-test", "figures", "pipelines"] {
        let newer = served.page(path);
        assert_eq!(newer.status, 500, "{path}: {newer:?}");
        assert!(!newer.body.contains("write a note"), "{path}: {newer:?}");
        assert!(newer.body.contains("format 99"), "{path}: {newer:?}");
    }
    version(was);
    assert!(served.page("").body.contains("write a note"));
}

/// The rows of the runs page, by their ids, in the order in which they stand there.
fn listed(body: &str) -> Vec<&str> {
    let ids = body.split("<code class=\"id\">").skip(1);
    ids.filter_map(|rest| rest.split('<').next()).collect()
}

#[test]
fn runs_stand_under_their_repository_and_worktree_with_bars_and_can_be_filtered_and_sorted() {
    let project = Project::with_git(PROGRAM);
    project.write("small.toml", SMALL);
    project.trust("small.toml");
    project.git(["worktree", "add", "--quiet", "-b", "other", "../other"]);
    let begin = |id: &str, task: &str, folder: &str| {
        let words = ["start", "--by-hand", "--id", id, "--task", task];
        let pipeline = project.path().join("small.toml");
        let mut command = project.command(words);
        command
            .arg(pipeline)
            .current_dir(project.path().join(folder));
        Ran::from(command.output().unwrap()).succeeds();
    };
    begin("r-a", "zebra", ".");
    begin("r-b", "apple", "../other");
    let served = Served::start(&project);
    let home = served.page("").body;
    assert_eq!(home.matches("class=\"repository\"").count(), 1, "{home}");
    assert_eq!(home.matches("class=\"worktree\"").count(), 2, "{home}");
    assert_eq!(home.matches("class=\"bar ").count(), 2, "{home}");
    assert_eq!(listed(&home), ["r-b", "r-a"]);
    let sorted = served.page("?sort=task").body;
    assert_eq!(listed(&sorted), ["r-b", "r-a"], "apple is before zebra");
    assert!(sorted.contains("aria-sort=\"ascending\""), "{sorted}");
    let filtered = served.page("?q=ZEBRA&sort=task").body;
    assert_eq!(listed(&filtered), ["r-a"]);
    for path in ["pipelines", "pipeline/small"] {
        let body = served.page(path).body;
        assert_eq!(body.matches("class=\"bar ").count(), 2, "{path}: {body}");
    }
}
