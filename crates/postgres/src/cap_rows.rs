//! From rows to caps: whose it is, and what counts for it.

use store::{CapSpent, Error};
use tokio_postgres::Row;

use crate::link::Link;
use crate::rows::{amount, unsigned};

/// `all`, `user ada`.
pub(crate) fn whose(kind: String, name: &str) -> String {
    if name.is_empty() {
        kind
    } else {
        format!("{kind} {name}")
    }
}

/// What counts for the cap of this row.
pub(crate) fn spent(link: &Link, row: &Row) -> Result<CapSpent, Error> {
    Ok(CapSpent {
        most_cents: unsigned(link.get(row, "cost")?),
        cost_cents: amount(link.get(row, "spent")?),
        estimated_cents: amount(link.get(row, "estimated")?),
        reserved_cents: amount(link.get(row, "reserved")?),
    })
}
