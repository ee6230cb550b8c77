//! What one run of the program said and how it ended.

use std::fmt;
use std::process::Output;

/// The whole of what the program left: both streams as text, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
}

impl Ran {
    /// Hands itself on when the exit code is this one, and shows everything when it is not.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "the exit code is not {code}\n{self}");
        self
    }

    /// The same as `exits(0)`.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        self.exits(0)
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        write!(
            f,
            "exit: {code}\nstdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        )
    }
}
