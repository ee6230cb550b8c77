//! A worktree takes the files of an earlier one, and nothing that its worker did.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::super::durable;
use super::super::name::SafeName;
use super::super::record::WorktreeRecord;
use super::*;

const FILES: [(&str, &str); 7] = [
    (".gitignore", "target/\n*.log\n"),
    ("a", "one"),
    ("b", "one"),
    ("moved/inner", "one"),
    ("same", "one"),
    ("src/main.rs", "fn main() {}"),
    ("tool", "#!/bin/sh\n"),
];

/// A worker does this, it is merged, and its files are kept.
fn merged_step(story: &Story, name: &str, work: impl FnOnce(&Path)) {
    let worktree = story.prepare(name);
    work(&worktree.folder);
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert!(!matches!(story.merge(&snapshot), Merged::Conflict { .. }));
    story.worktrees.retire(&worktree, &snapshot).unwrap();
    assert!(!worktree.folder.exists());
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

fn git_in(story: &Story, worktree: &Worktree, words: &[&str]) -> String {
    let words = [&["-C", worktree.folder.to_str().unwrap()], words].concat();
    story.git(&words)
}

#[test]
fn the_next_step_has_the_same_files_and_git_writes_only_the_others() {
    let story = Story::with(&FILES);
    let mut known = 0;
    merged_step(&story, "one", |root| {
        known = inode(&root.join("src/main.rs"));
        write(root, "a", "two");
        write(root, "new/file", "n");
    });
    let worktree = story.prepare("two");
    assert_eq!(tree(&worktree.folder), story.tree());
    assert_eq!(inode(&worktree.folder.join("src/main.rs")), known);
    assert_eq!(git_in(&story, &worktree, &["status", "--short"]), "");
    // It is a worktree like any other.
    write(&worktree.folder, "src/main.rs", "fn main() { }");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(story.merge(&snapshot), clean(&["src/main.rs"]));
    story.worktrees.retire(&worktree, &snapshot).unwrap();
    story.worktrees.remove_spares().unwrap();
    assert_eq!(git_in_project(&story), 1, "worktrees that git knows");
    let left = story.worktrees.records.entries().unwrap();
    let left = left.iter().filter(|entry| entry.contains("spare"));
    assert_eq!(left.count(), 0);
}

fn git_in_project(story: &Story) -> usize {
    story.git(&["worktree", "list"]).lines().count()
}

#[test]
fn nothing_that_a_worker_did_is_there_for_the_next_one() {
    let story = Story::with(&FILES);
    make_program(&story.project.path().join("tool"));
    let outside = tempfile::tempdir().unwrap();
    merged_step(&story, "one", |root| {
        // Ignored files, and a repository that git passes over in a folder with tracked files.
        write(root, "target/debug/out", "x");
        write(root, "src/build.log", "x");
        write(root, "src/.git/config", "[core]\n\tfsmonitor = evil\n");
        // The same bytes again: other hands hold the file.
        fs::hard_link(root.join("same"), outside.path().join("same")).unwrap();
        // The same length and the same time.
        let was = fs::metadata(root.join("b")).unwrap().modified().unwrap();
        write(root, "b", "two");
        let file = fs::File::options().write(true).open(root.join("b"));
        file.unwrap().set_modified(was).unwrap();
        // A folder that lies elsewhere now, with the very same files.
        fs::rename(root.join("moved"), outside.path().join("moved")).unwrap();
        symlink(outside.path().join("moved"), root.join("moved")).unwrap();
        // Git's own notes say that nothing changed.
        let words = ["update-index", "--assume-unchanged", "b", "same"];
        story.git(&[&["-C", root.to_str().unwrap()], words.as_slice()].concat());
    });
    // The person takes the worker's changes back.
    story.git(&["checkout", "--quiet", "--", "."]);
    fs::remove_dir_all(story.project.path().join("src/.git")).unwrap_or_default();
    make_program(&story.project.path().join("tool"));
    let worktree = story.prepare("two");
    assert_eq!(tree(&worktree.folder), story.tree());
    assert!(!worktree.folder.join("src/.git").exists());
    fs::write(outside.path().join("same"), "two").unwrap();
    fs::write(outside.path().join("moved/inner"), "two").unwrap();
    for path in ["same", "moved/inner"] {
        let text = fs::read_to_string(worktree.folder.join(path)).unwrap();
        assert_eq!(text, "one", "{path}");
    }
}

#[test]
fn git_sees_in_reused_files_whatever_the_next_worker_changes() {
    let story = Story::with(&FILES);
    merged_step(&story, "one", |root| write(root, "a", "two"));
    let worktree = story.prepare("two");
    assert_eq!(git_in(&story, &worktree, &["status", "--short"]), "");
    // As long as before, and as old by the clock that git reads.
    let file = worktree.folder.join("b");
    let was = fs::metadata(&file).unwrap().modified().unwrap();
    write(&worktree.folder, "b", "two");
    let written = fs::File::options().write(true).open(&file).unwrap();
    written.set_modified(was).unwrap();
    let changed = git_in(&story, &worktree, &["status", "--short"]);
    assert_eq!(changed.trim(), "M b");
}

#[test]
fn links_of_an_earlier_step_are_made_again() {
    let story = Story::with(&FILES);
    symlink("same", story.project.path().join("link")).unwrap();
    merged_step(&story, "one", |root| {
        fs::remove_file(root.join("link")).unwrap();
        symlink("../elsewhere", root.join("link")).unwrap();
    });
    let project = story.project.path();
    fs::remove_file(project.join("link")).unwrap();
    symlink("same", project.join("link")).unwrap();
    for name in ["two", "three"] {
        merged_step(&story, name, |root| assert_eq!(tree(root), story.tree()));
    }
}

#[test]
fn a_folder_with_other_rights_is_not_used_again() {
    let story = Story::with(&FILES);
    let mut known = 0;
    merged_step(&story, "one", |root| {
        known = inode(&root.join("a"));
        fs::set_permissions(root.join("src"), fs::Permissions::from_mode(0o777)).unwrap();
    });
    let worktree = story.prepare("two");
    assert_eq!(tree(&worktree.folder), story.tree());
    let mode = |path| fs::metadata(worktree.folder.join(path)).unwrap().mode();
    assert_eq!(mode("src"), mode("moved"));
}

#[test]
fn what_is_not_merged_is_never_a_spare() {
    let story = Story::with(&FILES);
    let worktree = story.prepare("one");
    write(&worktree.folder, "a", "two");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert!(story.worktrees.retire(&worktree, &snapshot).is_err());
    assert_eq!(
        fs::read_to_string(worktree.folder.join("a")).unwrap(),
        "two"
    );
}

#[test]
fn spares_of_a_killed_orchestrator_are_removed() {
    let story = Story::with(&FILES);
    merged_step(&story, "one", |root| write(root, "a", "two"));
    let is_spare = |entry: &String| story.worktrees.records.spare_folder(entry).is_some();
    assert!(
        story
            .worktrees
            .records
            .entries()
            .unwrap()
            .iter()
            .any(is_spare)
    );
    story.worktrees.prune().unwrap();
    assert!(
        !story
            .worktrees
            .records
            .entries()
            .unwrap()
            .iter()
            .any(is_spare)
    );
    assert_eq!(tree(&story.prepare("two").folder), story.tree());
}

/// An agent may put a link where a spare lies, or make one of its own folder.
#[test]
fn a_link_is_no_spare() {
    let home = tempfile::tempdir().unwrap();
    // With the same rights as a worktree has.
    let outside = home.path().join("home");
    write(&outside, "lib/deep/file", "kept");
    let check = || assert_eq!(tree(&outside), "lib/deep/file = kept");
    let story = Story::with(&FILES);
    let worktree = story.prepare("one");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    symlink(&outside, worktree.root.with_file_name(".spare-0")).unwrap();
    story.worktrees.retire(&worktree, &snapshot).unwrap();
    check();
    assert_eq!(tree(&story.prepare("two").folder), story.tree());
    check();

    let worktree = story.prepare("three");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    fs::remove_dir_all(&worktree.root).unwrap();
    symlink(&outside, &worktree.root).unwrap();
    let _ = story.worktrees.retire(&worktree, &snapshot);
    assert_eq!(tree(&story.prepare("four").folder), story.tree());
    check();
}

fn record(story: &Story, name: &str) -> WorktreeRecord {
    let records = &story.worktrees.records;
    let record = records.worktree_record(&SafeName::of(name)).unwrap();
    record.unwrap()
}

#[test]
fn files_that_a_power_cut_may_have_damaged_are_written_again() {
    let story = Story::with(&FILES);
    let worktree = story.prepare("one");
    assert_eq!(record(&story, "one").unsynced, durable::boot());
    // A killed orchestrator alone damages nothing.
    write(&worktree.folder, "a", "the worker's");
    assert_eq!(story.prepare("one"), worktree);
    assert_eq!(
        fs::read_to_string(worktree.folder.join("a")).unwrap(),
        "the worker's"
    );
    // The machine was started again, and a file is empty.
    let unsynced = Some(String::from("an earlier boot"));
    let earlier = WorktreeRecord {
        unsynced,
        ..record(&story, "one")
    };
    let name = SafeName::of("one");
    let records = &story.worktrees.records;
    records.write_worktree_record(&name, &earlier).unwrap();
    write(&worktree.folder, "b", "");
    let again = story.prepare("one");
    assert_eq!(again.base, worktree.base);
    assert_eq!(tree(&again.folder), story.tree());
    let snapshot = story.worktrees.finish(&again).unwrap();
    assert_eq!(story.merge(&snapshot), Merged::Nothing);
    // What was left of the worker's files can be found.
    let kept = name.kept_ref(&story.worktrees.run);
    let found = story.git(&["log", "-p", "--all", "--format=", "-Sthe worker's", &kept]);
    assert!(found.contains("+the worker's"), "{found}");
}

#[test]
fn durable_files_outlive_a_power_cut() {
    let story = Story::with(&FILES);
    let worktree = story.prepare("one");
    write(&worktree.folder, "a", "the worker's");
    story.worktrees.make_durable(&worktree).unwrap();
    assert_eq!(record(&story, "one").unsynced, None);
    assert_eq!(story.prepare("one"), worktree);
    assert_eq!(
        fs::read_to_string(worktree.folder.join("a")).unwrap(),
        "the worker's"
    );
}
