//! Statements: those of a process that stays are prepared once, and those of a process that ends soon cost less.

use std::ops::{Deref, DerefMut};

use rusqlite::{CachedStatement, Connection, Statement};

/// How long statements are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statements {
    /// Until the store is closed.
    Kept,
    /// Until they have run, for a process that ends soon. SQLite takes their memory from the connection's own,
    /// which is faster than memory that may be held for long.
    Once(Expected),
}

/// What a process that ends soon will probably do. If it does more, that only costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It reads the run.
    Look,
    /// It reads the run, and again when it changes it.
    Change,
}

/// A statement that is ready to run.
pub(super) enum ReadyStatement<'c> {
    Kept(CachedStatement<'c>),
    Once(Statement<'c>),
}

impl Statements {
    pub(super) fn prepare<'c>(
        self,
        connection: &'c Connection,
        statement: &str,
    ) -> rusqlite::Result<ReadyStatement<'c>> {
        match self {
            Self::Kept => connection
                .prepare_cached(statement)
                .map(ReadyStatement::Kept),
            Self::Once(_) => connection.prepare(statement).map(ReadyStatement::Once),
        }
    }

    /// The same for what reads a run: a change needs it twice.
    pub(super) fn prepare_look<'c>(
        self,
        connection: &'c Connection,
        statement: &str,
    ) -> rusqlite::Result<ReadyStatement<'c>> {
        match self {
            Self::Kept | Self::Once(Expected::Change) => Self::Kept.prepare(connection, statement),
            Self::Once(Expected::Look) => self.prepare(connection, statement),
        }
    }
}

impl<'c> Deref for ReadyStatement<'c> {
    type Target = Statement<'c>;

    fn deref(&self) -> &Statement<'c> {
        match self {
            Self::Kept(statement) => statement,
            Self::Once(statement) => statement,
        }
    }
}

impl<'c> DerefMut for ReadyStatement<'c> {
    fn deref_mut(&mut self) -> &mut Statement<'c> {
        match self {
            Self::Kept(statement) => statement,
            Self::Once(statement) => statement,
        }
    }
}
