//! The guarded runs that machines ship, as those machines say: for lists, and for those who look for a lost run.

use store::parts::{Columns, Corruption};
use store::{Error, ShippedSummary};
use tokio_postgres::Row;

use crate::link::Link;
use crate::rows;

const SHIPPED: &str = "
    SELECT n.machine, coalesce(m.name, n.machine) AS name, n.run AS id, n.pipeline, n.task, n.stage, n.status, n.reason,
        n.driver, n.overridden, n.started_at, n.updated_at, n.version,
        coalesce(m.name, n.machine) || ':' || r.project AS project,
        coalesce(m.name, n.machine) || ':' || r.project AS worktree,
        greatest(gatewright.now_ms() - coalesce(m.seen_at, n.updated_at), 0) AS silent
    FROM gatewright.shipped_now n
    JOIN gatewright.shipped_runs r ON r.machine = n.machine AND r.run = n.run
    LEFT JOIN gatewright.machines m ON m.id = n.machine
    WHERE NOT EXISTS (SELECT 1 FROM gatewright.adoptions a WHERE a.machine = n.machine AND a.run = n.run)
    ORDER BY n.started_at DESC, n.run";

pub(crate) fn list(link: &Link) -> Result<Vec<ShippedSummary>, Error> {
    let rows = link.rows("look at shipped runs", SHIPPED, &[])?;
    rows.iter().map(|row| shipped(link, row)).collect()
}

fn shipped(link: &Link, row: &Row) -> Result<ShippedSummary, Error> {
    let wrong = |Corruption(what)| link.damaged(&what);
    let columns: Columns = rows::columns(link, row)?;
    Ok(ShippedSummary {
        machine: link.get(row, "machine")?,
        name: link.get(row, "name")?,
        silent_ms: rows::amount(link.get(row, "silent")?),
        summary: columns.summary().map_err(wrong)?,
    })
}
