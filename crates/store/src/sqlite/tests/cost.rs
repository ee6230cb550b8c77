//! What a step costs does not grow with the history, counted in SQLite's own steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::sql;
use super::*;
use crate::{Key, Transacted};

#[test]
fn no_statement_of_a_hook_or_an_advance_scans_a_table() {
    let (place, _) = Place::with_run(1);
    let store = place.open();
    for statement in sql::HOT {
        let explain = format!("EXPLAIN QUERY PLAN {statement}");
        let mut explained = store.connection.prepare(&explain).unwrap();
        let values = vec![1; explained.parameter_count()];
        let plan: Vec<String> = explained
            .query_map(rusqlite::params_from_iter(values), |row| row.get(3))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(
            !plan.iter().any(|step| step.contains("SCAN")),
            "{statement}\n{plan:#?}"
        );
    }
}

#[test]
fn the_plan_test_would_see_a_scan() {
    let (place, _) = Place::with_run(1);
    let store = place.open();
    let explain = "EXPLAIN QUERY PLAN SELECT 1 FROM entries WHERE entry = ?1";
    let step: String = store
        .connection
        .query_row(explain, [1], |row| row.get(3))
        .unwrap();
    assert!(step.contains("SCAN"), "{step}");
}

/// Counts the steps that SQLite's machine takes on this store.
fn count_steps(store: &mut Sqlite) -> Arc<AtomicU64> {
    let steps = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&steps);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    store.connection.progress_handler(1, Some(count)).unwrap();
    steps
}

/// The steps of: find the run, read its definition, look for a key, advance.
fn steps_of_an_advance(place: &Place, test_run: &TestRun, key: &str) -> (u64, u64) {
    let mut store = place.open();
    let steps = count_steps(&mut store);
    let stored = store.run(&test_run.id).unwrap().unwrap();
    store.compiled(stored.run.definition).unwrap().unwrap();
    let read = steps.swap(0, Ordering::Relaxed);
    let key = Key::parse(key).unwrap();
    let commit = crate::Commit {
        key: Some(&key),
        ..test_run.commit(stored.version)
    };
    let decision = crate::conformance::test_run::decision(&[note("one more")]);
    let done = store.transact(&commit, &mut |_| decision.clone()).unwrap();
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
    (read, steps.load(Ordering::Relaxed))
}

#[test]
fn twenty_thousand_entries_cost_no_more_than_twenty() {
    let (place, test_run) = Place::with_run(20);
    let short = steps_of_an_advance(&place, &test_run, "key 1");
    assert!(
        short.0 > 10 && short.1 > 10,
        "the steps were not counted: {short:?}"
    );
    let notes: Vec<_> = (0..1_000)
        .map(|number| note(&format!("note {number}")))
        .collect();
    for _ in 0..20 {
        let seen = place.run(&test_run).version;
        test_run.add(&mut place.open(), seen, &notes).unwrap();
    }
    assert_eq!(place.run(&test_run).version, 20_021);
    assert_eq!(steps_of_an_advance(&place, &test_run, "key 2"), short);
    let verification = place.open().verify(&test_run.id).unwrap();
    assert!(verification.intact, "{verification:?}");
    assert_eq!(
        (verification.entries, verification.anchored),
        (20_022, 20_022)
    );
}

#[test]
fn many_other_runs_cost_nothing() {
    let (place, test_run) = Place::with_run(20);
    let alone = steps_of_an_advance(&place, &test_run, "key 1");
    for number in 2..60 {
        place.begin(&format!("r-{number}"), 2);
    }
    assert_eq!(steps_of_an_advance(&place, &test_run, "key 2"), alone);
}
