//! Collection: deletes whole runs, then contents that no run holds.

use engine::RunId;
use store::parts::signed;
use store::{Collect, Collected, Error};
use tokio_postgres::types::Type;

use crate::link::{Link, Value};
use crate::rows::unsigned;

/// The most runs or contents that one statement deletes: nobody waits for more.
const MOST: i64 = 100;

const RUNS: &str = "
    WITH chosen AS (
        SELECT id, version FROM gatewright.runs
        WHERE status IN ('completed', 'failed', 'cancelled') AND updated_at < $1 AND lease_holder IS NULL
        AND id <> ALL ($3) LIMIT $2 FOR UPDATE SKIP LOCKED),
    removed AS (DELETE FROM gatewright.runs r USING chosen c WHERE r.id = c.id RETURNING c.version)
    SELECT count(*) AS removed, coalesce(sum(version), 0)::bigint AS entries FROM removed";
const CONTENTS: &str = "
    WITH chosen AS (
        SELECT hash FROM gatewright.contents c WHERE added_at < $1
        AND NOT EXISTS (SELECT 1 FROM gatewright.holds WHERE content = c.hash) LIMIT $2 FOR UPDATE SKIP LOCKED),
    removed AS (DELETE FROM gatewright.contents c USING chosen WHERE c.hash = chosen.hash RETURNING 1)
    SELECT count(*) AS removed, 0::bigint AS entries FROM removed";
const DEFINITIONS: &str = "
    WITH chosen AS (
        SELECT hash FROM gatewright.definitions d WHERE $1::bigint IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM gatewright.runs WHERE definition = d.hash) LIMIT $2 FOR UPDATE SKIP LOCKED),
    removed AS (DELETE FROM gatewright.definitions d USING chosen WHERE d.hash = chosen.hash RETURNING 1)
    SELECT count(*) AS removed, 0::bigint AS entries FROM removed";

pub(crate) fn gc(link: &Link, collect: &Collect<'_>) -> Result<Collected, Error> {
    let before = signed(collect.before.0);
    let keep: Vec<&str> = collect.keep.iter().map(RunId::as_str).collect();
    let keep: Value<'_> = (&keep, Type::TEXT_ARRAY);
    let (before, most): (Value<'_>, Value<'_>) = ((&before, Type::INT8), (&MOST, Type::INT8));
    let (runs, entries) = all(link, RUNS, &[before.clone(), most.clone(), keep])?;
    let both = [before, most];
    let (contents, _) = all(link, CONTENTS, &both)?;
    let (definitions, _) = all(link, DEFINITIONS, &both)?;
    Ok(Collected {
        runs,
        entries,
        contents,
        definitions,
    })
}

/// Deletes in small steps until nothing is left. Returns how many, and how many entries.
fn all(link: &Link, statement: &str, parameters: &[Value<'_>]) -> Result<(u64, u64), Error> {
    let (mut removed, mut entries) = (0, 0);
    loop {
        let row = link.row("collect", statement, parameters)?;
        let Some(row) = row else {
            return Ok((removed, entries));
        };
        let now: i64 = link.get(&row, "removed")?;
        removed += unsigned(now);
        entries += unsigned(link.get(&row, "entries")?);
        if now < MOST {
            return Ok((removed, entries));
        }
    }
}
