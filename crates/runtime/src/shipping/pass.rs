//! One pass over all guarded runs: whatever the copies lack is added to them.

use std::collections::BTreeSet;

use engine::{Driver, Hash, RunId};
use store::parts::Line;
use store::{
    Announcement, Backend, DatabaseFault, Error, JournalCopies, Receipt, RunSummary, StoredEntry,
};

use super::position::{Halt, Position};
use crate::failure::Failure;
use crate::find_run;
use crate::state::State;

/// The most entries of one statement, and about how many bytes of them.
const MOST_ENTRIES: u64 = 200;
const MOST_BYTES: usize = 1024 * 1024;

/// A larger content is not shipped.
const LARGEST_CONTENT: usize = 16 * 1024 * 1024;

/// The database may ask twice for something else: to announce the run, and to begin earlier.
const MOST_DETOURS: u32 = 3;

/// Ships what this machine has, again and again.
pub struct Shipper<'a> {
    state: &'a State,
    /// Contents that were shipped already.
    sent: BTreeSet<Hash>,
    /// Has the database said which runs another machine has adopted?
    has_asked: bool,
}

/// What a pass has done.
#[derive(Debug, Default)]
pub struct Passed {
    pub runs: usize,
    pub entries: u64,
    /// Runs of which nothing more is shipped, found in this pass.
    pub halted: Vec<(RunId, Halt)>,
    /// How many runs were found so before, and are not shipped any more.
    pub still_halted: usize,
    /// Runs that could not be shipped this time.
    pub failed: Vec<(RunId, Failure)>,
}

impl<'a> Shipper<'a> {
    pub fn new(state: &'a State) -> Self {
        Self {
            state,
            sent: BTreeSet::new(),
            has_asked: false,
        }
    }

    /// Ships everything that is new. What concerns one run stops only that run.
    pub fn pass(
        &mut self,
        store: &dyn Backend,
        copies: &dyn JournalCopies,
    ) -> Result<Passed, Failure> {
        let mut passed = Passed::default();
        let mut runs = store.runs(None)?;
        runs.retain(|run| run.driver == Driver::Guarded);
        if !self.has_asked {
            passed.halted = self.adopted(copies, &runs)?;
            self.has_asked = true;
        }
        for run in runs {
            match self.ship_and_tell(store, copies, &run) {
                Ok(Shipped::Entries(0)) => {}
                Ok(Shipped::StillHalted) => passed.still_halted += 1,
                Ok(Shipped::Entries(entries)) => {
                    passed.runs += 1;
                    passed.entries += entries;
                }
                Ok(Shipped::Halted(halt)) => passed.halted.push((run.id, halt)),
                Err(ShippingError::OfRun(failure)) => passed.failed.push((run.id, failure)),
                Err(ShippingError::OfAll(failure)) => return Err(failure),
            }
        }
        Ok(passed)
    }

    /// A machine that comes back hears at once who went on with its runs, and not only with its next entry.
    fn adopted(
        &self,
        copies: &dyn JournalCopies,
        runs: &[RunSummary],
    ) -> Result<Vec<(RunId, Halt)>, Failure> {
        let active = runs.iter().filter(|run| find_run::is_active(run));
        let shipped = active.filter(|run| {
            let known = Position::read(self.state, &run.id);
            known.is_some_and(|known| known.halt.is_none())
        });
        let shipped: Vec<RunId> = shipped.map(|run| run.id.clone()).collect();
        if shipped.is_empty() {
            return Ok(Vec::new());
        }
        let mut halted = Vec::new();
        for state in copies.states(&shipped)? {
            if let (Some(adoption), Some(known)) =
                (state.adoption, Position::read(self.state, &state.run))
            {
                let halt = Halt::Adopted(adoption);
                self.halt(&state.run, known, halt.clone())?;
                halted.push((state.run, halt));
            }
        }
        Ok(halted)
    }

    /// Ships what is new of a run, and then tells how it stands.
    fn ship_and_tell(
        &mut self,
        store: &dyn Backend,
        copies: &dyn JournalCopies,
        run: &RunSummary,
    ) -> Result<Shipped, ShippingError> {
        let shipped = self.ship_run(store, copies, run)?;
        let position = Position::read(self.state, &run.id);
        let untold = position.filter(|it| it.halt.is_none() && it.told != run.version);
        if let Some(position) = untold {
            copies.tell(run)?;
            let told = run.version;
            let position = Position { told, ..position };
            position
                .save(self.state, &run.id)
                .map_err(ShippingError::OfAll)?;
        }
        Ok(shipped)
    }

    fn ship_run(
        &mut self,
        store: &dyn Backend,
        copies: &dyn JournalCopies,
        run: &RunSummary,
    ) -> Result<Shipped, ShippingError> {
        let known = Position::read(self.state, &run.id);
        let known = match known {
            Some(known) if known.halt.is_some() => return Ok(Shipped::StillHalted),
            Some(known) if known.entries == run.version => return Ok(Shipped::Entries(0)),
            Some(known) => known,
            None => told_by(copies, &run.id)?,
        };
        // Another process may have shipped since the list was read, so the journal is read again.
        let version = store.summary(&run.id)?.map_or(0, |row| row.version);
        let halt = if version < known.entries {
            Some(Halt::RolledBack { entries: version })
        } else if is_other(store, &run.id, &known)? {
            Some(Halt::Differs { at: known.entries })
        } else {
            known.halt.clone()
        };
        if let Some(halt) = halt {
            return self.halted(&run.id, known, halt);
        }
        self.ship_from(store, copies, &run.id, known)
    }

    fn ship_from(
        &mut self,
        store: &dyn Backend,
        copies: &dyn JournalCopies,
        run: &RunId,
        mut position: Position,
    ) -> Result<Shipped, ShippingError> {
        let (mut added, mut detours) = (0, 0);
        while detours <= MOST_DETOURS {
            let batch = batch(store, run, position.entries + 1)?;
            let Some(last) = batch.last() else {
                break;
            };
            let reached = Position {
                entries: last.number,
                hash: Some(last.hash),
                halt: None,
                told: position.told,
            };
            self.ship_contents(store, copies, &batch)?;
            let lines: Vec<Line> = batch.iter().map(line).collect();
            match copies.add(run, &lines)? {
                Receipt::Stored => {
                    position = reached;
                    position
                        .save(self.state, run)
                        .map_err(ShippingError::OfAll)?;
                    added += lines.len() as u64;
                    detours = 0;
                }
                Receipt::Unknown => {
                    announce(store, copies, run)?;
                    detours += 1;
                }
                Receipt::Gap { last } => {
                    position = Position {
                        entries: last,
                        ..Position::default()
                    };
                    detours += 1;
                }
                Receipt::Differs { at } => {
                    return self.halted(run, position, Halt::Differs { at });
                }
                Receipt::Adopted(adoption) => {
                    return self.halted(run, position, Halt::Adopted(adoption));
                }
            }
        }
        if added == 0 {
            // The database told it, and need not tell it again.
            position
                .save(self.state, run)
                .map_err(ShippingError::OfAll)?;
        }
        Ok(Shipped::Entries(added))
    }

    fn halted(
        &self,
        run: &RunId,
        position: Position,
        halt: Halt,
    ) -> Result<Shipped, ShippingError> {
        let halted = self.halt(run, position, halt.clone());
        halted.map_err(ShippingError::OfAll)?;
        Ok(Shipped::Halted(halt))
    }

    fn halt(&self, run: &RunId, position: Position, halt: Halt) -> Result<(), Failure> {
        let halted = Position {
            halt: Some(halt),
            ..position
        };
        halted.save(self.state, run)
    }

    /// What the entries name and the store has: an adopted run needs it.
    fn ship_contents(
        &mut self,
        store: &dyn Backend,
        copies: &dyn JournalCopies,
        batch: &[StoredEntry],
    ) -> Result<(), ShippingError> {
        for hash in batch.iter().flat_map(|stored| store::hashes(&stored.entry)) {
            if !self.sent.insert(hash) {
                continue;
            }
            let content = store.content(hash)?;
            if let Some(content) = content.filter(|bytes| bytes.len() <= LARGEST_CONTENT) {
                copies.put_content(&content)?;
            }
        }
        Ok(())
    }
}

enum Shipped {
    Entries(u64),
    Halted(Halt),
    /// It was found in an earlier pass.
    StillHalted,
}

enum ShippingError {
    OfRun(Failure),
    /// The next run would have it, too.
    OfAll(Failure),
}

impl From<Error> for ShippingError {
    fn from(error: Error) -> Self {
        let is_of_all = match &error {
            Error::Database { fault, .. } => *fault != DatabaseFault::Refused,
            _ => false,
        };
        let failure = Failure::from(error);
        if is_of_all {
            Self::OfAll(failure)
        } else {
            Self::OfRun(failure)
        }
    }
}

/// The database knows how far the copy is, even if we have forgotten it.
fn told_by(copies: &dyn JournalCopies, run: &RunId) -> Result<Position, ShippingError> {
    let state = copies.states(std::slice::from_ref(run))?.pop();
    let tip = state.as_ref().and_then(|state| state.tip);
    Ok(Position {
        entries: tip.map_or(0, |tip| tip.version),
        hash: tip.map(|tip| tip.head),
        halt: state.and_then(|state| state.adoption).map(Halt::Adopted),
        told: 0,
    })
}

/// Has the journal another entry where its copy ends?
fn is_other(store: &dyn Backend, run: &RunId, position: &Position) -> Result<bool, ShippingError> {
    let Some(hash) = position.hash.filter(|_| position.entries > 0) else {
        return Ok(false);
    };
    let found = store.journal(run, position.entries, 1)?;
    Ok(found.first().is_none_or(|found| found.hash != hash))
}

fn batch(store: &dyn Backend, run: &RunId, from: u64) -> Result<Vec<StoredEntry>, ShippingError> {
    let mut bytes = 0;
    let mut batch = store.journal(run, from, MOST_ENTRIES)?;
    let fits = batch.iter().take_while(|stored| {
        let is_first = bytes == 0;
        bytes += store::entry_to_json(&stored.entry).len();
        is_first || bytes <= MOST_BYTES
    });
    let fits = fits.count();
    batch.truncate(fits);
    Ok(batch)
}

fn line(stored: &StoredEntry) -> Line {
    Line {
        number: stored.number,
        decision: stored.decision,
        key: stored.key.clone(),
        text: store::entry_to_json(&stored.entry),
        previous: stored.previous,
        hash: stored.hash,
    }
}

fn announce(
    store: &dyn Backend,
    copies: &dyn JournalCopies,
    run: &RunId,
) -> Result<(), ShippingError> {
    let unknown = || Error::UnknownRun { run: run.clone() };
    let stored = store.run(run)?.ok_or_else(unknown)?;
    let hash = stored.run.definition;
    let files = store.definition(hash)?;
    let files = files.ok_or(Error::UnknownDefinition { hash })?;
    Ok(copies.announce(&Announcement {
        run,
        project: &stored.project,
        files: &files,
    })?)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use engine::{ArtifactName, Fact, Time};
    use store::conformance::test_run::TestRun;
    use store::{CopyState, Memory};

    use super::*;

    /// Copies in memory, of one run.
    #[derive(Default)]
    struct FakeCopies {
        announced: RefCell<bool>,
        lines: RefCell<Vec<Line>>,
        contents: RefCell<Vec<Vec<u8>>>,
        told: RefCell<Vec<u64>>,
    }

    impl JournalCopies for FakeCopies {
        fn announce(&self, _: &Announcement<'_>) -> Result<(), Error> {
            *self.announced.borrow_mut() = true;
            Ok(())
        }

        fn put_content(&self, bytes: &[u8]) -> Result<(), Error> {
            self.contents.borrow_mut().push(bytes.to_vec());
            Ok(())
        }

        fn add(&self, _: &RunId, lines: &[Line]) -> Result<Receipt, Error> {
            if !*self.announced.borrow() {
                return Ok(Receipt::Unknown);
            }
            self.lines.borrow_mut().extend(lines.to_vec());
            Ok(Receipt::Stored)
        }

        fn states(&self, runs: &[RunId]) -> Result<Vec<CopyState>, Error> {
            let state = |run: &RunId| CopyState {
                run: run.clone(),
                tip: None,
                adoption: None,
            };
            Ok(runs.iter().map(state).collect())
        }

        fn hashes(&self, _: &RunId) -> Result<Vec<Hash>, Error> {
            Ok(Vec::new())
        }

        fn sign(&self) -> Result<(), Error> {
            Ok(())
        }

        fn tell(&self, run: &RunSummary) -> Result<(), Error> {
            self.told.borrow_mut().push(run.version);
            Ok(())
        }
    }

    /// A store with a run of this driver.
    fn home(driver: Driver) -> (Memory, TestRun) {
        let mut home = Memory::default();
        let test_run = TestRun::new("r-1").unwrap();
        let mut beginning = test_run.beginning();
        if let Fact::Started(started) = &mut beginning.entries[0].fact {
            started.driver = driver;
        }
        home.begin(&test_run.new_run(), &beginning).unwrap();
        (home, test_run)
    }

    #[test]
    fn contents_that_entries_name_are_shipped_once_unless_they_are_large() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let (mut home, test_run) = home(Driver::Guarded);
        let copies = FakeCopies::default();
        let artifact = ArtifactName::parse("note").unwrap();
        let large = vec![0; LARGEST_CONTENT + 1];
        let mut shipper = Shipper::new(&state);
        for (seen, bytes) in (1..).zip([b"one".as_slice(), b"one", &large, b"two"]) {
            let content = home.put_content(bytes, Time(1)).unwrap();
            let artifact = artifact.clone();
            let approved = Fact::Approved { artifact, content };
            test_run.add(&mut home, seen, &[approved]).unwrap();
            assert!(shipper.pass(&home, &copies).unwrap().failed.is_empty());
        }
        assert_eq!(*copies.contents.borrow(), [b"one", b"two"]);
        assert_eq!(copies.lines.borrow().len(), 5);
        assert!(shipper.pass(&home, &copies).unwrap().failed.is_empty());
        assert_eq!(*copies.told.borrow(), [2, 3, 4, 5], "once for each version");
    }

    #[test]
    fn only_guarded_runs_are_shipped() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        for (driver, entries) in [
            (Driver::Guarded, 1),
            (Driver::Headless, 0),
            (Driver::ByHand, 0),
        ] {
            let (home, _) = home(driver);
            let passed = Shipper::new(&state).pass(&home, &FakeCopies::default());
            assert_eq!(passed.unwrap().entries, entries, "{driver:?}");
            crate::shipping::forget_positions(&state).unwrap();
        }
    }
}
