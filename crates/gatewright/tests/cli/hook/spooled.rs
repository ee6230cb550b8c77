//! Events that nobody judged: each of them reaches the journal, and once.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use super::seat::{SESSION, Seat};

fn prompt() -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"})
}

/// What the journal says was not judged.
fn unjudged(seat: &Seat) -> Vec<String> {
    let journal = seat.journal();
    let marks = journal.iter().filter(|entry| entry["rule"] == "GW-R100");
    let mut texts: Vec<String> = marks.map(|entry| entry["text"].to_string()).collect();
    texts.sort();
    texts
}

/// How many events the run counts as not judged.
fn counted(seat: &Seat) -> Value {
    let ran = seat.project.run(["status", "--json"]).succeeds();
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    told["unjudged"].clone()
}

fn spooled(seat: &Seat) -> usize {
    fs::read_dir(seat.project.state().join("spool")).map_or(0, Iterator::count)
}

/// Every one of them, and not only the first.
#[test]
fn every_event_that_was_not_judged_reaches_the_journal() {
    let seat = Seat::enrolled();
    let before = unjudged(&seat).len();
    for event in ["UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop"] {
        seat.raw(event, b"{\"not\": ");
    }
    assert_eq!(spooled(&seat), 4);
    seat.hook("UserPromptSubmit", &prompt()).succeeds();
    assert_eq!((unjudged(&seat).len() - before, spooled(&seat)), (4, 0));
}

/// What was refused because nobody could read it did not happen: the log does not say that the host went
/// on, and the run is not marked.
#[test]
fn a_refused_call_that_nobody_could_read_is_logged_as_refused() {
    let seat = Seat::enrolled();
    let marks = (unjudged(&seat), counted(&seat));
    seat.raw("PreToolUse", b"{\"not\": ");
    seat.hook("UserPromptSubmit", &prompt()).succeeds();
    assert_eq!((unjudged(&seat), counted(&seat)), marks);
    let journal = seat.journal();
    let refused: Vec<_> = journal
        .iter()
        .filter(|entry| entry["rule"] == "GW-R101")
        .collect();
    assert_eq!(refused.len(), 1, "{journal:#?}");
    assert_eq!(refused[0]["fact"]["kind"], "refused");
}

/// Hooks that submit the same file at once do not collide, and each file counts once.
#[test]
fn hooks_that_empty_the_spool_at_once_count_each_event_once() {
    let seat = Seat::enrolled();
    let before = unjudged(&seat).len();
    let folder = seat.project.state().join("spool");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..20 {
        let line = json!({"session": SESSION, "what": format!("event {number}")});
        fs::write(folder.join(format!("{number:020}-x")), line.to_string()).unwrap();
    }
    thread::scope(|scope| {
        let hooks: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| seat.hook("UserPromptSubmit", &prompt())))
            .collect();
        for hook in hooks {
            let ran = hook.join().unwrap().succeeds();
            assert!(!ran.stdout.contains("GW-R101"), "{ran}");
        }
    });
    let found = unjudged(&seat);
    assert_eq!(
        (found.len() - before, spooled(&seat)),
        (20, 0),
        "{found:#?}"
    );
}

/// A run that was there and is gone is not a run that never began: its session is not free.
#[test]
fn a_session_whose_run_has_vanished_from_the_store_is_not_free() {
    let seat = Seat::enrolled();
    let database = rusqlite::Connection::open(seat.project.state().join("store.db")).unwrap();
    let vanish = "PRAGMA foreign_keys = OFF; DROP TRIGGER entries_stay; DROP TRIGGER runs_stay;
                  DELETE FROM entries; DELETE FROM holds; DELETE FROM runs";
    database.execute_batch(vanish).unwrap();
    drop(database);
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "t-1",
        "tool_input": {"subagent_type": "x", "prompt": "x", "description": "x"}});
    let ran = seat.hook("PreToolUse", &call).exits(2);
    assert!(ran.stderr.contains("GW-R101"), "{ran}");
    assert_eq!(spooled(&seat), 1, "it is kept for the journal");
}
