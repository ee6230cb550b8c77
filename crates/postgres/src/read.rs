//! Reads: each is one statement, a lookup or a page.

use std::collections::BTreeMap;

use engine::{Definition, Hash, Run, RunId, Time};
use store::parts::{Columns, Corruption, Line, signed};
use store::{Error, Files, Key, Lease, StoredEntry, StoredRun, content_hash};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::link::{Link, Value};
use crate::rows::{self, RunRow, unsigned};

/// A run with the end of its journal and its compiled definition, and whether a key was used.
const RUN: &str = "
    SELECT r.version, r.head, r.state, r.project, r.worktree, r.pipeline, e.hash AS last, d.compiled,
        EXISTS (SELECT 1 FROM gatewright.entries k WHERE k.run = r.id AND k.key = $2) AS is_used
    FROM gatewright.runs r JOIN gatewright.definitions d ON d.hash = r.definition
    LEFT JOIN gatewright.entries e ON e.run = r.id AND e.number = r.version WHERE r.id = $1";
const EXISTS: &str = "SELECT 1 FROM gatewright.runs WHERE id = $1";
const LINES: &str = "
    SELECT number, decision, key, entry, previous, hash FROM gatewright.entries
    WHERE run = $1 AND number BETWEEN $2 AND $3 ORDER BY number";
const KEYED: &str = "
    SELECT number, decision, key, entry, previous, hash FROM gatewright.entries
    WHERE run = $1 AND decision = (SELECT decision FROM gatewright.entries WHERE run = $1 AND key = $2)
    ORDER BY number";
const FILES: &str = "
    SELECT d.main, f.path, f.bytes FROM gatewright.definitions d
    JOIN gatewright.definition_files f ON f.definition = d.hash WHERE d.hash = $1";
const COMPILED: &str = "SELECT compiled FROM gatewright.definitions WHERE hash = $1";
const CONTENT: &str = "SELECT bytes FROM gatewright.contents WHERE hash = $1";
const LEASE: &str = "
    SELECT lease_holder, last_fence, last_claim, lease_until, lease_until <= gatewright.now_ms() AS is_expired
    FROM gatewright.runs WHERE id = $1";
const COLUMNS: &str = "
    SELECT id, project, worktree, pipeline, task, stage, status, reason, driver, overridden, started_at,
        updated_at, version FROM gatewright.runs
    WHERE ($1::text IS NULL OR project = $1) AND ($2::text IS NULL OR id = $2) ORDER BY started_at DESC, number DESC";
/// It rises with every transaction of the server that writes.
const CHANGES: &str = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS changes";

/// A run as it was read.
pub(crate) struct FoundRun {
    pub stored: StoredRun,
    /// In the format of this build.
    pub compiled: Option<Definition>,
    /// Was the key used before?
    pub is_key_used: bool,
}

pub(crate) fn unknown(run: &RunId) -> Error {
    Error::UnknownRun { run: run.clone() }
}

/// The run, and whether this key was used before.
pub(crate) fn run(link: &Link, run: &RunId, key: Option<&Key>) -> Result<Option<FoundRun>, Error> {
    let Some(row) = run_row(link, run, key)? else {
        return Ok(None);
    };
    let is_key_used = link.get(&row, "is_used")?;
    let compiled: Vec<u8> = link.get(&row, "compiled")?;
    let row = RunRow::read(link, &row)?;
    if !row.ends_at_head() {
        return Err(link.damaged(&format!(
            "the journal of run {run} does not end where its head says"
        )));
    }
    let state = match row.state(link, run)? {
        Some(state) => state,
        None => replay(link, run, row.tip.version)?,
    };
    let stored = row.stored(link, state)?;
    let compiled = rows::compiled(link, &compiled, stored.run.definition)?;
    Ok(Some(FoundRun {
        stored,
        compiled,
        is_key_used,
    }))
}

fn run_row(link: &Link, run: &RunId, key: Option<&Key>) -> Result<Option<Row>, Error> {
    let key = key.map(Key::as_str);
    let values: [Value<'_>; 2] = [(&run.as_str(), Type::TEXT), (&key, Type::TEXT)];
    link.row("read a run", RUN, &values)
}

pub(crate) fn raw_run(link: &Link, run: &RunId) -> Result<Option<RunRow>, Error> {
    let row = run_row(link, run, None)?;
    row.map(|row| RunRow::read(link, &row)).transpose()
}

/// The state, folded from the whole journal.
fn replay(link: &Link, run: &RunId, version: u64) -> Result<Run, Error> {
    let mut state = None;
    for stored in journal(link, run, 1, version)? {
        let folded = engine::apply(state.take(), &stored.entry);
        state = Some(folded.map_err(|damage| link.damaged(&format!("run {run}: {damage}")))?);
    }
    state.ok_or_else(|| link.damaged(&format!("run {run} has no entries")))
}

pub(crate) fn summaries(
    link: &Link,
    project: Option<&str>,
    run: Option<&RunId>,
) -> Result<Vec<Columns>, Error> {
    let run = run.map(RunId::as_str);
    let rows = link.rows(
        "list the runs",
        COLUMNS,
        &[(&project, Type::TEXT), (&run, Type::TEXT)],
    )?;
    rows.iter().map(|row| rows::columns(link, row)).collect()
}

pub(crate) fn change_number(link: &Link) -> Result<u64, Error> {
    let row = link.row("look for changes", CHANGES, &[])?;
    row.map_or(Ok(0), |row| link.get(&row, "changes").map(unsigned))
}

/// The lines as they are stored, not verified.
pub(crate) fn lines(link: &Link, run: &RunId, first: u64, last: u64) -> Result<Vec<Line>, Error> {
    let (first, last) = (signed(first), signed(last));
    let values = [
        (&run.as_str() as _, Type::TEXT),
        (&first as _, Type::INT8),
        (&last as _, Type::INT8),
    ];
    let rows = link.rows("read the journal", LINES, &values)?;
    rows.iter().map(|row| rows::line(link, row)).collect()
}

pub(crate) fn journal(
    link: &Link,
    run: &RunId,
    from: u64,
    limit: u64,
) -> Result<Vec<StoredEntry>, Error> {
    let first = from.max(1);
    let last = from.saturating_add(limit).saturating_sub(1);
    let lines = lines(link, run, first, last)?;
    if lines.is_empty() {
        exists(link, run)?;
    }
    let gap = (first..)
        .zip(&lines)
        .find(|(number, line)| line.number != *number);
    if let Some((number, _)) = gap {
        return Err(link.damaged(&format!("entry {number} of run {run} is missing")));
    }
    stored(link, run, lines)
}

pub(crate) fn keyed(link: &Link, run: &RunId, key: &Key) -> Result<Vec<StoredEntry>, Error> {
    let values = [
        (&run.as_str() as _, Type::TEXT),
        (&key.as_str() as _, Type::TEXT),
    ];
    let rows = link.rows("read the journal", KEYED, &values)?;
    if rows.is_empty() {
        exists(link, run)?;
    }
    let lines = rows.iter().map(|row| rows::line(link, row));
    stored(link, run, lines.collect::<Result<_, _>>()?)
}

fn exists(link: &Link, run: &RunId) -> Result<(), Error> {
    let found = link.row("find a run", EXISTS, &[(&run.as_str(), Type::TEXT)])?;
    found.map(drop).ok_or_else(|| unknown(run))
}

fn stored(link: &Link, run: &RunId, lines: Vec<Line>) -> Result<Vec<StoredEntry>, Error> {
    let verified = |line: Line| {
        line.into_stored(run)
            .map_err(|Corruption(what)| link.damaged(&what))
    };
    lines.into_iter().map(verified).collect()
}

pub(crate) fn definition(link: &Link, hash: Hash) -> Result<Option<Files>, Error> {
    let rows = link.rows(
        "read a definition",
        FILES,
        &[(&hash.0.as_slice(), Type::BYTEA)],
    )?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let main: String = link.get(first, "main")?;
    let file = |row| Ok::<_, Error>((link.get(row, "path")?, link.get(row, "bytes")?));
    let files: BTreeMap<String, Vec<u8>> = rows.iter().map(file).collect::<Result<_, _>>()?;
    let files = Files::new(&main, files)
        .ok()
        .filter(|files| files.hash() == hash);
    let altered = || link.damaged(&format!("the definition {hash} was altered"));
    files.map(Some).ok_or_else(altered)
}

pub(crate) fn compiled(link: &Link, hash: Hash) -> Result<Option<Definition>, Error> {
    let row = link.row(
        "read a definition",
        COMPILED,
        &[(&hash.0.as_slice(), Type::BYTEA)],
    )?;
    let Some(row) = row else { return Ok(None) };
    rows::compiled(link, &link.get::<Vec<u8>>(&row, "compiled")?, hash)
}

pub(crate) fn content(link: &Link, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
    let row = link.row(
        "read a content",
        CONTENT,
        &[(&hash.0.as_slice(), Type::BYTEA)],
    )?;
    let bytes: Option<Vec<u8>> = row.map(|row| link.get(&row, "bytes")).transpose()?;
    match bytes {
        Some(bytes) if content_hash(&bytes) != hash => {
            Err(link.damaged(&format!("the content {hash} was altered")))
        }
        found => Ok(found),
    }
}

pub(crate) fn lease(link: &Link, run: &RunId) -> Result<Option<Lease>, Error> {
    let row = link.row("read a lease", LEASE, &[(&run.as_str(), Type::TEXT)])?;
    let row = row.ok_or_else(|| unknown(run))?;
    let Some(holder) = link.get::<Option<String>>(&row, "lease_holder")? else {
        return Ok(None);
    };
    Ok(Some(Lease {
        holder,
        fence: rows::fence(link, &row, "last_fence", "last_claim")?,
        until: Time(unsigned(link.get(&row, "lease_until")?)),
        is_expired: link.get(&row, "is_expired")?,
    }))
}
