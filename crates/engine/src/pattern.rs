//! Globs for agent names and paths, matched by hand: a hook has no time to compile patterns.

use alloc::string::String;
use core::fmt;

/// A name with optional `*`, as `bash-*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentPattern(String);

impl AgentPattern {
    pub fn new(text: &str) -> Self {
        Self(String::from(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Does this pattern cover that agent?
    pub fn covers(&self, agent: &str) -> bool {
        star(self.0.as_bytes(), agent.as_bytes(), |_| true)
    }
}

impl fmt::Display for AgentPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path with `*` (within one folder) and `**` (across folders), as `roles/**`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathGlob(String);

impl PathGlob {
    pub fn new(text: &str) -> Self {
        Self(String::from(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Does this glob cover that path, written relative to the project with `/`?
    pub fn covers(&self, path: &str) -> bool {
        path_covers(self.0.as_bytes(), path.as_bytes())
    }
}

impl fmt::Display for PathGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Matches `*` by remembering only the last one: linear memory, no recursion, no blow-up.
fn star(pattern: &[u8], text: &[u8], may_swallow: impl Fn(u8) -> bool) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(wanted) if wanted == byte => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((after_star, at)) if text.get(at).is_some_and(|b| may_swallow(*b)) => {
                    retry = Some((after_star, at + 1));
                    p = after_star;
                    t = at + 1;
                }
                _ => return false,
            },
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|b| *b == b'*'))
}

/// `**` swallows folders as well. What stands before it matches a beginning of the path; what stands
/// behind it matches the rest from some folder on.
fn path_covers(pattern: &[u8], path: &[u8]) -> bool {
    let Some(at) = pattern.windows(2).position(|pair| pair == b"**") else {
        return star(pattern, path, |byte| byte != b'/');
    };
    let (head, tail) = (&pattern[..at], &pattern[at + 2..]);
    let tail = tail.strip_prefix(b"/").unwrap_or(tail);
    let begins = |end: &usize| star(head, &path[..*end], |byte| byte != b'/');
    let Some(shortest) = (0..=path.len()).find(begins) else {
        return false;
    };
    if tail.is_empty() {
        return true;
    }
    let folders = (shortest..path.len()).filter(|cut| *cut == 0 || path[cut - 1] == b'/');
    folders
        .into_iter()
        .any(|cut| path_covers(tail, &path[cut..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_patterns() {
        for (pattern, agent, covers) in [
            ("bash-*", "bash-writer", true),
            ("bash-*", "bash", false),
            ("*", "anything", true),
            ("*-reviewer", "code-reviewer", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("Plan", "Planner", false),
        ] {
            assert_eq!(
                AgentPattern::new(pattern).covers(agent),
                covers,
                "{pattern} {agent}"
            );
        }
    }

    #[test]
    fn path_globs() {
        for (glob, path, covers) in [
            ("roles/**", "roles/web/tasks/main.yml", true),
            ("roles/*", "roles/web/tasks/main.yml", false),
            ("*.md", "README.md", true),
            ("*.md", "docs/README.md", false),
            ("**/*.md", "docs/a/README.md", true),
            ("**/*.md", "README.md", true),
            ("src/**/test.rs", "src/a/b/test.rs", true),
            ("src/**/test.rs", "src/test.rs", true),
            ("src/**/test.rs", "src/a/latest.rs", false),
        ] {
            assert_eq!(PathGlob::new(glob).covers(path), covers, "{glob} {path}");
        }
    }

    #[test]
    fn a_hostile_pattern_is_matched_in_linear_time() {
        let pattern = AgentPattern::new(&"*a".repeat(30));
        assert!(!pattern.covers(&"a".repeat(29)));
    }
}
