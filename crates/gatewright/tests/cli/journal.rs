//! The journal and the ways back: history, why, checkpoints, restore, fork, reset, export, gc, verify.

use std::fs;

use rusqlite::Connection;
use serde_json::Value;
use testkit::{Project, Ran};

use crate::fixture::{
    RUN, entries, fact, facts, number_of_runs, run, says_one_line, stage, started, status,
    to_the_end, to_the_question, trusted, until_old_enough,
};

#[test]
fn history_shows_what_was_asked_for() {
    let project = started();
    to_the_question(&project);
    let whole = fact(&project, "history r-test");
    let numbers = |facts: &Value| -> Vec<u64> {
        let entries = facts["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| entry["entry"].as_u64().unwrap())
            .collect()
    };
    let count = numbers(&whole).len() as u64;
    assert_eq!(numbers(&whole), (1..=count).collect::<Vec<_>>());
    assert_eq!(
        numbers(&fact(&project, "history --last 2")),
        [count - 1, count]
    );
    assert_eq!(numbers(&fact(&project, "history --from 3 --last 99"))[0], 3);
    assert_eq!(numbers(&fact(&project, "history --from 999")), [0_u64; 0]);
}

#[test]
fn why_tells_the_rule_and_the_evidence() {
    let project = started();
    project.write("note.md", "Hallo\n");
    run(&project, "report").succeeds();
    run(&project, "check").exits(1);
    let why = run(&project, "why r-test").succeeds().stdout;
    for words in [
        "GW-R96",
        "testing → writing",
        "grep -q Hello note.md: exit 1",
        "tree",
    ] {
        assert!(why.contains(words), "{words}\n{why}");
    }
    let why = fact(&project, "why r-test 1");
    assert_eq!(why["rule"]["code"], "GW-R01");
}

/// After the end, a person who types no id means the run that they have just had.
#[test]
fn the_last_run_of_a_project_is_shown_without_its_id() {
    let project = started();
    to_the_question(&project);
    to_the_end(&project);
    for line in ["status", "next", "history", "why", "why 1"] {
        run(&project, line).succeeds();
    }
    assert_eq!(fact(&project, "status")["run"], RUN);
    assert_eq!(fact(&project, "status")["status"], "completed");
    // To act on a run that is over, nobody means the last one.
    run(&project, "cancel --reason why").exits(3);
    says_one_line(run(&project, "why r-test many"), 2, &["many"]);
}

#[test]
fn the_end_of_a_history_keeps_the_names_of_its_agents() {
    let project = started();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    let whole = fact(&project, "history");
    let last = fact(&project, "history --last 2");
    let told = |facts: &Value| facts["entries"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(told(&last), told(&whole));
    let end = run(&project, "history --last 2").succeeds().stdout;
    assert!(end.contains("'writer' (d1) ended"), "{end}");
}

#[test]
fn a_run_goes_back_to_a_checkpoint_and_keeps_its_history() {
    let project = started();
    run(&project, "checkpoint r-test before").succeeds();
    to_the_question(&project);
    let before = entries(&project, RUN);
    run(&project, "restore r-test before --reason again").succeeds();
    assert_eq!(stage(&project), "writing");
    assert_eq!(entries(&project, RUN), before + 1);
    // By its number, too: just after the check had passed.
    run(&project, &format!("restore r-test {before} --reason forth")).succeeds();
    assert_eq!(stage(&project), "asking");
    to_the_end(&project);
    assert_eq!(status(&project), "completed");
    run(&project, "verify").succeeds();
}

/// Every stage that the run came into is a point, without a checkpoint.
#[test]
fn a_run_goes_back_to_a_stage_that_it_came_into() {
    let project = started();
    to_the_question(&project);
    run(&project, "answer yes").succeeds();
    project.write("verdict.json", r#"{"status": "needs_changes"}"#);
    run(&project, "report --agent reader").succeeds();
    // The panel as it was when the review began: the reader has found nothing yet.
    run(&project, "restore r-test @reviewing --reason again").succeeds();
    assert_eq!(stage(&project), "reviewing");
    let next = fact(&project, "next").to_string();
    assert!(next.contains("reader"), "{next}");
    run(&project, "restore r-test @testing --reason again").succeeds();
    assert_eq!(stage(&project), "testing");
    run(&project, "reset r-test --reason anew").succeeds();
    run(&project, "restore r-test @asking --reason back").succeeds();
    assert_eq!(stage(&project), "asking");
    to_the_end(&project);
    assert_eq!(status(&project), "completed");
    run(&project, "verify").succeeds();
    run(&project, "fork r-test --at @writing --id r-fork").succeeds();
    let fork = fact(&project, "status r-fork").to_string();
    assert!(fork.contains("writing"), "{fork}");
}

#[test]
fn a_reset_makes_a_backup_and_says_the_way_back() {
    let project = started();
    to_the_question(&project);
    let before = entries(&project, RUN);
    let reset = project
        .run(["reset", RUN, "--reason", "from the start"])
        .succeeds();
    assert_eq!(stage(&project), "writing");
    assert!(entries(&project, RUN) > before);
    let way = reset
        .stderr
        .lines()
        .find_map(|line| Some(line.split_once("gatewright restore ")?.1));
    let way = way.unwrap_or_else(|| panic!("{reset}"));
    let way = format!("restore {}", way.replace("WHY", "mistake"));
    let kept = reset
        .stderr
        .lines()
        .find_map(|line| Some(&line[line.find(project.state().to_str()?)?..]));
    let kept = fs::read_to_string(kept.unwrap_or_else(|| panic!("{reset}"))).unwrap();
    assert!(kept.lines().count() > before, "{kept}");
    run(&project, &way).succeeds();
    assert_eq!(stage(&project), "asking");
}

#[test]
fn a_fork_goes_its_own_way() {
    let project = started();
    to_the_question(&project);
    run(&project, "fork r-test --at 1 --id r-other").succeeds();
    let other = fact(&project, "status r-other");
    assert!(other.to_string().contains("writing"), "{other}");
    assert_eq!(stage(&project), "asking");
    says_one_line(
        run(&project, "fork r-test --at 1 --id r-other"),
        1,
        &["r-other"],
    );
    run(&project, "cancel r-other --reason x").succeeds();
    assert_eq!(status(&project), "waiting");
    run(&project, "verify").succeeds();
}

#[test]
fn an_export_holds_everything() {
    let project = started();
    to_the_question(&project);
    let lines = run(&project, "export r-test").succeeds().stdout;
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kind = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((kind("run"), kind("file")), (1, 1));
    assert_eq!(kind("entry"), entries(&project, RUN));
    assert!(
        lines
            .iter()
            .any(|line| line["kind"] == "content" && line["text"] == "Hello\n")
    );
    assert_eq!(fact(&project, "export r-test"), Value::Array(lines));
    run(&project, "export r-test --format md -o page.md").succeeds();
    let page = project.read("page.md");
    assert!(
        page.starts_with("# Run r\\-test of small") || page.starts_with("# Run r-test of small"),
        "{page}"
    );
    says_one_line(
        run(&project, "export r-test -o no/such/folder.md"),
        4,
        &["no/such/folder.md"],
    );
}

#[test]
fn an_export_escapes_what_a_terminal_obeys_or_hides() {
    let project = trusted();
    let task = "a\u{9b}31m b\u{202e}c\u{2066}d";
    let mut command = project.command(["start", "small.toml", "--by-hand", "--id", RUN, "--task"]);
    Ran::from(command.arg(task).output().unwrap()).succeeds();
    project.write("note.md", format!("Hello {task}\n"));
    run(&project, "report").succeeds();
    run(&project, "export r-test -o export.jsonl").succeeds();
    for text in [
        run(&project, "export r-test").succeeds().stdout,
        run(&project, "export r-test --format json")
            .succeeds()
            .stdout,
        project.read("export.jsonl"),
    ] {
        assert!(
            !text.contains(['\u{9b}', '\u{202e}', '\u{2066}']),
            "{text:?}"
        );
        assert!(text.contains("\\u202e"), "{text}");
    }
}

#[test]
fn only_what_ended_long_ago_is_collected() {
    let project = started();
    run(&project, "gc --older-than 0s").succeeds();
    assert_eq!(status(&project), "running");
    run(&project, "cancel --reason x").succeeds();
    assert_eq!(fact(&project, "gc")["runs"], 0);
    until_old_enough(&project);
    assert_eq!(
        fact(&project, "gc --older-than 0s --dry-run")["ids"][0],
        RUN
    );
    let gone = fact(&project, "gc --older-than 0s");
    assert_eq!((&gone["runs"], &gone["ids"][0]), (&1.into(), &RUN.into()));
    assert_eq!(number_of_runs(&project), 0);
    assert!(!project.state().join("search").join(RUN).exists());
}

/// Changes the database behind the program's back.
fn tamper(project: &Project, statements: &str) {
    let database = Connection::open(project.state().join("store.db")).unwrap();
    database.execute_batch(statements).unwrap();
}

#[test]
fn what_was_done_to_a_journal_is_found_and_located() {
    for (statements, kind, entry) in [
        (
            "DROP TRIGGER entries_stay_as_they_are;
             UPDATE entries SET entry = replace(entry, 'writer', 'hacker') WHERE number = 2",
            "altered",
            2,
        ),
        (
            "DROP TRIGGER entries_stay; DELETE FROM entries WHERE number = 3",
            "removed",
            3,
        ),
    ] {
        let project = started();
        to_the_question(&project);
        run(&project, "verify").succeeds();
        tamper(&project, statements);
        let found = fact(&project, "verify");
        assert_eq!(found["intact"], false, "{found}");
        let fault = &found["runs"][0]["faults"][0];
        assert_eq!(
            (&fault["kind"], &fault["entry"]),
            (&kind.into(), &entry.into()),
            "{found}"
        );
        run(&project, "verify").exits(1);
        // Nothing is written any more, and it says what to do.
        says_one_line(
            run(&project, "answer yes"),
            5,
            &["gatewright verify --repair"],
        );
        let repaired = run(&project, "verify --repair").succeeds();
        assert!(
            repaired.stdout.contains(project.state().to_str().unwrap()),
            "{repaired}"
        );
        run(&project, "verify").succeeds();
        run(&project, "checkpoint r-test after").succeeds();
    }
}

#[test]
fn a_cut_tail_shows() {
    let project = started();
    to_the_question(&project);
    let last = entries(&project, RUN);
    tamper(
        &project,
        &format!(
            "DROP TRIGGER entries_stay; DELETE FROM entries WHERE number = {last};
             UPDATE runs SET version = {before}, head = (SELECT hash FROM entries WHERE number = {before})",
            before = last - 1
        ),
    );
    let found = fact(&project, "verify");
    assert!(found.to_string().contains("truncated"), "{found}");
}

#[test]
fn a_run_that_never_began_is_no_damage() {
    let project = started();
    std::fs::write(project.state().join("heads/r-never"), "").unwrap();
    let verified = run(&project, "verify").succeeds();
    assert!(!verified.stdout.contains("r-never"), "{verified}");
    // One that began and is gone is another matter.
    let head = std::fs::read(project.state().join("heads").join(RUN)).unwrap();
    std::fs::write(project.state().join("heads/r-never"), head).unwrap();
    run(&project, "verify").exits(1);
}

#[test]
fn a_sound_store_needs_no_repair() {
    let project = started();
    assert_eq!(fact(&project, "verify --repair")["repaired"], false);
    assert_eq!(facts(&project, ["verify", RUN])["intact"], true);
    assert_eq!(fact(&crate::fixture::project(), "verify")["intact"], true);
    says_one_line(
        run(&crate::fixture::project(), "verify r-test"),
        3,
        &["runs"],
    );
}

#[test]
fn a_damaged_run_does_not_hide_what_waits_for_a_person() {
    let project = started();
    to_the_question(&project);
    run(&project, "fork r-test --at 1 --id r-fork").succeeds();
    tamper(
        &project,
        "UPDATE runs SET state = x'00' WHERE id = 'r-fork'",
    );
    let inbox = run(&project, "inbox").exits(5);
    assert!(
        inbox.stdout.contains("gatewright answer r-test yes"),
        "{inbox}"
    );
    assert!(inbox.stderr.contains("r-fork"), "{inbox}");
    for screen in ["show r-fork", "diff r-fork writing", "status r-fork"] {
        says_one_line(run(&project, screen), 5, &["damaged"]);
    }
}

#[test]
fn a_run_that_is_damaged_does_not_hide_the_others() {
    let project = started();
    run(&project, "fork r-test --at 1 --id r-fork").succeeds();
    tamper(
        &project,
        "UPDATE runs SET state = x'00' WHERE id = 'r-fork'",
    );
    let listed = run(&project, "list").exits(5);
    assert!(
        listed.stdout.contains("r-test") && listed.stdout.contains("damaged"),
        "{listed}"
    );
    assert!(listed.stderr.contains("r-fork"), "{listed}");
    run(&project, "status r-test").succeeds();
    says_one_line(run(&project, "status r-fork"), 5, &["damaged"]);
    run(&project, "verify --repair").succeeds();
    run(&project, "status r-fork").succeeds();
}
