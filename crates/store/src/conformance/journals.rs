//! Promises about runs and their journals.

use std::collections::BTreeMap;

use engine::{CheckpointName, Fact, Hash, SessionId};

use super::story::{Story, decision, note};
use super::{Checked, Open};
use crate::{Backend, Commit, Error, Key, NewRun, Transacted, export};

pub fn a_run_that_was_begun_is_found_again(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    let begun = story.begin(&mut *open())?;
    assert_eq!(begun.version, 1);
    assert_eq!(begun.project, "/project");
    assert_eq!(begun.worktree, "/project/tree");
    assert_eq!(begun.pipeline, story.definition.name);
    assert_eq!(open().run(&story.id)?, Some(begun.clone()));
    let journal = open().journal(&story.id, 1, 10)?;
    assert_eq!(journal.len(), 1);
    assert_eq!(journal.last().map(|last| last.hash), Some(begun.head));
    let empty = store_refuses_an_empty_beginning(&mut *open())?;
    assert!(matches!(empty, Error::NotABeginning { .. }), "{empty}");
    Ok(())
}

fn store_refuses_an_empty_beginning(
    store: &mut dyn Backend,
) -> Result<Error, Box<dyn std::error::Error>> {
    let story = Story::new("r-2")?;
    match store.begin(&story.new_run(), &decision(&[])) {
        Err(error) => Ok(error),
        Ok(_) => Err("a run began without an entry".into()),
    }
}

pub fn an_id_is_used_once(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    let begun = story.begin(&mut *open())?;
    let again = story.begin(&mut *open());
    assert!(matches!(again, Err(Error::RunExists { .. })), "{again:?}");
    assert_eq!(open().run(&story.id)?, Some(begun));
    Ok(())
}

pub fn a_key_begins_one_run(open: Open<'_>) -> Checked {
    let (first, second) = (Story::new("r-1")?, Story::new("r-2")?);
    let key = Key::parse("session-1")?;
    let begin = |story: &Story, project| {
        let new = NewRun {
            project,
            key: Some(&key),
            ..story.new_run()
        };
        open().begin(&new, &story.beginning())
    };
    let begun = begin(&first, "/project")?;
    assert_eq!(begin(&second, "/project")?, begun);
    assert_eq!(open().run(&second.id)?, None);
    assert_eq!(begin(&second, "/other")?.run.id, second.id);
    Ok(())
}

pub fn a_repeated_key_is_one_event(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    story.begin(&mut *open())?;
    let key = Key::parse("toolu_01")?;
    let mut decided = 0;
    let mut send = |seen| {
        let commit = Commit {
            key: Some(&key),
            ..story.commit(seen)
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
    // Whoever sends it again has usually not seen that it was stored.
    for seen in [1, 3, 9] {
        let Transacted::Repeated { entries } = send(seen)? else {
            return Err("the key was taken twice".into());
        };
        assert_eq!(entries, open().journal(&story.id, 2, 2)?);
        assert_eq!(entries, open().keyed(&story.id, &key)?);
    }
    assert_eq!(decided, 1);
    assert_eq!(open().keyed(&story.id, &Key::parse("toolu_02")?)?, []);
    assert_eq!(open().journal(&story.id, 1, 100)?.len(), 3);
    Ok(())
}

pub fn a_version_that_moved_is_told(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    story.begin(&mut *open())?;
    story.add(&mut *open(), 1, &[note("first")])?;
    for seen in [0, 1, 3] {
        let moved = story.add(&mut *open(), seen, &[note("late")])?;
        assert_eq!(moved, Transacted::Moved { version: 2 });
    }
    assert_eq!(open().journal(&story.id, 1, 100)?.len(), 2);
    let done = story.add(&mut *open(), 2, &[note("second")])?;
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
    Ok(())
}

pub fn a_decision_without_entries_stores_nothing(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    let begun = story.begin(&mut *open())?;
    let Transacted::Done {
        stored, numbers, ..
    } = story.add(&mut *open(), 1, &[])?
    else {
        return Err("it was not done".into());
    };
    assert_eq!((*stored, numbers), (begun.clone(), 2..2));
    assert_eq!(open().run(&story.id)?, Some(begun));
    Ok(())
}

pub fn a_decision_that_does_not_fit_stores_nothing(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    let begun = story.begin(&mut *open())?;
    let detached = Fact::Detached {
        session: SessionId::parse("nobody")?,
    };
    let unfit = story.add(&mut *open(), 1, &[note("fits"), detached]);
    assert!(matches!(unfit, Err(Error::Unfit { .. })), "{unfit:?}");
    assert_eq!(open().run(&story.id)?, Some(begun));
    assert_eq!(open().journal(&story.id, 1, 100)?.len(), 1);
    assert!(open().verify(&story.id)?.intact);
    Ok(())
}

pub fn the_entries_of_a_run_are_a_gapless_chain(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    let mut head = story.begin(&mut *open())?.head;
    for seen in [1, 3, 5] {
        let done = story.add(&mut *open(), seen, &[note("a"), note("b")])?;
        if let Transacted::Done { stored, .. } = done {
            head = stored.head;
        }
    }
    let journal = open().journal(&story.id, 1, 100)?;
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
    assert_eq!(open().journal(&story.id, 3, 2)?, journal[2..4]);
    assert_eq!(open().journal(&story.id, 8, 100)?, []);
    let verification = open().verify(&story.id)?;
    assert!(verification.intact, "{verification:?}");
    assert_eq!(verification.entries, 7);
    Ok(())
}

pub fn a_journal_folds_to_its_state(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    let begun = story.begin(&mut *open())?;
    let session = SessionId::parse("s-1")?;
    story.add(
        &mut *open(),
        1,
        &[Fact::Attached {
            session: session.clone(),
            process: None,
        }],
    )?;
    story.add(&mut *open(), 2, &[Fact::Detached { session }, note("over")])?;
    let stored = open().run(&story.id)?.ok_or("the run is gone")?;
    let journal = open().journal(&story.id, 1, 100)?;
    assert_eq!(
        engine::replay(journal.iter().map(|it| &it.entry))?,
        stored.run
    );
    assert_eq!(open().folded_at(&story.id, 4)?, stored.run);
    assert_eq!(open().folded_at(&story.id, 1)?, begun.run);
    assert_ne!(open().folded_at(&story.id, 2)?, stored.run);
    for number in [0, 5] {
        let unknown = open().folded_at(&story.id, number);
        assert!(
            matches!(unknown, Err(Error::UnknownEntry { .. })),
            "{unknown:?}"
        );
    }
    Ok(())
}

pub fn a_checkpoint_is_found_at_its_last_place(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    story.begin(&mut *open())?;
    let (good, better) = (
        CheckpointName::parse("good")?,
        CheckpointName::parse("better")?,
    );
    let facts = [&good, &better, &good].map(|name| Fact::Checkpointed { name: name.clone() });
    story.add(&mut *open(), 1, &facts)?;
    assert_eq!(
        open().checkpoints(&story.id)?,
        BTreeMap::from([(good, 4), (better, 3)])
    );
    Ok(())
}

/// How many threads come at once.
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

pub fn sixty_four_threads_leave_sixty_four_events(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    story.begin(&mut *open())?;
    at_once(open, |index, store| {
        story.add_in_the_end(store, story.commit(1), &note(&index.to_string()))
    })?;
    let journal = open().journal(&story.id, 2, 1_000)?;
    let mut said: Vec<usize> = Vec::new();
    for stored in &journal {
        if let Fact::Noted { message } = &stored.entry.fact {
            said.push(message.parse()?);
        }
    }
    said.sort_unstable();
    assert_eq!(said, (0..MANY).collect::<Vec<_>>());
    let verification = open().verify(&story.id)?;
    assert!(verification.intact, "{verification:?}");
    assert_eq!(verification.entries, 1 + MANY as u64);
    Ok(())
}

pub fn sixty_four_threads_with_one_key_leave_one_event(open: Open<'_>) -> Checked {
    let story = Story::new("r-1")?;
    story.begin(&mut *open())?;
    let key = Key::parse("the same for all")?;
    at_once(open, |_, store| {
        let commit = Commit {
            key: Some(&key),
            ..story.commit(1)
        };
        story.add_in_the_end(store, commit, &note("once"))
    })?;
    assert_eq!(open().journal(&story.id, 1, 1_000)?.len(), 2);
    assert_eq!(open().keyed(&story.id, &key)?.len(), 1);
    Ok(())
}

pub fn an_unknown_run_is_told(open: Open<'_>) -> Checked {
    let (known, story) = (Story::new("r-1")?, Story::new("r-2")?);
    known.begin(&mut *open())?;
    let key = Key::parse("k")?;
    assert_eq!(open().run(&story.id)?, None);
    for error in [
        open().journal(&story.id, 1, 1).err(),
        open().keyed(&story.id, &key).err(),
        open().lease(&story.id).err(),
        open().verify(&story.id).err(),
        open().folded_at(&story.id, 1).err(),
        export(open().as_ref(), &story.id, &mut Vec::new()).err(),
        story.add(&mut *open(), 1, &[note("to nobody")]).err(),
    ] {
        assert!(matches!(error, Some(Error::UnknownRun { .. })), "{error:?}");
    }
    Ok(())
}
