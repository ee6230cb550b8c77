//! Merging what a worker left into the run's worktree: all of it or nothing, and never over a change.
//!
//! First everything is looked at and merged as objects, which changes no file. What would be written
//! is noted durably; then it is written file by file. Whoever comes after a kill finds the note and
//! writes the rest: what is new already is passed over, what is still old is written. If something
//! is neither, somebody changed it meanwhile: what was written is taken back, and all is looked at
//! again.

use std::collections::BTreeSet;

use engine::RunId;
use evidence::tree::escape;
use runtime::failure::Failure;

use super::blobs::Blobs;
use super::disk::{Change, Disk};
use super::git::{Repository, Scratch};
use super::name::Name;
use super::picture::{self, Picture};
use super::record::{Merging, Progress, Records};
use super::trees::{self, Difference};
use super::{Merged, Snapshot};

/// How often somebody may change a file while we merge before a person has to look.
const MOST_LOOKS: usize = 3;

/// Who merges, and where.
pub struct Merger<'a> {
    pub repository: &'a Repository,
    pub records: &'a Records,
    pub run: &'a RunId,
}

/// What came of looking: nothing was changed yet.
pub enum Looked {
    Nothing,
    Conflict(Vec<String>),
    Ready(Merging),
}

/// What came of writing.
enum Written {
    All(Vec<String>),
    /// These were changed by somebody else meanwhile; nothing of ours is left.
    Undone(Vec<String>),
}

impl Merger<'_> {
    pub fn merge(&self, snapshot: &Snapshot) -> Result<Merged, Failure> {
        let name = Name::of(&snapshot.name);
        if let Some(changed) = self.merged_before(&name, snapshot)? {
            return Ok(outcome(changed));
        }
        let mut paths = Vec::new();
        for _ in 0..MOST_LOOKS {
            let merging = match self.look(&name, snapshot)? {
                Looked::Nothing => return Ok(Merged::Nothing),
                Looked::Conflict(paths) => return Ok(Merged::Conflict { paths }),
                Looked::Ready(merging) => merging,
            };
            self.records.keep_merging(&name, &merging)?;
            match self.write(&name, merging)? {
                Written::All(changed) => return Ok(outcome(changed)),
                Written::Undone(changed) => paths = changed,
            }
        }
        Ok(Merged::Conflict { paths })
    }

    /// Brings to an end what a kill has interrupted.
    pub fn settle(&self) -> Result<(), Failure> {
        for name in self.records.names()? {
            let Some(merging) = self.records.merging(&name)? else {
                continue;
            };
            match merging.progress {
                Progress::Merged => {}
                Progress::Writing => drop(self.write(&name, merging)?),
                Progress::Undoing => self.undo(&name, &merging)?,
            }
        }
        Ok(())
    }

    /// Has this commit been merged as a whole?
    pub fn is_merged(&self, name: &Name, commit: &str) -> Result<bool, Failure> {
        let merging = self.records.merging(name)?;
        Ok(merging.is_some_and(|merging| {
            merging.commit == commit && merging.progress == Progress::Merged
        }))
    }

    /// What the run's worktree has of this worker already: all that was merged of it, or else what
    /// it began with.
    pub fn began(&self, name: &Name, snapshot: &Snapshot) -> Result<String, Failure> {
        let merging = self.records.merging(name)?;
        let merged = merging.filter(|merging| merging.progress == Progress::Merged);
        Ok(merged.map_or_else(|| snapshot.base.clone(), |merged| merged.commit))
    }

    fn merged_before(
        &self,
        name: &Name,
        snapshot: &Snapshot,
    ) -> Result<Option<Vec<String>>, Failure> {
        if !self.is_merged(name, &snapshot.commit)? {
            return Ok(None);
        }
        let Some(merging) = self.records.merging(name)? else {
            return Ok(None);
        };
        let scratch = self.repository.scratch(self.records.folder())?;
        let differences = trees::differences(&scratch, &merging.before, &merging.after)?;
        Ok(Some(paths(&differences)))
    }

    /// Merges as objects: what the worker changed since it began, into what lies there now.
    pub fn look(&self, name: &Name, snapshot: &Snapshot) -> Result<Looked, Failure> {
        let scratch = self.repository.scratch(self.records.folder())?;
        let began = scratch.tree(&self.began(name, snapshot)?)?;
        let left = scratch.tree(&snapshot.commit)?;
        if began == left {
            return Ok(Looked::Nothing);
        }
        // Commits without a history of their own: however shallow the repository is, git finds the
        // one base that both sides have.
        let base = scratch.commit(&began, &[], "what a step began with")?;
        let theirs = scratch.commit(&left, &[&base], "what a step left")?;
        let ours = self.picture(&scratch, snapshot, base)?;
        let words = [
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
        ];
        let words = [words.as_slice(), &[&ours, &theirs]].concat();
        let (is_clean, told) = scratch.judge(&words)?;
        let mut fields = told.split(|byte| *byte == 0);
        let tree = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
        if !is_clean {
            let paths: BTreeSet<&[u8]> = fields.filter(|path| !path.is_empty()).collect();
            return Ok(Looked::Conflict(paths.into_iter().map(escape).collect()));
        }
        let after = if tree == scratch.tree(&ours)? {
            // All of it is there already, which is worth a note too.
            ours.clone()
        } else {
            let about = format!("{} merged", snapshot.name);
            scratch.commit(&tree, &[&ours, &snapshot.commit], &about)?
        };
        let mixed = self.wrongly_mixed(&scratch, snapshot, &ours, &after)?;
        if !mixed.is_empty() {
            return Ok(Looked::Conflict(mixed));
        }
        self.repository.keep(&name.merge(self.run), &after)?;
        Ok(Looked::Ready(Merging {
            commit: snapshot.commit.clone(),
            before: ours,
            after,
            progress: Progress::Writing,
        }))
    }

    /// The run's worktree as it is now. What either side of the merge knows counts, even if it is
    /// ignored by now.
    fn picture(
        &self,
        scratch: &Scratch<'_>,
        snapshot: &Snapshot,
        base: String,
    ) -> Result<String, Failure> {
        let here = self.repository.here();
        let mut files = self.repository.files(&here)?;
        for commit in [&snapshot.base, &snapshot.commit] {
            let items = trees::items(scratch, commit)?;
            files.extend(items.into_iter().map(|(path, _)| path));
        }
        files.extend(
            snapshot
                .carried
                .iter()
                .map(|path| path.clone().into_bytes()),
        );
        files.sort_unstable();
        files.dedup();
        let picture = Picture {
            root: &here.root,
            files,
            parents: vec![base],
            about: format!("before {} was merged", snapshot.name),
        };
        picture::take(scratch, &picture)
    }

    /// Files that came out as a mixture of both sides though nobody wants them mixed: what is
    /// carried whole, and what the attributes of the repository keep from a merge of lines.
    fn wrongly_mixed(
        &self,
        scratch: &Scratch<'_>,
        snapshot: &Snapshot,
        ours: &str,
        after: &str,
    ) -> Result<Vec<String>, Failure> {
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
            is_carried || !may_be_mixed(attribute)
        };
        let wrong = mixed.into_iter().zip(attributes).filter(is_wrong);
        Ok(wrong.map(|(path, _)| escape(path)).collect())
    }

    /// Writes what is not written yet.
    fn write(&self, name: &Name, merging: Merging) -> Result<Written, Failure> {
        let scratch = self.repository.scratch(self.records.folder())?;
        let differences = trees::differences(&scratch, &merging.before, &merging.after)?;
        let mut disk = Disk::open(&self.repository.here().root, Blobs::open(&scratch)?)?;
        let changed_meanwhile = write_all(&mut disk, &differences);
        if changed_meanwhile.as_ref().is_ok_and(Vec::is_empty) {
            let progress = Progress::Merged;
            let merged = Merging {
                progress,
                ..merging
            };
            self.records.keep_merging(name, &merged)?;
            return Ok(Written::All(paths(&differences)));
        }
        let progress = Progress::Undoing;
        let undoing = Merging {
            progress,
            ..merging
        };
        self.records.keep_merging(name, &undoing)?;
        self.undo(name, &undoing)?;
        changed_meanwhile.map(Written::Undone)
    }

    /// Takes back what was written. What somebody has changed since stays as they left it.
    fn undo(&self, name: &Name, merging: &Merging) -> Result<(), Failure> {
        let scratch = self.repository.scratch(self.records.folder())?;
        let written = trees::differences(&scratch, &merging.before, &merging.after)?;
        let mut back: Vec<Difference> = written.into_iter().map(Difference::reversed).collect();
        trees::put_in_order(&mut back);
        let mut disk = Disk::open(&self.repository.here().root, Blobs::open(&scratch)?)?;
        for one in &back {
            disk.sweep(&one.path);
            if !disk.holds(&one.path, one.new.as_ref())? {
                disk.change(&one.path, one.old.as_ref(), one.new.as_ref())?;
            }
        }
        self.records.forget_merging(name)
    }
}

/// Writes every difference, and tells the paths that were changed by somebody else. Nothing is
/// written if that shows before the first write.
pub fn write_all(disk: &mut Disk, differences: &[Difference]) -> Result<Vec<String>, Failure> {
    let mut foreign = Vec::new();
    for one in differences {
        // A folder may still be in the way of a file; it goes with the files in it.
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
        if write_one(disk, one)? == Change::Unexpected {
            return Ok(vec![escape(&one.path)]);
        }
    }
    Ok(Vec::new())
}

/// Writes one difference, unless that was done before.
pub fn write_one(disk: &mut Disk, one: &Difference) -> Result<Change, Failure> {
    disk.sweep(&one.path);
    if disk.holds(&one.path, one.new.as_ref())? {
        return Ok(Change::Done);
    }
    disk.change(&one.path, one.old.as_ref(), one.new.as_ref())
}

/// May a file with this `merge` attribute be merged line by line? A driver of the repository's own
/// is a program that we do not start.
fn may_be_mixed(attribute: &[u8]) -> bool {
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
