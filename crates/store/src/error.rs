//! Errors of the store: one variant for each case that callers treat differently.

use std::io;
use std::path::PathBuf;

use engine::{Damage, Hash, RunId, Time};

use crate::fence::Fence;
use crate::record::Unreadable;

/// The error of the system or of SQLite.
type Cause = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reads continue where possible; nothing is written any more.
    #[error(
        "the store in {} is damaged ({what}) and read-only now: run `gatewright verify` to see how \
         far, then `gatewright verify --repair`",
        folder.display()
    )]
    Damaged { folder: PathBuf, what: String },
    #[error(
        "the store in {} has format {found}, and this gatewright knows up to {known}: upgrade \
         gatewright",
        folder.display()
    )]
    Newer {
        folder: PathBuf,
        found: u32,
        known: u32,
    },
    #[error("there is no store in {} yet: start a run first", folder.display())]
    Absent { folder: PathBuf },

    #[error("the disk is full at {}: free space and retry", path.display())]
    Full { path: PathBuf, source: Cause },
    #[error("cannot write to {}: make the folder writable for you and retry", path.display())]
    NotWritable { path: PathBuf, source: Cause },
    #[error("{} has vanished or was replaced while in use: retry", path.display())]
    Vanished { path: PathBuf },
    #[error("{} is a symbolic link, which the store does not follow: replace it by a real one", path.display())]
    Symlink { path: PathBuf },
    #[error("{} is not {wanted}: move it away", path.display())]
    WrongType { path: PathBuf, wanted: &'static str },
    #[error("{} belongs to another user: use a state folder of your own", path.display())]
    Foreign { path: PathBuf },
    #[error(
        "{} can be changed by other users: check its content, then run `chmod go-rwx` on it",
        path.display()
    )]
    OpenToOthers { path: PathBuf },
    #[error("the store in {} stayed busy for too long: retry", folder.display())]
    Busy { folder: PathBuf },
    #[error("cannot {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("cannot {doing} in the store in {}", folder.display())]
    Sqlite {
        doing: &'static str,
        folder: PathBuf,
        source: rusqlite::Error,
    },
    /// About a database that machines share. The message says what to do.
    #[error("{message}")]
    Database {
        fault: DatabaseFault,
        message: String,
        source: Option<Cause>,
    },
    #[error("the store was opened for reading: open it for writing")]
    OpenedForReading,

    #[error("unknown run {run}: see `gatewright list`")]
    UnknownRun { run: RunId },
    #[error("run {run} exists already: choose another id")]
    RunExists { run: RunId },
    #[error("run {run} has no entry {number}: see `gatewright history {run}`")]
    UnknownEntry { run: RunId, number: u64 },
    #[error("there is no definition {hash} in the store: start the run again")]
    UnknownDefinition { hash: Hash },
    #[error("a definition does not contain its main file {main}: add the file")]
    NoMainFile { main: String },
    #[error("the bytes have the hash {found} and not {named}: read them again")]
    WrongHash { named: Hash, found: Hash },
    #[error("the decision does not fit run {run} and was not stored: please report this")]
    Unfit { run: RunId, source: Damage },
    #[error("a run cannot start with this decision, and nothing was stored: please report this")]
    NotABeginning { source: Damage },
    #[error("cannot write a line of an export")]
    Export { source: io::Error },
    #[error("cannot read a line of an export")]
    Import { source: io::Error },
    #[error("it is not a whole export of a run, line {line}: {what}")]
    NotABackup { line: usize, what: String },
    #[error("it has format {found}, and this gatewright knows up to {known}: upgrade gatewright")]
    NewerBackup { found: u64, known: u32 },

    #[error("run {run} is driven by {holder}: wait until it has ended, or stop it")]
    Held {
        run: RunId,
        holder: String,
        until: Time,
    },
    #[error(
        "run {run} was taken over by another driver (lease {}, this one is {}): stop this one",
        last.number, given.number
    )]
    Fenced {
        run: RunId,
        given: Fence,
        last: Fence,
    },
}

/// What is wrong with a database that machines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseFault {
    /// The text is not the address of a database.
    Address,
    /// Nobody answers, or the connection broke: it may work again.
    Unreachable,
    /// The server has no such encryption, or its certificate is not to be trusted.
    Encryption,
    /// Unknown user, or wrong password.
    Password,
    /// The server has no such database.
    NoDatabase,
    /// The server is older than what is supported.
    OldServer,
    /// It is a replica, or refuses to write.
    ReadOnly,
    /// `fleet setup` has not been run here.
    NotSetUp,
    /// `fleet setup` of a newer version has been run here.
    NewerSchema,
    /// An older schema, which the role may not change.
    OlderSchema,
    /// The role may not do this.
    Forbidden,
    /// It holds what this program cannot have written.
    Damaged,
    /// Anything else that the server said.
    Refused,
}

impl Error {
    /// Is the store itself damaged, so that writing must stop?
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

/// Stored data that we cannot have written. The backend adds the path.
#[derive(Debug)]
pub struct Corruption(pub String);

impl From<Unreadable> for Corruption {
    fn from(fault: Unreadable) -> Self {
        Self(fault.to_string())
    }
}
