//! No work goes before it is merged or archived, and all of it goes with its run.

use std::cell::Cell;
use std::fs;

use super::super::scratch::Scratch;
use super::*;

#[test]
fn what_is_not_merged_is_not_discarded() {
    let story = Story::with(&[("a", "1")]);
    let worktree = story.prepare("one");
    write(&worktree.folder, "a", "2");
    let refused = story.worktrees.discard(&worktree).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the work of one is not merged; merge it, or archive it"
    );
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    story.merge(&snapshot);
    // It went on after the merge: that is not merged.
    write(&worktree.folder, "b", "later");
    assert!(story.worktrees.discard(&worktree).is_err());
    assert_eq!(tree(&worktree.folder), "a = 2\nb = later");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(story.merge(&snapshot), clean(&["b"]));
    story.worktrees.discard(&worktree).unwrap();
    assert_eq!(
        story.tree(),
        "a = 2
b = later"
    );
}

#[test]
fn what_was_there_already_counts_as_merged() {
    let story = Story::with(&[("a", "1")]);
    let worktree = story.prepare("one");
    write(&worktree.folder, "a", "2");
    story.project.write("a", "2");
    assert!(story.worktrees.discard(&worktree).is_err());
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(story.merge(&snapshot), Merged::Nothing);
    story.worktrees.discard(&worktree).unwrap();
}

#[test]
fn a_worktree_in_which_nothing_happened_can_be_discarded() {
    let story = Story::with(&[("a", "1")]);
    let worktree = story.prepare("one");
    story.worktrees.discard(&worktree).unwrap();
    assert!(!worktree.folder.exists());
    assert_eq!(story.git(&["for-each-ref", "refs/gatewright"]), "");
    assert_eq!(story.worktrees.list().unwrap(), []);
}

#[test]
fn archived_work_survives_git_s_own_cleaning() {
    let story = Story::with(&[("a", "1")]);
    let worktree = story.prepare("one");
    write(&worktree.folder, "a", "2");
    write(&worktree.folder, "locked/cache", "x");
    let locked = worktree.folder.join("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    story.worktrees.archive(&worktree).unwrap();
    story.worktrees.archive(&worktree).unwrap();
    assert!(!worktree.folder.exists());
    story.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(story.git(&["worktree", "list"]).lines().count(), 1);
    let refused = story.worktrees.prepare("one", &[]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the worktree one was archived; prepare one with another name"
    );
    let snapshot = story.worktrees.left(&worktree).unwrap().unwrap();
    assert_eq!(story.merge(&snapshot), clean(&["a", "locked/cache"]));
}

/// What git knows already is not written again, and `git gc --prune=now` may remove it before a ref keeps it.
#[test]
fn a_commit_that_lost_an_object_is_made_again() {
    for (is_removed, expected) in [(true, 2), (false, 1)] {
        let story = Story::with(&[("a", "1")]);
        story.project.write("new", "2");
        story.git(&["add", "new"]);
        let tree = story.git(&["write-tree"]);
        let head = story.git(&["rev-parse", "HEAD"]);
        let repository = story.worktrees.repository().unwrap();
        let tries = Cell::new(0);
        let make = |scratch: &Scratch<'_>| {
            tries.set(tries.get() + 1);
            let commit = scratch.commit(tree.trim(), &[head.trim()], "with both")?;
            let blob = story.git(&["hash-object", "-w", "new"]);
            let (folder, name) = blob.trim().split_at(2);
            let object = format!(".git/objects/{folder}/{name}");
            if is_removed && tries.get() == 1 {
                fs::remove_file(story.project.path().join(object)).unwrap();
            }
            Ok((Some(commit), ()))
        };
        let folder = tempfile::tempdir().unwrap();
        let kept = repository.keep_new("refs/gatewright/r-1/test", make, folder.path());
        kept.unwrap();
        assert_eq!(tries.get(), expected, "{is_removed}");
        let shown = story.git(&["show", "refs/gatewright/r-1/test:new"]);
        assert_eq!(shown, "2");
    }
}

#[test]
fn what_was_never_prepared_to_the_end_is_pruned() {
    let story = Story::with(&[("a", "1")]);
    let whole = story.prepare("whole");
    let half = story.prepare("half");
    fs::remove_file(half.root.with_extension("json")).unwrap();
    let gone = story.prepare("gone");
    fs::remove_dir_all(&gone.root).unwrap();
    fs::create_dir(half.root.with_file_name(".tmpXYZ")).unwrap();
    story.worktrees.prune().unwrap();
    assert!(whole.root.is_dir() && !half.root.exists());
    assert!(!half.root.with_file_name(".tmpXYZ").exists());
    assert_eq!(story.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_run_that_is_gone_leaves_nothing() {
    let story = Story::with(&[("a", "1")]);
    story.step("one", |folder| write(folder, "a", "2"));
    let two = story.prepare("two");
    story.worktrees.archive(&two).unwrap();
    let state = State::new(story.project.state());
    Worktrees::forget_runs(&state, |run| run == "r-1").unwrap();
    assert_eq!(story.worktrees.list().unwrap().len(), 2);
    Worktrees::forget_runs(&state, |_| false).unwrap();
    assert_eq!(story.worktrees.list().unwrap(), []);
    assert_eq!(story.git(&["for-each-ref", "refs/gatewright"]), "");
    assert_eq!(story.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(story.tree(), "a = 1");
}
