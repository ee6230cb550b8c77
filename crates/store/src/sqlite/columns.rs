//! Reads the columns of a list from a row.

use rusqlite::Row;

use crate::columns::Columns;

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok(Columns {
        id: row.get(0)?,
        project: row.get(1)?,
        worktree: row.get(2)?,
        pipeline: row.get(3)?,
        task: row.get(4)?,
        stage: row.get(5)?,
        status: row.get(6)?,
        reason: row.get(7)?,
        driver: row.get(8)?,
        overridden: row.get(9)?,
        started_at: row.get(10)?,
        updated_at: row.get(11)?,
        version: row.get(12)?,
    })
}
