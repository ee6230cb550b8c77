//! Collection: deletes whole runs, then contents that no run holds; and the backup of the store.

use std::path::Path;
use std::thread;
use std::time::Duration;

use engine::RunId;
use rusqlite::params;

use super::Sqlite;
use super::folder::{Folder, io_error};
use super::heads::Heads;
use super::read::place;
use super::write::WriteTransaction;
use super::writer_lock::WriterLock;
use crate::columns::signed;
use crate::error::Corruption;
use crate::{Collect, Collected, Error};

/// The most runs that one transaction deletes: a hook waits for no more than these.
pub(super) const MOST_RUNS: u64 = 50;

/// The same for contents.
const MOST_CONTENTS: u64 = 500;

/// The lock has no queue, so a writer that waits gets the time to take it.
const TURN: Duration = Duration::from_millis(2);

/// Rewriting the file is worth the wait if at least this part of it is free: one in so many pages.
const WORTH_SHRINKING: i64 = 4;

const CHOOSE: &str = "
    INSERT INTO removals SELECT number FROM runs
    WHERE status IN ('completed', 'failed', 'cancelled') AND updated_at < ?1
    AND NOT EXISTS (SELECT 1 FROM leases WHERE run = runs.number AND holder IS NOT NULL)
    AND instr(?3, ' ' || id || ' ') = 0 LIMIT ?2";
const CHOSEN: &str = "SELECT number, id FROM runs WHERE number IN (SELECT run FROM removals)";
const REMOVE_LINES: &str = "DELETE FROM entries WHERE place BETWEEN ?1 AND ?2";
const REMOVE_RUNS: &str = "DELETE FROM runs WHERE number IN (SELECT run FROM removals)";
const REMOVE_REMOVALS: &str = "DELETE FROM removals";
const REMOVE_CONTENTS: &str = "
    DELETE FROM contents WHERE number IN (
        SELECT number FROM contents
        WHERE added_at < ?1 AND number NOT IN (SELECT content FROM holds) LIMIT ?2)";
const REMOVE_DEFINITIONS: &str = "
    DELETE FROM definitions WHERE number NOT IN (SELECT definition FROM runs)";

/// Deletes in small steps, each a transaction of its own. Other writers come between two of them.
pub(super) fn gc(sqlite: &mut Sqlite, collect: &Collect<'_>) -> Result<Collected, Error> {
    let mut collected = Collected::default();
    while runs(sqlite, collect, &mut collected)? == MOST_RUNS {
        thread::sleep(TURN);
    }
    while contents(sqlite, collect, &mut collected)? == MOST_CONTENTS {
        thread::sleep(TURN);
    }
    tidy(sqlite, collect)?;
    Ok(collected)
}

/// Deletes some runs, and returns how many.
fn runs(
    sqlite: &mut Sqlite,
    collect: &Collect<'_>,
    collected: &mut Collected,
) -> Result<u64, Error> {
    let writing = WriteTransaction::begin(sqlite)?;
    let table = writing.table();
    // No id has a space in it.
    let keep: String = collect.keep.iter().map(|run| format!(" {run} ")).collect();
    table.execute(
        CHOOSE,
        params![signed(collect.before.0), signed(MOST_RUNS), keep],
    )?;
    let chosen = chosen(&writing)?;
    let mut entries = 0;
    for (number, _) in &chosen {
        let range = params![place(*number, 0), place(*number, u64::MAX)];
        entries += table.execute(REMOVE_LINES, range)? as u64;
    }
    let runs = table.execute(REMOVE_RUNS, [])? as u64;
    table.execute(REMOVE_REMOVALS, [])?;
    let ids: Vec<RunId> = chosen.into_iter().map(|(_, run)| run).collect();
    let heads = Heads::find(table.folder)?;
    // Before the commit the heads are cleared, and after it they are removed: a head with entries
    // but without a run would look like a deleted run, and a run without a head like a lost head.
    heads.iter().try_for_each(|heads| heads.clear_all(&ids))?;
    let _turn = writing.commit()?;
    heads
        .iter()
        .try_for_each(|heads| each(&ids, |run| heads.remove(run)))?;
    collected.runs += runs;
    collected.entries += entries;
    Ok(runs)
}

/// Deletes some contents that no run holds, and the definitions without runs.
fn contents(
    sqlite: &mut Sqlite,
    collect: &Collect<'_>,
    collected: &mut Collected,
) -> Result<u64, Error> {
    let writing = WriteTransaction::begin(sqlite)?;
    let table = writing.table();
    let before = signed(collect.before.0);
    let contents = table.execute(REMOVE_CONTENTS, params![before, signed(MOST_CONTENTS)])? as u64;
    collected.contents += contents;
    collected.definitions += table.execute(REMOVE_DEFINITIONS, [])? as u64;
    writing.commit()?;
    Ok(contents)
}

fn chosen(writing: &WriteTransaction<'_>) -> Result<Vec<(i64, RunId)>, Error> {
    let table = writing.table();
    let fault = |error| table.folder.fault("choose what to collect", error);
    let mut statement = table.connection.prepare_cached(CHOSEN).map_err(fault)?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    });
    let rows: Vec<(i64, String)> = rows.and_then(Iterator::collect).map_err(fault)?;
    let parse = |(number, id): (i64, String)| match RunId::parse(&id) {
        Ok(run) => Ok((number, run)),
        Err(error) => Err(table.folder.damaged(Corruption(error.to_string()))),
    };
    rows.into_iter().map(parse).collect()
}

fn each(runs: &[RunId], act: impl Fn(&RunId) -> Result<(), Error>) -> Result<(), Error> {
    runs.iter().try_for_each(act)
}

/// Empties the log and, on request, returns freed space if there is much of it.
fn tidy(sqlite: &Sqlite, collect: &Collect<'_>) -> Result<(), Error> {
    let _turn = WriterLock::wait(&sqlite.folder, sqlite.writer_timeout)?;
    let fault = |error| sqlite.folder.fault("tidy up", error);
    let run = |statement: &str| sqlite.connection.query_row(statement, [], |_| Ok(()));
    let number = |statement: &str| {
        let read = sqlite.connection.query_row(statement, [], |row| row.get(0));
        read.map_err(fault)
    };
    run("PRAGMA wal_checkpoint(TRUNCATE)").map_err(fault)?;
    let free: i64 = number("PRAGMA freelist_count")?;
    let pages: i64 = number("PRAGMA page_count")?;
    if collect.shrink && free.saturating_mul(WORTH_SHRINKING) >= pages {
        sqlite.connection.execute_batch("VACUUM").map_err(fault)?;
        run("PRAGMA wal_checkpoint(TRUNCATE)").map_err(fault)?;
    }
    Ok(())
}

impl Sqlite {
    /// Copies the whole store into one new file that must not exist yet.
    pub fn backup(&self, to: &Path) -> Result<(), Error> {
        let file = Folder::create_new(to)?;
        let copied = self
            .copy_into(to)
            .and_then(|()| file.sync_all().map_err(|error| io_error("sync", to, error)));
        if copied.is_err() {
            // Half a copy is worse than none.
            let _ = std::fs::remove_file(to);
        }
        copied
    }

    fn copy_into(&self, to: &Path) -> Result<(), Error> {
        let Some(name) = to.to_str() else {
            return Err(Error::WrongType {
                path: to.to_owned(),
                wanted: "a UTF-8 path",
            });
        };
        let copied = self.connection.execute("VACUUM INTO ?1", [name]);
        copied
            .map(drop)
            .map_err(|error| match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DiskFull) => Error::Full {
                    path: to.to_owned(),
                    source: Box::new(error),
                },
                _ => self.folder.fault("copy the store", error),
            })
    }
}
