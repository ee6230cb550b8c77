//! What a worktree holds when its worker begins, and what making it leaves alone.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_worktree_holds_exactly_what_lies_there() {
    let story = Story::with(&[
        ("committed", "old\n"),
        ("deleted", "x"),
        ("folder/staged", "1"),
        (".gitignore", "ignored\nnode_modules/\n"),
    ]);
    let root = story.project.path();
    write(&root, "committed", "changed\r\n");
    fs::remove_file(root.join("deleted")).unwrap();
    write(&root, "folder/staged", "2");
    story.git(&["add", "folder/staged"]);
    write(&root, "folder/staged", "3");
    write(&root, "un tracked/ä\n\"x\"", b"\0\xff");
    write(&root, "tool", "#!/bin/sh\n");
    make_program(&root.join("tool"));
    symlink("nowhere/at all", root.join("link")).unwrap();
    let expected = story.tree();
    write(&root, "ignored", "secret");
    write(&root, "node_modules/a/b.js", "module");

    let worktree = story.prepare("one");
    assert_eq!(tree(&worktree.folder), expected);
    assert!(!worktree.folder.starts_with(&root));
    let head = story.git(&["-C", worktree.folder.to_str().unwrap(), "status", "--short"]);
    assert_eq!(head, "", "the worker's own git sees no change");
    assert_eq!(
        story.merge(&story.worktrees.finish(&worktree).unwrap()),
        Merged::Nothing
    );
}

#[test]
fn nothing_of_the_person_is_touched() {
    let story = Story::with(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    let root = story.project.path();
    write(&root, "a", "stashed\n");
    story.git(&["stash"]);
    write(&root, "a", "staged\n");
    story.git(&["add", "a"]);
    write(&root, "b", "unstaged\n");
    story.git(&["config", "core.logAllRefUpdates", "always"]);
    story.git(&["config", "commit.gpgSign", "true"]);
    let alarm = root.join(".git/alarm");
    let ring = format!("#!/bin/sh\necho \"$0\" >> '{}'\n", alarm.display());
    for hook in [
        "post-checkout",
        "pre-commit",
        "reference-transaction",
        "post-index-change",
    ] {
        let hook = root.join(".git/hooks").join(hook);
        write(&root, hook.to_str().unwrap(), &ring);
        make_program(&hook);
    }
    let look = || {
        let index = fs::read(root.join(".git/index")).unwrap();
        let logs = tree(&root.join(".git/logs"));
        let head = fs::read(root.join(".git/HEAD")).unwrap();
        let refs = tree(&root.join(".git/refs/heads")) + &tree(&root.join(".git/refs/tags"));
        let stash = fs::read(root.join(".git/refs/stash")).unwrap();
        (index, logs, head, refs, stash)
    };
    let before = look();

    let snapshot = story.step("one", |folder| write(folder, "c", "2\n"));
    assert_eq!(story.merge(&snapshot), clean(&["c"]));
    assert!(before == look(), "before the worktree goes");
    let worktree = story.worktrees.find("one").unwrap().unwrap();
    story.worktrees.discard(&worktree).unwrap();
    assert!(before == look(), "index, logs, HEAD, branches, stash");
    assert!(!alarm.exists(), "{}", fs::read_to_string(&alarm).unwrap());
    fs::remove_dir_all(root.join(".git/hooks")).unwrap();
    assert_eq!(story.git(&["status", "--short"]), "M  a\n M b\n M c\n");
    assert_eq!(story.git(&["for-each-ref", "refs/gatewright"]), "");
    assert_eq!(story.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_program_that_the_repository_names_is_never_started() {
    let story = Story::with(&[("a.txt", "1\n2\n3\n4\n5\n")]);
    let root = story.project.path();
    let alarm = root.join(".git/alarm");
    let ring = format!("touch '{}'; cat", alarm.display());
    for setting in [
        "filter.loud.clean",
        "filter.loud.smudge",
        "diff.loud.textconv",
        "merge.loud.driver",
    ] {
        story.git(&["config", setting, &ring]);
    }
    story.git(&["config", "core.fsmonitor", &ring]);
    write(
        &root,
        ".git/info/attributes",
        "*.txt filter=loud diff=loud merge=loud\n",
    );
    let snapshot = story.step("one", |folder| write(folder, "a.txt", "one\n2\n3\n4\n5\n"));
    write(&root, "a.txt", "1\n2\n3\n4\nfive\n");
    // A driver of the repository's own would have to judge this, and it is not asked.
    assert_eq!(story.merge(&snapshot), conflict(&["a.txt"]));
    assert!(!alarm.exists());
    write(&root, "a.txt", "1\n2\n3\n4\n5\n");
    assert_eq!(story.merge(&snapshot), clean(&["a.txt"]));
    assert!(!alarm.exists());
}

#[test]
fn a_name_is_prepared_once() {
    let story = Story::with(&[("a", "1")]);
    let first = story.prepare("build: 1/2");
    write(&first.folder, "a", "half done");
    let again = story.prepare("build: 1/2");
    assert_eq!(again, first);
    assert_eq!(tree(&again.folder), "a = half done");
    assert_eq!(story.worktrees.list().unwrap(), [first]);
    let failed = story.worktrees.prepare("other", &[String::from("../out")]);
    assert_eq!(
        failed.unwrap_err().to_string(),
        "cannot copy a path into a worktree: `../out` contains `..`; write a path inside the \
         project"
    );
}

#[test]
fn what_a_killed_preparation_left_is_made_anew() {
    let story = Story::with(&[("a", "1"), ("b", "2")]);
    let whole = story.prepare("one");
    // Killed before it was noted, with half of its files.
    fs::remove_file(whole.folder.join("b")).unwrap();
    fs::remove_file(whole.root.with_extension("json")).unwrap();
    assert_eq!(tree(&story.prepare("one").folder), "a = 1\nb = 2");
    assert_eq!(story.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn carried_files_come_along_and_come_back_though_ignored() {
    let story = Story::with(&[(".gitignore", "state/\n")]);
    let root = story.project.path();
    write(&root, "state/in.json", "{\"in\": 1}");
    write(&root, "state/other.json", "private");
    let paths = ["state/in.json", "state/out.json", "state/never.json"];
    let worktree = story.prepare_with("one", &paths);
    assert_eq!(
        tree(&worktree.folder),
        ".gitignore = state/\\n\nstate/in.json = {\\\"in\\\": 1}"
    );
    write(&worktree.folder, "state/out.json", "{}");
    write(&worktree.folder, "state/scratch", "stays");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(story.merge(&snapshot), clean(&["state/out.json"]));
    assert_eq!(story.project.read("state/out.json"), "{}");
    assert!(!root.join("state/scratch").exists());

    // They are carried whole: two that change different lines are in each other's way all the same.
    let lines = "1\n2\n3\n4\n5\n6\n7\n";
    write(&root, "state/out.json", lines);
    let worktree = story.prepare_with("two", &paths);
    write(
        &worktree.folder,
        "state/out.json",
        lines.replace('1', "one"),
    );
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    write(&root, "state/out.json", lines.replace('7', "seven"));
    assert_eq!(story.merge(&snapshot), conflict(&["state/out.json"]));
    assert_eq!(
        story.project.read("state/out.json"),
        lines.replace('7', "seven")
    );
}

/// Git reads its records of all worktrees, and another git is writing one of them.
#[test]
fn a_worktree_that_another_git_makes_at_the_moment_is_waited_for() {
    let story = Story::with(&[("a", "1")]);
    let record = story.project.path().join(".git/worktrees/other");
    fs::create_dir_all(&record).unwrap();
    fs::write(record.join("gitdir"), "/elsewhere/.git\n").unwrap();
    fs::write(record.join("HEAD"), "ref: refs/heads/other\n").unwrap();
    fs::write(record.join("commondir"), "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The other git needs a moment, in which ours fails.
            std::thread::sleep(std::time::Duration::from_millis(300));
            fs::write(record.join("commondir"), "../..\n").unwrap();
        });
        let worktree = story.prepare("one");
        assert_eq!(tree(&worktree.folder), "a = 1");
    });
}
