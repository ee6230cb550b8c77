//! What a check itself makes: new untracked files are told apart from a change of sources.
//!
//! Such a file stays out of the tree as long as it has the content that a check left. Files that steer
//! other programs begin with a dot, or lie in such a folder: they count as changes.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Hash, Run, TreeAround};

use super::manifest::{self, EntryKind, ManifestLine};
use super::{Snapshot, Tree};

/// More files than this belong into `litter` or an ignore file: the journal keeps their names.
const MOST_MADE: usize = 1_000;

/// Has a check left this file, with this content?
pub(super) fn is_as_left(line: &ManifestLine, run: &Run) -> bool {
    is_plain(line) && run.made.get(&line.path) == Some(&line.hash)
}

/// The trees around a check without the files that it made, and the paths of sources that changed.
pub(crate) fn around(
    mut before: Snapshot,
    mut after: Snapshot,
    run: &Run,
) -> (TreeAround, Vec<String>) {
    let made = made(&before, &after, run);
    after.lines.retain(|line| !made.contains_key(&line.path));
    let kept: BTreeSet<&ManifestLine> = after.lines.iter().collect();
    // What an earlier check made and somebody wrote to since is the check's again when it writes to it.
    before.lines.retain(|line| {
        let is_ours = run.made.contains_key(&line.path) && before.untracked.contains(&line.path);
        kept.contains(line) || !is_ours
    });
    let (before, after) = (Tree::of(before.lines), Tree::of(after.lines));
    let changed = manifest::changed(&before.manifest, &after.manifest).unwrap_or_default();
    let tree = TreeAround {
        before: before.hash,
        after: after.hash,
        made,
    };
    (tree, changed)
}

fn made(before: &Snapshot, after: &Snapshot, run: &Run) -> BTreeMap<String, Hash> {
    let earlier: BTreeMap<&str, Hash> = before
        .lines
        .iter()
        .map(|line| (line.path.as_str(), line.hash))
        .collect();
    let is_new = |line: &&ManifestLine| match earlier.get(line.path.as_str()) {
        None => true,
        // An earlier check made it, and somebody wrote to it since.
        Some(hash) => run.made.contains_key(&line.path) && *hash != line.hash,
    };
    let is_ours = |line: &&ManifestLine| {
        is_plain(line) && after.untracked.contains(&line.path) && !is_hidden(&line.path)
    };
    let made = after.lines.iter().filter(is_ours).filter(is_new);
    let made: BTreeMap<String, Hash> = made.map(|line| (line.path.clone(), line.hash)).collect();
    if made.len() > MOST_MADE {
        return BTreeMap::new();
    }
    made
}

fn is_plain(line: &ManifestLine) -> bool {
    matches!(line.kind, EntryKind::File | EntryKind::Program)
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}
