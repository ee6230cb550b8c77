//! The baseline of a run: how the person's refs and files were when they were last looked at, and what
//! was found and is not in the journal yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::{Author, DispatchId, MovedRef, Outside, OutsideChange, RefHandling};
use runtime::failure::Failure;
use runtime::state::write_durably;
use serde::{Deserialize, Serialize};

use super::judge::{Act, RefDifference, STASH};
use crate::worktree::{RefState, SettingHashes};

/// Worktrees have no dot in their names.
const FILE: &str = "refs.before.json";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// The calls of the workers for which it is kept.
    pub users: BTreeSet<String>,
    pub refs: BTreeMap<String, String>,
    pub stash: BTreeSet<String>,
    pub head: Option<String>,
    /// How long the logs of HEADs were, by git's names of the worktrees.
    pub logs: BTreeMap<String, u64>,
    /// Refs that appeared since.
    pub appeared: BTreeSet<String>,
    /// The settings and hooks of the repository.
    #[serde(default)]
    pub settings: SettingHashes,
    /// The content of the run's worktree, while workers have worktrees of their own: a commit.
    pub tree: Option<String>,
    pub pending: Vec<Pending>,
}

/// Something that was found. It is acted on, and then it comes into the journal, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    pub key: String,
    pub during: Vec<u32>,
    pub found: Found,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Found {
    Ref {
        name: String,
        before: Option<String>,
        after: Option<String>,
        by_worker: bool,
        put_back: bool,
    },
    Project {
        paths: Vec<String>,
    },
}

impl Baseline {
    /// The stored one; `None` if no worker is at work.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, Failure> {
        let path = path(folder);
        match fs::read(&path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(Failure::file("read", &path)(cause)),
            // Nothing can be compared with a damaged one.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        }
    }

    /// Invariant: durable when this returns.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = path(folder);
        let text = serde_json::to_string(self)
            .map_err(|cause| Failure::bug(format!("cannot encode a baseline ({cause})")))?;
        write_durably(&path, &text).map_err(Failure::file("write to", &path))
    }

    pub(super) fn remove(folder: &Path) -> Result<(), Failure> {
        let path = path(folder);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                Err(Failure::file("remove", &path)(cause))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// With the content of the run's worktree, if it has that.
    pub(super) fn with_tree(self) -> Option<(Self, String)> {
        let tree = self.tree.clone()?;
        Some((self, tree))
    }

    pub(super) fn state(&self) -> RefState {
        RefState {
            refs: self.refs.clone(),
            stash: self.stash.clone(),
            head: self.head.clone(),
        }
    }

    /// What was found is the new baseline, except for what is put back.
    pub(super) fn advance(&mut self, now: RefState, found: &[RefDifference]) {
        let appeared = now
            .refs
            .keys()
            .filter(|name| !self.refs.contains_key(*name));
        self.appeared.extend(appeared.cloned());
        self.refs = now.refs;
        self.stash = now.stash;
        self.head = now.head;
        for one in found.iter().filter(|one| one.act == Act::PutBack) {
            if let Some(before) = &one.before {
                if one.name == STASH {
                    self.stash.insert(before.clone());
                } else {
                    self.refs.insert(one.name.clone(), before.clone());
                }
            }
        }
    }
}

impl Found {
    pub(super) fn of_ref(found: RefDifference) -> Self {
        Self::Ref {
            name: found.name,
            before: found.before,
            after: found.after,
            by_worker: found.author == Author::Worker,
            put_back: found.act == Act::PutBack,
        }
    }
}

impl Pending {
    /// What comes into the journal after this was done about it.
    pub(super) fn change(&self, handling: RefHandling, kept: Option<String>) -> OutsideChange {
        let during = self.during.iter().map(|number| DispatchId(*number));
        let (author, what) = match &self.found {
            Found::Ref {
                name,
                before,
                after,
                by_worker,
                ..
            } => {
                let moved = MovedRef {
                    name: name.clone(),
                    before: before.clone(),
                    after: after.clone(),
                    handling,
                    kept,
                };
                let author = if *by_worker {
                    Author::Worker
                } else {
                    Author::Unknown
                };
                (author, Outside::Ref(moved))
            }
            Found::Project { paths } => {
                let paths = paths.clone();
                (Author::Unknown, Outside::Project { paths })
            }
        };
        OutsideChange {
            during: during.collect(),
            author,
            what,
        }
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}
