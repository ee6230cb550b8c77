//! A forger who can write the store, and knows its hashes: what the rules did not give is found.

use engine::{Decision, Entry, Fact, Move, MoveReason, Reply, Rule, RunId, StageName, Status, Who};
use rusqlite::Connection;
use store::{Access, Backend as _, Commit, Sqlite};
use testkit::Project;

use crate::fixture::{RUN, fact, facts, run, started, to_the_end, to_the_question};

/// Writes entries with the store's own code: chain, head file, caches and columns all agree.
pub(crate) fn forge(project: &Project, facts: Vec<Fact>, status: &Status) {
    let mut store = Sqlite::open(&project.state(), Access::Write).unwrap();
    let id = RunId::parse(RUN).unwrap();
    let stored = store.run(&id).unwrap().unwrap();
    let entry = |fact| Entry {
        at: stored.run.touched_at,
        by: Who::Engine,
        rule: Rule::CheckRan,
        fact,
    };
    let entries: Vec<Entry> = facts.into_iter().map(entry).collect();
    let commit = Commit {
        run: &id,
        seen: stored.version,
        key: None,
        contents: &[],
        fence: None,
        secrets: &[],
        status: &|_| status.clone(),
    };
    let mut decide = |_: &_| Decision {
        reply: Reply::Done,
        entries: entries.clone(),
        rule: Rule::CheckRan,
    };
    store.transact(&commit, &mut decide).unwrap();
}

pub(crate) fn moved(from: &str, outcome: &str, to: &str) -> Fact {
    let stage = |name| StageName::parse(name).unwrap();
    Fact::Moved(Box::new(Move {
        from: stage(from),
        outcome: outcome.to_owned(),
        to: stage(to),
        along: MoveReason::Edge,
        counted: None,
        reset: Vec::new(),
        resume: None,
    }))
}

/// `verify` finds it at this entry, `status` says the same, and a repair leaves what is sound.
#[track_caller]
fn is_found(project: &Project, kind: &str, entry: u64) {
    let shown = fact(project, "status r-test");
    assert!(shown["damage"].is_string(), "{shown}");
    run(project, "status r-test").exits(5);
    let found = facts(project, ["verify", RUN]);
    assert_eq!(found["intact"], false, "{found}");
    let fault = &found["runs"][0]["faults"][0];
    assert_eq!(
        (&fault["kind"], &fault["entry"]),
        (&kind.into(), &entry.into()),
        "{found}"
    );
    run(project, "checkpoint r-test after").exits(5);
    run(project, "verify --repair").succeeds();
    run(project, "verify").succeeds();
    let shown = fact(project, "status r-test");
    assert!(shown["damage"].is_null(), "{shown}");
    assert_ne!(shown["status"], "completed", "{shown}");
    run(project, "checkpoint r-test after").succeeds();
}

/// A run in `testing`, and the number of its last entry.
fn at_the_check() -> (Project, u64) {
    let project = started();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    let last = crate::fixture::entries(&project, RUN) as u64;
    (project, last)
}

#[test]
fn a_move_to_the_end_that_no_edge_has_is_found() {
    let (project, last) = at_the_check();
    forge(
        &project,
        vec![moved("testing", "passed", "complete")],
        &Status::Completed,
    );
    is_found(&project, "unfounded", last + 1);
}

#[test]
fn a_move_along_an_edge_without_its_check_is_found() {
    let (project, last) = at_the_check();
    let asks = Status::Waiting(String::from("Shall it be reviewed?"));
    forge(&project, vec![moved("testing", "passed", "asking")], &asks);
    is_found(&project, "unfounded", last + 1);
}

#[test]
fn a_compiled_definition_that_is_not_of_the_pinned_bytes_is_found() {
    let (project, _) = at_the_check();
    let mut store = Sqlite::open(&project.state(), Access::Write).unwrap();
    let id = RunId::parse(RUN).unwrap();
    let hash = store.run(&id).unwrap().unwrap().run.definition;
    let mut compiled = store.compiled(hash).unwrap().unwrap();
    compiled
        .stages
        .retain(|stage| stage.name.as_str() != "reviewing");
    store.put_compiled(hash, &compiled).unwrap();
    drop(store);
    is_found(&project, "altered", 1);
}

#[test]
fn an_edited_status_in_the_list_is_found() {
    let (project, last) = at_the_check();
    let database = Connection::open(project.state().join("store.db")).unwrap();
    let edited = "UPDATE runs SET status = 'completed', reason = NULL";
    database.execute_batch(edited).unwrap();
    drop(database);
    is_found(&project, "state mismatch", last);
}

/// The other side of the gate: a whole run, with a restore, a fork and a skip, is intact.
#[test]
fn an_ordinary_run_is_intact_for_both() {
    let project = started();
    run(&project, "checkpoint r-test before").succeeds();
    to_the_question(&project);
    run(&project, "restore r-test before --reason again").succeeds();
    run(&project, "skip r-test --reason known").succeeds();
    run(&project, "check").succeeds();
    to_the_end(&project);
    run(&project, "fork r-test --at 3 --id r-fork").succeeds();
    run(&project, "verify").succeeds();
    let shown = fact(&project, "status r-test");
    assert_eq!(
        (shown["status"].as_str(), &shown["damage"]),
        (Some("completed"), &serde_json::Value::Null)
    );
}

/// A store that was marked for what nobody finds any more: both say so, until it is repaired.
#[test]
fn a_marked_store_is_damaged_for_both() {
    let project = started();
    std::fs::write(project.state().join("damaged"), "a disk that failed\n").unwrap();
    assert_eq!(fact(&project, "verify")["intact"], false);
    assert!(fact(&project, "status r-test")["damage"].is_string());
    run(&project, "verify --repair").succeeds();
    assert_eq!(fact(&project, "verify")["intact"], true);
    assert!(fact(&project, "status r-test")["damage"].is_null());
}
