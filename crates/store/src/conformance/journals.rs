//! Guarantees about runs and their journals.

use std::collections::BTreeMap;

use engine::{CheckpointName, Fact, Hash, SessionId};

use super::test_run::{TestRun, decision, note};
use super::{Checked, Open};
use crate::{Backend, Commit, Error, Key, NewRun, Transacted, export};

pub(super) fn a_run_that_was_begun_is_found_again(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let begun = test_run.begin(&mut *open())?;
    assert_eq!(begun.version, 1);
    assert_eq!(begun.project, "/project");
    assert_eq!(begun.worktree(), "/project/tree");
    assert_eq!(begun.pipeline, test_run.definition.name);
    assert_eq!(open().run(&test_run.id)?, Some(begun.clone()));
    let journal = open().journal(&test_run.id, 1, 10)?;
    assert_eq!(journal.len(), 1);
    assert_eq!(journal.last().map(|last| last.hash), Some(begun.head));
    let empty = store_refuses_an_empty_beginning(&mut *open())?;
    assert!(matches!(empty, Error::NotABeginning { .. }), "{empty}");
    Ok(())
}

fn store_refuses_an_empty_beginning(
    store: &mut dyn Backend,
) -> Result<Error, Box<dyn std::error::Error>> {
    let test_run = TestRun::new("r-2")?;
    match store.begin(&test_run.new_run(), &decision(&[])) {
        Err(error) => Ok(error),
        Ok(_) => Err("a run began without an entry".into()),
    }
}

pub(super) fn an_id_is_used_once(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let begun = test_run.begin(&mut *open())?;
    let again = test_run.begin(&mut *open());
    assert!(matches!(again, Err(Error::RunExists { .. })), "{again:?}");
    assert_eq!(open().run(&test_run.id)?, Some(begun));
    Ok(())
}

pub(super) fn a_key_begins_one_run(open: Open<'_>) -> Checked {
    let (first, second) = (TestRun::new("r-1")?, TestRun::new("r-2")?);
    let key = Key::parse("session-1")?;
    let begin = |test_run: &TestRun, project| {
        let new = NewRun {
            project,
            key: Some(&key),
            ..test_run.new_run()
        };
        open().begin(&new, &test_run.beginning())
    };
    let begun = begin(&first, "/project")?;
    assert_eq!(begin(&second, "/project")?, begun);
    assert_eq!(open().run(&second.id)?, None);
    assert_eq!(begin(&second, "/other")?.run.id, second.id);
    Ok(())
}

pub(super) fn a_repeated_key_is_one_event(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let key = Key::parse("toolu_01")?;
    let mut decided = 0;
    let mut send = |seen| {
        let commit = Commit {
            key: Some(&key),
            ..test_run.commit(seen)
        };
        open().transact(&commit, &mut |_| {
            decided += 1;
            decision(&[note("one"), note("two")])
        })
    };
    let done = send(1)?;
    assert!(
        matches!(&done, Transacted::Done { numbers, .. } if *numbers == (2..4)),
        "{done:?}"
    );
    // A client that repeats it has usually not seen that it was stored.
    for seen in [1, 3, 9] {
        let Transacted::Repeated { entries } = send(seen)? else {
            return Err("the key was taken twice".into());
        };
        assert_eq!(entries, open().journal(&test_run.id, 2, 2)?);
        assert_eq!(entries, open().keyed(&test_run.id, &key)?);
    }
    assert_eq!(decided, 1);
    assert_eq!(open().keyed(&test_run.id, &Key::parse("toolu_02")?)?, []);
    assert_eq!(open().journal(&test_run.id, 1, 100)?.len(), 3);
    Ok(())
}

pub(super) fn a_version_that_moved_is_told(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    test_run.add(&mut *open(), 1, &[note("first")])?;
    for seen in [0, 1, 3] {
        let moved = test_run.add(&mut *open(), seen, &[note("late")])?;
        assert_eq!(moved, Transacted::Moved { version: 2 });
    }
    assert_eq!(open().journal(&test_run.id, 1, 100)?.len(), 2);
    let done = test_run.add(&mut *open(), 2, &[note("second")])?;
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
    Ok(())
}

pub(super) fn a_decision_without_entries_stores_nothing(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let begun = test_run.begin(&mut *open())?;
    let Transacted::Done {
        stored, numbers, ..
    } = test_run.add(&mut *open(), 1, &[])?
    else {
        return Err("it was not done".into());
    };
    assert_eq!((*stored, numbers), (begun.clone(), 2..2));
    assert_eq!(open().run(&test_run.id)?, Some(begun));
    Ok(())
}

pub(super) fn a_decision_that_does_not_fit_stores_nothing(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let begun = test_run.begin(&mut *open())?;
    let detached = Fact::Detached {
        session: SessionId::parse("nobody")?,
    };
    let unfit = test_run.add(&mut *open(), 1, &[note("fits"), detached]);
    assert!(matches!(unfit, Err(Error::Unfit { .. })), "{unfit:?}");
    assert_eq!(open().run(&test_run.id)?, Some(begun));
    assert_eq!(open().journal(&test_run.id, 1, 100)?.len(), 1);
    assert!(open().verify(&test_run.id)?.intact);
    Ok(())
}

pub(super) fn the_entries_of_a_run_are_a_gapless_chain(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let mut head = test_run.begin(&mut *open())?.head;
    for seen in [1, 3, 5] {
        let done = test_run.add(&mut *open(), seen, &[note("a"), note("b")])?;
        if let Transacted::Done { stored, .. } = done {
            head = stored.head;
        }
    }
    let journal = open().journal(&test_run.id, 1, 100)?;
    let numbers: Vec<(u64, u64)> = journal.iter().map(|it| (it.number, it.decision)).collect();
    assert_eq!(
        numbers,
        [(1, 1), (2, 2), (3, 2), (4, 4), (5, 4), (6, 6), (7, 6)]
    );
    let mut previous: Option<Hash> = None;
    for stored in &journal {
        assert_eq!(previous.unwrap_or(stored.previous), stored.previous);
        previous = Some(stored.hash);
    }
    assert_eq!(previous, Some(head));
    assert_eq!(open().journal(&test_run.id, 3, 2)?, journal[2..4]);
    assert_eq!(open().journal(&test_run.id, 8, 100)?, []);
    let verification = open().verify(&test_run.id)?;
    assert!(verification.intact, "{verification:?}");
    assert_eq!(verification.entries, 7);
    Ok(())
}

pub(super) fn a_journal_folds_to_its_state(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let begun = test_run.begin(&mut *open())?;
    let session = SessionId::parse("s-1")?;
    test_run.add(
        &mut *open(),
        1,
        &[Fact::Attached {
            session: session.clone(),
            process: None,
        }],
    )?;
    test_run.add(&mut *open(), 2, &[Fact::Detached { session }, note("over")])?;
    let stored = open().run(&test_run.id)?.ok_or("the run is gone")?;
    let journal = open().journal(&test_run.id, 1, 100)?;
    assert_eq!(
        engine::replay(journal.iter().map(|it| &it.entry))?,
        stored.run
    );
    assert_eq!(open().folded_at(&test_run.id, 4)?, stored.run);
    assert_eq!(open().folded_at(&test_run.id, 1)?, begun.run);
    assert_ne!(open().folded_at(&test_run.id, 2)?, stored.run);
    for number in [0, 5] {
        let unknown = open().folded_at(&test_run.id, number);
        assert!(
            matches!(unknown, Err(Error::UnknownEntry { .. })),
            "{unknown:?}"
        );
    }
    Ok(())
}

pub(super) fn a_checkpoint_is_found_at_its_last_place(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let (good, better) = (
        CheckpointName::parse("good")?,
        CheckpointName::parse("better")?,
    );
    let facts = [&good, &better, &good].map(|name| Fact::Checkpointed { name: name.clone() });
    test_run.add(&mut *open(), 1, &facts)?;
    assert_eq!(
        open().checkpoints(&test_run.id)?,
        BTreeMap::from([(good, 4), (better, 3)])
    );
    Ok(())
}

/// How many threads write at once.
pub(super) const MANY: usize = 64;

pub(super) fn at_once(
    open: Open<'_>,
    work: impl Fn(usize, &mut dyn Backend) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    std::thread::scope(|scope| {
        let work = &work;
        let start = |index| scope.spawn(move || work(index, &mut *open()));
        let workers: Vec<_> = (0..MANY).map(start).collect();
        workers
            .into_iter()
            .try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })
}

pub(super) fn sixty_four_threads_leave_sixty_four_events(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    at_once(open, |index, store| {
        test_run.add_in_the_end(store, test_run.commit(1), &note(&index.to_string()))
    })?;
    let journal = open().journal(&test_run.id, 2, 1_000)?;
    let mut said: Vec<usize> = Vec::new();
    for stored in &journal {
        if let Fact::Noted { message } = &stored.entry.fact {
            said.push(message.parse()?);
        }
    }
    said.sort_unstable();
    assert_eq!(said, (0..MANY).collect::<Vec<_>>());
    let verification = open().verify(&test_run.id)?;
    assert!(verification.intact, "{verification:?}");
    assert_eq!(verification.entries, 1 + MANY as u64);
    Ok(())
}

pub(super) fn sixty_four_threads_with_one_key_leave_one_event(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let key = Key::parse("the same for all")?;
    at_once(open, |_, store| {
        let commit = Commit {
            key: Some(&key),
            ..test_run.commit(1)
        };
        test_run.add_in_the_end(store, commit, &note("once"))
    })?;
    assert_eq!(open().journal(&test_run.id, 1, 1_000)?.len(), 2);
    assert_eq!(open().keyed(&test_run.id, &key)?.len(), 1);
    Ok(())
}

pub(super) fn an_unknown_run_is_told(open: Open<'_>) -> Checked {
    let (known, test_run) = (TestRun::new("r-1")?, TestRun::new("r-2")?);
    known.begin(&mut *open())?;
    let key = Key::parse("k")?;
    assert_eq!(open().run(&test_run.id)?, None);
    for error in [
        open().journal(&test_run.id, 1, 1).err(),
        open().keyed(&test_run.id, &key).err(),
        open().lease(&test_run.id).err(),
        open().verify(&test_run.id).err(),
        open().folded_at(&test_run.id, 1).err(),
        export(open().as_ref(), &test_run.id, &mut Vec::new()).err(),
        test_run.add(&mut *open(), 1, &[note("to nobody")]).err(),
    ] {
        assert!(matches!(error, Some(Error::UnknownRun { .. })), "{error:?}");
    }
    Ok(())
}
