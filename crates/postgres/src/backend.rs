//! A handle on the database as a store of runs.

use std::cell::RefCell;

use engine::{Decision, Definition, DispatchId, Hash, Run, RunId, Time, Usage};
use store::parts::{self, Addition, Corruption, RunOrigin};
use store::{
    Access, AtWork, Backend, Backup, Claim, Collect, Collected, Commit, Connector, Error, Fence,
    Files, Import, Key, Lease, NewRun, OutputPiece, QueueMark, ReachedCap, RunSummary,
    SharedBackend, ShippedSummary, StoredEntry, StoredRun, Transacted, Verification, content_hash,
};

use crate::address::Address;
use crate::link::{Link, Purpose};
use crate::write::{Begun, FirstStore, Pending, Refused, stored_run};
use crate::{
    collect, output, queue_marks, read, schema, shipped_runs, spending, trees, verify, write,
};

/// One connection to the runs of a fleet.
pub struct Postgres {
    pub(crate) link: Link,
    /// The run as this handle last read or wrote it: who drives one run need not read it again.
    last: RefCell<Option<StoredRun>>,
}

impl Postgres {
    /// Connects, and fails in words if the server or its schema does not fit.
    pub fn open(address: &Address, access: Access) -> Result<Self, Error> {
        let purpose = match access {
            Access::Read => Purpose::Read,
            Access::Write => Purpose::Write,
        };
        Self::on(Link::connect(address, purpose)?)
    }

    fn on(link: Link) -> Result<Self, Error> {
        schema::check(&link)?;
        let last = RefCell::default();
        Ok(Self { link, last })
    }

    /// The run, if it is unchanged: from memory, or read; and whether the key was used, as far as the read tells.
    fn found(&self, commit: &Commit<'_>) -> Result<(StoredRun, bool), Error> {
        let last = self.last.take();
        let is_it = |last: &StoredRun| last.run.id == *commit.run && last.version == commit.seen;
        if let Some(last) = last.filter(is_it) {
            return Ok((last, false));
        }
        let found = read::run(&self.link, commit.run, commit.key)?;
        let found = found.ok_or_else(|| read::unknown(commit.run))?;
        Ok((found.stored, found.is_key_used))
    }

    /// The answer to a write that came too late, or was stored before.
    fn earlier_result(&self, commit: &Commit<'_>, refused: Refused) -> Result<Transacted, Error> {
        match (refused, commit.key) {
            (Refused::Repeated, Some(key)) => {
                let entries = self.keyed(commit.run, key)?;
                Ok(Transacted::Repeated { entries })
            }
            (Refused::Moved(version), _) => Ok(Transacted::Moved { version }),
            (Refused::Repeated, None) => Err(read::unknown(commit.run)),
        }
    }

    fn first_stored(&self, first: &FirstStore<'_>) -> Result<StoredRun, Error> {
        match first.store(&self.link)? {
            Begun::New => Ok(first.stored.clone()),
            Begun::Earlier(id) => {
                let wrong = |error: engine::NameError| self.link.damaged(&error.to_string());
                let id = RunId::parse(&id).map_err(wrong)?;
                self.run(&id)?.ok_or_else(|| read::unknown(&id))
            }
            // The answer to our own statement may have been lost with the connection.
            Begun::Exists => match self.run(&first.stored.run.id)? {
                Some(found) if found == *first.stored && first.key.is_some() => Ok(found),
                Some(_) | None => Err(Error::RunExists {
                    run: first.stored.run.id.clone(),
                }),
            },
        }
    }
}

impl SharedBackend for Postgres {
    fn connector(&self) -> Connector {
        let connect = self.link.connector();
        // The schema was compared when this handle was opened.
        Box::new(move || {
            let (link, last) = (connect()?, RefCell::default());
            Ok(Box::new(Self { link, last }))
        })
    }

    fn queue_mark(&self, run: &RunId) -> Result<Option<QueueMark>, Error> {
        queue_marks::of_run(&self.link, run)
    }

    fn set_aside(&self) -> Result<Vec<(RunId, String)>, Error> {
        queue_marks::set_aside(&self.link)
    }

    fn keep_tree(&self, run: &RunId, fence: Fence, commit: &str) -> Result<(), Error> {
        trees::keep(&self.link, run, fence, commit)
    }

    fn kept_tree(&self, run: &RunId) -> Result<Option<String>, Error> {
        trees::kept(&self.link, run)
    }

    fn note_spending(&self, run: &RunId, fence: Option<Fence>, used: Usage) -> Result<(), Error> {
        spending::note(&self.link, run, fence, used)
    }

    fn cap_reached(&self, run: &RunId) -> Result<Option<ReachedCap>, Error> {
        spending::cap_reached(&self.link, run)
    }

    fn note_at_work(&self, run: &RunId, at_work: &AtWork) -> Result<(), Error> {
        spending::note_at_work(&self.link, run, at_work)
    }

    fn reserve(
        &self,
        run: &RunId,
        at_work: &AtWork,
        most_cents: Option<u64>,
    ) -> Result<Option<u64>, Error> {
        spending::reserve(&self.link, run, at_work, most_cents)
    }

    fn shipped_runs(&self) -> Result<Vec<ShippedSummary>, Error> {
        shipped_runs::list(&self.link)
    }

    fn keep_output(&self, run: &RunId, piece: &OutputPiece<'_>) -> Result<(), Error> {
        output::keep(&self.link, run, piece)
    }

    fn kept_output(&self, run: &RunId) -> Result<Vec<(DispatchId, u64)>, Error> {
        output::kept(&self.link, run)
    }

    fn output_after(
        &self,
        run: &RunId,
        dispatch: DispatchId,
        place: u64,
    ) -> Result<Vec<u8>, Error> {
        output::after(&self.link, run, dispatch, place)
    }
}

impl Backend for Postgres {
    fn runs(&self, project: Option<&str>) -> Result<Vec<RunSummary>, Error> {
        let columns = read::summaries(&self.link, project, None)?.into_iter();
        let summaries = columns.map(parts::Columns::summary);
        let wrong = |Corruption(what)| self.link.damaged(&what);
        summaries.collect::<Result<_, _>>().map_err(wrong)
    }

    fn summary(&self, run: &RunId) -> Result<Option<RunSummary>, Error> {
        let columns = read::summaries(&self.link, None, Some(run))?.pop();
        let wrong = |Corruption(what)| self.link.damaged(&what);
        columns
            .map(parts::Columns::summary)
            .transpose()
            .map_err(wrong)
    }

    fn change_number(&self) -> Result<u64, Error> {
        read::change_number(&self.link)
    }

    fn run(&self, run: &RunId) -> Result<Option<StoredRun>, Error> {
        let found = read::run(&self.link, run, None)?.map(|found| found.stored);
        self.last.replace(found.clone());
        Ok(found)
    }

    fn run_and_compiled(
        &self,
        run: &RunId,
    ) -> Result<Option<(StoredRun, Option<Definition>)>, Error> {
        let Some(found) = read::run(&self.link, run, None)? else {
            return Ok(None);
        };
        self.last.replace(Some(found.stored.clone()));
        Ok(Some((found.stored, found.compiled)))
    }

    fn journal(&self, run: &RunId, from: u64, limit: u64) -> Result<Vec<StoredEntry>, Error> {
        read::journal(&self.link, run, from, limit)
    }

    fn keyed(&self, run: &RunId, key: &Key) -> Result<Vec<StoredEntry>, Error> {
        read::keyed(&self.link, run, key)
    }

    fn definition(&self, hash: Hash) -> Result<Option<Files>, Error> {
        read::definition(&self.link, hash)
    }

    fn compiled(&self, hash: Hash) -> Result<Option<Definition>, Error> {
        read::compiled(&self.link, hash)
    }

    fn content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        read::content(&self.link, hash)
    }

    fn lease(&self, run: &RunId) -> Result<Option<Lease>, Error> {
        read::lease(&self.link, run)
    }

    fn verify(&self, run: &RunId) -> Result<Verification, Error> {
        verify::verify(&self.link, run)
    }

    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error> {
        let Addition {
            run,
            lines,
            tip,
            named,
        } = parts::begin(new, decision)?;
        let (status, started) = ((new.status)(&run), run.started_at);
        let pipeline = new.compiled.name.as_str();
        let origin = RunOrigin {
            project: new.project,
            worktree: new.worktree,
            pipeline,
        };
        let stored = stored_run(run, tip, origin, new.compiled);
        let first = FirstStore {
            stored: &stored,
            status,
            updated_at: decision.entries.last().map_or(started, |entry| entry.at),
            key: new.key,
            files: new.files,
            compiled: new.compiled,
            lines: lines.iter().collect(),
            contents: new.contents,
            named: &named,
        };
        self.first_stored(&first)
    }

    fn import(&mut self, backup: &Backup, import: &Import<'_>) -> Result<StoredRun, Error> {
        let Addition {
            run, lines, tip, ..
        } = parts::noted(backup, import)?;
        let status = (import.status)(&run);
        let pipeline = import.compiled.name.as_str();
        let origin = RunOrigin {
            project: import.project,
            worktree: import.worktree,
            pipeline,
        };
        let stored = stored_run(run, tip, origin, import.compiled);
        let first = FirstStore {
            stored: &stored,
            status,
            updated_at: import.at(),
            // No key of this store started it.
            key: None,
            files: &backup.files,
            compiled: import.compiled,
            lines: backup.lines().iter().chain(&lines).collect(),
            contents: &backup.contents(),
            named: &backup.named(),
        };
        self.first_stored(&first)
    }

    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        parts::check_contents(commit.contents)?;
        let (stored, is_key_used) = self.found(commit)?;
        if is_key_used {
            return self.earlier_result(commit, Refused::Repeated);
        }
        if stored.version != commit.seen {
            // Only the conditions are asked: what nobody may store need not be decided.
            let nothing = Commit {
                contents: &[],
                ..*commit
            };
            let mut none = Decision {
                reply: engine::Reply::Done,
                entries: Vec::new(),
                rule: engine::Rule::Quiet,
            };
            let stale = StoredRun {
                version: commit.seen,
                ..stored
            };
            let refused = Pending::new(&nothing, stale, &mut none)?.store(&self.link)?;
            return self.earlier_result(commit, refused.unwrap_or(Refused::Moved(commit.seen)));
        }
        let mut decision = decide(&stored.run);
        let pending = Pending::new(commit, stored, &mut decision)?;
        match pending.store(&self.link)? {
            Some(refused) => self.earlier_result(commit, refused),
            None => {
                self.last.replace(Some(pending.stored.clone()));
                Ok(pending.done(decision))
            }
        }
    }

    fn transact_on(
        &mut self,
        known: &StoredRun,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        self.last.replace(Some(known.clone()));
        self.transact(commit, decide)
    }

    fn claim(&mut self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
        write::claim(&self.link, run, claim)
    }

    fn put_content(&mut self, bytes: &[u8], at: Time) -> Result<Hash, Error> {
        let hash = content_hash(bytes);
        write::add_content(&self.link, hash, bytes, at)?;
        Ok(hash)
    }

    fn put_compiled(&mut self, source: Hash, compiled: &Definition) -> Result<(), Error> {
        write::set_compiled(&self.link, source, compiled)
    }

    fn gc(&mut self, collect: &Collect<'_>) -> Result<Collected, Error> {
        collect::gc(&self.link, collect)
    }
}
