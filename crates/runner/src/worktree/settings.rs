//! The settings and hooks of the person's repository, which all its worktrees share.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use runtime::failure::Failure;

use super::Worktrees;
use super::git::{Repository, succeed};

/// What git itself writes when somebody makes a branch, or fetches a submodule.
const ORDINARY: [&str; 2] = ["branch.", "submodule."];

/// A short hash of each setting and hook, by name.
pub type SettingHashes = BTreeMap<String, String>;

impl Worktrees {
    /// The settings as they are now; none without git.
    pub fn settings(&self) -> Result<SettingHashes, Failure> {
        let Ok(repository) = Repository::find(&self.root)? else {
            return Ok(SettingHashes::new());
        };
        let mut command = repository.command(&repository.here());
        let listed = succeed(command.args(["config", "--local", "--list", "--null"]))?;
        let mut settings = read(&listed);
        settings.extend(hooks(&repository.common_dir().join("hooks")));
        Ok(settings)
    }
}

/// A setting may have several values.
fn read(listed: &[u8]) -> SettingHashes {
    let mut values: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for setting in listed.split(|byte| *byte == 0) {
        let mut parts = setting.splitn(2, |byte| *byte == b'\n');
        let name = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
        if name.is_empty() || ORDINARY.iter().any(|ordinary| name.starts_with(ordinary)) {
            continue;
        }
        let value = values.entry(name).or_default();
        value.extend(parts.next().unwrap_or_default());
        value.push(0);
    }
    let hashed = values.into_iter();
    hashed
        .map(|(name, value)| (name, short_hash(&value)))
        .collect()
}

/// Hooks that git would start.
fn hooks(folder: &Path) -> SettingHashes {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let hooks = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let content = fs::read(entry.path()).ok()?;
        (!name.ends_with(".sample")).then(|| (format!("hooks/{name}"), short_hash(&content)))
    });
    hooks.collect()
}

fn short_hash(bytes: &[u8]) -> String {
    format!("{:.16}", evidence::hash(bytes).to_string())
}

/// The names of what differs.
pub fn changed_settings(before: &SettingHashes, now: &SettingHashes) -> Vec<String> {
    let names = before.keys().chain(now.keys());
    let mut changed: Vec<String> = names
        .filter(|name| before.get(*name) != now.get(*name))
        .cloned()
        .collect();
    changed.sort();
    changed.dedup();
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_writes_for_branches_is_no_change() {
        let before = read(b"user.name\nA\0remote.origin.url\nx\0");
        let ordinary = b"user.name\nA\0remote.origin.url\nx\0branch.b.merge\nrefs/heads/b\0";
        assert_eq!(
            changed_settings(&before, &read(ordinary)),
            Vec::<String>::new()
        );
        let others =
            b"user.name\nB\0core.hookspath\n/x\0remote.origin.url\nx\0remote.origin.url\ny\0";
        assert_eq!(
            changed_settings(&before, &read(others)),
            ["core.hookspath", "remote.origin.url", "user.name"]
        );
    }
}
