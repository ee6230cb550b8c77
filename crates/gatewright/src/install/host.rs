//! The Claude Code of this machine: where it lies and how old it is.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::outcome;
use super::program;
use crate::environment::Environment;

/// The version with which we were tested, and the first one whose hooks block when they fail.
pub const TESTED: Version = Version([2, 1, 325]);
pub const BLOCKING: Version = Version([2, 1, 295]);

const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// The first three numbers of a line as `2.1.325 (Claude Code)`.
    fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let mut numbers = word.split('.').map(|number| number.parse().ok());
        let version = [numbers.next()??, numbers.next()??, numbers.next()??];
        Some(Self(version))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub path: PathBuf,
    /// What it says of itself, or why it says nothing.
    pub version: Result<Version, String>,
}

/// The Claude Code that people start by its name.
pub fn find(environment: &Environment) -> Option<Host> {
    let path = program::find(environment, "claude")?;
    let mut command = Command::new(&path);
    let said = outcome::of(command.arg("--version"), b"", PATIENCE);
    let version = match said {
        Err(trouble) => Err(trouble.to_string()),
        Ok(said) => {
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            Version::parse(&text).ok_or_else(|| "it does not tell its version".to_owned())
        }
    };
    Some(Host { path, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_and_compared() {
        for (text, expected) in [
            ("2.1.325 (Claude Code)\n", Some([2, 1, 325])),
            ("2.1.9", Some([2, 1, 9])),
            ("v2.1.9", None),
            ("2.1", None),
            ("", None),
        ] {
            assert_eq!(Version::parse(text), expected.map(Version), "{text}");
        }
        assert!(Version([2, 1, 100]) < BLOCKING && TESTED >= BLOCKING);
    }
}
