//! The schema and its migrations: version n is reached by the n-th step.

use rusqlite::Connection;

/// Each step migrates from the version before it. A released step never changes.
pub(super) const MIGRATIONS: &[&str] = &[VERSION_1];

/// Entries are in one tree in the order of the journals: `place` combines the run's number and the
/// entry's. So an append touches one page, a page of a journal is read in sequence, and a million
/// entries are three levels deep.
///
/// The triggers prevent accidents: journals only grow, and a run is deleted only as a whole, after
/// its number was put into `removals`.
const VERSION_1: &str = "
CREATE TABLE definitions (
    number   INTEGER PRIMARY KEY,
    hash     BLOB NOT NULL UNIQUE,
    main     TEXT NOT NULL,
    compiled BLOB NOT NULL
) STRICT;

CREATE TABLE files (
    definition INTEGER NOT NULL REFERENCES definitions (number) ON DELETE CASCADE,
    path       TEXT NOT NULL,
    bytes      BLOB NOT NULL,
    PRIMARY KEY (definition, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    project    TEXT NOT NULL,
    worktree   TEXT NOT NULL,
    pipeline   TEXT NOT NULL,
    definition INTEGER NOT NULL REFERENCES definitions (number),
    begun_by   TEXT,
    task       TEXT NOT NULL,
    driver     TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    stage      TEXT NOT NULL,
    status     TEXT NOT NULL,
    reason     TEXT,
    overridden INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    head       BLOB NOT NULL,
    state      BLOB NOT NULL
) STRICT;
CREATE INDEX runs_of_project ON runs (project);
CREATE UNIQUE INDEX runs_begun_by ON runs (project, begun_by) WHERE begun_by IS NOT NULL;

CREATE TABLE entries (
    place    INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL,
    key      TEXT,
    entry    TEXT NOT NULL,
    previous BLOB NOT NULL,
    hash     BLOB NOT NULL,
    run      INTEGER NOT NULL AS (place >> 32) VIRTUAL,
    number   INTEGER NOT NULL AS (place & 4294967295) VIRTUAL
) STRICT;
CREATE UNIQUE INDEX entries_by_key ON entries (run, key) WHERE key IS NOT NULL;

CREATE TABLE contents (
    number   INTEGER PRIMARY KEY,
    hash     BLOB NOT NULL UNIQUE,
    added_at INTEGER NOT NULL,
    bytes    BLOB NOT NULL
) STRICT;

CREATE TABLE holds (
    run     INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    content INTEGER NOT NULL,
    PRIMARY KEY (run, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
    run        INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
    last_fence INTEGER NOT NULL,
    holder     TEXT,
    until      INTEGER
) STRICT;

CREATE TABLE removals (run INTEGER PRIMARY KEY) STRICT;

CREATE TRIGGER entries_stay_as_they_are BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'a journal entry is never changed'); END;

CREATE TRIGGER entries_stay BEFORE DELETE ON entries
WHEN NOT EXISTS (SELECT 1 FROM removals WHERE run = OLD.place >> 32)
BEGIN SELECT RAISE(ABORT, 'a journal entry goes only with its whole run'); END;

CREATE TRIGGER runs_stay BEFORE DELETE ON runs
WHEN NOT EXISTS (SELECT 1 FROM removals WHERE run = OLD.number)
BEGIN SELECT RAISE(ABORT, 'a run goes only by gc'); END;
";

/// Reads the version that a store has.
pub(super) const VERSION: &str = "PRAGMA user_version";

/// Asks for nothing of interest, and needs the tables.
pub(super) const TABLES: &str = "PRAGMA cache_size";

/// The version that this build writes.
pub(super) fn known(migrations: &[&str]) -> u32 {
    u32::try_from(migrations.len()).unwrap_or(u32::MAX)
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row(VERSION, [], |row| row.get(0))
}

/// Runs the missing migrations, all or none. The caller holds the lock.
pub(super) fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found = usize::try_from(version(&transaction)?).unwrap_or(usize::MAX);
    for step in migrations.iter().skip(found) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known(migrations))?;
    transaction.commit()
}
