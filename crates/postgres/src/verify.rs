//! Verifies a run in the database: feeds the verifier and compares what is stored next to the journal.

use std::collections::BTreeMap;

use engine::{Hash, Run, RunId};
use store::parts::{Anchor, Cached, Columns, Snapshot, Verifier, state_from_bytes};
use store::{Error, Fault, FaultKind, Verification};
use tokio_postgres::types::Type;

use crate::link::Link;
use crate::read::{self, unknown};
use crate::rows::{self, plain};

/// How many lines are read at a time.
const PAGE: u64 = 1_000;

const HELD: &str = "
    SELECT c.hash, c.bytes FROM gatewright.holds h JOIN gatewright.contents c ON c.hash = h.content WHERE h.run = $1";

/// In one statement, so that an entry of a run that advances is not taken for one of them.
const BEHIND: &str = "
    SELECT min(e.number) AS number FROM gatewright.entries e JOIN gatewright.runs r ON r.id = e.run
    WHERE e.run = $1 AND e.number > r.version";

/// The run's row is the head: a run that advances meanwhile is verified as far as it was when we began.
pub(crate) fn verify(link: &Link, run: &RunId) -> Result<Verification, Error> {
    let row = read::raw_run(link, run)?.ok_or_else(|| unknown(run))?;
    let columns = read::summaries(link, None, Some(run))?.into_iter().next();
    let contents = contents(link, run)?;
    let content = |hash: Hash| contents.get(&hash).cloned();
    let mut verifier = Verifier::new(run, Anchor::At(row.tip));
    let mut next = 1;
    while next <= row.tip.version {
        let last = (next + PAGE - 1).min(row.tip.version);
        let lines = read::lines(link, run, next, last)?;
        lines.iter().for_each(|line| verifier.line(line, &content));
        next = last + 1;
    }
    let state = match state_from_bytes(&row.state, row.tip, row.origin()) {
        Ok(Cached::Value(state)) => Some(Ok(state)),
        Ok(Cached::OtherFormat) => None,
        Err(fault) => Some(Err(fault.to_string())),
    };
    let snapshot = Snapshot {
        tip: row.tip,
        state,
    };
    let is_same_version =
        |columns: &&Columns| columns.version == store::parts::signed(row.tip.version);
    let columns = columns.as_ref().filter(is_same_version);
    let differing = |run: &Run| columns.map_or(Vec::new(), |columns| differing(columns, run));
    let mut verification = verifier.finish(&snapshot, differing);
    check_definition(link, run, &mut verification)?;
    check_end(link, run, &mut verification)?;
    Ok(verification)
}

fn contents(link: &Link, run: &RunId) -> Result<BTreeMap<Hash, Vec<u8>>, Error> {
    let rows = link.rows(
        "read what a run holds",
        HELD,
        &[(&run.as_str(), Type::TEXT)],
    )?;
    let content = |row| Ok((rows::hash(link, row, "hash")?, link.get(row, "bytes")?));
    rows.iter().map(content).collect()
}

/// A task may have a character that the database cannot store.
fn differing(columns: &Columns, run: &Run) -> Vec<&'static str> {
    let mut differing = columns.differing(run);
    let task = run.task.contains('\0') && columns.task == plain(&columns.task);
    differing.retain(|name| *name != "task" || !task);
    differing
}

/// Nothing is behind the last entry.
fn check_end(link: &Link, run: &RunId, verification: &mut Verification) -> Result<(), Error> {
    let row = link.row(
        "look for entries after the end of a journal",
        BEHIND,
        &[(&run.as_str(), Type::TEXT)],
    )?;
    let number: Option<i64> = row.map_or(Ok(None), |row| link.get(&row, "number"))?;
    if let Some(number) = number {
        verification.faults.push(Fault {
            number: rows::unsigned(number),
            kind: FaultKind::Altered,
            detail: "an entry was added behind the last one".to_owned(),
        });
        verification.intact = false;
    }
    Ok(())
}

/// The trusted bytes must still match the first entry.
fn check_definition(
    link: &Link,
    run: &RunId,
    verification: &mut Verification,
) -> Result<(), Error> {
    let first = read::journal(link, run, 1, 1)
        .ok()
        .and_then(|mut page| page.pop());
    let begun = first.and_then(|first| engine::apply(None, &first.entry).ok());
    let Some(begun) = begun else { return Ok(()) };
    let hash = begun.definition;
    let detail = match (read::definition(link, hash), read::compiled(link, hash)) {
        (Ok(Some(_)), Ok(_)) => return Ok(()),
        (Ok(Some(_)), Err(_)) => format!("the compiled definition {hash} was altered"),
        _ => format!("the definition {hash} was altered"),
    };
    let kind = FaultKind::Altered;
    verification.faults.insert(
        0,
        Fault {
            number: 1,
            kind,
            detail,
        },
    );
    verification.intact = false;
    Ok(())
}
