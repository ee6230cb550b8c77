//! A store in memory: for tests, and for the copy of one run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Decision, Definition, Hash, Run, RunId, Status, Time};

use crate::error::Corruption;
use crate::journal::{self, Addition, check_contents};
use crate::lease::{LeaseState, machine_clock};
use crate::line::Line;
use crate::run_copy::RunCopy;
use crate::stored::short_task;
use crate::verification::{Anchor, Snapshot};
use crate::verifier::Verifier;
use crate::{
    Backend, Backup, Claim, Collect, Collected, Commit, Content, Error, Files, Import, Key, Lease,
    NewRun, RunSummary, StoredEntry, StoredRun, Transacted, Verification, content_hash, import,
};

/// A copy has the compiled definition and not its files.
const COPIED: &str = "pipeline.toml";

/// A handle on one store in memory; clones share it.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    runs: BTreeMap<RunId, HeldRun>,
    definitions: BTreeMap<Hash, (Files, Definition)>,
    contents: BTreeMap<Hash, (Time, Vec<u8>)>,
    /// How often somebody wrote, or tried to.
    writes: u64,
}

struct HeldRun {
    stored: StoredRun,
    status: Status,
    updated_at: Time,
    begun_by: Option<Key>,
    lines: Vec<Line>,
    lease: LeaseState,
    /// Every hash in its entries.
    named: Vec<Hash>,
}

impl Memory {
    pub fn new() -> Self {
        Self::default()
    }

    /// A store that has the run of this copy alone, and nothing of its journal.
    pub fn with_copy(copy: RunCopy, status: Status) -> Self {
        let RunCopy {
            stored,
            compiled,
            contents,
        } = copy;
        let mut state = State::default();
        let at = stored.run.touched_at;
        for bytes in &contents {
            let hash = content_hash(bytes);
            state.put_contents(&[Content { hash, bytes }], at);
        }
        let definition = (Files::single(COPIED, &[]), compiled);
        state.definitions.insert(stored.run.definition, definition);
        let kept = HeldRun {
            status,
            updated_at: at,
            begun_by: None,
            lines: Vec::new(),
            lease: LeaseState::default(),
            named: Vec::new(),
            stored,
        };
        state.runs.insert(kept.stored.run.id.clone(), kept);
        Self(Arc::new(Mutex::new(state)))
    }

    /// A panic in `decide` leaves the state intact: nothing changes before it returns.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_to_write(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        state.writes += 1;
        state
    }
}

impl State {
    fn kept(&self, run: &RunId) -> Result<&HeldRun, Error> {
        self.runs
            .get(run)
            .ok_or_else(|| Error::UnknownRun { run: run.clone() })
    }

    fn kept_mut(&mut self, run: &RunId) -> Result<&mut HeldRun, Error> {
        self.runs
            .get_mut(run)
            .ok_or_else(|| Error::UnknownRun { run: run.clone() })
    }

    fn begun_by(&self, project: &str, key: Option<&Key>) -> Option<&HeldRun> {
        let key = key?;
        let same =
            |kept: &&HeldRun| kept.stored.project == project && kept.begun_by.as_ref() == Some(key);
        self.runs.values().find(same)
    }

    fn put_contents(&mut self, contents: &[Content<'_>], at: Time) {
        for Content { hash, bytes } in contents {
            let kept = self
                .contents
                .entry(*hash)
                .or_insert_with(|| (at, bytes.to_vec()));
            kept.0 = kept.0.max(at);
        }
    }

    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error> {
        if let Some(earlier) = self.begun_by(new.project, new.key) {
            return Ok(earlier.stored.clone());
        }
        let Addition {
            run,
            lines,
            tip,
            named,
        } = journal::begin(new, decision)?;
        if self.runs.contains_key(&run.id) {
            return Err(Error::RunExists { run: run.id });
        }
        let at = decision
            .entries
            .last()
            .map_or(run.started_at, |entry| entry.at);
        let (status, hash, id) = ((new.status)(&run), run.definition, run.id.clone());
        let stored = StoredRun {
            run,
            version: tip.version,
            head: tip.head,
            project: new.project.to_owned(),
            home: new.worktree.to_owned(),
            pipeline: new.compiled.name.clone(),
        };
        self.put_contents(new.contents, at);
        self.definitions
            .insert(hash, (new.files.clone(), new.compiled.clone()));
        let kept = HeldRun {
            stored: stored.clone(),
            status,
            updated_at: at,
            begun_by: new.key.cloned(),
            lines,
            lease: LeaseState::default(),
            named: held(named, new.contents),
        };
        self.runs.insert(id, kept);
        Ok(stored)
    }

    fn import(&mut self, backup: &Backup, import: &Import<'_>) -> Result<StoredRun, Error> {
        let Addition {
            run, lines, tip, ..
        } = import::noted(backup, import)?;
        if self.runs.contains_key(&run.id) {
            return Err(Error::RunExists { run: run.id });
        }
        let (status, at, contents) = ((import.status)(&run), import.at(), backup.contents());
        self.put_contents(&contents, at);
        let compiled = import.compiled;
        self.definitions
            .insert(run.definition, (backup.files.clone(), compiled.clone()));
        let stored = StoredRun {
            run,
            version: tip.version,
            head: tip.head,
            project: import.project.to_owned(),
            home: import.worktree.to_owned(),
            pipeline: compiled.name.clone(),
        };
        let kept = HeldRun {
            stored: stored.clone(),
            status,
            updated_at: at,
            begun_by: None,
            lines: backup.lines.iter().cloned().chain(lines).collect(),
            lease: LeaseState::default(),
            named: held(backup.named(), &contents),
        };
        self.runs.insert(stored.run.id.clone(), kept);
        Ok(stored)
    }

    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        let kept = self.kept(commit.run)?;
        if let Some(key) = commit.key
            && let entries = kept.keyed(key)?
            && !entries.is_empty()
        {
            return Ok(Transacted::Repeated { entries });
        }
        if let Some(fence) = commit.fence {
            kept.lease.current(commit.run, fence)?;
        }
        let tip = kept.stored.tip();
        if tip.version != commit.seen {
            return Ok(Transacted::Moved {
                version: tip.version,
            });
        }
        let run = kept.stored.run.clone();
        let mut decision = decide(&run);
        check_contents(commit.contents)?;
        let addition = journal::append(run, tip, commit.key, commit.secrets, &mut decision)?;
        let numbers = tip.version + 1..addition.tip.version + 1;
        let stored = self.store(commit, addition, &decision)?;
        Ok(Transacted::Done {
            decision,
            stored: Box::new(stored),
            numbers,
        })
    }

    fn store(
        &mut self,
        commit: &Commit<'_>,
        addition: Addition,
        decision: &Decision,
    ) -> Result<StoredRun, Error> {
        let Some(last) = decision.entries.last() else {
            return Ok(self.kept(commit.run)?.stored.clone());
        };
        self.put_contents(commit.contents, last.at);
        let kept = self.kept_mut(commit.run)?;
        kept.status = (commit.status)(&addition.run);
        kept.updated_at = last.at;
        kept.lines.extend(addition.lines);
        kept.named.extend(held(addition.named, commit.contents));
        kept.stored.run = addition.run;
        kept.stored.version = addition.tip.version;
        kept.stored.head = addition.tip.head;
        Ok(kept.stored.clone())
    }

    fn gc(&mut self, collect: &Collect<'_>) -> Collected {
        let mut collected = Collected::default();
        self.runs.retain(|_, kept| {
            let over = matches!(
                kept.status,
                Status::Completed | Status::Failed | Status::Cancelled
            );
            let is_kept = collect.keep.contains(&kept.stored.run.id) || kept.lease.held.is_some();
            let goes = over && kept.updated_at < collect.before && !is_kept;
            if goes {
                collected.runs += 1;
                collected.entries += kept.stored.version;
            }
            !goes
        });
        let named: Vec<Hash> = self
            .runs
            .values()
            .flat_map(|kept| kept.named.clone())
            .collect();
        let before = self.contents.len() + self.definitions.len();
        self.contents
            .retain(|hash, (at, _)| *at >= collect.before || named.contains(hash));
        collected.contents = (before - self.definitions.len() - self.contents.len()) as u64;
        let pinned = |hash: &Hash| {
            self.runs
                .values()
                .any(|kept| kept.stored.run.definition == *hash)
        };
        let unpinned: Vec<Hash> = self
            .definitions
            .keys()
            .filter(|hash| !pinned(hash))
            .copied()
            .collect();
        collected.definitions = unpinned.len() as u64;
        self.definitions.retain(|hash, _| !unpinned.contains(hash));
        collected
    }
}

impl HeldRun {
    fn keyed(&self, key: &Key) -> Result<Vec<StoredEntry>, Error> {
        let first = self
            .lines
            .iter()
            .find(|line| line.key.as_ref() == Some(key));
        let Some(decision) = first.map(|line| line.decision) else {
            return Ok(Vec::new());
        };
        self.read(self.lines.iter().filter(|line| line.decision == decision))
    }

    fn read<'a>(&self, lines: impl Iterator<Item = &'a Line>) -> Result<Vec<StoredEntry>, Error> {
        let run = &self.stored.run.id;
        let damaged = |Corruption(what)| Error::Damaged {
            folder: "memory".into(),
            what,
        };
        lines
            .map(|line| line.clone().into_stored(run).map_err(damaged))
            .collect()
    }

    fn summary(&self) -> RunSummary {
        let StoredRun {
            run,
            version,
            project,
            home,
            pipeline,
            ..
        } = &self.stored;
        RunSummary {
            id: run.id.clone(),
            project: project.clone(),
            worktree: home.clone(),
            pipeline: pipeline.clone(),
            task: short_task(&run.task),
            stage: run.position.stage.clone(),
            status: self.status.clone(),
            driver: run.driver,
            overridden: !run.overrides.is_empty(),
            started_at: run.started_at,
            updated_at: self.updated_at,
            version: *version,
        }
    }
}

/// The contents that a run holds: those in its entries and those that came with them.
fn held(mut named: Vec<Hash>, contents: &[Content<'_>]) -> Vec<Hash> {
    named.extend(contents.iter().map(|content| content.hash));
    named
}

impl Backend for Memory {
    fn runs(&self, project: Option<&str>) -> Result<Vec<RunSummary>, Error> {
        let state = self.state();
        let of_project = |kept: &&HeldRun| project.is_none_or(|name| kept.stored.project == name);
        let mut runs: Vec<_> = state
            .runs
            .values()
            .filter(of_project)
            .map(HeldRun::summary)
            .collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.started_at));
        Ok(runs)
    }

    fn change_number(&self) -> Result<u64, Error> {
        Ok(self.state().writes)
    }

    fn run(&self, run: &RunId) -> Result<Option<StoredRun>, Error> {
        Ok(self.state().runs.get(run).map(|kept| kept.stored.clone()))
    }

    fn journal(&self, run: &RunId, from: u64, limit: u64) -> Result<Vec<StoredEntry>, Error> {
        let state = self.state();
        let kept = state.kept(run)?;
        let wanted = from..from.saturating_add(limit);
        kept.read(
            kept.lines
                .iter()
                .filter(|line| wanted.contains(&line.number)),
        )
    }

    fn keyed(&self, run: &RunId, key: &Key) -> Result<Vec<StoredEntry>, Error> {
        self.state().kept(run)?.keyed(key)
    }

    fn definition(&self, hash: Hash) -> Result<Option<Files>, Error> {
        Ok(self
            .state()
            .definitions
            .get(&hash)
            .map(|(files, _)| files.clone()))
    }

    fn compiled(&self, hash: Hash) -> Result<Option<Definition>, Error> {
        Ok(self
            .state()
            .definitions
            .get(&hash)
            .map(|(_, compiled)| compiled.clone()))
    }

    fn content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        Ok(self
            .state()
            .contents
            .get(&hash)
            .map(|(_, bytes)| bytes.clone()))
    }

    fn lease(&self, run: &RunId) -> Result<Option<Lease>, Error> {
        Ok(self.state().kept(run)?.lease.lease(machine_clock()))
    }

    fn verify(&self, run: &RunId) -> Result<Verification, Error> {
        let state = self.state();
        let kept = state.kept(run)?;
        let content = |hash| state.contents.get(&hash).map(|(_, bytes)| bytes.clone());
        // It needs no anchor: nobody else can change it.
        let tip = kept.stored.tip();
        let mut verifier = Verifier::new(run, Anchor::At(tip));
        kept.lines
            .iter()
            .for_each(|line| verifier.line(line, &content));
        let snapshot = Snapshot {
            tip,
            state: Some(Ok(kept.stored.run.clone())),
        };
        Ok(verifier.finish(&snapshot, |_| Vec::new()))
    }

    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error> {
        self.state_to_write().begin(new, decision)
    }

    fn import(&mut self, backup: &Backup, import: &Import<'_>) -> Result<StoredRun, Error> {
        self.state_to_write().import(backup, import)
    }

    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        self.state_to_write().transact(commit, decide)
    }

    fn claim(&mut self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
        let mut state = self.state_to_write();
        let kept = state.kept_mut(run)?;
        let (lease, state) = kept.lease.claimed(run, claim, machine_clock())?;
        kept.lease = state;
        Ok(lease)
    }

    fn put_content(&mut self, bytes: &[u8], at: Time) -> Result<Hash, Error> {
        let hash = content_hash(bytes);
        self.state_to_write()
            .put_contents(&[Content { hash, bytes }], at);
        Ok(hash)
    }

    fn put_compiled(&mut self, source: Hash, compiled: &Definition) -> Result<(), Error> {
        match self.state_to_write().definitions.get_mut(&source) {
            Some((_, kept)) => *kept = compiled.clone(),
            None => return Err(Error::UnknownDefinition { hash: source }),
        }
        Ok(())
    }

    fn gc(&mut self, collect: &Collect<'_>) -> Result<Collected, Error> {
        Ok(self.state_to_write().gc(collect))
    }
}
