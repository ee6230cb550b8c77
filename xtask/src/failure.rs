//! Why a task could not be done, or was done and says no.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line was not understood.
    Usage { problem: String, help: &'static str },
    /// The system refused something that the task needs.
    System { doing: String, source: io::Error },
    /// A program ran and failed, or a check found something.
    No(String),
}

impl Failure {
    pub(crate) fn usage(problem: impl Into<String>, help: &'static str) -> Self {
        Self::Usage {
            problem: problem.into(),
            help,
        }
    }

    pub(crate) fn no(reason: impl Into<String>) -> Self {
        Self::No(reason.into())
    }

    /// For `map_err` after a call that touches a file.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let doing = format!("cannot {doing} {}", path.display());
        move |source| Self::System { doing, source }
    }

    /// For `map_err` after a call that starts a program.
    pub(crate) fn program(name: &str) -> impl FnOnce(io::Error) -> Self {
        let doing = format!("cannot run {name}");
        move |source| Self::System { doing, source }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => 2,
            Self::System { .. } | Self::No(_) => 1,
        }
    }

    /// The message, followed by what caused it.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { problem, help } => write!(f, "{problem}\n\n{help}"),
            Self::System { doing, .. } => f.write_str(doing),
            Self::No(reason) => f.write_str(reason),
        }
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            Self::Usage { .. } | Self::No(_) => None,
        }
    }
}
