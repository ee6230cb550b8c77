//! The person's refs: branches, tags, notes and the stash, which all worktrees share.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use engine::RefHandling;
use runtime::failure::Failure;
use runtime::state::write_durably;

use super::folder_removal::is_folder;
use super::git::{Repository, line, start, succeed, with_input};
use super::name::{SafeName, moved_ref, pinned_prefix, refs_of};
use super::{ROOT, Worktrees};

/// What is compared. Remote-tracking refs only repeat what a remote has.
const COMPARED: [&str; 4] = ["refs/heads", "refs/tags", "refs/notes", "refs/replace"];

const STASH: &str = "refs/stash";

/// The most refs that are pinned. Branches come first.
const MOST_PINNED: usize = 1000;

/// The refs at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefState {
    /// Their values by their names.
    pub refs: BTreeMap<String, String>,
    /// The entries of the stash.
    pub stash: BTreeSet<String>,
    /// What HEAD of the run's worktree names: a branch, or a commit.
    pub head: Option<String>,
}

/// The log of the HEAD of one worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadLog {
    /// Git's name of the worktree; empty for the main one.
    pub worktree: String,
    pub path: PathBuf,
    pub owner: WorktreeOwner,
}

/// Whose worktree it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeOwner {
    /// A step of this run.
    Step,
    /// This run: its workers work there, unless they have worktrees of their own.
    Run,
    Other,
}

impl Worktrees {
    /// The refs as they are now; `None` without git.
    pub fn ref_state(&self) -> Result<Option<RefState>, Failure> {
        let Ok(repository) = Repository::find(&self.root)? else {
            return Ok(None);
        };
        let prefix = refs_of(&self.run);
        let ours = [prefix.trim_end_matches('/'), STASH];
        let mut refs = values(&repository, &[COMPARED.as_slice(), &ours].concat())?;
        let has_stash = refs.remove(STASH).is_some();
        let live = self.live_refs()?;
        // Refs of ours that keep work which was not merged, and no worktree needs, count too.
        refs.retain(|name, _| match name.strip_prefix(&prefix) {
            Some(short) => !short.contains('.') && !live.contains(name),
            None => true,
        });
        Ok(Some(RefState {
            refs,
            stash: if has_stash {
                stash(&repository)?
            } else {
                BTreeSet::new()
            },
            head: head(&repository)?,
        }))
    }

    /// The refs of the worktrees that are there.
    fn live_refs(&self) -> Result<Vec<String>, Failure> {
        let worktrees = self.list()?.into_iter();
        let live = worktrees.filter(|worktree| worktree.is_there());
        let refs = live.map(|worktree| SafeName::of(&worktree.name).kept_ref(&self.run));
        Ok(refs.collect())
    }

    /// The logs of all HEADs. Other stores of refs have no such files.
    pub fn head_logs(&self) -> Result<Vec<HeadLog>, Failure> {
        let Ok(repository) = Repository::find(&self.root)? else {
            return Ok(Vec::new());
        };
        let common = repository.common_dir();
        let ours: BTreeSet<String> = self.list()?.into_iter().map(|it| it.id).collect();
        let linked = fs::read_dir(common.join("worktrees"));
        let linked = linked.into_iter().flatten().filter_map(Result::ok);
        let names = linked.filter_map(|entry| entry.file_name().into_string().ok());
        let here = repository.here().git_dir;
        let owner = |worktree: &str, folder: &Path| match () {
            () if ours.contains(worktree) => WorktreeOwner::Step,
            () if folder == here => WorktreeOwner::Run,
            () => WorktreeOwner::Other,
        };
        let linked = names.map(|worktree| {
            let folder = common.join("worktrees").join(&worktree);
            HeadLog {
                owner: owner(&worktree, &folder),
                path: folder.join("logs/HEAD"),
                worktree,
            }
        });
        let main = HeadLog {
            worktree: String::new(),
            path: common.join("logs/HEAD"),
            owner: owner("", common),
        };
        Ok(linked.chain([main]).collect())
    }

    /// The log of a ref, where git keeps logs in files.
    pub fn ref_log(&self, name: &str) -> Result<Option<PathBuf>, Failure> {
        let repository = Repository::find(&self.root)?;
        Ok(repository
            .ok()
            .map(|repository| repository.common_dir().join("logs").join(name)))
    }

    /// Keeps these values reachable while steps work, even if their refs are deleted.
    pub fn pin(&self, state: &RefState) -> Result<(), Failure> {
        let Ok(repository) = Repository::find(&self.root)? else {
            return Ok(());
        };
        let prefix = pinned_prefix(&self.run);
        let mut refs: Vec<(&String, &String)> = state.refs.iter().collect();
        refs.sort_by_key(|(name, _)| !name.starts_with("refs/heads/"));
        let refs = refs.into_iter().take(MOST_PINNED);
        let names = refs.map(|(name, value)| (name.trim_start_matches("refs/").to_owned(), value));
        let stash = state.stash.iter();
        let stash = stash.map(|value| (format!("stash/{value}"), value));
        let mut text = String::new();
        for (name, value) in names.chain(stash) {
            let _ = writeln!(text, "update {prefix}{name} {value}");
        }
        update(&repository, &text)
    }

    pub fn unpin(&self) -> Result<(), Failure> {
        let Ok(repository) = Repository::find(&self.root)? else {
            return Ok(());
        };
        let prefix = pinned_prefix(&self.run);
        let mut text = String::new();
        for name in repository.refs(prefix.trim_end_matches('/'))? {
            let _ = writeln!(text, "delete {name}");
        }
        update(&repository, &text)
    }

    /// Keeps a value under a ref of ours, and returns the ref. `None` if the value is gone.
    pub fn keep_value(&self, value: &str) -> Result<Option<String>, Failure> {
        let repository = self.repository()?;
        let name = moved_ref(&self.run, value);
        let mut command = repository.command(&repository.here());
        command.args(["update-ref", "--no-deref", &name, value]);
        Ok(start(&mut command)?.status.success().then_some(name))
    }

    /// Puts a ref back, if it still has the value that it was moved to.
    pub fn put_back(
        &self,
        name: &str,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Result<RefHandling, Failure> {
        let repository = self.repository()?;
        let Some(before) = before else {
            return Ok(RefHandling::Left);
        };
        // Killed after it was put back?
        if repository.value(name)?.as_deref() == Some(before) {
            return Ok(RefHandling::PutBack);
        }
        let zeros = "0".repeat(before.len());
        let mut command = repository.command(&repository.here());
        command.args(["update-ref", "--no-deref", "-m", "gatewright: put back"]);
        command.args([name, before, after.unwrap_or(&zeros)]);
        let done = start(&mut command)?.status.success();
        Ok(if done {
            RefHandling::PutBack
        } else {
            RefHandling::Failed
        })
    }

    /// Puts an entry of the stash back, unless it is there.
    pub fn put_stash_back(&self, entry: &str) -> Result<RefHandling, Failure> {
        let repository = self.repository()?;
        if stash(&repository)?.contains(entry) {
            return Ok(RefHandling::PutBack);
        }
        let mut command = repository.command(&repository.here());
        command.args([
            "stash",
            "store",
            "--quiet",
            "-m",
            "put back by gatewright",
            entry,
        ]);
        Ok(if start(&mut command)?.status.success() {
            RefHandling::PutBack
        } else {
            RefHandling::Failed
        })
    }

    /// The top folders of the worktrees of this run's steps.
    pub fn roots(&self) -> Result<Vec<PathBuf>, Failure> {
        Ok(self.list()?.into_iter().map(|it| it.root).collect())
    }

    /// The top folder of the run's worktree, as git names it.
    pub fn top(&self) -> Result<PathBuf, Failure> {
        Ok(self.repository()?.here().root)
    }

    /// The files that merges of this run wrote which are still on record.
    pub fn merged_paths(&self) -> Result<BTreeSet<String>, Failure> {
        let Ok(repository) = Repository::find(&self.root)? else {
            return Ok(BTreeSet::new());
        };
        self.merger(&repository).merged_paths()
    }

    /// The folder of the run's records.
    pub fn folder(&self) -> &Path {
        self.records.folder()
    }

    /// The same, which exists then.
    pub fn make_folder(&self) -> Result<&Path, Failure> {
        let folder = self.records.folder();
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(folder);
        made.map_err(Failure::file("write to", folder))?;
        if !is_folder(folder) {
            let message = format!("{} is a link, and worktrees lie there", folder.display());
            return Err(Failure::environment(message).hint("remove the link and retry"));
        }
        let note = folder.join(ROOT);
        if !note.exists() {
            let text = self.root.to_string_lossy();
            write_durably(&note, &text).map_err(Failure::file("write to", &note))?;
        }
        Ok(folder)
    }
}

fn values(repository: &Repository, prefixes: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
    let mut command = repository.command(&repository.here());
    command.args([
        "for-each-ref",
        "--format=%(objectname) %(refname) %(symref)",
    ]);
    let listed = succeed(command.args(prefixes))?;
    // A ref that names another one has no value of its own.
    let listed = line(&listed);
    let words = listed
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let plain = words.filter_map(|words| match words[..] {
        [value, name] => Some((name.to_owned(), value.to_owned())),
        _ => None,
    });
    Ok(plain.collect())
}

fn stash(repository: &Repository) -> Result<BTreeSet<String>, Failure> {
    let mut command = repository.command(&repository.here());
    command.args(["rev-list", "--walk-reflogs", STASH]);
    let output = start(&mut command)?;
    Ok(line(&output.stdout).lines().map(str::to_owned).collect())
}

fn head(repository: &Repository) -> Result<Option<String>, Failure> {
    let mut command = repository.command(&repository.here());
    command.args(["symbolic-ref", "--quiet", "HEAD"]);
    let output = start(&mut command)?;
    if output.status.success() {
        return Ok(Some(line(&output.stdout)));
    }
    repository.head(&repository.here())
}

fn update(repository: &Repository, text: &str) -> Result<(), Failure> {
    if text.is_empty() {
        return Ok(());
    }
    let mut command = repository.command(&repository.here());
    // These refs need not survive a power cut, and there may be many.
    command.args(["-c", "core.fsync=none"]);
    command.args(["update-ref", "--no-deref", "--stdin"]);
    with_input(&mut command, text.as_bytes()).map(drop)
}
