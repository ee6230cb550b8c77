//! The trees of runs that machines hand on: which commit of the project's remote has the last one.

use engine::RunId;
use store::{Error, Fence};
use tokio_postgres::types::Type;

use crate::link::{Link, Value};
use crate::rows::{self, FenceColumns};

const KEEP: &str = "SELECT gatewright.keep_tree($1, $2, $3, $4) AS kept";
const KEPT: &str = "SELECT tree FROM gatewright.queue WHERE run = $1";
const LAST_FENCE: &str = "SELECT last_fence, last_claim FROM gatewright.runs WHERE id = $1";

/// Notes the commit with the present tree, under this fence.
pub(crate) fn keep(link: &Link, run: &RunId, fence: Fence, commit: &str) -> Result<(), Error> {
    let columns = FenceColumns::of(Some(fence));
    let values: [Value<'_>; 4] = [
        (&run.as_str(), Type::TEXT),
        (&columns.number, Type::INT8),
        (&columns.claim(), Type::BYTEA),
        (&commit, Type::TEXT),
    ];
    let row = link.row("keep the tree of a run", KEEP, &values)?;
    if row.map_or(Ok(false), |row| link.get(&row, "kept"))? {
        return Ok(());
    }
    let row = link.row("read a lease", LAST_FENCE, &[(&run.as_str(), Type::TEXT)])?;
    let last = row.map(|row| rows::fence(link, &row, "last_fence", "last_claim"));
    Err(Error::Fenced {
        run: run.clone(),
        given: fence,
        last: last.transpose()?.unwrap_or(Fence::numbered(0)),
    })
}

/// The commit that was noted last.
pub(crate) fn kept(link: &Link, run: &RunId) -> Result<Option<String>, Error> {
    let row = link.row(
        "look for the tree of a run",
        KEPT,
        &[(&run.as_str(), Type::TEXT)],
    )?;
    Ok(row.map(|row| link.get(&row, "tree")).transpose()?.flatten())
}
