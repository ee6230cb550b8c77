//! Names of worktrees: safe for a folder and a ref, and unique.

use engine::RunId;

/// Longer names are cut, because folders and refs have a length limit.
const LONGEST: usize = 80;

/// How many digits of the hash keep similar names apart.
const HASH_LENGTH: usize = 12;

/// The namespace of our refs, apart from the person's branches and tags.
const REFS: &str = "refs/gatewright";

/// Invariant: not empty, not long, and made of letters, digits, `-` and `_`. Other files and refs
/// have a dot in their names, so they never collide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SafeName(String);

impl SafeName {
    /// A safe name stays as it is; any other gets a hash.
    pub(super) fn of(text: &str) -> Self {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_safe) {
            return Self(text.to_owned());
        }
        let written = text.chars().map(|c| if is_safe(c) { c } else { '-' });
        let written: String = written.take(LONGEST - HASH_LENGTH - 1).collect();
        let hash = evidence::hash(text.as_bytes()).to_string();
        Self(format!("{written}-{:.HASH_LENGTH$}", hash))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The ref of the content that a worker started with, and later of its result.
    pub(super) fn kept_ref(&self, run: &RunId) -> String {
        format!("{}{}", refs_of(run), self.0)
    }

    /// The ref of a merge, which keeps both sides.
    pub(super) fn merge_ref(&self, run: &RunId) -> String {
        format!("{}{}.merge", refs_of(run), self.0)
    }
}

/// The ref of the last known content of the run's worktree, while steps work. The next step begins with
/// nearly the same content, whose objects must not be garbage until then.
pub(super) fn content_ref(run: &RunId) -> String {
    format!("{}content.last", refs_of(run))
}

/// The prefix of refs that keep the person's own values reachable while steps work.
pub(super) fn pinned_prefix(run: &RunId) -> String {
    format!("{}before.refs/", refs_of(run))
}

/// The ref that keeps a value to which a step had moved a ref of the person.
pub(super) fn moved_ref(run: &RunId, value: &str) -> String {
    format!("{}moved.{value}", refs_of(run))
}

/// The prefix of all refs of a run.
pub(super) fn refs_of(run: &RunId) -> String {
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
        let safe: Vec<SafeName> = names.iter().map(|name| SafeName::of(name)).collect();
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
