//! One connection to the database: its statements, and a new connection when it breaks.

use std::cell::RefCell;
use std::thread;
use std::time::{Duration, Instant};

use postgres::types::{FromSql, ToSql, Type};
use postgres::{Client, Row};
use store::{DatabaseFault, Error};

use crate::address::Address;
use crate::fault;
use crate::tls::Tls;

const PAUSE: Duration = Duration::from_millis(200);

/// Of every session: the isolation that the functions are written for, an end for a statement that waits for a lock
/// whose holder sleeps, and commits that are durable when they are acknowledged.
const SESSION: &str = "SET default_transaction_isolation = 'read committed'; SET statement_timeout = '60s'; \
                       SET idle_in_transaction_session_timeout = '60s'; \
                       SELECT set_config('synchronous_commit', 'on', false) \
                       WHERE current_setting('synchronous_commit') IN ('off', 'local')";

const FACTS: &str = "SELECT current_setting('server_version_num')::int, \
                     pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', \
                     current_setting('server_encoding')";

/// The oldest server that is supported.
const OLDEST_SERVER: i32 = 150_000;

/// A value of a statement, with its type: so that nothing is asked about the statement first.
pub(crate) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
}

pub(crate) struct Link {
    pub address: Address,
    purpose: Purpose,
    client: RefCell<Client>,
}

impl Link {
    pub(crate) fn connect(address: &Address, purpose: Purpose) -> Result<Self, Error> {
        let client = RefCell::new(connected(address, purpose)?);
        let address = address.clone();
        Ok(Self {
            address,
            purpose,
            client,
        })
    }

    pub(crate) fn another(&self) -> Result<Self, Error> {
        Self::connect(&self.address, self.purpose)
    }

    /// The rows of a statement that may be repeated: after a break it is sent once more.
    pub(crate) fn rows(
        &self,
        doing: &str,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Error> {
        match self.rows_once(statement, values) {
            Err(error) if fault::is_broken(&error) => {
                self.mend()?;
                self.rows_once(statement, values)
            }
            answered => answered,
        }
        .map_err(|error| fault::told(&self.address, doing, error))
    }

    pub(crate) fn row(
        &self,
        doing: &str,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, Error> {
        Ok(self.rows(doing, statement, values)?.into_iter().next())
    }

    /// One statement, one round trip, sent once.
    pub(crate) fn rows_once(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, postgres::Error> {
        self.client.borrow_mut().query_typed(statement, values)
    }

    /// Connects again, with some patience: a server that restarts is back in seconds.
    pub(crate) fn mend(&self) -> Result<(), Error> {
        let deadline = Instant::now() + self.address.patience();
        loop {
            match connected(&self.address, self.purpose) {
                Ok(client) => {
                    self.client.replace(client);
                    return Ok(());
                }
                Err(error) if !may_pass(&error) || Instant::now() >= deadline => return Err(error),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Something that needs the client itself, such as a transaction of several statements.
    pub(crate) fn with_client<T>(
        &self,
        doing: &str,
        act: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, Error> {
        act(&mut self.client.borrow_mut()).map_err(|error| fault::told(&self.address, doing, error))
    }

    pub(crate) fn damaged(&self, what: &str) -> Error {
        fault::damaged(&self.address, what)
    }

    pub(crate) fn get<T: for<'a> FromSql<'a>>(&self, row: &Row, column: &str) -> Result<T, Error> {
        let got = row.try_get(column);
        got.map_err(|error| fault::told(&self.address, "read a row", error))
    }
}

fn may_pass(error: &Error) -> bool {
    matches!(
        error,
        Error::Database {
            fault: DatabaseFault::Unreachable,
            ..
        }
    )
}

fn connected(address: &Address, purpose: Purpose) -> Result<Client, Error> {
    let told = |error| fault::told(address, "connect", error);
    let untrusted = |error: std::io::Error| Error::Database {
        fault: DatabaseFault::Encryption,
        message: format!("{error}: fix `sslrootcert` in the address"),
        source: None,
    };
    let tls = if address.is_encrypted() {
        Tls::new(address.root_certificates())
    } else {
        Tls::unused()
    };
    let mut client = address
        .config()
        .connect(tls.map_err(untrusted)?)
        .map_err(told)?;
    client.batch_execute(SESSION).map_err(told)?;
    let facts = client.query_typed_one(FACTS, &[]).map_err(told)?;
    let facts = ServerFacts {
        version: facts.try_get(0).map_err(told)?,
        is_read_only: facts.try_get(1).map_err(told)?,
        encoding: facts.try_get(2).map_err(told)?,
    };
    match judge(&facts, purpose) {
        None => Ok(client),
        Some(DatabaseFault::Refused) => Err(Error::Database {
            fault: DatabaseFault::Refused,
            message: format!(
                "the database at {address} has the encoding {}: create one with UTF8",
                facts.encoding
            ),
            source: None,
        }),
        Some(found) => Err(fault::found(address, found)),
    }
}

/// What a server says about itself.
struct ServerFacts {
    version: i32,
    is_read_only: bool,
    encoding: String,
}

/// What speaks against this server, if anything.
fn judge(facts: &ServerFacts, purpose: Purpose) -> Option<DatabaseFault> {
    if facts.version < OLDEST_SERVER {
        Some(DatabaseFault::OldServer)
    } else if facts.encoding != "UTF8" {
        Some(DatabaseFault::Refused)
    } else if facts.is_read_only && purpose == Purpose::Write {
        Some(DatabaseFault::ReadOnly)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_judged_by_what_it_says() {
        for (version, is_read_only, encoding, purpose, expected) in [
            (150_000, false, "UTF8", Purpose::Write, None),
            (180_001, true, "UTF8", Purpose::Read, None),
            (
                180_001,
                true,
                "UTF8",
                Purpose::Write,
                Some(DatabaseFault::ReadOnly),
            ),
            (
                140_012,
                false,
                "UTF8",
                Purpose::Read,
                Some(DatabaseFault::OldServer),
            ),
            (
                150_000,
                false,
                "SQL_ASCII",
                Purpose::Read,
                Some(DatabaseFault::Refused),
            ),
        ] {
            let encoding = encoding.to_owned();
            let facts = ServerFacts {
                version,
                is_read_only,
                encoding,
            };
            assert_eq!(judge(&facts, purpose), expected, "{version} {purpose:?}");
        }
    }
}
