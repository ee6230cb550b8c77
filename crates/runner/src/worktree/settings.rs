//! The settings and hooks of the person's repository, which all its worktrees share.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use evidence::beneath::{Folder, Refused};
use runtime::failure::Failure;

use super::Worktrees;
use super::git::{Repository, succeed};

/// What git itself writes when somebody makes a branch, or fetches a submodule. Others name programs.
const ORDINARY: [(&str, &[&str]); 2] = [
    ("branch", &["remote", "merge", "rebase"]),
    ("submodule", &["url", "active"]),
];

/// How much of a hook counts, with its length and mode.
const MOST_HOOK_BYTES: u64 = 1024 * 1024;

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
        if name.is_empty() || is_ordinary(&name) {
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

fn is_ordinary(name: &str) -> bool {
    let Some((section, rest)) = name.split_once('.') else {
        return false;
    };
    // A name of a branch may have dots.
    let Some((_, key)) = rest.rsplit_once('.') else {
        return false;
    };
    let mut ordinary = ORDINARY.iter();
    ordinary.any(|(known, keys)| *known == section && keys.contains(&key))
}

/// Hooks that git would start.
fn hooks(folder: &Path) -> SettingHashes {
    let Ok(folder) = Folder::open(folder) else {
        return SettingHashes::new();
    };
    let names = folder.names().unwrap_or_default().into_iter();
    let hooks = names.filter(|name| !name.ends_with(b".sample"));
    let hooks = hooks.filter_map(|name| {
        let content = hook(&folder, &name).ok()?;
        let name = String::from_utf8_lossy(&name);
        Some((format!("hooks/{name}"), short_hash(&content)))
    });
    hooks.collect()
}

/// What git would start: a program, or the place to which a link leads. An agent may put anything there, so nothing
/// else is opened.
fn hook(folder: &Folder, name: &[u8]) -> io::Result<Vec<u8>> {
    match folder.file(name) {
        Ok((file, stat)) => {
            let mut content = format!("{:o} {}\n", stat.st_mode, stat.st_size).into_bytes();
            file.take(MOST_HOOK_BYTES).read_to_end(&mut content)?;
            Ok(content)
        }
        Err(Refused::Link(_)) => folder.link(name),
        Err(_) => Err(io::ErrorKind::InvalidInput.into()),
    }
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
    use std::fs;

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

    #[test]
    fn settings_of_branches_and_submodules_that_start_programs_are_changes() {
        let check = |name: &str, expected: bool| {
            let now = read(format!("{name}\nx\0").as_bytes());
            let changed = changed_settings(&SettingHashes::new(), &now);
            assert_eq!(!changed.is_empty(), expected, "{name}");
        };
        for name in ["remote", "merge", "rebase"] {
            check(&format!("branch.a.b.{name}"), false);
        }
        for name in ["url", "active"] {
            check(&format!("submodule.lib/x.y.{name}"), false);
        }
        for name in [
            "submodule.lib.update",
            "submodule.lib.merge",
            "branch.main.mergeoptions",
            "branch.main.url",
            "branch.main.remote.update",
            "branch.autosetuprebase",
            "submodule.active",
            "submodule.recurse",
            "branches.a.remote",
        ] {
            check(name, true);
        }
    }

    #[test]
    fn hooks_that_are_no_files_block_nobody_and_links_count() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let fifo = root.join("pre-commit");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        fs::create_dir(root.join("folder")).unwrap();
        fs::write(root.join("pre-push.sample"), "echo").unwrap();
        let link = root.join("post-checkout");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let (told, answer) = std::sync::mpsc::channel();
        let looked = root.clone();
        std::thread::spawn(move || told.send(hooks(&looked)));
        let before = answer
            .recv_timeout(std::time::Duration::from_secs(20))
            .expect("it reads neither a pipe nor a device");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        fs::write(root.join("pre-rebase"), "echo").unwrap();
        assert_eq!(
            changed_settings(&before, &hooks(&root)),
            ["hooks/post-checkout", "hooks/pre-rebase"]
        );
        let long = vec![b'x'; usize::try_from(MOST_HOOK_BYTES).unwrap()];
        fs::write(root.join("pre-rebase"), &long).unwrap();
        let before = hooks(&root);
        fs::write(root.join("pre-rebase"), [long, vec![b'y']].concat()).unwrap();
        assert_eq!(
            changed_settings(&before, &hooks(&root)),
            ["hooks/pre-rebase"]
        );
    }
}
