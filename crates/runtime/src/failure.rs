//! A failure: its kind, what went wrong, and what to do.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use store::DatabaseFault;

/// The kinds that callers treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The request makes no sense as written.
    Usage,
    /// The request is refused; nothing is broken.
    Refused,
    /// The run, entry or pipeline does not exist, or more than one fits.
    NotFound,
    /// A settings file or a variable is wrong.
    Settings,
    /// The environment: disk, permissions, a missing program, a busy store.
    Environment,
    /// The database that machines share does not answer.
    Unreachable,
    /// The store is damaged or newer than this program.
    Store,
    /// A fault of this program.
    Bug,
}

/// Why a command could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// One line, which names the thing.
    pub message: String,
    /// What to do, one hint each.
    pub hints: Vec<String>,
}

impl FailureKind {
    /// Is it about the request, and not about something broken?
    pub fn is_about_the_request(self) -> bool {
        match self {
            Self::Usage | Self::Refused | Self::NotFound => true,
            Self::Settings | Self::Environment | Self::Unreachable | Self::Store | Self::Bug => {
                false
            }
        }
    }
}

impl Failure {
    fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// The command makes no sense as typed.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// The request is refused; nothing is broken.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Refused, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(FailureKind::NotFound, message)
    }

    pub fn settings(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Settings, message)
    }

    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Environment, message)
    }

    /// The store is damaged or newer than this program.
    pub fn store(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Store, message)
    }

    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Bug, message).hint("please report this bug")
    }

    /// A file could not be read or written: `doing` is the verb.
    pub fn file<'a>(doing: &'a str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |cause| {
            let hint = hint_for(&cause);
            Self::environment(format!("cannot {doing} {} ({cause})", path.display())).hint(hint)
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// What a person can do about a failed system call.
fn hint_for(cause: &io::Error) -> &'static str {
    match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free disk space and retry",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "change its permissions, or choose another path"
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => "fix the path",
        ErrorKind::IsADirectory => "name a file in it, or another path",
        _ => "retry",
    }
}

/// One line: the message, then the hints.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hints.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        use store::Error as E;
        let message = with_causes(&error);
        match error {
            E::Damaged { .. } | E::Newer { .. } => Self::store(message),
            E::Absent { .. }
            | E::UnknownRun { .. }
            | E::UnknownEntry { .. }
            | E::UnknownDefinition { .. } => Self::not_found(message),
            E::NotABackup { .. } | E::NewerBackup { .. } => Self::refused(message),
            E::RunExists { .. } | E::Held { .. } | E::Fenced { .. } => Self::refused(message),
            E::Full { .. }
            | E::NotWritable { .. }
            | E::Vanished { .. }
            | E::Symlink { .. }
            | E::WrongType { .. }
            | E::Foreign { .. }
            | E::OpenToOthers { .. }
            | E::Busy { .. }
            | E::Io { .. }
            | E::Sqlite { .. }
            | E::Export { .. }
            | E::Import { .. } => Self::environment(message),
            E::Database {
                fault: DatabaseFault::Unreachable,
                ..
            } => Self::new(FailureKind::Unreachable, message),
            E::Database { .. } => Self::environment(message),
            E::OpenedForReading
            | E::NoMainFile { .. }
            | E::WrongHash { .. }
            | E::Unfit { .. }
            | E::NotABeginning { .. } => Self::bug(message),
        }
    }
}

impl From<evidence::Error> for Failure {
    fn from(error: evidence::Error) -> Self {
        use evidence::Error as E;
        let message = with_causes(&error);
        match error {
            E::ContentLost { .. } | E::NotAManifest { .. } => Self::store(message),
            E::ArtifactPath { .. }
            | E::UnknownArtifact { .. }
            | E::Schema { .. }
            | E::NotACheck { .. }
            | E::NotApproved { .. }
            | E::NoCommands { .. } => Self::refused(message),
            E::Variable { .. } => Self::settings(message),
            E::Folder { .. }
            | E::Unreadable { .. }
            | E::Unwritable { .. }
            | E::GitMissing { .. }
            | E::GitStart(_)
            | E::GitFailed { .. }
            | E::TooManyFiles { .. }
            | E::TooDeep { .. }
            | E::Interrupted
            | E::Watching { .. } => Self::environment(message),
        }
    }
}

/// The error, then each cause in brackets: an error does not repeat its cause.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(&format!(" ({next})"));
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line_that_ends_with_what_to_do() {
        let failure = Failure::not_found("there is no run 'r-1'").hint("did you mean r-2?");
        assert_eq!(
            failure.to_string(),
            "there is no run 'r-1'; did you mean r-2?"
        );
    }

    #[test]
    fn causes_are_told_once_each() {
        let cause = io::Error::other("the cable is loose");
        let error = store::Error::Io {
            doing: "read",
            path: "/x".into(),
            source: cause,
        };
        assert_eq!(with_causes(&error), "cannot read /x (the cable is loose)");
    }
}
