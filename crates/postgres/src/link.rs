//! One connection to the database: its statements, and a new connection when it breaks.

use std::cell::RefCell;
use std::thread;
use std::time::{Duration, Instant};

use store::{DatabaseFault, Error};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};

use crate::address::Address;
use crate::fault;
use crate::session::{NoAnswer, Session};
use crate::tls::Tls;

const PAUSE: Duration = Duration::from_millis(200);

/// How long a statement may take whose server has just answered a connection: longer than the server lets it run. A
/// statement that waits for a lock, or moves much data, is slow and not lost.
const SLOW: Duration = Duration::from_secs(70);

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
    session: RefCell<Session>,
}

impl Link {
    pub(crate) fn connect(address: &Address, purpose: Purpose) -> Result<Self, Error> {
        let session = RefCell::new(connected(address, purpose)?);
        let address = address.clone();
        Ok(Self {
            address,
            purpose,
            session,
        })
    }

    /// What makes more links to the same server.
    pub(crate) fn connector(&self) -> impl Fn() -> Result<Self, Error> + Send + 'static {
        let (address, purpose) = (self.address.clone(), self.purpose);
        move || Self::connect(&address, purpose)
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
                self.reconnect()?;
                self.rows_again(statement, values)
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
    ) -> Result<Vec<Row>, NoAnswer> {
        let limit = self.address.answer();
        self.session.borrow().rows(statement, values, limit)
    }

    /// The same after `reconnect`: there is a server that answers, so the statement gets its time.
    pub(crate) fn rows_again(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, NoAnswer> {
        self.session.borrow().rows(statement, values, SLOW)
    }

    /// Connects again, with some patience: a server that restarts is back in seconds.
    pub(crate) fn reconnect(&self) -> Result<(), Error> {
        let deadline = Instant::now() + self.address.patience();
        loop {
            match connected(&self.address, self.purpose) {
                Ok(session) => {
                    self.session.replace(session);
                    return Ok(());
                }
                Err(error) if !may_pass(&error) || Instant::now() >= deadline => return Err(error),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Statements without values and rows, sent once. They may take long.
    pub(crate) fn batch(&self, doing: &str, statements: &str) -> Result<(), Error> {
        let done = self.session.borrow().batch(statements, SLOW);
        done.map_err(|error| fault::told(&self.address, doing, error))
    }

    /// Waits for a notification, at most this long.
    pub(crate) fn hear(&self, limit: Duration) -> Result<(), Error> {
        let heard = self.session.borrow_mut().hear(limit);
        heard.map_err(|error| fault::told(&self.address, "listen", error))
    }

    pub(crate) fn damaged(&self, what: &str) -> Error {
        fault::damaged(&self.address, what)
    }

    pub(crate) fn get<T: for<'a> FromSql<'a>>(&self, row: &Row, column: &str) -> Result<T, Error> {
        let got = row.try_get(column);
        got.map_err(|error| fault::told(&self.address, "read a row", NoAnswer::Client(error)))
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

fn connected(address: &Address, purpose: Purpose) -> Result<Session, Error> {
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
    let (tls, limit) = (tls.map_err(untrusted)?, address.connecting());
    let session = Session::connect(address.config(), tls, limit).map_err(told)?;
    // One round trip for both: each counts where the network is slow.
    let facts = session.last_row(&format!("{SESSION}; {FACTS}"), limit);
    let facts = ServerFacts::read(&facts.map_err(told)?).map_err(told)?;
    match judge(&facts, purpose) {
        None => Ok(session),
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

impl ServerFacts {
    fn read(row: &[String]) -> Result<Self, NoAnswer> {
        let [version, is_read_only, encoding] = row else {
            return Err(NoAnswer::Silence);
        };
        Ok(Self {
            version: version.parse().map_err(|_| NoAnswer::Silence)?,
            is_read_only: is_read_only == "t",
            encoding: encoding.clone(),
        })
    }
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
