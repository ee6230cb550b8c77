//! The schema: set up once for each database, under an advisory lock, and compared at each connection.

use store::{DatabaseFault, Error};

use crate::address::Address;
use crate::fault;
use crate::link::{Link, Purpose};

/// The steps from an empty database to this version. A released step never changes.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema/1-runs.sql"),
    include_str!("schema/2-fleet.sql"),
    include_str!("schema/3-shipping.sql"),
    include_str!("schema/4-driving.sql"),
];

const ROLES: &str = include_str!("schema/roles.sql");

/// Two who set up at once wait for each other.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7238469118424064)";

const VERSION: &str = "SELECT coalesce(max(version), 0) FROM gatewright.versions";

/// The role of those who drive runs.
pub const DRIVE_ROLE: &str = "gatewright_drive";
/// The role of those who ship journals: it may add, and change or delete nothing.
pub const SHIP_ROLE: &str = "gatewright_ship";
/// The role of those who look.
pub const READ_ROLE: &str = "gatewright_read";

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
    let found = link.with_client("create schema and roles", |client| {
        let mut transaction = client.transaction()?;
        transaction.batch_execute(LOCK)?;
        let there = "SELECT to_regclass('gatewright.versions') IS NOT NULL";
        let is_there: bool = transaction.query_one(there, &[])?.try_get(0)?;
        let found: i32 = if is_there {
            transaction.query_one(VERSION, &[])?.try_get(0)?
        } else {
            0
        };
        if found > known() {
            return Ok(found);
        }
        let missing = MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0));
        for (number, step) in (found + 1..).zip(missing) {
            transaction.batch_execute(step)?;
            transaction.execute(
                "INSERT INTO gatewright.versions (version) VALUES ($1)",
                &[&number],
            )?;
        }
        transaction.batch_execute(ROLES)?;
        transaction.commit()?;
        Ok(found)
    })?;
    if found > known() {
        return Err(fault::found(address, DatabaseFault::NewerSchema));
    }
    Ok(SetUp {
        from: u32::try_from(found).unwrap_or(0),
        to: u32::try_from(known()).unwrap_or(0),
    })
}

/// Fails unless the database has the schema of this build.
pub(crate) fn check(link: &Link) -> Result<(), Error> {
    let row = link.row("look at the schema", VERSION, &[])?;
    let found: i32 = row.map_or(Ok(0), |row| link.get(&row, "coalesce"))?;
    match found.cmp(&known()) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(fault::found(&link.address, DatabaseFault::NewerSchema)),
        std::cmp::Ordering::Less => Err(fault::found(&link.address, DatabaseFault::OlderSchema)),
    }
}
