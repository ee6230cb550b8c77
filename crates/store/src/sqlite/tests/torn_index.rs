//! The index of the log, truncated or removed while somebody has it open.

use std::fs::{self, OpenOptions};

use super::super::open_files::PAUSE;
use super::*;
use crate::Error;

fn truncate(place: &Place, size: u64) {
    let index = OpenOptions::new()
        .write(true)
        .open(place.path.join("store.db-shm"))
        .unwrap();
    index.set_len(size).unwrap();
}

const SIZES: [u64; 8] = [0, 1, 100, 136, 4096, 5000, 16384, 32767];

/// Without its emptying this kills the process that runs the tests.
#[test]
fn a_store_in_use_whose_index_is_cut_reads_and_writes_on() {
    for size in SIZES {
        let (place, test_run) = Place::with_run(8);
        let mut store = place.open();
        assert!(store.run(&test_run.id).unwrap().is_some());
        truncate(&place, size);
        // Time is the subject: a read looks at the index again only after this pause.
        std::thread::sleep(PAUSE);
        assert_eq!(
            store.run(&test_run.id).unwrap().unwrap().version,
            8,
            "{size}"
        );
        truncate(&place, size);
        test_run.add(&mut store, 8, &[note("after")]).unwrap();
        assert_eq!(
            store.run(&test_run.id).unwrap().unwrap().version,
            9,
            "{size}"
        );
        assert!(store.verify(&test_run.id).unwrap().intact, "{size}");
    }
}

/// Somebody else has the store open, so SQLite does not make the index again by itself.
#[test]
fn a_cut_index_hides_no_run_from_the_next_process() {
    for size in SIZES {
        let (place, test_run) = Place::with_run(8);
        let other = place.open();
        assert!(other.run(&test_run.id).unwrap().is_some());
        truncate(&place, size);
        let mut store = place.open();
        let found = store.run(&test_run.id).unwrap();
        assert_eq!(found.map(|found| found.version), Some(8), "{size}");
        test_run.add(&mut store, 8, &[note("after")]).unwrap();
        assert_eq!(
            other.run(&test_run.id).unwrap().unwrap().version,
            9,
            "{size}"
        );
    }
}

/// Two processes with two indexes would overwrite each other's log.
#[test]
fn a_store_whose_log_or_index_was_replaced_is_not_written() {
    for name in ["store.db-shm", "store.db-wal"] {
        let (place, test_run) = Place::with_run(8);
        let mut store = place.open();
        assert!(store.run(&test_run.id).unwrap().is_some());
        fs::rename(place.path.join(name), place.path.join("moved")).unwrap();
        let added = test_run.add(&mut store, 8, &[note("after")]);
        assert!(matches!(added, Err(Error::Vanished { .. })), "{name}");
        fs::rename(place.path.join("moved"), place.path.join(name)).unwrap();
        test_run.add(&mut store, 8, &[note("after")]).unwrap();
    }
}
