//! Collection in small steps: no transaction deletes more than a hook would wait for.

use std::sync::{Arc, Mutex};

use engine::Time;

use super::super::gc::MOST_RUNS;
use super::*;
use crate::conformance::test_run::cancelled;
use crate::{Collect, Collected};

#[test]
fn no_transaction_deletes_more_than_a_few_runs() {
    let place = Place::new();
    let most = usize::try_from(MOST_RUNS).unwrap();
    let all = 3 * most + 7;
    for number in 0..all {
        let test_run = TestRun::new(&format!("r-{number}")).unwrap();
        let mut store = place.open();
        test_run.begin(&mut store).unwrap();
        test_run.add(&mut store, 1, &[cancelled()]).unwrap();
    }
    let going_on = place.begin("r-going-on", 3);
    let mut store = place.open();
    // How many runs each transaction deleted.
    let deleted: Arc<Mutex<(Vec<usize>, usize)>> = Arc::default();
    let (counted, ended) = (Arc::clone(&deleted), Arc::clone(&deleted));
    let count = move |action, _: &str, table: &str, _| {
        if table == "runs" && action == rusqlite::hooks::Action::SQLITE_DELETE {
            counted.lock().unwrap().1 += 1;
        }
    };
    store.connection.update_hook(Some(count)).unwrap();
    let end = move || {
        let mut deleted = ended.lock().unwrap();
        let now = std::mem::take(&mut deleted.1);
        deleted.0.push(now);
        false
    };
    store.connection.commit_hook(Some(end)).unwrap();
    let collect = Collect {
        before: Time(u64::MAX),
        keep: &[],
        shrink: true,
    };
    let Collected { runs, .. } = store.gc(&collect).unwrap();
    assert_eq!(runs, all as u64);
    let (steps, _) = deleted.lock().unwrap().clone();
    let of_runs: Vec<usize> = steps.into_iter().filter(|step| *step > 0).collect();
    assert_eq!(of_runs, [most, most, most, 7]);
    assert_eq!(place.run(&going_on).version, 3);
    let heads = std::fs::read_dir(place.path.join("heads")).unwrap().count();
    assert_eq!(heads, 1, "the heads go with their runs");
}
