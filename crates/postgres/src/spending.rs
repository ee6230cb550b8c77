//! What a run uses counts for the day on which it is noted, and what its workers may still use is reserved.

use std::time::Duration;

use engine::{RunId, Usage};
use store::{AtWork, Error, Fence, ReachedCap};
use tokio_postgres::types::Type;

use crate::cap_rows;
use crate::link::{Link, Value};
use crate::rows::{FenceColumns, signed, unsigned};

const NOTE: &str = "SELECT gatewright.note_spending($1, $2, $3, $4, $5, $6, $7)";
const RESERVE: &str = "SELECT gatewright.reserve($1, $2, $3, $4, $5, $6, $7, $8, $9) AS cents";
const CAP: &str =
    "SELECT kind, name, cost, spent, estimated, reserved, remaining FROM gatewright.cap_of($1)";

/// A process gets half of what is free, and not less than this while there is so much: near its end a cap is not cut
/// into pieces of a cent.
const LEAST_CENTS: i64 = 100;

/// What a run has used, as the columns of a statement.
struct UsedColumns {
    cost: i64,
    tokens: i64,
    estimated: i64,
    fence: FenceColumns,
}

impl UsedColumns {
    fn of(used: Usage, fence: Option<Fence>) -> Self {
        Self {
            cost: signed(used.cost_cents),
            tokens: signed(used.tokens),
            estimated: signed(used.estimated_cents.unwrap_or(0)),
            fence: FenceColumns::of(fence),
        }
    }
}

/// Notes what a run has used so far: what is new counts for today.
pub(crate) fn note(
    link: &Link,
    run: &RunId,
    fence: Option<Fence>,
    used: Usage,
) -> Result<(), Error> {
    note_columns(link, run, &UsedColumns::of(used, fence), None)
}

/// Notes the same, with what the workers of the run may still use.
pub(crate) fn note_at_work(link: &Link, run: &RunId, at_work: &AtWork) -> Result<(), Error> {
    let used = UsedColumns::of(at_work.used, Some(at_work.fence));
    note_columns(link, run, &used, Some(signed(at_work.reserved_cents)))
}

fn note_columns(
    link: &Link,
    run: &RunId,
    used: &UsedColumns,
    reserved: Option<i64>,
) -> Result<(), Error> {
    let values: [Value<'_>; 7] = [
        (&run.as_str(), Type::TEXT),
        (&used.cost, Type::INT8),
        (&used.tokens, Type::INT8),
        (&used.estimated, Type::INT8),
        (&used.fence.number, Type::INT8),
        (&used.fence.claim(), Type::BYTEA),
        (&reserved, Type::INT8),
    ];
    link.rows("note what a run used", NOTE, &values).map(drop)
}

/// What the next process of one more worker may cost, if a cap concerns the run.
pub(crate) fn reserve(
    link: &Link,
    run: &RunId,
    at_work: &AtWork,
    most_cents: Option<u64>,
) -> Result<Option<u64>, Error> {
    let used = UsedColumns::of(at_work.used, Some(at_work.fence));
    let (others, most) = (signed(at_work.reserved_cents), most_cents.map(signed));
    let values: [Value<'_>; 9] = [
        (&run.as_str(), Type::TEXT),
        (&used.cost, Type::INT8),
        (&used.tokens, Type::INT8),
        (&used.estimated, Type::INT8),
        (&used.fence.number, Type::INT8),
        (&used.fence.claim(), Type::BYTEA),
        (&others, Type::INT8),
        (&LEAST_CENTS, Type::INT8),
        (&most, Type::INT8),
    ];
    let row = link.row("reserve what a worker may use", RESERVE, &values)?;
    let Some(row) = row else { return Ok(None) };
    let cents: Option<i64> = link.get(&row, "cents")?;
    Ok(cents.map(unsigned))
}

/// The cap that leaves nothing for this run.
pub(crate) fn cap_reached(link: &Link, run: &RunId) -> Result<Option<ReachedCap>, Error> {
    let row = link.row("look at the caps", CAP, &[(&run.as_str(), Type::TEXT)])?;
    let Some(row) = row else { return Ok(None) };
    // A function without a result has one row of nothing.
    let Some(kind) = link.get::<Option<String>>(&row, "kind")? else {
        return Ok(None);
    };
    let name: String = link.get(&row, "name")?;
    Ok(Some(ReachedCap {
        whose: cap_rows::whose(kind, &name),
        spent: cap_rows::spent(link, &row)?,
        remaining: Duration::from_millis(unsigned(link.get(&row, "remaining")?)),
    }))
}
