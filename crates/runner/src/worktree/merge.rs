//! Merges the result of a worker into the run's worktree: all of it or nothing, and never over
//! another change.
//!
//! First everything is merged as objects, which changes no file. A durable record says what will be
//! written; then it is written file by file. After a kill the next process finds the record and
//! writes the rest: it skips files that are new already and writes files that are still old. A file
//! that is neither was changed by somebody else: then the written files are restored and the merge
//! is planned again.

use std::collections::BTreeSet;

use engine::RunId;
use evidence::tree::{ObjectStamps, escape};
use runtime::failure::Failure;

use super::blobs::BlobReader;
use super::disk::{ChangeResult, Disk};
use super::git::Repository;
use super::name::{SafeName, content_ref};
use super::record::{MergeRecord, MergeState, Records};
use super::scratch::Scratch;
use super::tree_commit::{self, ForcedPaths, TreeCommit};
use super::trees::{self, Difference, TreeListing};
use super::{MergeReport, Merged, RunContent, Snapshot};

/// How often a file may change during a merge before it counts as a conflict.
const MOST_TRIES: usize = 3;

/// Who merges, and where.
pub(super) struct Merger<'a> {
    pub repository: &'a Repository,
    /// What is known of the files of the run's worktree.
    pub stamps: ObjectStamps,
    pub records: &'a Records,
    pub run: &'a RunId,
}

/// The planned merge: nothing is changed yet.
pub(super) enum MergePlan {
    Nothing,
    Conflict(Vec<String>),
    Ready(RunContent, MergeRecord),
}

/// The result of writing.
enum Written {
    All(Vec<String>),
    /// Somebody else changed these meanwhile; everything of ours is undone.
    Undone(Vec<String>),
}

impl Merger<'_> {
    pub(super) fn merge(&self, snapshot: &Snapshot, known: &str) -> Result<MergeReport, Failure> {
        let name = SafeName::of(&snapshot.name);
        let unseen = |merged| MergeReport { merged, seen: None };
        if let Some(changed) = self.merged_before(&name, snapshot)? {
            return Ok(unseen(outcome(changed)));
        }
        let mut seen = RunContent::unchanged(known);
        let mut paths = Vec::new();
        for _ in 0..MOST_TRIES {
            let (content, merging) = match self.plan(&name, snapshot, &seen.commit)? {
                MergePlan::Nothing => return Ok(unseen(Merged::Nothing)),
                MergePlan::Conflict(paths) => return Ok(unseen(Merged::Conflict { paths })),
                MergePlan::Ready(content, merging) => (content, merging),
            };
            seen = seen.then(content);
            self.records.write_merge_record(&name, &merging)?;
            let after = merging.after.clone();
            match self.write(&name, merging)? {
                Written::All(changed) => {
                    seen.commit = after;
                    let (merged, seen) = (outcome(changed), Some(seen));
                    return Ok(MergeReport { merged, seen });
                }
                Written::Undone(changed) => paths = changed,
            }
        }
        Ok(unseen(Merged::Conflict { paths }))
    }

    /// The current content of the run's worktree, also of these paths, even if git ignores them.
    pub(super) fn look(
        &self,
        scratch: &Scratch<'_>,
        known: &str,
        also: Vec<Vec<u8>>,
    ) -> Result<RunContent, Failure> {
        // After a failure the known content may be lost.
        let is_there = scratch.is_first_try;
        let tree_commit = TreeCommit {
            project: &self.repository.project(&self.repository.here()),
            stamps: &self.stamps,
            like: is_there.then(|| known.to_owned()),
            also: ForcedPaths::TheseAndLike(also),
            parents: is_there.then(|| known.to_owned()).into_iter().collect(),
            about: String::from("the files of the run"),
        };
        let committed = tree_commit::write_changes(scratch, &tree_commit)?;
        Ok(RunContent {
            commit: committed.commit,
            changed: committed.changed,
        })
    }

    /// Completes what a kill interrupted.
    pub(super) fn settle(&self) -> Result<(), Failure> {
        for name in self.records.names()? {
            let Some(merging) = self.records.merge_record(&name)? else {
                continue;
            };
            match merging.progress {
                MergeState::Merged => {}
                MergeState::Writing => drop(self.write(&name, merging)?),
                MergeState::Undoing => self.undo(&name, &merging)?,
            }
        }
        Ok(())
    }

    /// The files that recorded merges wrote.
    pub(super) fn merged_paths(&self) -> Result<BTreeSet<String>, Failure> {
        let scratch = self.repository.scratch(self.records.folder())?;
        let mut all = BTreeSet::new();
        for name in self.records.names()? {
            if let Some(merging) = self.records.merge_record(&name)? {
                let differences = trees::differences(&scratch, &merging.before, &merging.after)?;
                all.extend(paths(&differences));
            }
        }
        Ok(all)
    }

    /// Has this commit been merged completely?
    pub(super) fn is_merged(&self, name: &SafeName, commit: &str) -> Result<bool, Failure> {
        let merging = self.records.merge_record(name)?;
        Ok(merging.is_some_and(|merging| {
            merging.commit == commit && merging.progress == MergeState::Merged
        }))
    }

    /// What the run's worktree already has of this worker: its last merged commit, otherwise the
    /// commit it started with.
    pub(super) fn began(&self, name: &SafeName, snapshot: &Snapshot) -> Result<String, Failure> {
        let merging = self.records.merge_record(name)?;
        let merged = merging.filter(|merging| merging.progress == MergeState::Merged);
        Ok(merged.map_or_else(|| snapshot.base.clone(), |merged| merged.commit))
    }

    fn merged_before(
        &self,
        name: &SafeName,
        snapshot: &Snapshot,
    ) -> Result<Option<Vec<String>>, Failure> {
        if !self.is_merged(name, &snapshot.commit)? {
            return Ok(None);
        }
        let Some(merging) = self.records.merge_record(name)? else {
            return Ok(None);
        };
        let scratch = self.repository.scratch(self.records.folder())?;
        let differences = trees::differences(&scratch, &merging.before, &merging.after)?;
        Ok(Some(paths(&differences)))
    }

    /// Merges as objects: the changes of the worker since its start, into the current content.
    pub(super) fn plan(
        &self,
        name: &SafeName,
        snapshot: &Snapshot,
        known: &str,
    ) -> Result<MergePlan, Failure> {
        let make = |scratch: &Scratch<'_>| {
            let plan = self.plan_in(scratch, name, snapshot, known)?;
            let kept = match &plan {
                MergePlan::Ready(_, merging) => Some(merging.after.clone()),
                MergePlan::Nothing | MergePlan::Conflict(_) => None,
            };
            Ok((kept, plan))
        };
        let kept = name.merge_ref(self.run);
        self.repository.keep_new(&kept, make, self.records.folder())
    }

    fn plan_in(
        &self,
        scratch: &Scratch<'_>,
        name: &SafeName,
        snapshot: &Snapshot,
        known: &str,
    ) -> Result<MergePlan, Failure> {
        let began = self.began(name, snapshot)?;
        let [began, base, left] = scratch.trees([&began, &snapshot.base, &snapshot.commit])?;
        if began == left {
            return Ok(MergePlan::Nothing);
        }
        let mut also: Vec<Vec<u8>> = Vec::new();
        for side in [&base, &left] {
            if *side != began {
                let differences = trees::differences(scratch, &began, side)?;
                also.extend(differences.into_iter().map(|one| one.path));
            }
        }
        let carried = snapshot.carried.iter();
        also.extend(carried.map(|path| path.clone().into_bytes()));
        let content = self.look(scratch, known, also)?;
        let ours = if content.commit == snapshot.base {
            base
        } else {
            scratch.tree(&content.commit)?
        };
        let merged = if ours == began {
            // Nobody else has changed anything.
            Ok(left)
        } else {
            merged_tree(scratch, [&began, &ours, &left])?
        };
        let tree = match merged {
            Ok(tree) => tree,
            Err(paths) => return Ok(MergePlan::Conflict(paths)),
        };
        let after = if tree == ours {
            // Everything is there already, which is recorded, too.
            content.commit.clone()
        } else {
            let about = format!("{} merged", snapshot.name);
            scratch.commit(&tree, &[&content.commit, &snapshot.commit], &about)?
        };
        let mixed = self.wrongly_merged(scratch, snapshot, [&began, &ours, &tree])?;
        if !mixed.is_empty() {
            return Ok(MergePlan::Conflict(mixed));
        }
        let merging = MergeRecord {
            commit: snapshot.commit.clone(),
            before: content.commit.clone(),
            after,
            progress: MergeState::Writing,
        };
        Ok(MergePlan::Ready(content, merging))
    }

    /// Files that were merged by lines although they must not be: carried files, and files whose
    /// attributes forbid it. The trees are those of the beginning, of ours, and of the result.
    fn wrongly_merged(
        &self,
        scratch: &Scratch<'_>,
        snapshot: &Snapshot,
        [began, ours, after]: [&str; 3],
    ) -> Result<Vec<String>, Failure> {
        if began == ours {
            return Ok(Vec::new());
        }
        let differs = |differences: Vec<Difference>| -> BTreeSet<Vec<u8>> {
            let there = differences.into_iter().filter(|one| one.new.is_some());
            there.map(|one| one.path).collect()
        };
        let from_ours = differs(trees::differences(scratch, ours, after)?);
        let from_theirs = differs(trees::differences(scratch, &snapshot.commit, after)?);
        let mixed: Vec<&[u8]> = from_ours
            .intersection(&from_theirs)
            .map(Vec::as_slice)
            .collect();
        if mixed.is_empty() {
            return Ok(Vec::new());
        }
        let attributes = self.repository.merge_attributes(&mixed)?;
        let is_wrong = |(path, attribute): &(&[u8], Vec<u8>)| {
            let is_carried = snapshot
                .carried
                .iter()
                .any(|carried| carried.as_bytes() == *path);
            is_carried || !may_merge_lines(attribute)
        };
        let wrong = mixed.into_iter().zip(attributes).filter(is_wrong);
        Ok(wrong.map(|(path, _)| escape(path)).collect())
    }

    /// Writes what is not written yet.
    fn write(&self, name: &SafeName, merging: MergeRecord) -> Result<Written, Failure> {
        let scratch = self.repository.scratch(self.records.folder())?;
        let differences = trees::differences(&scratch, &merging.before, &merging.after)?;
        let mut disk = Disk::open(&self.repository.here().root, BlobReader::open(&scratch)?)?;
        let changed_meanwhile = write_all(&mut disk, &differences);
        if changed_meanwhile.as_ref().is_ok_and(Vec::is_empty) {
            let progress = MergeState::Merged;
            let merged = MergeRecord {
                progress,
                ..merging
            };
            self.records.write_merge_record(name, &merged)?;
            self.repository
                .keep(&content_ref(self.run), &merged.after)?;
            TreeListing::keep_changed(&merged.before, &merged.after, &differences);
            return Ok(Written::All(paths(&differences)));
        }
        let progress = MergeState::Undoing;
        let undoing = MergeRecord {
            progress,
            ..merging
        };
        self.records.write_merge_record(name, &undoing)?;
        self.undo(name, &undoing)?;
        changed_meanwhile.map(Written::Undone)
    }

    /// Restores the old content. Files that somebody has changed since stay as they are.
    fn undo(&self, name: &SafeName, merging: &MergeRecord) -> Result<(), Failure> {
        let scratch = self.repository.scratch(self.records.folder())?;
        let written = trees::differences(&scratch, &merging.before, &merging.after)?;
        let mut back: Vec<Difference> = written.into_iter().map(Difference::reversed).collect();
        trees::sort_for_writing(&mut back);
        let mut disk = Disk::open(&self.repository.here().root, BlobReader::open(&scratch)?)?;
        for one in &back {
            disk.remove_temporary(&one.path);
            if !disk.holds(&one.path, one.new.as_ref())? {
                disk.change(&one.path, one.old.as_ref(), one.new.as_ref())?;
            }
        }
        self.records.remove_merge_record(name)
    }
}

/// Merges two trees that began as the same; the paths of conflicts instead of a tree if they cannot be.
fn merged_tree(
    scratch: &Scratch<'_>,
    [began, ours, left]: [&str; 3],
) -> Result<Result<String, Vec<String>>, Failure> {
    // Commits without history: however shallow the repository is, git finds the one common base.
    let base = scratch.commit(began, &[], "what a step began with")?;
    let ours = scratch.commit(ours, &[&base], "what there is now")?;
    let theirs = scratch.commit(left, &[&base], "what a step left")?;
    let words = [
        "merge-tree",
        "--write-tree",
        "-z",
        "--name-only",
        "--no-messages",
    ];
    let words = [words.as_slice(), &[&ours, &theirs]].concat();
    let (is_clean, output) = scratch.ask_yes_no(&words)?;
    let mut fields = output.split(|byte| *byte == 0);
    let tree = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
    if is_clean {
        return Ok(Ok(tree));
    }
    let paths: BTreeSet<&[u8]> = fields.filter(|path| !path.is_empty()).collect();
    Ok(Err(paths.into_iter().map(escape).collect()))
}

/// Writes every difference, and returns the paths that somebody else changed. Writes nothing if it
/// finds such a path first.
pub(super) fn write_all(
    disk: &mut Disk,
    differences: &[Difference],
) -> Result<Vec<String>, Failure> {
    let mut foreign = Vec::new();
    for one in differences {
        // A folder may still block a file; it is removed with its files.
        let makes_room = one.old.is_none() && disk.is_folder(&one.path);
        let is_known = makes_room
            || disk.holds(&one.path, one.old.as_ref())?
            || disk.holds(&one.path, one.new.as_ref())?;
        if !is_known {
            foreign.push(escape(&one.path));
        }
    }
    if !foreign.is_empty() {
        return Ok(foreign);
    }
    for one in differences {
        if write_one(disk, one)? == ChangeResult::Unexpected {
            return Ok(vec![escape(&one.path)]);
        }
    }
    Ok(Vec::new())
}

/// Writes one difference, unless it is written already.
pub(super) fn write_one(disk: &mut Disk, one: &Difference) -> Result<ChangeResult, Failure> {
    disk.remove_temporary(&one.path);
    if disk.holds(&one.path, one.new.as_ref())? {
        return Ok(ChangeResult::Done);
    }
    disk.change(&one.path, one.old.as_ref(), one.new.as_ref())
}

/// May a file with this `merge` attribute be merged by lines? A merge driver of the repository is a
/// program that we do not start.
fn may_merge_lines(attribute: &[u8]) -> bool {
    matches!(attribute, b"unspecified" | b"set" | b"text" | b"union")
}

fn outcome(changed: Vec<String>) -> Merged {
    if changed.is_empty() {
        Merged::Nothing
    } else {
        Merged::Clean { changed }
    }
}

fn paths(differences: &[Difference]) -> Vec<String> {
    let mut paths: Vec<String> = differences.iter().map(|one| escape(&one.path)).collect();
    paths.sort_unstable();
    paths
}
