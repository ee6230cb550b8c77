//! Versions of agent programs, and whether we support them.

use std::fmt;

/// Major, minor and patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

/// Whether a version of a program works with us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionSupport {
    Tested,
    /// It probably works, but nobody has tried.
    Untested,
    /// It lacks something that we need.
    TooOld,
}

impl Version {
    /// The version in a line such as `2.1.325 (Claude Code)` or `codex-cli 0.166.0`.
    pub fn in_line(line: &str) -> Option<Self> {
        line.split_whitespace().find_map(Self::parse)
    }

    /// Text after the third number marks a pre-release.
    fn parse(word: &str) -> Option<Self> {
        let mut numbers = word.splitn(3, '.');
        let (major, minor) = (numbers.next()?, numbers.next()?);
        let rest = numbers.next()?;
        let end = rest.find(|c: char| !c.is_ascii_digit());
        let patch = rest.get(..end.unwrap_or(rest.len()))?;
        let number = |text: &str| text.parse().ok();
        Some(Self([number(major)?, number(minor)?, number(patch)?]))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_a_program_says() {
        for (line, expected) in [
            ("2.1.325 (Claude Code)\n", Some([2, 1, 325])),
            ("codex-cli 0.166.0", Some([0, 166, 0])),
            ("0.61.0", Some([0, 61, 0])),
            ("0.62.0-nightly.20261101.ab12", Some([0, 62, 0])),
            ("codex-cli 0.167.0-alpha.3", Some([0, 167, 0])),
            ("2.1.9", Some([2, 1, 9])),
            ("v2.1.9", None),
            ("2.1", None),
            ("2.1.", None),
            ("2..1", None),
            ("99999999999.1.1", None),
            ("", None),
        ] {
            assert_eq!(Version::in_line(line), expected.map(Version), "{line}");
        }
    }
}
