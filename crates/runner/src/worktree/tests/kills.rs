//! A merge that is killed somewhere is completed by the next call, or taken back as a whole.

use std::fs;
use std::os::unix::fs::symlink;

use super::super::blobs::BlobReader;
use super::super::disk::{ChangeResult, Disk, temporary_name};
use super::super::merge::{MergePlan, Merger, write_all, write_one};
use super::super::name::SafeName;
use super::super::record::{MergeRecord, MergeState};
use super::super::trees;
use super::*;

const FILES: [(&str, &str); 4] = [
    ("changed", "1"),
    ("deleted/one", "1"),
    ("kind", "1"),
    ("swap/inner", "1"),
];

fn work(root: &Path) {
    write(root, "changed", "2");
    fs::remove_dir_all(root.join("deleted")).unwrap();
    fs::remove_file(root.join("kind")).unwrap();
    symlink("changed", root.join("kind")).unwrap();
    write(root, "new/a", "a");
    write(root, "new/b", b"\0b");
    fs::remove_dir_all(root.join("swap")).unwrap();
    write(root, "swap", "a file");
}

const AFTER: &str = "changed = 2\nkind -> changed\nnew/a = a\nnew/b = \\x00b\nswap = a file";

/// What a merge has noted before it writes its first file.
fn begin(story: &Story, snapshot: &Snapshot) -> MergeRecord {
    let repository = story.worktrees.repository().unwrap();
    let merger = story.worktrees.merger(&repository);
    let name = SafeName::of(&snapshot.name);
    match merger.plan(&name, snapshot, &snapshot.base).unwrap() {
        MergePlan::Ready(_, merging) => {
            story
                .worktrees
                .records
                .write_merge_record(&name, &merging)
                .unwrap();
            merging
        }
        MergePlan::Nothing | MergePlan::Conflict(_) => panic!("there is something to merge"),
    }
}

/// Writes as many files as a merge had written when it was killed. How many are there in all?
fn write_some(story: &Story, merging: &MergeRecord, count: usize) -> usize {
    let repository = story.worktrees.repository().unwrap();
    let scratch = repository
        .scratch(story.worktrees.records.folder())
        .unwrap();
    let all = trees::differences(&scratch, &merging.before, &merging.after).unwrap();
    let mut disk = Disk::open(&story.project.path(), BlobReader::open(&scratch).unwrap()).unwrap();
    for one in all.iter().take(count) {
        assert_eq!(write_one(&mut disk, one).unwrap(), ChangeResult::Done);
    }
    all.len()
}

#[test]
fn a_merge_killed_after_any_write_is_completed_and_done_once() {
    let mut writes = 1;
    let mut count = 0;
    while count <= writes {
        let story = Story::with(&FILES);
        let snapshot = story.step("one", work);
        let merging = begin(&story, &snapshot);
        writes = write_some(&story, &merging, count);
        // The temporary file that was half written when the kill came.
        for (folder, path) in [("", "changed"), ("new/", "new/a")] {
            let temporary_name = String::from_utf8(temporary_name(path.as_bytes())).unwrap();
            story
                .project
                .write(format!("{folder}{temporary_name}"), "half");
        }
        let merged = story.merge(&snapshot);
        assert!(
            matches!(merged, Merged::Clean { .. }),
            "{count}: {merged:?}"
        );
        assert_eq!(story.tree(), AFTER, "killed after {count} writes");
        assert_eq!(story.merge(&snapshot), merged);
        assert_eq!(story.tree(), AFTER);
        count += 1;
    }
    assert_eq!(writes, 7);
}

#[test]
fn whoever_comes_next_completes_what_was_killed() {
    let story = Story::with(&FILES);
    let snapshot = story.step("one", work);
    let merging = begin(&story, &snapshot);
    write_some(&story, &merging, 3);
    let next = story.prepare("two");
    assert_eq!(tree(&next.folder), AFTER);

    let story = Story::with(&FILES);
    let snapshot = story.step("one", work);
    let merging = begin(&story, &snapshot);
    write_some(&story, &merging, 3);
    story.worktrees.prune().unwrap();
    assert_eq!(story.tree(), AFTER);
}

#[test]
fn a_file_that_somebody_changed_after_the_look_is_not_written_over() {
    let mut writes = 1;
    let mut count = 0;
    while count < writes {
        let story = Story::with(&FILES);
        let snapshot = story.step("one", work);
        let merging = begin(&story, &snapshot);
        writes = write_some(&story, &merging, count);
        story.project.write("changed", "by a person meanwhile");
        // All that was written is taken back; then a new look finds that both changed the file.
        assert_eq!(story.merge(&snapshot), conflict(&["changed"]));
        let expected = "changed = by a person meanwhile\ndeleted/one = 1\nkind = 1\nswap/inner = 1";
        assert_eq!(story.tree(), expected, "killed after {count} writes");
        let name = SafeName::of("one");
        assert_eq!(story.worktrees.records.merge_record(&name).unwrap(), None);
        count += 1;
    }
}

#[test]
fn nothing_is_written_when_a_change_shows_before_the_first_write() {
    let story = Story::with(&FILES);
    let snapshot = story.step("one", work);
    let merging = begin(&story, &snapshot);
    let repository = story.worktrees.repository().unwrap();
    let folder = story.worktrees.records.folder();
    let scratch = repository.scratch(folder).unwrap();
    let all = trees::differences(&scratch, &merging.before, &merging.after).unwrap();
    let mut disk = Disk::open(&story.project.path(), BlobReader::open(&scratch).unwrap()).unwrap();
    story.project.write("new/b", "of a person");
    let before = story.tree();
    assert_eq!(write_all(&mut disk, &all).unwrap(), ["new/b"]);
    assert_eq!(story.tree(), before);
}

#[test]
fn taking_back_can_be_killed_too() {
    for count in 0..=7 {
        let story = Story::with(&FILES);
        let snapshot = story.step("one", work);
        let merging = begin(&story, &snapshot);
        let before = story.tree();
        write_some(&story, &merging, count);
        let undoing = MergeRecord {
            progress: MergeState::Undoing,
            ..merging
        };
        let name = SafeName::of("one");
        story
            .worktrees
            .records
            .write_merge_record(&name, &undoing)
            .unwrap();
        let repository = story.worktrees.repository().unwrap();
        let merger: Merger<'_> = story.worktrees.merger(&repository);
        merger.settle().unwrap();
        assert_eq!(story.tree(), before, "killed after {count} writes");
        assert!(matches!(story.merge(&snapshot), Merged::Clean { .. }));
        assert_eq!(story.tree(), AFTER);
    }
}

#[test]
fn a_file_that_cannot_be_written_takes_the_whole_merge_back() {
    let story = Story::with(&FILES);
    let snapshot = story.step("one", |root| {
        work(root);
        write(root, "swap", "a file");
    });
    // Git does not see the ignored file that keeps the folder from becoming a file.
    write(&story.project.path(), ".git/info/exclude", "hidden\n");
    story.project.write("swap/hidden", "of the person");
    let before = story.tree();
    assert_eq!(story.merge(&snapshot), conflict(&["swap"]));
    assert_eq!(story.tree(), before);
}

/// A process that is killed before its ref exists leaves a pack that git must keep.
#[test]
fn a_pack_that_a_killed_process_handed_over_is_released() {
    let story = Story::with(&[("a", "1")]);
    story.prepare("one");
    let packs = story.project.path().join(".git/objects/pack");
    let keep_files = || {
        let listed = fs::read_dir(&packs).unwrap();
        let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".keep")).collect();
        names.sort();
        names
    };
    assert_eq!(
        keep_files(),
        Vec::<String>::new(),
        "nothing is left of an ordinary start"
    );
    for (name, note) in [
        ("pack-1.keep", "refs/gatewright/r-1/two"),
        ("pack-2.keep", "refs/gatewright/r-10/two"),
        ("pack-3.keep", "by a person"),
    ] {
        fs::write(packs.join(name), format!("{note}\n")).unwrap();
    }
    story.worktrees.prune().unwrap();
    assert_eq!(keep_files(), ["pack-2.keep", "pack-3.keep"]);
}
