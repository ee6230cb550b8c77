//! Errors of the server and of the network: what is wrong, and what to do about it.

use std::error::Error as _;
use std::io;

use store::{DatabaseFault as Fault, Error};
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::roles::{DRIVE_ROLE, READ_ROLE, SHIP_ROLE};
use crate::session::NoAnswer;

/// The error of an attempt to do something.
pub(crate) fn told(address: &Address, doing: &str, error: NoAnswer) -> Error {
    match error {
        // What the client calls it says nothing that the cause does not.
        NoAnswer::Client(error) => of(address, kind(&error), doing, error.into_source()),
        NoAnswer::Here(error) => of(address, Fault::Refused, doing, Some(error.into())),
        NoAnswer::Silence => of(address, Fault::Unreachable, doing, None),
    }
}

/// The same for a fault that no error of the client tells.
pub(crate) fn found(address: &Address, fault: Fault) -> Error {
    of(address, fault, "use the database", None)
}

/// Stored data that we cannot have written.
pub(crate) fn damaged(address: &Address, what: &str) -> Error {
    Error::Database {
        fault: Fault::Damaged,
        message: format!(
            "the database at {address} is damaged ({what}): run `gatewright fleet status`, and restore a backup"
        ),
        source: None,
    }
}

/// Is it worth connecting again? What was asked may have been done or not.
pub(crate) fn is_broken(error: &NoAnswer) -> bool {
    match error {
        NoAnswer::Client(error) => kind(error) == Fault::Unreachable,
        NoAnswer::Silence => true,
        NoAnswer::Here(_) => false,
    }
}

fn of(
    address: &Address,
    fault: Fault,
    doing: &str,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::Database {
        fault,
        message: message(address, fault, doing),
        source,
    }
}

fn message(address: &Address, fault: Fault, doing: &str) -> String {
    let (user, server, database) = (address.user(), address.server(), address.database());
    match fault {
        Fault::Address => format!("{address} is not the address of a database: write it again"),
        Fault::Unreachable => {
            format!(
                "cannot reach the database server at {server}: start it or fix the address, then retry"
            )
        }
        Fault::Encryption => format!(
            "cannot encrypt the connection to {server}: give the server a valid certificate, or name the one to trust \
             with `?sslrootcert=FILE` in the address"
        ),
        Fault::Password => {
            format!(
                "the server at {server} refuses user {user} or its password: fix them in the address"
            )
        }
        Fault::NoDatabase => {
            format!(
                "the server at {server} has no database {database}: run `createdb {database}` or fix the address"
            )
        }
        Fault::OldServer => {
            format!("the server at {server} is older than PostgreSQL 15: upgrade the server")
        }
        Fault::ReadOnly => {
            format!(
                "the database at {address} is a read-only replica: give the address of the primary"
            )
        }
        Fault::NotSetUp => format!(
            "the database at {address} has no tables of gatewright: run `gatewright fleet setup` with its address once"
        ),
        Fault::NewerSchema => {
            format!(
                "a newer gatewright has set up the database at {address}: upgrade gatewright on this machine"
            )
        }
        Fault::OlderSchema => format!(
            "an older gatewright has set up the database at {address}: run `gatewright fleet setup` with this version"
        ),
        Fault::Forbidden => format!(
            "user {user} may not {doing} in the database at {server}: grant it the role `{}`, or use another user",
            role_for(doing)
        ),
        Fault::Damaged => format!("the database at {address} is damaged: restore a backup"),
        Fault::Refused => {
            format!("the database at {address} could not {doing}: read the reason and retry")
        }
    }
}

/// The least role that may do this.
fn role_for(doing: &str) -> &'static str {
    let is_one_of = |verbs: &[&str]| verbs.iter().any(|verb| doing.starts_with(verb));
    if is_one_of(&["read ", "look ", "list "]) {
        READ_ROLE
    } else if is_one_of(&["ship ", "join ", "register this machine"]) {
        SHIP_ROLE
    } else {
        DRIVE_ROLE
    }
}

fn kind(error: &tokio_postgres::Error) -> Fault {
    if let Some(code) = error.code() {
        return kind_of_code(code);
    }
    if error.is_closed() {
        return Fault::Unreachable;
    }
    let Some(source) = error.source() else {
        return Fault::Unreachable;
    };
    // The client tells its kinds only in words.
    let words = error.to_string();
    if words.starts_with("error performing TLS handshake") {
        return Fault::Encryption;
    }
    if words.contains("password") || source.to_string().contains("password") {
        return Fault::Password;
    }
    if source.is::<io::Error>() || words.starts_with("error connecting") {
        return Fault::Unreachable;
    }
    Fault::Refused
}

fn kind_of_code(code: &SqlState) -> Fault {
    let classes = [
        (
            Fault::Password,
            &[
                SqlState::INVALID_PASSWORD,
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            ][..],
        ),
        (Fault::NoDatabase, &[SqlState::INVALID_CATALOG_NAME][..]),
        (Fault::ReadOnly, &[SqlState::READ_ONLY_SQL_TRANSACTION][..]),
        (Fault::Forbidden, &[SqlState::INSUFFICIENT_PRIVILEGE][..]),
        (
            Fault::NotSetUp,
            &[
                SqlState::UNDEFINED_TABLE,
                SqlState::UNDEFINED_FUNCTION,
                SqlState::INVALID_SCHEMA_NAME,
            ][..],
        ),
        (
            Fault::Unreachable,
            &[
                SqlState::ADMIN_SHUTDOWN,
                SqlState::CRASH_SHUTDOWN,
                SqlState::CANNOT_CONNECT_NOW,
                SqlState::TOO_MANY_CONNECTIONS,
                SqlState::CONNECTION_FAILURE,
                SqlState::CONNECTION_EXCEPTION,
                SqlState::CONNECTION_DOES_NOT_EXIST,
            ][..],
        ),
    ];
    let found = classes.iter().find(|(_, codes)| codes.contains(code));
    found.map_or(Fault::Refused, |(fault, _)| *fault)
}
