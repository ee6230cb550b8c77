//! Every way to change a journal behind our back, and where it shows.

use rusqlite::params;

use super::super::read::read_line;
use super::super::sql;
use super::*;
use crate::chain::Link;
use crate::chain::Tip;
use crate::line::Line;
use crate::record::RunOrigin;
use crate::{Error, FaultKind, Verification, record};

use FaultKind::{Altered, HeadMismatch, Removed, Reordered, StateMismatch, Truncated};

/// Changes a store of one run with eight entries, and says what verification finds then.
fn tampered(change: impl FnOnce(&Place)) -> (Place, Verification) {
    let (place, test_run) = Place::with_run(8);
    change(&place);
    let verification = place.open().verify(&test_run.id).unwrap();
    assert_eq!(verification.intact, verification.faults.is_empty());
    (place, verification)
}

fn check(change: impl FnOnce(&Place), expected: &[(u64, FaultKind)]) {
    let (place, verification) = tampered(change);
    let found: Vec<_> = verification
        .faults
        .iter()
        .map(|it| (it.number, it.kind))
        .collect();
    assert_eq!(found, expected, "{verification:#?}");
    // What was found turns the store read-only, and the reason says where.
    let refused = TestRun::new("r-2").unwrap().begin(&mut place.open());
    match expected.first() {
        Some((number, _)) => {
            assert!(matches!(refused, Err(Error::Damaged { .. })), "{refused:?}");
            let marker = place.marker();
            assert!(
                marker.contains(&format!("entry {number}:")) || *number < 2,
                "{marker}"
            );
            assert_ne!(marker, "");
        }
        None => assert!(refused.is_ok(), "{refused:?}"),
    }
}

fn sql(statement: &'static str) -> impl FnOnce(&Place) {
    move |place| place.raw().execute_batch(statement).unwrap()
}

const RENUMBER: &str = "UPDATE entries SET place = place - 1 WHERE number > 4";

#[test]
fn an_untouched_journal_is_intact() {
    let (_, verification) = tampered(|_| ());
    assert!(verification.intact, "{verification:?}");
    assert_eq!((verification.entries, verification.anchored), (8, 8));
}

#[test]
fn an_altered_entry_is_found_where_it_is() {
    for change in [
        "UPDATE entries SET entry = replace(entry, 'note 4', 'note 5') WHERE number = 4",
        "UPDATE entries SET entry = 'nonsense' WHERE number = 4",
        "UPDATE entries SET key = 'another' WHERE number = 4",
        "UPDATE entries SET key = 'tab' || char(9) WHERE number = 4",
        "UPDATE entries SET decision = 3 WHERE number = 4",
        "UPDATE entries SET previous = zeroblob(32) WHERE number = 4",
        "UPDATE entries SET hash = zeroblob(3) WHERE number = 4",
    ] {
        check(sql(change), &[(4, Altered)]);
    }
}

#[test]
fn an_entry_that_was_altered_with_its_hash_is_found_by_the_next_one() {
    check(|place| rewrite(place, 4..=4), &[(4, Altered)]);
}

#[test]
fn a_removed_entry_is_found() {
    check(sql("DELETE FROM entries WHERE number = 4"), &[(4, Removed)]);
    check(
        sql("DELETE FROM entries WHERE number IN (4, 5)"),
        &[(4, Removed)],
    );
    check(sql("DELETE FROM entries WHERE number = 1"), &[(1, Removed)]);
}

#[test]
fn a_removed_entry_is_found_although_the_others_closed_up() {
    let change = |place: &Place| {
        let raw = place.raw();
        raw.execute_batch("DELETE FROM entries WHERE number = 4")
            .unwrap();
        raw.execute_batch(RENUMBER).unwrap();
    };
    check(change, &[(4, Removed), (8, Truncated)]);
}

#[test]
fn reordered_entries_are_found() {
    let swap = "UPDATE entries SET place = -1 WHERE number = 4;
                UPDATE entries SET place = place - 1 WHERE number = 5;
                UPDATE entries SET place = (1 << 32) + 5 WHERE place = -1;";
    check(sql(swap), &[(4, Reordered), (5, Reordered)]);
}

#[test]
fn a_cut_tail_is_found() {
    check(
        sql("DELETE FROM entries WHERE number > 5"),
        &[(6, Truncated)],
    );
    check(sql("DELETE FROM entries"), &[(1, Truncated)]);
}

#[test]
fn a_cut_tail_is_found_by_the_head_file_although_the_run_was_changed_to_match() {
    let cut = |place: &Place| {
        place
            .raw()
            .execute_batch("DELETE FROM entries WHERE number > 5")
            .unwrap();
        reseal(place);
    };
    check(cut, &[(6, Truncated)]);
    let all = "DELETE FROM entries; DELETE FROM holds; DELETE FROM runs;";
    check(sql(all), &[(1, Truncated)]);
}

#[test]
fn a_rewritten_journal_is_found_by_the_head_file() {
    let rewritten = |place: &Place| {
        rewrite(place, 4..=8);
        reseal(place);
    };
    check(rewritten, &[(8, HeadMismatch)]);
}

#[test]
fn a_lost_head_file_is_found_and_never_made_anew() {
    let without_head = |place: &Place| {
        rewrite(place, 4..=8);
        reseal(place);
        fs::remove_file(place.file("heads/r-1")).unwrap();
    };
    check(without_head, &[(0, HeadMismatch)]);
    let (place, test_run) = Place::with_run(4);
    fs::remove_file(place.file("heads/r-1")).unwrap();
    let refused = test_run.add(&mut place.open(), 4, &[note("one more")]);
    assert!(matches!(refused, Err(Error::Damaged { .. })), "{refused:?}");
    assert!(!place.file("heads/r-1").exists());
}

#[test]
fn what_was_captured_and_is_gone_is_found() {
    let (place, test_run) = captured();
    place
        .raw()
        .execute_batch("DELETE FROM holds; DELETE FROM contents;")
        .unwrap();
    let verification = place.open().verify(&test_run.id).unwrap();
    let found: Vec<_> = verification
        .faults
        .iter()
        .map(|it| (it.number, it.kind))
        .collect();
    assert_eq!(found, [(3, Removed)]);
}

#[test]
fn an_altered_cache_of_a_definition_is_found() {
    check(
        sql("UPDATE definitions SET compiled = x'00'"),
        &[(1, Altered)],
    );
}

#[test]
fn a_head_file_may_lag_and_may_not_be_empty() {
    for content in ["", "\0"] {
        let content = content.repeat(86);
        let emptied = |place: &Place| fs::write(place.file("heads/r-1"), content).unwrap();
        check(emptied, &[(0, HeadMismatch)]);
    }
    let (_, verification) = tampered(|place| {
        let head = place.bytes("heads/r-1");
        let test_run = TestRun::new("r-1").unwrap();
        test_run
            .add(&mut place.open(), 8, &[note("one more")])
            .unwrap();
        fs::write(place.file("heads/r-1"), head).unwrap();
    });
    assert!(verification.intact, "{verification:?}");
    assert_eq!((verification.entries, verification.anchored), (9, 8));
}

#[test]
fn a_head_file_that_says_something_else_is_found() {
    let write =
        |text: String| move |place: &Place| fs::write(place.file("heads/r-1"), text).unwrap();
    check(write("nonsense ".repeat(20)), &[(0, HeadMismatch)]);
    check(
        write(format!("{:020} {}\n", 5, "0".repeat(64))),
        &[(5, HeadMismatch)],
    );
    check(
        write(format!("{:020} {}\n", 9, "0".repeat(64))),
        &[(9, Truncated)],
    );
}

#[test]
fn an_added_entry_is_found() {
    let forged = "INSERT INTO entries (place, decision, key, entry, previous, hash)
        SELECT place + 1, 9, NULL, entry, previous, hash FROM entries WHERE number = 8";
    check(sql(forged), &[(9, Reordered), (9, HeadMismatch)]);
}

#[test]
fn a_state_that_the_journal_does_not_tell_is_found() {
    check(sql("UPDATE runs SET state = zeroblob(100)"), &[]);
    check(
        sql("UPDATE runs SET state = substr(state, 1, 40)"),
        &[(8, StateMismatch)],
    );
    check(
        sql("UPDATE runs SET project = '/elsewhere'"),
        &[(8, StateMismatch)],
    );
    check(
        sql("UPDATE runs SET stage = 'finished'"),
        &[(8, StateMismatch)],
    );
    check(
        sql("UPDATE runs SET head = zeroblob(32)"),
        &[(8, HeadMismatch), (8, StateMismatch)],
    );
    let forged = |place: &Place| {
        place
            .raw()
            .execute_batch("UPDATE runs SET stage = 'finished'")
            .unwrap();
        let mut run = place.run(&TestRun::new("r-1").unwrap()).run;
        run.holds += 1;
        write_state(place, &run);
    };
    check(forged, &[(8, StateMismatch)]);
}

/// A run whose third entry captured the plan.
fn captured() -> (Place, TestRun) {
    let (place, test_run) = Place::with_run(2);
    let content = place
        .open()
        .put_content(b"the plan", engine::Time(1))
        .unwrap();
    let fact = engine::Fact::Captured {
        artifact: engine::ArtifactName::parse("plan").unwrap(),
        content,
        dispatch: None,
        step: None,
        commands: Vec::new(),
    };
    test_run.add(&mut place.open(), 2, &[fact]).unwrap();
    (place, test_run)
}

#[test]
fn an_altered_content_or_definition_is_found() {
    let (place, test_run) = captured();
    let hash = crate::content_hash(b"the plan");
    assert!(place.open().verify(&test_run.id).unwrap().intact);
    place
        .raw()
        .execute_batch("UPDATE contents SET bytes = x'00'")
        .unwrap();
    let altered = place.open().content(hash);
    assert!(matches!(altered, Err(Error::Damaged { .. })), "{altered:?}");
    let verification = place.open().verify(&test_run.id).unwrap();
    assert_eq!(
        (verification.faults[0].number, verification.faults[0].kind),
        (3, Altered)
    );
    check(sql("UPDATE files SET bytes = x'00'"), &[(1, Altered)]);
}

fn lines(place: &Place) -> Vec<Line> {
    let raw = place.raw();
    let mut statement = raw.prepare(sql::LINES).unwrap();
    let rows = statement
        .query_map([0, i64::MAX], |row| Ok(read_line(row)?.unwrap()))
        .unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Alters the first of these entries and makes the others follow it.
pub(super) fn rewrite(place: &Place, numbers: std::ops::RangeInclusive<u64>) {
    let run = TestRun::new("r-1").unwrap().id;
    let mut previous = None;
    for line in lines(place)
        .into_iter()
        .filter(|line| numbers.contains(&line.number))
    {
        let text = line.text.replace("note 4", "forged");
        let previous_hash = previous.unwrap_or(line.previous);
        let Line {
            number, decision, ..
        } = line;
        let link = Link {
            previous: previous_hash,
            run: &run,
            number,
            decision,
            key: line.key.as_ref(),
        };
        let hash = link.hash(text.as_bytes());
        place
            .raw()
            .execute(
                "UPDATE entries SET entry = ?2, previous = ?3, hash = ?4 WHERE number = ?1",
                params![number.cast_signed(), text, previous_hash.0, hash.0],
            )
            .unwrap();
        previous = Some(hash);
    }
}

/// Makes the run's row agree with its journal.
fn reseal(place: &Place) {
    let lines = lines(place);
    let entries: Vec<_> = lines.iter().map(|line| line.entry().unwrap()).collect();
    let last = lines.last().unwrap();
    let raw = place.raw();
    raw.execute(
        "UPDATE runs SET version = ?1, head = ?2",
        params![last.number.cast_signed(), last.hash.0],
    )
    .unwrap();
    write_state(place, &engine::replay(&entries).unwrap());
}

fn write_state(place: &Place, run: &engine::Run) {
    let raw = place.raw();
    let tip = raw
        .query_row("SELECT version, head FROM runs", [], |row| {
            let version: i64 = row.get(0)?;
            Ok(Tip {
                version: version.cast_unsigned(),
                head: engine::Hash(row.get(1)?),
            })
        })
        .unwrap();
    let origin = RunOrigin {
        project: "/project",
        worktree: "/project/tree",
        pipeline: "story",
    };
    let state = record::state_to_bytes(run, tip, origin);
    raw.execute("UPDATE runs SET state = ?1", [state]).unwrap();
}

/// Somebody was stopped between making the head file of a run and its first commit.
#[test]
fn a_head_file_of_a_run_that_never_was_is_nothing() {
    let (place, test_run) = Place::with_run(2);
    fs::write(place.file("heads/r-9"), "").unwrap();
    assert_eq!(place.open().recorded().unwrap(), [test_run.id]);
    let never = TestRun::new("r-9").unwrap();
    let unknown = place.open().verify(&never.id);
    assert!(
        matches!(unknown, Err(Error::UnknownRun { .. })),
        "{unknown:?}"
    );
    place.begin("r-9", 2);
    assert!(place.open().verify(&never.id).unwrap().intact);
}
