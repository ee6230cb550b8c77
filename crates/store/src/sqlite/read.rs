//! Reads: few statements, each of them a lookup.

use std::collections::BTreeMap;

use engine::{Definition, Hash, PipelineName, Run, RunId, Time};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns;
use super::folder::Folder;
use super::sql;
use super::statements::Statements;
use crate::chain::Tip;
use crate::columns::Columns;
use crate::error::Corruption;
use crate::lease::LeaseState;
use crate::line::Line;
use crate::record::RunOrigin;
use crate::record::{self, Cached};
use crate::{Error, Files, Key, RunSummary, StoredEntry, StoredRun};

/// Reads one snapshot, or the current transaction.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub connection: &'a Connection,
    pub folder: &'a Folder,
    pub statements: Statements,
}

/// A row of `runs`, with its state still encoded.
pub(super) struct RunRow {
    pub number: i64,
    pub tip: Tip,
    pub state: Vec<u8>,
    pub project: String,
    pub worktree: String,
    pub pipeline: String,
    /// The number of its definition.
    definition: i64,
}

impl RunRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            tip: Tip {
                version: row.get::<_, i64>(1)?.cast_unsigned(),
                head: Hash(row.get(2)?),
            },
            state: row.get(3)?,
            project: row.get(4)?,
            worktree: row.get(5)?,
            pipeline: row.get(6)?,
            definition: row.get(7)?,
        })
    }

    pub(super) fn origin(&self) -> RunOrigin<'_> {
        let Self {
            project,
            worktree,
            pipeline,
            ..
        } = self;
        RunOrigin {
            project,
            worktree,
            pipeline,
        }
    }
}

/// A run with its number in the database.
#[derive(Clone)]
pub(super) struct FoundRun {
    pub number: i64,
    pub stored: StoredRun,
}

impl<'a> Reader<'a> {
    pub(super) fn run(&self, run: &RunId) -> Result<Option<FoundRun>, Error> {
        self.with_run(run, |row| self.found(run, row))
    }

    /// The same for a caller that has read it before: a run with the same end of its journal is the same.
    pub(super) fn run_again(
        &self,
        run: &RunId,
        known: Option<&StoredRun>,
    ) -> Result<Option<FoundRun>, Error> {
        self.with_run(run, |row| {
            let is_same =
                |known: &&StoredRun| known.tip() == row.tip && known.origin() == row.origin();
            match known.filter(is_same) {
                Some(known) => {
                    self.check_tip(run, &row)?;
                    let (number, stored) = (row.number, known.clone());
                    Ok(FoundRun { number, stored })
                }
                None => self.found(run, row),
            }
        })
    }

    /// The same with its compiled definition, if it exists in the format of this build.
    pub(super) fn run_and_compiled(
        &self,
        run: &RunId,
    ) -> Result<Option<(StoredRun, Option<Definition>)>, Error> {
        self.with_run(run, |row| {
            let definition = row.definition;
            let stored = self.found(run, row)?.stored;
            let compiled = self.compiled_of(definition, stored.run.definition)?;
            Ok((stored, compiled))
        })
    }

    pub(super) fn run_row(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        self.with_run(run, Ok)
    }

    /// Reads the run's row, and more of the same snapshot: it lasts as long as the first statement.
    fn with_run<T>(
        &self,
        run: &RunId,
        read: impl FnOnce(RunRow) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let fault = |error| self.folder.fault("read", error);
        let statement = self.statements.prepare_look(self.connection, sql::RUN);
        let mut statement = statement.map_err(fault)?;
        let mut rows = statement.query([run.as_str()]).map_err(fault)?;
        let Some(row) = rows.next().map_err(fault)? else {
            return Ok(None);
        };
        read(RunRow::read(row).map_err(fault)?).map(Some)
    }

    /// The last entry must be the one that the row names.
    fn check_tip(&self, run: &RunId, row: &RunRow) -> Result<(), Error> {
        let tip = place(row.number, row.tip.version);
        let last = self
            .statements
            .prepare_look(self.connection, sql::ENTRY_HASH)
            .and_then(|mut statement| {
                let read = |row: &Row<'_>| row.get(0).map(Hash);
                statement.query_row([tip], read).optional()
            });
        match last.map_err(|error| self.folder.fault("read", error))? {
            Some(last) if last == row.tip.head => Ok(()),
            Some(_) | None => Err(self.torn(run)),
        }
    }

    fn found(&self, run: &RunId, row: RunRow) -> Result<FoundRun, Error> {
        self.check_tip(run, &row)?;
        let state = match record::state_from_bytes(&row.state, row.tip, row.origin()) {
            Ok(Cached::Value(state)) => state,
            Ok(Cached::OtherFormat) => self.replay(run, &row)?,
            Err(fault) => {
                let what = format!("the state of run {run} cannot be read: {fault}");
                return Err(self.folder.damaged(Corruption(what)));
            }
        };
        let pipeline = PipelineName::parse(&row.pipeline).map_err(|error| {
            self.folder
                .damaged(Corruption(format!("run {run}: {error}")))
        })?;
        let RunRow {
            number,
            tip: Tip { version, head },
            project,
            worktree,
            ..
        } = row;
        let stored = StoredRun {
            run: state,
            version,
            head,
            project,
            home: worktree,
            pipeline,
        };
        Ok(FoundRun { number, stored })
    }

    /// The run's number, and the end of its journal.
    pub(super) fn tip(&self, run: &RunId) -> Result<(i64, Tip), Error> {
        let read = |row: &Row<'_>| {
            let tip = Tip {
                version: row.get::<_, i64>(1)?.cast_unsigned(),
                head: Hash(row.get(2)?),
            };
            let last = row.get::<_, Option<[u8; 32]>>(3)?.map(Hash);
            Ok((row.get(0)?, tip, last))
        };
        let found = self.one(sql::TIP, [run.as_str()], read)?;
        let unknown = || Error::UnknownRun { run: run.clone() };
        let (number, tip, last) = found.ok_or_else(unknown)?;
        if last == Some(tip.head) {
            Ok((number, tip))
        } else {
            Err(self.torn(run))
        }
    }

    fn torn(&self, run: &RunId) -> Error {
        let what = format!("the journal of run {run} does not end where its head says");
        self.folder.damaged(Corruption(what))
    }

    /// The state, folded from the whole journal, one entry at a time.
    fn replay(&self, run: &RunId, row: &RunRow) -> Result<Run, Error> {
        let mut next = 1;
        let mut state = None;
        let (first, last) = (place(row.number, 1), place(row.number, row.tip.version));
        self.lines(first, last, |line| {
            in_order(run, &mut next, &line)?;
            let entry = line.into_stored(run)?.entry;
            let folded = engine::apply(state.take(), &entry);
            state = Some(folded.map_err(|damage| Corruption(format!("run {run}: {damage}")))?);
            Ok(Some(()))
        })?;
        state.ok_or_else(|| {
            self.folder
                .damaged(Corruption(format!("run {run} has no entries")))
        })
    }

    pub(super) fn number(&self, run: &RunId) -> Result<i64, Error> {
        let found = self.one(sql::NUMBER, [run.as_str()], |row| row.get(0))?;
        found.ok_or_else(|| Error::UnknownRun { run: run.clone() })
    }

    pub(super) fn begun_by(&self, project: &str, key: &Key) -> Result<Option<RunId>, Error> {
        let id = self.one(sql::BEGUN_BY, [project, key.as_str()], |row| {
            row.get::<_, String>(0)
        })?;
        id.map(|id| self.parsed(RunId::parse(&id))).transpose()
    }

    pub(super) fn runs(&self, project: Option<&str>) -> Result<Vec<RunSummary>, Error> {
        match project {
            Some(project) => self.listed(sql::RUNS_OF_PROJECT, &[project]),
            None => self.listed(sql::RUNS, &[]),
        }
    }

    pub(super) fn active_runs(&self) -> Result<Vec<RunSummary>, Error> {
        self.listed(sql::ACTIVE_RUNS, &[])
    }

    fn listed(&self, statement: &str, values: &[&str]) -> Result<Vec<RunSummary>, Error> {
        let doing = "list the runs";
        let fault = |error| self.folder.fault(doing, error);
        let mut statement = self.connection.prepare_cached(statement).map_err(fault)?;
        let mut rows = statement
            .query(rusqlite::params_from_iter(values))
            .map_err(fault)?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            runs.push(self.summary(row)?);
        }
        Ok(runs)
    }

    fn summary(&self, row: &Row<'_>) -> Result<RunSummary, Error> {
        let columns =
            columns::read(row).map_err(|error| self.folder.fault("list the runs", error))?;
        columns
            .summary()
            .map_err(|broken| self.folder.damaged(broken))
    }

    pub(super) fn columns(&self, run: &RunId) -> Result<Option<Columns>, Error> {
        self.one(sql::COLUMNS, [run.as_str()], columns::read)
    }

    /// At most `limit` entries from number `from` on, each verified.
    pub(super) fn journal(
        &self,
        run: &RunId,
        number: i64,
        from: u64,
        limit: u64,
    ) -> Result<Vec<StoredEntry>, Error> {
        let last = from.saturating_add(limit).saturating_sub(1);
        let mut next = from.max(1);
        self.lines(place(number, next), place(number, last), |line| {
            in_order(run, &mut next, &line)?;
            line.into_stored(run).map(Some)
        })
    }

    pub(super) fn keyed(
        &self,
        run: &RunId,
        number: i64,
        key: &Key,
    ) -> Result<Vec<StoredEntry>, Error> {
        let first = self.one(sql::KEYED, params![number, key.as_str()], |row| {
            row.get::<_, i64>(0)
        })?;
        let Some(first) = first else {
            return Ok(Vec::new());
        };
        let mut decision = None;
        self.lines(first, place(number, u64::MAX), |line| {
            if *decision.get_or_insert(line.decision) == line.decision {
                line.into_stored(run).map(Some)
            } else {
                Ok(None)
            }
        })
    }

    /// One line as it is stored, not verified.
    pub(super) fn line(&self, run: i64, number: u64) -> Result<Option<Line>, Error> {
        let place = place(run, number);
        let line = self.one(sql::LINES, [place, place], read_line)?;
        line.transpose()
            .map_err(|broken| self.folder.damaged(broken))
    }

    /// The contents that a run holds.
    pub(super) fn held(&self, run: i64) -> Result<Vec<Hash>, Error> {
        let fault = |error| self.folder.fault("read what a run holds", error);
        let mut statement = self.connection.prepare_cached(sql::HELD).map_err(fault)?;
        let rows = statement.query_map([run], |row| row.get(0).map(Hash));
        rows.and_then(Iterator::collect).map_err(fault)
    }

    /// Reads lines until `take` says `None`.
    fn lines<T>(
        &self,
        first: i64,
        last: i64,
        mut take: impl FnMut(Line) -> Result<Option<T>, Corruption>,
    ) -> Result<Vec<T>, Error> {
        let fault = |error| self.folder.fault("read the journal", error);
        let mut statement = self.connection.prepare_cached(sql::LINES).map_err(fault)?;
        let mut rows = statement.query([first, last]).map_err(fault)?;
        let mut taken = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            let line = read_line(row).map_err(fault)?;
            match line
                .and_then(&mut take)
                .map_err(|broken| self.folder.damaged(broken))?
            {
                Some(value) => taken.push(value),
                None => break,
            }
        }
        Ok(taken)
    }

    pub(super) fn files(&self, hash: Hash) -> Result<Option<Files>, Error> {
        let fault = |error| self.folder.fault("read a definition", error);
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        let Some((number, main)) = self.one(sql::DEFINITION, [hash.0], read)? else {
            return Ok(None);
        };
        let mut statement = self.connection.prepare_cached(sql::FILES).map_err(fault)?;
        let rows = statement.query_map([number], |row| Ok((row.get(0)?, row.get(1)?)));
        let files: BTreeMap<String, Vec<u8>> = rows.and_then(Iterator::collect).map_err(fault)?;
        let files = Files::new(&main, files)
            .ok()
            .filter(|files| files.hash() == hash);
        let altered = || {
            self.folder
                .damaged(Corruption(format!("the definition {hash} was altered")))
        };
        files.map(Some).ok_or_else(altered)
    }

    pub(super) fn compiled(&self, hash: Hash) -> Result<Option<Definition>, Error> {
        let bytes = self.one(sql::COMPILED, [hash.0], |row| row.get::<_, Vec<u8>>(0))?;
        let compiled = bytes.map(|bytes| self.decompiled(&bytes, hash));
        Ok(compiled.transpose()?.flatten())
    }

    /// The compiled definition with this number, if it is the one with this hash.
    fn compiled_of(&self, number: i64, hash: Hash) -> Result<Option<Definition>, Error> {
        let read = |row: &Row<'_>| Ok((row.get(0).map(Hash)?, row.get::<_, Vec<u8>>(1)?));
        let compiled = self
            .statements
            .prepare(self.connection, sql::DEFINITION_OF_RUN)
            .and_then(|mut statement| statement.query_row([number], read).optional());
        match compiled.map_err(|error| self.folder.fault("read", error))? {
            Some((found, bytes)) if found == hash => self.decompiled(&bytes, hash),
            Some(_) | None => self.compiled(hash),
        }
    }

    fn decompiled(&self, bytes: &[u8], hash: Hash) -> Result<Option<Definition>, Error> {
        match record::compiled_from_bytes(bytes, hash) {
            Ok(Cached::Value(definition)) => Ok(Some(definition)),
            Ok(Cached::OtherFormat) => Ok(None),
            Err(fault) => {
                let what = format!("the compiled definition {hash} cannot be read: {fault}");
                Err(self.folder.damaged(Corruption(what)))
            }
        }
    }

    pub(super) fn content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        let bytes = self.raw_content(hash)?;
        if bytes
            .as_ref()
            .is_some_and(|bytes| crate::content_hash(bytes) != hash)
        {
            return Err(self
                .folder
                .damaged(Corruption(format!("the content {hash} was altered"))));
        }
        Ok(bytes)
    }

    /// The bytes as they are, not verified.
    pub(super) fn raw_content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        self.one(sql::CONTENT, [hash.0], |row| row.get(0))
    }

    pub(super) fn lease(&self, number: i64) -> Result<LeaseState, Error> {
        let read = |row: &Row<'_>| {
            let held = row
                .get::<_, Option<String>>(1)?
                .zip(row.get::<_, Option<i64>>(2)?);
            Ok(LeaseState {
                last_fence: row.get::<_, i64>(0)?.cast_unsigned(),
                held: held.map(|(holder, until)| (holder, Time(until.cast_unsigned()))),
            })
        };
        Ok(self.one(sql::LEASE, [number], read)?.unwrap_or_default())
    }

    fn one<T>(
        &self,
        statement: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        let found = self
            .connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.query_row(values, read).optional());
        found.map_err(|error| self.folder.fault("read", error))
    }

    fn parsed<T>(&self, name: Result<T, engine::NameError>) -> Result<T, Error> {
        name.map_err(|error| self.folder.damaged(Corruption(error.to_string())))
    }
}

fn in_order(run: &RunId, next: &mut u64, line: &Line) -> Result<(), Corruption> {
    if line.number != *next {
        return Err(Corruption(format!("entry {next} of run {run} is missing")));
    }
    *next += 1;
    Ok(())
}

/// The key of an entry: the run's number in the upper half, its own in the lower.
pub(super) fn place(run: i64, number: u64) -> i64 {
    (run << 32) | i64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// A line, or why it is not one. SQLite's own errors are the outer ones.
pub(super) fn read_line(row: &Row<'_>) -> rusqlite::Result<Result<Line, Corruption>> {
    let number = row.get::<_, i64>(0)?.cast_unsigned() & u64::from(u32::MAX);
    let key = row
        .get::<_, Option<String>>(2)?
        .map(|key| Key::parse(&key))
        .transpose();
    let line = |key| -> rusqlite::Result<Line> {
        Ok(Line {
            number,
            decision: row.get::<_, i64>(1)?.cast_unsigned(),
            key,
            text: row.get(3)?,
            previous: Hash(row.get(4)?),
            hash: Hash(row.get(5)?),
        })
    };
    match key {
        Ok(key) => line(key).map(Ok),
        Err(error) => Ok(Err(Corruption(format!(
            "the key of entry {number}: {error}"
        )))),
    }
}
