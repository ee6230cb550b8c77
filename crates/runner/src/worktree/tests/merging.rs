//! What comes of two sides that changed something.

use std::fs;
use std::os::unix::fs::symlink;

use super::super::scratch::Scratch;
use super::super::trees::{self, TreeListing};
use super::*;

const LINES: &str = "1\n2\n3\n4\n5\n";

/// A worker does one thing, somebody else another one since it began: what comes of the merge, and
/// what the tree is then. It was `binary = \x00\x01`, `folder/inner = i` and the lines.
#[track_caller]
fn check(worker: fn(&Path), other: fn(&Path), expected: &Merged, after: &[&str]) {
    let story = Story::with(&[
        ("text", LINES),
        ("binary", "\0\u{1}"),
        ("folder/inner", "i"),
    ]);
    let snapshot = story.step("one", worker);
    other(&story.project.path());
    assert_eq!(story.merge(&snapshot), *expected);
    assert_eq!(story.tree(), after.join("\n"));
    let index = story.git(&["diff", "--cached", "--name-only"]);
    assert_eq!(index, "", "the index stays as it was");
}

const BINARY: &str = "binary = \\x00\\x01";
const INNER: &str = "folder/inner = i";
const TEXT: &str = "text = 1\\n2\\n3\\n4\\n5\\n";

fn nothing(_: &Path) {}

#[test]
fn two_changes_of_a_text_are_merged_or_told() {
    check(
        |root| write(root, "text", LINES.replace('1', "one")),
        |root| write(root, "text", LINES.replace('5', "five")),
        &clean(&["text"]),
        &[BINARY, INNER, "text = one\\n2\\n3\\n4\\nfive\\n"],
    );
    check(
        |root| write(root, "text", LINES.replace('3', "three")),
        |root| write(root, "text", LINES.replace('3', "III")),
        &conflict(&["text"]),
        &[BINARY, INNER, "text = 1\\n2\\nIII\\n4\\n5\\n"],
    );
    check(
        |root| write(root, "text", "same"),
        |root| write(root, "text", "same"),
        &Merged::Nothing,
        &[BINARY, INNER, "text = same"],
    );
    check(
        |root| write(root, "new", "mine"),
        |root| write(root, "new", "yours"),
        &conflict(&["new"]),
        &[BINARY, INNER, "new = yours", TEXT],
    );
}

#[test]
fn a_deletion_is_merged_or_told() {
    check(
        |root| fs::remove_dir_all(root.join("folder")).unwrap(),
        nothing,
        &clean(&["folder/inner"]),
        &[BINARY, TEXT],
    );
    check(
        |root| fs::remove_file(root.join("text")).unwrap(),
        |root| write(root, "text", LINES.replace('3', "three")),
        &conflict(&["text"]),
        &[BINARY, INNER, "text = 1\\n2\\nthree\\n4\\n5\\n"],
    );
    check(
        |root| write(root, "text", LINES.replace('3', "three")),
        |root| fs::remove_file(root.join("text")).unwrap(),
        &conflict(&["text"]),
        &[BINARY, INNER],
    );
}

#[test]
fn a_binary_is_taken_whole_and_a_conflict_keeps_everything_back() {
    check(
        |root| write(root, "binary", b"\0\x02"),
        nothing,
        &clean(&["binary"]),
        &["binary = \\x00\\x02", INNER, TEXT],
    );
    check(
        |root| {
            write(root, "binary", b"\0\x02");
            write(root, "text", "mine");
        },
        |root| write(root, "binary", b"\0\x03"),
        &conflict(&["binary"]),
        &["binary = \\x00\\x03", INNER, TEXT],
    );
}

#[test]
fn what_becomes_something_else_or_moves_is_merged() {
    check(
        |root| {
            fs::remove_file(root.join("binary")).unwrap();
            symlink("folder/inner", root.join("binary")).unwrap();
            make_program(&root.join("folder/inner"));
            fs::rename(root.join("text"), root.join("moved")).unwrap();
        },
        |root| write(root, "text", LINES.replace('5', "five")),
        &clean(&["binary", "folder/inner", "moved", "text"]),
        &[
            "binary -> folder/inner",
            "folder/inner* = i",
            "moved = 1\\n2\\n3\\n4\\nfive\\n",
        ],
    );
    check(
        |root| {
            fs::remove_dir_all(root.join("folder")).unwrap();
            write(root, "folder", "a file now");
            fs::remove_file(root.join("binary")).unwrap();
            write(root, "binary/deep/file", "x");
        },
        nothing,
        &clean(&["binary", "binary/deep/file", "folder", "folder/inner"]),
        &["binary/deep/file = x", "folder = a file now", TEXT],
    );
}

#[test]
fn nothing_is_written_through_a_link() {
    let story = Story::with(&[("folder/inner", "i")]);
    let snapshot = story.step("one", |folder| write(folder, "folder/new", "n"));
    let root = story.project.path();
    fs::remove_dir_all(root.join("folder")).unwrap();
    symlink("..", root.join("folder")).unwrap();
    let merged = story.merge(&snapshot);
    assert!(matches!(merged, Merged::Conflict { .. }), "{merged:?}");
    assert_eq!(story.tree(), "folder -> ..");
    assert!(!root.with_file_name("new").exists());
}

#[test]
fn an_ignored_file_is_not_written_over_and_one_added_by_force_comes_back() {
    let story = Story::with(&[(".gitignore", "*.log\n")]);
    story.project.write("build.log", "of the person");
    let snapshot = story.step("one", |folder| {
        write(folder, ".gitignore", "\n");
        write(folder, "build.log", "of the worker");
    });
    assert_eq!(story.merge(&snapshot), conflict(&["build.log"]));
    assert_eq!(story.project.read("build.log"), "of the person");
    assert_eq!(story.project.read(".gitignore"), "*.log\n");

    story.project.write("same.log", "same");
    let worktree = story.prepare("two");
    write(&worktree.folder, "same.log", "same");
    write(&worktree.folder, "forced.log", "kept");
    write(&worktree.folder, "other.log", "not kept");
    let folder = worktree.folder.to_str().unwrap();
    story.git(&["-C", folder, "add", "--force", "forced.log", "same.log"]);
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(story.merge(&snapshot), clean(&["forced.log"]));
}

#[test]
fn a_merge_that_is_done_is_done_once() {
    let story = Story::with(&[("a", "1")]);
    let snapshot = story.step("one", |folder| write(folder, "a", "2"));
    assert_eq!(story.merge(&snapshot), clean(&["a"]));
    story.project.write("a", "changed by a person afterwards");
    assert_eq!(story.merge(&snapshot), clean(&["a"]));
    assert_eq!(story.project.read("a"), "changed by a person afterwards");
}

#[test]
fn the_permissions_of_a_file_stay() {
    let story = Story::with(&[("private", "1"), ("plain", "1")]);
    let path = story.project.path().join("private");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let snapshot = story.step("one", |folder| {
        write(folder, "private", "2");
        make_program(&folder.join("private"));
    });
    assert_eq!(story.merge(&snapshot), clean(&["private"]));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_file_that_the_attributes_keep_from_merges_is_not_mixed() {
    let story = Story::with(&[("a.lock", LINES), (".gitattributes", "*.lock -merge\n")]);
    let snapshot = story.step("one", |folder| {
        write(folder, "a.lock", LINES.replace('1', "one"));
    });
    story.project.write("a.lock", LINES.replace('5', "five"));
    assert_eq!(story.merge(&snapshot), conflict(&["a.lock"]));
    story.project.write("a.lock", LINES);
    assert_eq!(story.merge(&snapshot), clean(&["a.lock"]));
}

#[test]
fn commits_of_the_worker_are_kept_and_its_files_are_what_counts() {
    let story = Story::with(&[("a", "1")]);
    let worktree = story.prepare("one");
    let folder = worktree.folder.to_str().unwrap();
    write(&worktree.folder, "a", "2");
    write(&worktree.folder, "b", "committed");
    story.git(&["-C", folder, "add", "--all"]);
    story.git(&["-C", folder, "commit", "--quiet", "--message=work"]);
    let commit = story.git(&["-C", folder, "rev-parse", "HEAD"]);
    write(&worktree.folder, "c", "not committed");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(
        story.worktrees.finish(&worktree).unwrap(),
        snapshot,
        "asked twice"
    );
    assert_eq!(
        story.worktrees.left(&worktree).unwrap(),
        Some(snapshot.clone())
    );
    assert_eq!(story.merge(&snapshot), clean(&["a", "b", "c"]));
    let history = story.git(&["log", "--format=%H", "refs/gatewright/r-1/one"]);
    assert!(history.contains(commit.trim()), "{history}");

    // The same worker goes on after its work was merged.
    write(&worktree.folder, "c", "corrected");
    let second = story.worktrees.finish(&worktree).unwrap();
    assert_ne!(second.commit, snapshot.commit);
    assert_eq!(story.merge(&second), clean(&["c"]));
    let history = story.git(&["log", "--format=%H", "refs/gatewright/r-1/one"]);
    assert!(history.contains(&snapshot.commit), "{history}");
}

#[test]
fn a_worker_that_breaks_its_own_worktree_loses_no_work() {
    let story = Story::with(&[("a", "1"), ("b", "1"), (".gitignore", "log\n"), ("log", "")]);
    story.project.write("log", "tracked though ignored");
    story.git(&["add", "--force", "log"]);
    let worktree = story.prepare("one");
    write(&worktree.folder, "a", "2");
    write(&worktree.folder, ".gitignore", "log\nb\n");
    fs::write(worktree.folder.join(".git"), "gitdir: /nowhere\n").unwrap();
    fs::remove_file(story.project.path().join(".git/worktrees/one/index")).unwrap();
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(story.merge(&snapshot), clean(&[".gitignore", "a"]));
    assert_eq!(story.project.read("log"), "tracked though ignored");
}

#[test]
fn what_is_git_s_or_half_written_is_nobody_s_work() {
    let story = Story::with(&[("a", "1")]);
    let snapshot = story.step("one", |folder| {
        write(folder, ".GIT/config", "[core]");
        write(folder, "b/.Git/hooks/post-checkout", "#!/bin/sh");
        write(folder, "b/.gatewright-new-0123456789abcdef", "half");
    });
    assert_eq!(story.merge(&snapshot), Merged::Nothing);
    assert_eq!(story.tree(), "a = 1");
}

#[test]
fn a_look_says_what_differs_from_the_known_content() {
    let story = Story::with(&[("a", "1"), ("b", "1"), (".gitignore", "*.log\n")]);
    let base = story.prepare("one").base;
    let known = story.worktrees.look(&base).unwrap();
    assert_eq!((known.commit, known.changed), (base.clone(), Some(vec![])));
    let root = story.project.path();
    write(&root, "a", "2");
    write(&root, "new", "1");
    write(&root, "ignored.log", "1");
    fs::remove_file(root.join("b")).unwrap();
    let look = story.worktrees.look(&base).unwrap();
    let paths = [b"a".to_vec(), b"b".to_vec(), b"new".to_vec()];
    assert_eq!(look.changed.as_deref(), Some(paths.as_slice()));
    let listed = story.git(&["ls-tree", "--name-only", &look.commit]);
    assert_eq!(listed, ".gitignore\na\nnew\n");
    assert_eq!(story.worktrees.last_content().unwrap(), Some(look.commit));
}

#[test]
fn a_look_whose_known_content_is_lost_says_so() {
    let story = Story::with(&[("a", "1")]);
    story.prepare("one");
    let lost = "0123456789abcdef0123456789abcdef01234567";
    let look = story.worktrees.look(lost).unwrap();
    assert_eq!(look.changed, None);
    let listed = story.git(&["ls-tree", "--name-only", &look.commit]);
    assert_eq!(listed, "a\n");
}

/// What git lists of the second commit, and what our listing of the first one becomes with the differences.
fn listings(scratch: &Scratch<'_>, [before, after]: [&str; 2]) -> [Vec<u8>; 2] {
    let listing = |commit| TreeListing::of(scratch, commit).unwrap();
    let differences = trees::differences(scratch, before, after).unwrap();
    [
        listing(after).bytes().to_vec(),
        listing(before).with(&differences).unwrap().bytes().to_vec(),
    ]
}

#[test]
fn a_listing_with_the_differences_is_the_listing_that_git_has() {
    let story = Story::with(&[("a/inner", "i"), ("a.txt", "t"), ("b", "b"), ("z", "z")]);
    let first = story.git(&["rev-parse", "HEAD"]);
    let root = story.project.path();
    fs::remove_file(root.join("b")).unwrap();
    make_program(&root.join("z"));
    symlink("z", root.join("c")).unwrap();
    for (name, content) in [
        ("a/first", "1"),
        ("a-b", "2"),
        ("a.txt", "other"),
        ("zz/y", "3"),
    ] {
        write(&root, name, content);
    }
    story.git(&["add", "--all"]);
    story.git(&["commit", "--quiet", "--message=other"]);
    let second = story.git(&["rev-parse", "HEAD"]);
    let repository = story.worktrees.repository().unwrap();
    let scratch = repository.scratch(&root).unwrap();
    let (first, second) = (first.trim(), second.trim());
    for commits in [[first, second], [second, first], [first, first]] {
        let [git, ours] = listings(&scratch, commits);
        assert_eq!(
            ours.escape_ascii().to_string(),
            git.escape_ascii().to_string()
        );
    }
}

#[test]
fn a_step_that_begins_behind_a_merge_has_what_was_merged() {
    let story = Story::with(&[("folder/inner", "i"), ("kept", "k"), ("text", LINES)]);
    let one = story.step("one", |root| {
        fs::remove_dir_all(root.join("folder")).unwrap();
        write(root, "new/file", "1");
        make_program(&root.join("kept"));
    });
    assert_eq!(
        story.merge(&one),
        clean(&["folder/inner", "kept", "new/file"])
    );
    // Whatever we know of the last commit, a person's change behind it counts.
    write(&story.project.path(), "text", "by a person");
    let two = story.prepare("two");
    let expected = "kept* = k\nnew/file = 1\ntext = by a person";
    assert_eq!(tree(&two.folder), expected);
    fs::remove_file(two.folder.join("new/file")).unwrap();
    let two = story.worktrees.finish(&two).unwrap();
    assert_eq!(story.merge(&two), clean(&["new/file"]));
    assert_eq!(story.tree(), "kept* = k\ntext = by a person");
}
