//! No work goes before it is merged or archived, and all of it goes with its run.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;

use super::super::removal::remove_folder;
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

/// A folder of the person outside of everything, with so many folders that threads remove them.
fn library() -> (tempfile::TempDir, impl Fn(&str)) {
    let outside = tempfile::tempdir().unwrap();
    for number in 0..40 {
        let name = format!("part-{}/deep-{number}/file", number % 3);
        write(outside.path(), &name, "kept");
    }
    let root = outside.path().to_owned();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    let before = tree(&root);
    let check = move |case: &str| {
        assert_eq!(tree(&root), before, "{case}");
        let mode = fs::metadata(&root).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{case}");
    };
    (outside, check)
}

#[test]
fn what_links_lead_to_stays() {
    let (library, check) = library();
    let folder = tempfile::tempdir().unwrap();
    // The folder itself, a link in it, and one among so many folders that threads remove them.
    let itself = folder.path().join("itself");
    symlink(library.path(), &itself).unwrap();
    let inside = folder.path().join("inside");
    for number in 0..40 {
        let name = format!("part-{}/deep-{number}/file", number % 3);
        write(&inside, &name, "gone");
    }
    for name in ["link", "part-1/link", "part-2/deep-2/link"] {
        symlink(library.path(), inside.join(name)).unwrap();
    }
    symlink("/absent", inside.join("dangling")).unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "gone").unwrap();
    for path in [&itself, &inside, &file] {
        remove_folder(path).unwrap();
        // What is gone already counts as removed.
        remove_folder(path).unwrap();
        assert!(path.symlink_metadata().is_err(), "{}", path.display());
        check(&path.display().to_string());
    }
    remove_folder(&folder.path().join("absent/below")).unwrap();
}

#[test]
fn folders_without_rights_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    for number in 0..40 {
        write(&root, &format!("cache/part-{number}/deep/file"), "x");
    }
    for (name, mode) in [("part-1/deep", 0o000), ("part-2", 0o555), ("part-3", 0o200)] {
        let path = root.join("cache").join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let cache = root.join("cache");
    fs::set_permissions(cache, fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o100)).unwrap();
    remove_folder(&root).unwrap();
    assert!(!root.exists());
}

#[test]
fn a_link_among_the_worktrees_leads_nobody_out() {
    let (library, check) = library();
    let story = Story::with(&[("a", "1")]);
    let worktree = story.prepare("one");
    let records = worktree.root.parent().unwrap().to_owned();
    let link = |name: &str| symlink(library.path(), records.join(name)).unwrap();
    let is_there = |name: &str| records.join(name).symlink_metadata().is_ok();

    link("lib");
    link(".spare-9");
    link("two.json.d");
    assert_eq!(story.worktrees.records.spare_folder(".spare-9"), None);
    story.worktrees.remove_spares().unwrap();
    check("the spares are removed");
    story.worktrees.prune().unwrap();
    check("pruned");
    let left = ["lib", ".spare-9", "two.json.d"].map(is_there);
    assert_eq!(left, [false; 3]);
    assert!(worktree.root.is_dir());

    for name in ["lib", ".spare-9"] {
        link(name);
    }
    let state = State::new(story.project.state());
    Worktrees::forget_runs(&state, |_| false).unwrap();
    check("the run is gone");
    assert!(!records.exists());
    // The folder of a whole run.
    symlink(library.path(), &records).unwrap();
    assert!(story.worktrees.prune().is_err());
    check("pruned through a link");
    fs::write(
        library.path().join("root"),
        story.project.path().to_str().unwrap(),
    )
    .unwrap();
    Worktrees::forget_runs(&state, |_| false).unwrap();
    fs::remove_file(library.path().join("root")).unwrap();
    check("the folder of the run is a link");
    assert!(records.symlink_metadata().is_err());
}

#[test]
fn a_worktree_that_became_a_link_goes_without_what_it_leads_to() {
    for end in [Worktrees::archive, Worktrees::discard] {
        let (library, check) = library();
        let story = Story::with(&[("a", "1")]);
        let worktree = story.prepare("one");
        fs::remove_dir_all(&worktree.root).unwrap();
        symlink(library.path(), &worktree.root).unwrap();
        assert!(story.worktrees.finish(&worktree).is_err());
        // Work that is not merged is not discarded.
        if end(&story.worktrees, &worktree).is_err() {
            check("refused");
            story.worktrees.archive(&worktree).unwrap();
        }
        check("ended");
        let objects = story.git(&["rev-list", "--all", "--objects"]);
        assert!(!objects.contains("part-"), "{objects}");
        assert!(worktree.root.symlink_metadata().is_err());
        assert_eq!(story.git(&["worktree", "list"]).lines().count(), 1);
    }
}
