//! Damage: nothing is made anew over it, and what is intact is saved from it.

use std::time::Duration;

use engine::{Fact, Time};

use super::super::folder::Folder;
use super::super::salvage::{fill, salvage};
use super::tampering::rewrite;
use super::*;
use crate::{Claim, Error, Fence};

fn damaged<T>(result: Result<T, Error>) -> String {
    match result {
        Err(error @ Error::Damaged { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[test]
fn an_emptied_database_is_not_a_new_one() {
    let empty = |place: &Place| fs::write(place.file("store.db"), b"").unwrap();
    let gone = |place: &Place| fs::remove_file(place.file("store.db")).unwrap();
    let unmade = |place: &Place| {
        fs::remove_file(place.file("store.db")).unwrap();
        fs::remove_file(place.file("store.db-wal")).unwrap();
        let raw = rusqlite::Connection::open(place.file("store.db")).unwrap();
        raw.execute_batch("CREATE TABLE t (a); DROP TABLE t;")
            .unwrap();
    };
    for change in [empty, gone, unmade] {
        let (place, _) = Place::with_run(2);
        change(&place);
        let before = place.bytes("store.db");
        for access in [Access::Write, Access::Read] {
            let said = damaged(Sqlite::open(&place.path, access));
            assert!(said.contains("although runs were recorded (1)"), "{said}");
            assert!(said.contains("gatewright verify --repair"), "{said}");
        }
        assert_eq!(place.bytes("store.db"), before);
    }
}

#[test]
fn something_else_in_place_of_the_database_is_left_alone() {
    let (place, _) = Place::with_run(2);
    let letter = "Dear reader, this is not a database. ".repeat(500);
    fs::write(place.file("store.db"), &letter).unwrap();
    damaged(Sqlite::open(&place.path, Access::Write));
    assert_eq!(place.bytes("store.db"), letter.as_bytes());
    assert!(
        place.marker().contains("not a database"),
        "{}",
        place.marker()
    );
}

#[test]
fn a_damaged_store_is_read_only_and_goes_on_reading() {
    let (place, test_run) = Place::with_run(3);
    let other = place.begin("r-2", 3);
    let mut early = place.open();
    place
        .raw()
        .execute_batch("UPDATE runs SET state = substr(state, 1, 40) WHERE id = 'r-1'")
        .unwrap();
    damaged(place.open().run(&test_run.id));
    // Handles that were opened before and after, and every kind of write.
    damaged(other.add(&mut early, 3, &[note("no")]));
    damaged(other.add(&mut place.open(), 3, &[note("no")]));
    damaged(TestRun::new("r-3").unwrap().begin(&mut place.open()));
    damaged(place.open().put_content(b"no", Time(1)));
    damaged(place.open().claim(
        &other.id,
        &Claim::Release {
            fence: Fence::numbered(1),
        },
    ));
    assert_eq!(place.run(&other).version, 3);
    assert_eq!(place.open().journal(&test_run.id, 1, 9).unwrap().len(), 3);
    assert_eq!(place.open().runs(None).unwrap().len(), 2);
    assert_eq!(early.run(&other.id).unwrap().unwrap().version, 3);
}

#[test]
fn what_is_met_on_the_way_is_told() {
    for change in [
        "DELETE FROM entries WHERE number = 3",
        "UPDATE runs SET version = 2",
        "UPDATE runs SET head = zeroblob(32)",
        "UPDATE entries SET hash = zeroblob(32) WHERE number = 3",
        "UPDATE runs SET worktree = '/elsewhere'",
    ] {
        let (place, test_run) = Place::with_run(3);
        place.raw().execute_batch(change).unwrap();
        damaged(test_run.add(&mut place.open(), 3, &[note("on sand")]));
        assert_ne!(place.marker(), "", "{change}");
    }
    for change in [
        "UPDATE entries SET entry = '{}' WHERE number = 2",
        "UPDATE entries SET entry = replace(entry, 'note 2', 'forged') WHERE number = 2",
        "DELETE FROM entries WHERE number = 2",
        "DROP TABLE entries",
    ] {
        let (place, test_run) = Place::with_run(3);
        place.raw().execute_batch(change).unwrap();
        damaged(place.open().journal(&test_run.id, 1, 9));
    }
}

#[test]
fn a_journal_that_is_shorter_than_its_head_file_is_not_continued() {
    let (place, test_run) = Place::with_run(3);
    let (database, log) = (place.bytes("store.db"), place.bytes("store.db-wal"));
    test_run
        .add(&mut place.open(), 3, &[note("acknowledged")])
        .unwrap();
    // An older copy of the database alone is put back.
    fs::write(place.file("store.db"), database).unwrap();
    fs::write(place.file("store.db-wal"), log).unwrap();
    fs::remove_file(place.file("store.db-shm")).unwrap();
    assert_eq!(place.run(&test_run).version, 3);
    let said = damaged(test_run.add(&mut place.open(), 3, &[note("instead")]));
    assert!(said.contains("head file"), "{said}");
}

#[test]
fn a_head_file_that_cannot_be_read_stops_the_run() {
    let (place, test_run) = Place::with_run(3);
    fs::write(place.file("heads/r-1"), "nonsense ".repeat(20)).unwrap();
    let said = damaged(test_run.add(&mut place.open(), 3, &[note("on sand")]));
    assert!(said.contains("head file"), "{said}");
    assert_eq!(
        salvage(&place.path, Time(99), &|_| None).unwrap().losses,
        []
    );
    check_usable(&place, &test_run);
}

fn check_usable(place: &Place, test_run: &TestRun) {
    let verification = place.open().verify(&test_run.id).unwrap();
    assert!(verification.intact, "{verification:?}");
    assert_eq!(verification.anchored, verification.entries);
    assert_eq!(place.marker(), "");
    test_run
        .add(&mut place.open(), verification.entries, &[note("goes on")])
        .unwrap();
    assert!(place.open().check_pages().unwrap().is_empty());
}

/// A whole run with a lease and a content, beside one whose sixth entry was altered.
fn damaged_beside_whole() -> (Place, TestRun, TestRun) {
    let (place, test_run) = Place::with_run(8);
    let whole = place.begin("r-2", 4);
    let acquire = Claim::Acquire {
        holder: "one",
        term: Duration::ZERO,
        dead: None,
    };
    place.open().claim(&whole.id, &acquire).unwrap();
    let content = place.open().put_content(b"the plan", Time(1)).unwrap();
    let artifact = engine::ArtifactName::parse("plan").unwrap();
    let fact = Fact::Captured {
        artifact,
        content,
        dispatch: None,
        step: None,
        commands: Vec::new(),
    };
    whole.add(&mut place.open(), 4, &[fact]).unwrap();
    let alter = "UPDATE entries SET entry = '{}' WHERE run = 1 AND number = 6";
    place.raw().execute_batch(alter).unwrap();
    damaged(place.open().journal(&test_run.id, 1, 99));
    (place, test_run, whole)
}

#[test]
fn what_is_intact_is_saved() {
    let (place, test_run, whole) = damaged_beside_whole();
    let before = place.run(&whole);
    let salvaged = salvage(&place.path, Time(99), &|_| None).unwrap();
    assert_eq!((salvaged.runs, salvaged.lost_contents), (2, 0));
    assert_eq!(place.run(&whole), before);
    assert_eq!(
        place.open().lease(&whole.id).unwrap().unwrap().fence,
        Fence::numbered(1)
    );
    let plan = crate::content_hash(b"the plan");
    assert_eq!(place.open().content(plan).unwrap().unwrap(), b"the plan");
    assert!(
        place
            .open()
            .compiled(before.run.definition)
            .unwrap()
            .is_some()
    );
    check_usable(&place, &test_run);
    check_usable(&place, &whole);
    place.begin("r-3", 2);
}

#[test]
fn what_is_lost_is_said_and_stands_in_the_journal() {
    let (place, test_run, _) = damaged_beside_whole();
    let salvaged = salvage(&place.path, Time(99), &|_| None).unwrap();
    let [loss] = salvaged.losses.as_slice() else {
        panic!("{salvaged:?}")
    };
    assert_eq!((loss.run.as_str(), loss.kept, loss.lost), ("r-1", 5, 3));
    assert_eq!(loss.why, "entry 6 was altered");
    let last = place.open().journal(&test_run.id, 6, 9).unwrap();
    let [last] = last.as_slice() else {
        panic!("{last:?}")
    };
    let noted = "salvaged after damage: 3 entries after entry 5 are lost";
    assert_eq!((&last.entry.fact, last.entry.at), (&note(noted), Time(99)));
}

#[test]
fn the_damaged_files_are_kept_aside() {
    let (place, _, _) = damaged_beside_whole();
    let (database, log) = (place.bytes("store.db"), place.bytes("store.db-wal"));
    let aside = salvage(&place.path, Time(99), &|_| None)
        .unwrap()
        .aside
        .unwrap();
    assert_eq!(fs::read(&aside).unwrap(), database);
    assert_eq!(fs::read(format!("{}-wal", aside.display())).unwrap(), log);
    let second = salvage(&place.path, Time(99), &|_| None)
        .unwrap()
        .aside
        .unwrap();
    assert_ne!(second, aside);
}

#[test]
fn what_follows_a_forged_entry_is_not_saved() {
    let (place, test_run) = Place::with_run(8);
    rewrite(&place, 4..=4);
    let salvaged = salvage(&place.path, Time(99), &|_| None).unwrap();
    let [loss] = salvaged.losses.as_slice() else {
        panic!("{salvaged:?}")
    };
    assert_eq!((loss.kept, loss.lost), (4, 4));
    assert_eq!(loss.why, "entry 5 was altered");
    check_usable(&place, &test_run);
}

#[test]
fn a_damaged_state_or_cache_costs_nothing() {
    let (place, test_run) = Place::with_run(4);
    let before = place.run(&test_run);
    place
        .raw()
        .execute_batch(
            "UPDATE runs SET state = substr(state, 1, 40);
             UPDATE definitions SET compiled = substr(compiled, 1, 40);",
        )
        .unwrap();
    damaged(place.open().run(&test_run.id));
    let salvaged = salvage(&place.path, Time(99), &|_| None).unwrap();
    assert_eq!((salvaged.runs, salvaged.losses), (1, Vec::new()));
    assert_eq!(place.run(&test_run), before);
    assert_eq!(place.open().compiled(before.run.definition).unwrap(), None);
    check_usable(&place, &test_run);
}

#[test]
fn a_store_of_which_nothing_is_left_says_what_there_was() {
    let (place, test_run) = Place::with_run(4);
    fs::write(place.file("store.db"), "not a database at all").unwrap();
    damaged(Sqlite::open(&place.path, Access::Write));
    let salvaged = salvage(&place.path, Time(99), &|_| None).unwrap();
    assert_eq!(salvaged.runs, 0);
    let [loss] = salvaged.losses.as_slice() else {
        panic!("{salvaged:?}")
    };
    assert_eq!((loss.run.as_str(), loss.kept, loss.lost), ("r-1", 0, 4));
    assert_eq!(place.open().run(&test_run.id).unwrap(), None);
    let test_run = place.begin("r-1", 2);
    check_usable(&place, &test_run);
}

#[test]
fn a_salvage_that_was_interrupted_is_finished() {
    let (place, test_run) = Place::with_run(8);
    place
        .raw()
        .execute_batch("DELETE FROM entries WHERE number > 6")
        .unwrap();
    let folder = Folder::find(&place.path).unwrap();
    let first = fill(&folder, Time(99), &|_| None).unwrap();
    assert_eq!(first.losses.len(), 1);
    // Here the first one was killed, after it had put the old log away.
    fs::remove_file(place.file("store.db-wal")).unwrap();
    let salvaged = salvage(&place.path, Time(99), &|_| None).unwrap();
    assert_eq!(salvaged.runs, 1);
    let [loss] = salvaged.losses.as_slice() else {
        panic!("{salvaged:?}")
    };
    assert_eq!(
        (loss.kept, loss.lost),
        (6, 2),
        "the last decision may be a half one; the note of the loss is the sixth"
    );
    check_usable(&place, &test_run);
}

/// Flips one byte of the database and returns whether anything then read is wrong.
fn check_flipped(original: &[u8], place: &Place, expected: &StoredRun, at: usize) {
    let mut bytes = original.to_vec();
    bytes[at] ^= 0x41;
    for name in ["store.db-wal", "store.db-shm", "damaged"] {
        fs::remove_file(place.file(name)).ok();
    }
    fs::write(place.file("store.db"), bytes).unwrap();
    let Ok(mut store) = Sqlite::open(&place.path, Access::Write) else {
        return;
    };
    let run = store.run(&expected.run.id);
    assert!(
        run.is_err() || matches!(&run, Ok(Some(run)) if run == expected) || matches!(run, Ok(None)),
        "byte {at}: {run:?}"
    );
    if let Ok(journal) = store.journal(&expected.run.id, 1, 99)
        && journal.len() == usize::try_from(expected.version).unwrap()
    {
        let folded = engine::replay(journal.iter().map(|it| &it.entry)).unwrap();
        assert_eq!(folded, expected.run, "byte {at}");
    }
    let test_run = TestRun::new("r-1").unwrap();
    if let Ok(Some(compiled)) = store.compiled(expected.run.definition) {
        assert_eq!(compiled, test_run.definition, "byte {at}");
    }
    let _ = test_run.add(&mut store, expected.version, &[note("after the flip")]);
    let _ = store.verify(&expected.run.id);
}

#[test]
fn no_flipped_byte_is_taken_for_the_truth() {
    let (place, test_run) = Place::with_run(6);
    let expected = place.run(&test_run);
    let raw = place.raw();
    raw.execute_batch(
        super::super::schema::MIGRATIONS[0]
            .split_at(
                super::super::schema::MIGRATIONS[0]
                    .find("CREATE TRIGGER")
                    .unwrap(),
            )
            .1,
    )
    .unwrap();
    raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(raw);
    let original = place.bytes("store.db");
    let head = place.bytes("heads/r-1");
    for at in (0..original.len()).step_by(229) {
        fs::write(place.file("heads/r-1"), &head).unwrap();
        check_flipped(&original, &place, &expected, at);
    }
}

#[test]
fn a_database_cut_anywhere_is_salvaged_without_a_panic() {
    let (place, test_run) = Place::with_run(6);
    place
        .raw()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let (original, head) = (place.bytes("store.db"), place.bytes("heads/r-1"));
    for length in (0..original.len()).step_by(3_000) {
        for name in ["store.db-wal", "store.db-shm"] {
            fs::remove_file(place.file(name)).ok();
        }
        fs::write(place.file("heads/r-1"), &head).unwrap();
        fs::write(place.file("store.db"), &original[..length]).unwrap();
        let salvaged = salvage(&place.path, Time(99), &|_| None).unwrap();
        if salvaged.runs == 1 {
            check_usable(&place, &test_run);
        } else {
            assert_eq!(salvaged.losses[0].lost, 6, "{salvaged:?}");
        }
    }
}

#[test]
fn a_newer_store_is_not_taken_apart() {
    let (place, _) = Place::with_run(3);
    place.raw().pragma_update(None, "user_version", 99).unwrap();
    let before = place.bytes("store.db");
    let refused = salvage(&place.path, Time(99), &|_| None);
    assert!(matches!(refused, Err(Error::Newer { .. })), "{refused:?}");
    assert_eq!(place.bytes("store.db"), before);
    assert!(!place.file("store.db.damaged-1").exists());
}

#[test]
fn half_a_decision_is_not_kept() {
    let (place, test_run) = Place::with_run(3);
    test_run
        .add(
            &mut place.open(),
            3,
            &[note("first half"), note("second half")],
        )
        .unwrap();
    test_run
        .add(&mut place.open(), 5, &[note("after it")])
        .unwrap();
    place
        .raw()
        .execute_batch("UPDATE entries SET entry = '{}' WHERE number = 5")
        .unwrap();
    let salvaged = salvage(&place.path, Time(99), &|_| None).unwrap();
    let [loss] = salvaged.losses.as_slice() else {
        panic!("{salvaged:?}")
    };
    assert_eq!((loss.kept, loss.lost), (3, 3));
    check_usable(&place, &test_run);
}
