//! The machines of the fleet: they join, give signs of life, and leave.

use std::time::{SystemTime, UNIX_EPOCH};

use store::Error;
use tokio_postgres::types::Type;

use crate::backend::Postgres;
use crate::link::{Link, Value};

const NOW: &str = "SELECT gatewright.now_ms() AS now";
const JOIN: &str = "SELECT given_name FROM gatewright.join_machine($1, $2, $3, $4, $5)";
const LEAVE: &str = "DELETE FROM gatewright.machines WHERE id = $1 RETURNING name";
const SIGN: &str = "SELECT gatewright.worker_is_there($1, $2, $3, $4, $5)";
const WORKER_ENDS: &str = "DELETE FROM gatewright.workers WHERE machine = $1 AND process = $2";

/// A machine as it joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine<'a> {
    /// Its own id, which no other machine has: names may be the same.
    pub id: &'a str,
    pub name: &'a str,
    pub labels: &'a [String],
    /// The version of the program.
    pub version: &'a str,
}

/// What the database says to a machine that joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Its name in the fleet: longer than its own if another machine has that.
    pub name: String,
    /// How far its clock is ahead of the database's, in milliseconds.
    pub skew: i64,
}

/// A worker that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSign<'a> {
    /// The id of its machine.
    pub machine: &'a str,
    /// The process, as it names itself in leases.
    pub process: &'a str,
    pub labels: &'a [String],
    pub version: &'a str,
    /// How far its machine's clock is ahead of the database's, if it was measured lately.
    pub skew: Option<i64>,
}

impl Postgres {
    /// Registers a machine, or renews what is known about it.
    pub fn join(&self, machine: &Machine<'_>) -> Result<Joined, Error> {
        let skew = skew(&self.link)?;
        let values: [Value<'_>; 5] = [
            (&machine.id, Type::TEXT),
            (&machine.name, Type::TEXT),
            (&machine.labels, Type::TEXT_ARRAY),
            (&machine.version, Type::TEXT),
            (&skew, Type::INT8),
        ];
        let row = self.link.row("join the fleet", JOIN, &values)?;
        let name = row
            .map(|row| self.link.get(&row, "given_name"))
            .transpose()?;
        let name = name.unwrap_or_else(|| machine.name.to_owned());
        Ok(Joined { name, skew })
    }

    /// Removes a machine with its workers. Returns its name, if it was there.
    pub fn leave(&self, id: &str) -> Result<Option<String>, Error> {
        let row = self
            .link
            .row("leave the fleet", LEAVE, &[(&id, Type::TEXT)])?;
        row.map(|row| self.link.get(&row, "name")).transpose()
    }

    /// How far this machine's clock is ahead of the database's, in milliseconds.
    pub fn clock_skew(&self) -> Result<i64, Error> {
        skew(&self.link)
    }

    /// Tells that a worker is there, and its machine. It calls this again and again.
    pub fn worker_is_there(&self, sign: &WorkerSign<'_>) -> Result<(), Error> {
        let values: [Value<'_>; 5] = [
            (&sign.machine, Type::TEXT),
            (&sign.process, Type::TEXT),
            (&sign.version, Type::TEXT),
            (&sign.labels, Type::TEXT_ARRAY),
            (&sign.skew, Type::INT8),
        ];
        self.link.rows("register a worker", SIGN, &values).map(drop)
    }

    /// Tells that a worker has ended.
    pub fn worker_ends(&self, machine: &str, process: &str) -> Result<(), Error> {
        let values: [Value<'_>; 2] = [(&machine, Type::TEXT), (&process, Type::TEXT)];
        self.link
            .rows("sign a worker off", WORKER_ENDS, &values)
            .map(drop)
    }
}

/// How far this machine's clock is ahead of the database's: the database answered in the middle of the round trip.
pub(crate) fn skew(link: &Link) -> Result<i64, Error> {
    let before = clock();
    let row = link.row("read the clock", NOW, &[])?;
    let after = clock();
    let now: i64 = row.map_or(Ok(before), |row| link.get(&row, "now"))?;
    Ok(before + (after - before) / 2 - now)
}

fn clock() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
