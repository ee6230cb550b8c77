//! A failure: whose fault it is, what could not be done, what to do now, and the exit code.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::exit::Exit;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was typed, or what was asked for.
    Yours,
    /// A settings file or the environment.
    Settings,
    /// The disk, the permissions, another program.
    Outside,
    Ours,
}

/// Why a command could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: Kind,
    pub exit: Exit,
    /// One line, which names the thing.
    pub message: String,
    /// What to do, each on its own.
    pub hints: Vec<String>,
}

impl Failure {
    fn new(kind: Kind, exit: Exit, message: impl Into<String>) -> Self {
        Self {
            kind,
            exit,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// The command makes no sense as it was typed.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Yours, Exit::Usage, message)
    }

    /// What was asked for cannot be, and nothing is broken.
    pub fn no(message: impl Into<String>) -> Self {
        Self::new(Kind::Yours, Exit::No, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::Yours, Exit::NotFound, message)
    }

    pub fn settings(message: impl Into<String>) -> Self {
        Self::new(Kind::Settings, Exit::No, message)
    }

    pub fn outside(message: impl Into<String>) -> Self {
        Self::new(Kind::Outside, Exit::Outside, message)
    }

    /// The store is damaged or too new for us.
    pub fn store(message: impl Into<String>) -> Self {
        Self::new(Kind::Outside, Exit::Store, message)
    }

    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(Kind::Ours, Exit::Bug, message).hint("please report this")
    }

    /// A file could not be read, written, made: `doing` says which.
    pub fn file<'a>(doing: &'a str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |cause| {
            let hint = hint_for(&cause);
            Self::outside(format!("cannot {doing} {} ({cause})", path.display())).hint(hint)
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// What a person can do about a failed call.
fn hint_for(cause: &io::Error) -> &'static str {
    match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some room and do it again",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "change its permissions, or choose another place"
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => "correct the path",
        _ => "do it again",
    }
}

/// One line: the message, then what to do.
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
            E::RunExists { .. } | E::Held { .. } | E::Fenced { .. } => Self::no(message),
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
            | E::Export { .. } => Self::outside(message),
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
            | E::NoCommands { .. } => Self::no(message),
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
            | E::Watching { .. } => Self::outside(message),
        }
    }
}

/// The error, then each of its causes in brackets: an error does not repeat its cause.
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
