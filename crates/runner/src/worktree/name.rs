//! Names of worktrees: made safe for a folder and for a ref, and never the same for two.

use engine::RunId;

/// Longer ones are cut, so that neither a folder nor a ref has too long a name.
const LONGEST: usize = 80;

/// How much of the hash tells two names apart that would be written alike.
const TELLING: usize = 12;

/// Where refs of ours lie, apart from the person's branches and tags.
const REFS: &str = "refs/gatewright";

/// Holding one means that it is neither empty nor long, and made of letters, digits, `-` and `_`.
/// So the names of other files and refs, which have a dot in them, can lie beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// A name that is safe already stays as it is; any other is told apart by its hash.
    pub fn of(text: &str) -> Self {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_safe) {
            return Self(text.to_owned());
        }
        let written = text.chars().map(|c| if is_safe(c) { c } else { '-' });
        let written: String = written.take(LONGEST - TELLING - 1).collect();
        let hash = evidence::hash(text.as_bytes()).to_string();
        Self(format!("{written}-{:.TELLING$}", hash))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The ref that keeps what a worker began with, and later what it left.
    pub fn kept(&self, run: &RunId) -> String {
        format!("{}{}", refs_of(run), self.0)
    }

    /// The ref that keeps both sides of a merge and what came of it.
    pub fn merge(&self, run: &RunId) -> String {
        format!("{}{}.merge", refs_of(run), self.0)
    }
}

/// What the refs of a run begin with.
pub fn refs_of(run: &RunId) -> String {
    format!("{REFS}/{run}/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_safe_and_no_two_are_the_same() {
        let long = "x".repeat(300);
        let names = [
            "build-1", "build.1", "build/1", "build 1", "../1", "", "-", "ü", ".lock", &long,
        ];
        let safe: Vec<Name> = names.iter().map(|name| Name::of(name)).collect();
        assert_eq!(safe[0].as_str(), "build-1");
        for (at, name) in safe.iter().enumerate() {
            let text = name.as_str();
            let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            assert!(text.chars().all(is_safe), "{text}");
            assert!((1..=LONGEST).contains(&text.len()), "{text}");
            assert!(!safe[..at].contains(name), "{text}");
        }
    }
}
