//! Verifies a run in the database: feeds the verifier and compares what is stored next to the
//! journal.

use engine::{Hash, Run, RunId};

use super::heads::Heads;
use super::read::{Reader, RunRow, place, read_line};
use super::{Sqlite, sql};
use crate::Error;
use crate::error::Corruption;
use crate::record::{self, Cached};
use crate::verification::{Anchor, Fault, FaultKind, Snapshot, Verification, vanished};
use crate::verifier::Verifier;

/// A fault makes the store read-only: an altered journal proves nothing any more.
pub(super) fn verify(sqlite: &Sqlite, run: &RunId) -> Result<Verification, Error> {
    let verification = look(sqlite, run)?;
    if let Some(fault) = verification.faults.first() {
        let what = format!("run {run}, entry {}: {}", fault.number, fault.kind);
        let _ = sqlite.folder.damaged(Corruption(what));
    }
    Ok(verification)
}

fn look(sqlite: &Sqlite, run: &RunId) -> Result<Verification, Error> {
    // Read before the snapshot: the head file may advance meanwhile, and must not seem to be ahead.
    let anchor = match Heads::find(&sqlite.folder)? {
        Some(heads) => heads.read(run)?,
        None => Anchor::Absent,
    };
    let snapshot = sqlite
        .connection
        .unchecked_transaction()
        .map_err(|error| sqlite.folder.fault("begin to read", error))?;
    let reader = Reader {
        connection: &snapshot,
        folder: &sqlite.folder,
        statements: sqlite.statements,
    };
    match (reader.run_row(run)?, &anchor) {
        (Some(row), _) => {
            let mut verification = walk(reader, run, &row, anchor)?;
            check_definition(reader, &row, run, &mut verification);
            Ok(verification)
        }
        (None, Anchor::At(tip)) if tip.version > 0 => Ok(vanished(tip.version)),
        (None, Anchor::Unreadable) => Ok(vanished(0)),
        (None, _) => Err(Error::UnknownRun { run: run.clone() }),
    }
}

fn walk(
    reader: Reader<'_>,
    run: &RunId,
    row: &RunRow,
    anchor: Anchor,
) -> Result<Verification, Error> {
    let mut verifier = Verifier::new(run, anchor);
    let content = |hash: Hash| reader.raw_content(hash).ok().flatten();
    let fault = |error| reader.folder.fault("read the journal", error);
    let mut statement = reader
        .connection
        .prepare_cached(sql::LINES)
        .map_err(fault)?;
    let range = [place(row.number, 0), place(row.number, u64::MAX)];
    let mut rows = statement.query(range).map_err(fault)?;
    let mut next = 1;
    loop {
        match rows.next() {
            Ok(None) => break,
            Ok(Some(row)) => {
                let number = row.get::<_, i64>(0).map_err(fault)?.cast_unsigned();
                let number = number & u64::from(u32::MAX);
                match read_line(row) {
                    Ok(Ok(line)) => verifier.line(&line, &content),
                    Ok(Err(Corruption(why))) => verifier.unreadable(number, &why),
                    Err(error) => verifier.unreadable(number, &error.to_string()),
                }
                next = number + 1;
            }
            Err(error) => {
                verifier.unreadable(
                    next,
                    &format!("cannot continue reading the database: {error}"),
                );
                break;
            }
        }
    }
    let columns = reader.columns(run)?;
    let differing = |run: &Run| columns.as_ref().map_or(vec!["row"], |it| it.differing(run));
    Ok(verifier.finish(&snapshot(row), differing))
}

fn snapshot(row: &RunRow) -> Snapshot {
    let state = match record::state_from_bytes(&row.state, row.tip, row.origin()) {
        Ok(Cached::Value(state)) => Some(Ok(state)),
        Ok(Cached::OtherFormat) => None,
        Err(fault) => Some(Err(fault.to_string())),
    };
    Snapshot {
        tip: row.tip,
        state,
    }
}

/// The trusted bytes must still match the first entry.
fn check_definition(
    reader: Reader<'_>,
    row: &RunRow,
    run: &RunId,
    verification: &mut Verification,
) {
    let first = reader
        .journal(run, row.number, 1, 1)
        .ok()
        .and_then(|mut page| page.pop());
    let Some(first) = first else { return };
    let Ok(begun) = engine::apply(None, &first.entry) else {
        return;
    };
    let hash = begun.definition;
    let detail = match (reader.files(hash), reader.compiled(hash)) {
        (Ok(Some(_)), Ok(_)) => None,
        (Ok(Some(_)), Err(_)) => Some(format!("the compiled definition {hash} was altered")),
        _ => Some(format!("the definition {hash} was altered")),
    };
    if let Some(detail) = detail {
        verification.faults.insert(
            0,
            Fault {
                number: 1,
                kind: FaultKind::Altered,
                detail,
            },
        );
        verification.intact = false;
    }
}
