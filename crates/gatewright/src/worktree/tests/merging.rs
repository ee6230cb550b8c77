//! What comes of two sides that changed something.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// Changes by a worker and by somebody else since it began, what comes of the merge, and the tree.
type Row<'a> = (&'a str, fn(&Path), fn(&Path), Merged, &'a str);

#[test]
fn every_kind_of_change_is_merged_or_told() {
    let nothing: fn(&Path) = |_| {};
    let rows: Vec<Row<'_>> = vec![
        (
            "both changed other lines",
            |root| write(root, "text", LINES.replace('1', "one")),
            |root| write(root, "text", LINES.replace('9', "nine")),
            clean(&["text"]),
            "binary = \\x00\\x01\nfolder/inner = i\ntext = one\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\nnine\\n",
        ),
        (
            "both changed one line",
            |root| write(root, "text", LINES.replace('5', "five")),
            |root| write(root, "text", LINES.replace('5', "V")),
            conflict(&["text"]),
            "binary = \\x00\\x01\nfolder/inner = i\ntext = 1\\n2\\n3\\n4\\nV\\n6\\n7\\n8\\n9\\n",
        ),
        (
            "both made the same change",
            |root| write(root, "text", "same"),
            |root| write(root, "text", "same"),
            Merged::Nothing,
            "binary = \\x00\\x01\nfolder/inner = i\ntext = same",
        ),
        (
            "one deleted what the other changed",
            |root| fs::remove_file(root.join("text")).unwrap(),
            |root| write(root, "text", LINES.replace('5', "five")),
            conflict(&["text"]),
            "binary = \\x00\\x01\nfolder/inner = i\ntext = 1\\n2\\n3\\n4\\nfive\\n6\\n7\\n8\\n9\\n",
        ),
        (
            "one changed what the other deleted",
            |root| write(root, "text", LINES.replace('5', "five")),
            |root| fs::remove_file(root.join("text")).unwrap(),
            conflict(&["text"]),
            "binary = \\x00\\x01\nfolder/inner = i",
        ),
        (
            "a file was deleted, and its folder with it",
            |root| fs::remove_dir_all(root.join("folder")).unwrap(),
            nothing,
            clean(&["folder/inner"]),
            "binary = \\x00\\x01\ntext = 1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n",
        ),
        (
            "a binary was changed",
            |root| write(root, "binary", b"\0\x02"),
            nothing,
            clean(&["binary"]),
            "binary = \\x00\\x02\nfolder/inner = i\ntext = 1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n",
        ),
        (
            "both changed a binary, and another file is not merged either",
            |root| {
                write(root, "binary", b"\0\x02");
                write(root, "text", "mine");
            },
            |root| write(root, "binary", b"\0\x03"),
            conflict(&["binary"]),
            "binary = \\x00\\x03\nfolder/inner = i\ntext = 1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n",
        ),
        (
            "a file became a link and a program, and was renamed",
            |root| {
                fs::remove_file(root.join("binary")).unwrap();
                symlink("folder/inner", root.join("binary")).unwrap();
                make_program(&root.join("folder/inner"));
                fs::rename(root.join("text"), root.join("moved")).unwrap();
            },
            |root| write(root, "text", LINES.replace('9', "nine")),
            clean(&["binary", "folder/inner", "moved", "text"]),
            "binary -> folder/inner\nfolder/inner* = i\nmoved = 1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\nnine\\n",
        ),
        (
            "a folder became a file and a file became a folder",
            |root| {
                fs::remove_dir_all(root.join("folder")).unwrap();
                write(root, "folder", "a file now");
                fs::remove_file(root.join("binary")).unwrap();
                write(root, "binary/deep/file", "x");
            },
            nothing,
            clean(&["binary", "binary/deep/file", "folder", "folder/inner"]),
            "binary/deep/file = x\nfolder = a file now\ntext = 1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n",
        ),
        (
            "both made a file of one name",
            |root| write(root, "new", "mine"),
            |root| write(root, "new", "yours"),
            conflict(&["new"]),
            "binary = \\x00\\x01\nfolder/inner = i\nnew = yours\ntext = 1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n",
        ),
        (
            "a folder on the way became a link",
            |root| write(root, "folder/new", "n"),
            |root| {
                fs::rename(root.join("folder"), root.join("real")).unwrap();
                symlink("real", root.join("folder")).unwrap();
            },
            conflict(&["folder", "folder/new"]),
            "binary = \\x00\\x01\nfolder -> real\nreal/inner = i\ntext = 1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n",
        ),
        (
            "an ignored file is in the way",
            |root| {
                write(root, ".git/info/none", "");
                write(root, "build.log", "kept by force");
                let forced = std::process::Command::new("git")
                    .args(["-C", root.to_str().unwrap(), "add", "-f", "build.log"])
                    .status();
                assert!(forced.unwrap().success());
            },
            |root| write(root, "build.log", "of the person"),
            conflict(&["build.log"]),
            "binary = \\x00\\x01\nbuild.log = of the person\nfolder/inner = i\ntext = 1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n",
        ),
    ];
    for (about, worker, other, expected, after) in rows {
        let story = Story::with(&[
            ("text", LINES),
            ("binary", "\0\u{1}"),
            ("folder/inner", "i"),
        ]);
        let snapshot = story.step("one", worker);
        other(&story.project.path());
        let merged = story.merge(&snapshot);
        match (&merged, &expected) {
            // Git tells more of some conflicts than of others; that there is one is what counts.
            (Merged::Conflict { paths }, Merged::Conflict { paths: some }) => {
                let known = some.iter().any(|path| paths.contains(path));
                assert!(known, "{about}: {paths:?}");
            }
            _ => assert_eq!(merged, expected, "{about}"),
        }
        assert_eq!(story.tree(), after, "{about}");
        let index = story.git(&["diff", "--cached", "--name-only"]);
        assert_eq!(index, "", "{about}: the index stays as it was");
    }
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
    story.project.write("a.lock", LINES.replace('9', "nine"));
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
