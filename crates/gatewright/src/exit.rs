//! Exit codes: one list, the source for the help, the man page and the reference.

use std::fmt::Write as _;
use std::process::ExitCode;

use runtime::failure::{Failure, FailureKind};

/// How a command ended. The numbers never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Success,
    No,
    Usage,
    NotFound,
    Outside,
    Store,
    Waiting,
    Bug,
    Interrupted,
}

impl Exit {
    pub const ALL: [Self; 9] = [
        Self::Success,
        Self::No,
        Self::Usage,
        Self::NotFound,
        Self::Outside,
        Self::Store,
        Self::Waiting,
        Self::Bug,
        Self::Interrupted,
    ];

    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Outside => 4,
            Self::Store => 5,
            Self::Waiting => 6,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }

    /// The worse of two ends of one command.
    pub fn or_worse(self, other: Self) -> Self {
        if other.code() > self.code() {
            other
        } else {
            self
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Self::Success => "success, or the answer is yes",
            Self::No => {
                "the answer is no: refused, check failed, errors in lint, damage or unguarded work in verify"
            }
            Self::Usage => "usage error: an argument is missing or not valid",
            Self::NotFound => "not found: no such run, entry or pipeline, or the name is ambiguous",
            Self::Outside => {
                "environment error: disk full, permissions, missing program, busy store"
            }
            Self::Store => "the store is damaged, or a newer version wrote it",
            Self::Waiting => "the run waits for a person",
            Self::Bug => "internal error: a bug in gatewright",
            Self::Interrupted => "interrupted with Ctrl-C: `gatewright resume` continues the run",
        }
    }

    /// A line for each code.
    pub fn table() -> String {
        let mut table = String::new();
        for exit in Self::ALL {
            let _ = writeln!(table, "  {:>3}  {}", exit.code(), exit.meaning());
        }
        table
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        match failure.kind {
            FailureKind::Usage => Self::Usage,
            FailureKind::Refused | FailureKind::Settings => Self::No,
            FailureKind::NotFound => Self::NotFound,
            FailureKind::Environment | FailureKind::Unreachable => Self::Outside,
            FailureKind::Store => Self::Store,
            FailureKind::Bug => Self::Bug,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_stands_once() {
        let mut codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        codes.dedup();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 70, 130]);
    }
}
