//! Writes values into the tables.

use engine::{Definition, Hash, Run, Status, Time};
use rusqlite::{Connection, Params, params};

use super::folder::Folder;
use super::read::place;
use super::sql;
use super::statements::{ReadyStatement, Statements};
use crate::chain::Tip;
use crate::columns::signed;
use crate::lease::LeaseState;
use crate::line::Line;
use crate::record::RunOrigin;
use crate::stored::short_task;
use crate::{Content, Error, Files, Key, record};

/// The tables inside a transaction.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub connection: &'a Connection,
    pub folder: &'a Folder,
    pub statements: Statements,
}

/// The values of a run's row.
pub(super) struct RunValues<'a> {
    pub origin: RunOrigin<'a>,
    pub run: &'a Run,
    pub tip: Tip,
    pub status: &'a Status,
    pub updated_at: Time,
}

/// The columns of a run's row that change with each decision.
pub(super) struct Row {
    stage: String,
    status: &'static str,
    reason: Option<String>,
    overridden: bool,
    updated_at: Time,
    tip: Tip,
    state: Vec<u8>,
    /// A person may give the task to a session after the run has begun.
    task: String,
}

impl Row {
    pub(super) fn of(present: &RunValues<'_>) -> Self {
        let RunValues {
            origin,
            run,
            tip,
            status,
            updated_at,
        } = present;
        let (status, reason) = record::status_to_words(status);
        Self {
            stage: run.position.stage.as_str().to_owned(),
            status,
            reason: reason.map(str::to_owned),
            overridden: !run.overrides.is_empty(),
            updated_at: *updated_at,
            tip: *tip,
            state: record::state_to_bytes(run, *tip, *origin),
            task: short_task(&run.task),
        }
    }
}

impl Table<'_> {
    pub(super) fn add_run(
        &self,
        present: &RunValues<'_>,
        begun_by: Option<&Key>,
    ) -> Result<i64, Error> {
        let RunValues {
            origin,
            run,
            tip,
            status,
            updated_at,
        } = present;
        let (status, reason) = record::status_to_words(status);
        self.execute(
            sql::ADD_RUN,
            params![
                run.id.as_str(),
                origin.project,
                origin.worktree,
                origin.pipeline,
                run.definition.0,
                begun_by.map(Key::as_str),
                short_task(&run.task),
                record::driver_to_word(run.driver),
                signed(run.started_at.0),
                run.position.stage.as_str(),
                status,
                reason,
                !run.overrides.is_empty(),
                signed(updated_at.0),
                signed(tip.version),
                tip.head.0,
                record::state_to_bytes(run, *tip, *origin),
            ],
        )?;
        Ok(self.connection.last_insert_rowid())
    }

    pub(super) fn set_run(&self, number: i64, row: &Row) -> Result<(), Error> {
        let Row {
            stage,
            status,
            reason,
            overridden,
            updated_at,
            tip,
            state,
            task,
        } = row;
        let (at, version) = (signed(updated_at.0), signed(tip.version));
        let values = params![
            number, stage, status, reason, overridden, at, version, tip.head.0, state, task
        ];
        self.execute(sql::SET_RUN, values).map(drop)
    }

    pub(super) fn add_lines(&self, run: i64, lines: &[Line]) -> Result<(), Error> {
        let mut add = self.prepare(sql::ADD_LINE)?;
        for line in lines {
            let Line {
                number,
                decision,
                key,
                text,
                previous,
                hash,
            } = line;
            let key = key.as_ref().map(Key::as_str);
            let place = place(run, *number);
            let values = params![place, signed(*decision), key, text, previous.0, hash.0];
            self.run(&mut add, values)?;
        }
        Ok(())
    }

    /// Stores the definition, unless it exists already.
    pub(super) fn add_definition(
        &self,
        hash: Hash,
        files: &Files,
        compiled: Option<&Definition>,
    ) -> Result<(), Error> {
        let cached = |compiled| record::compiled_to_bytes(compiled, hash);
        let compiled = compiled.map_or_else(record::no_cache, cached);
        let added = self.execute(sql::ADD_DEFINITION, params![hash.0, files.main(), compiled])?;
        let number = self.connection.last_insert_rowid();
        let files = files.iter().filter(|_| added > 0);
        for (path, bytes) in files {
            self.execute(sql::ADD_FILE, params![number, path, bytes])?;
        }
        Ok(())
    }

    pub(super) fn set_compiled(&self, source: Hash, compiled: &Definition) -> Result<(), Error> {
        let bytes = record::compiled_to_bytes(compiled, source);
        match self.execute(sql::SET_COMPILED, params![source.0, bytes])? {
            0 => Err(Error::UnknownDefinition { hash: source }),
            _ => Ok(()),
        }
    }

    pub(super) fn add_content(&self, hash: Hash, bytes: &[u8], at: Time) -> Result<(), Error> {
        self.execute(sql::ADD_CONTENT, params![hash.0, signed(at.0), bytes])
            .map(drop)
    }

    /// Stores the contents and lets the run hold them, with those in its entries.
    pub(super) fn hold(
        &self,
        run: i64,
        contents: &[Content<'_>],
        named: &[Hash],
        at: Time,
    ) -> Result<(), Error> {
        for Content { hash, bytes } in contents {
            self.add_content(*hash, bytes, at)?;
        }
        let given = contents.iter().map(|content| content.hash);
        for hash in given.chain(named.iter().copied()) {
            self.execute(sql::HOLD, params![run, hash.0])?;
        }
        Ok(())
    }

    pub(super) fn set_lease(&self, run: i64, lease: &LeaseState) -> Result<(), Error> {
        let holder = lease.held.as_ref().map(|(holder, _)| holder.as_str());
        let until = lease.held.as_ref().map(|(_, until)| signed(until.0));
        let values = params![run, signed(lease.last_fence), holder, until];
        self.execute(sql::SET_LEASE, values).map(drop)
    }

    pub(super) fn execute(&self, statement: &str, values: impl Params) -> Result<usize, Error> {
        self.run(&mut self.prepare(statement)?, values)
    }

    fn prepare(&self, statement: &str) -> Result<ReadyStatement<'_>, Error> {
        let prepared = self.statements.prepare(self.connection, statement);
        prepared.map_err(|error| self.folder.fault("write", error))
    }

    fn run(&self, statement: &mut ReadyStatement<'_>, values: impl Params) -> Result<usize, Error> {
        let done = statement.execute(values);
        done.map_err(|error| self.folder.fault("write", error))
    }
}
