//! What a run uses counts for the day on which it is noted.

use engine::{RunId, Time, Usage};
use store::{Error, Fence, ReachedCap};
use tokio_postgres::types::Type;

use crate::link::{Link, Value};
use crate::rows::{FenceColumns, amount, signed, unsigned};

const NOTE: &str = "SELECT gatewright.note_spending($1, $2, $3, $4, $5)";
const CAP: &str = "SELECT kind, name, cost, spent, until FROM gatewright.cap_of($1)";

/// For each cap that concerns the run: the cap without what counts for it today.
const LEFT: &str = "
    SELECT min(c.cost - coalesce((
        SELECT sum(s.cost) FROM gatewright.spending s WHERE s.day = gatewright.today()
            AND (c.kind = 'all' OR c.kind = 'user' AND s.person = c.name OR c.kind = 'project' AND s.project = c.name
                OR c.kind = 'account' AND s.account = c.name)), 0))::bigint AS cents
    FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run JOIN gatewright.caps c
        ON c.kind = 'all' OR c.kind = 'user' AND c.name = q.person OR c.kind = 'project' AND c.name = r.project
            OR c.kind = 'account' AND c.name = q.account
    WHERE q.run = $1";

/// Notes what a run has used so far: what is new counts for today.
pub(crate) fn note(
    link: &Link,
    run: &RunId,
    fence: Option<Fence>,
    used: Usage,
) -> Result<(), Error> {
    let (cost, tokens) = (signed(used.cost_cents), signed(used.tokens));
    let fence = FenceColumns::of(fence);
    let values: [Value<'_>; 5] = [
        (&run.as_str(), Type::TEXT),
        (&cost, Type::INT8),
        (&tokens, Type::INT8),
        (&fence.number, Type::INT8),
        (&fence.claim(), Type::BYTEA),
    ];
    link.rows("note what a run used", NOTE, &values).map(drop)
}

/// A cap that this run has reached with the others.
pub(crate) fn cap_reached(link: &Link, run: &RunId) -> Result<Option<ReachedCap>, Error> {
    let row = link.row("look at the caps", CAP, &[(&run.as_str(), Type::TEXT)])?;
    let Some(row) = row else { return Ok(None) };
    // A function without a result has one row of nothing.
    let Some(kind) = link.get::<Option<String>>(&row, "kind")? else {
        return Ok(None);
    };
    let name: String = link.get(&row, "name")?;
    Ok(Some(ReachedCap {
        whose: if name.is_empty() {
            kind
        } else {
            format!("{kind} {name}")
        },
        cents: unsigned(link.get(&row, "cost")?),
        spent_cents: amount(link.get(&row, "spent")?),
        until: Time(unsigned(link.get(&row, "until")?)),
    }))
}

/// What the caps leave for this run today, if there are any: the least of them.
pub(crate) fn cost_left(link: &Link, run: &RunId) -> Result<Option<u64>, Error> {
    let row = link.row("look at the caps", LEFT, &[(&run.as_str(), Type::TEXT)])?;
    let Some(row) = row else { return Ok(None) };
    let cents: Option<i64> = link.get(&row, "cents")?;
    Ok(cents.map(|cents| unsigned(cents.max(0))))
}
