//! The schema: set up once for each database, under an advisory lock, and compared at each connection.

use store::{DatabaseFault, Error};
use tokio_postgres::Row;

use crate::address::Address;
use crate::fault;
use crate::link::{Link, Purpose};

/// The steps from an empty database to this version. A released step never changes.
pub(crate) const MIGRATIONS: [&str; 6] = [
    include_str!("schema/1-runs.sql"),
    include_str!("schema/2-fleet.sql"),
    include_str!("schema/3-shipping.sql"),
    include_str!("schema/4-driving.sql"),
    include_str!("schema/5-claims.sql"),
    include_str!("schema/6-reservations.sql"),
];

const ROLES: &str = include_str!("schema/roles.sql");

/// Two who set up at once wait for each other.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7238469118424064)";

const DOING: &str = "create schema and roles";

const VERSION: &str = "SELECT coalesce(max(version), 0) FROM gatewright.versions";

/// What `set_up` has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUp {
    /// The version that was found; 0 if there was none.
    pub from: u32,
    pub to: u32,
}

/// The version that this build reads and writes.
fn known() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// Creates or upgrades schema and roles: all of it, or nothing.
pub fn set_up(address: &Address) -> Result<SetUp, Error> {
    let link = Link::connect(address, Purpose::Write)?;
    // What is not committed is undone with the connection.
    link.batch(DOING, &format!("BEGIN; {LOCK}"))?;
    let there = "SELECT to_regclass('gatewright.versions') IS NOT NULL AS is_there";
    let found = match once(&link, there)? {
        Some(row) if link.get(&row, "is_there")? => version(&link, once(&link, VERSION)?)?,
        Some(_) | None => 0,
    };
    if found > known() {
        return Err(fault::found(address, DatabaseFault::NewerSchema));
    }
    let missing = MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0));
    for (number, step) in (found + 1..).zip(missing) {
        link.batch(DOING, step)?;
        let noted = format!("INSERT INTO gatewright.versions (version) VALUES ({number})");
        link.batch(DOING, &noted)?;
    }
    link.batch(DOING, ROLES)?;
    link.batch(DOING, "COMMIT")?;
    Ok(SetUp {
        from: u32::try_from(found).unwrap_or(0),
        to: u32::try_from(known()).unwrap_or(0),
    })
}

/// Never on a second connection: that one would be in no transaction.
fn once(link: &Link, statement: &str) -> Result<Option<Row>, Error> {
    let rows = link.rows_once(statement, &[]);
    let rows = rows.map_err(|error| fault::told(&link.address, DOING, error))?;
    Ok(rows.into_iter().next())
}

fn version(link: &Link, row: Option<Row>) -> Result<i32, Error> {
    row.map_or(Ok(0), |row| link.get(&row, "coalesce"))
}

/// Fails unless the database has the schema of this build.
pub(crate) fn check(link: &Link) -> Result<(), Error> {
    let row = link.row("look at the schema", VERSION, &[])?;
    match version(link, row)?.cmp(&known()) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(fault::found(&link.address, DatabaseFault::NewerSchema)),
        std::cmp::Ordering::Less => Err(fault::found(&link.address, DatabaseFault::OlderSchema)),
    }
}
