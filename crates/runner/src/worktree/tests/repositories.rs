//! Repositories that are not plain: none, unborn, nested, sparse, shallow, in a subfolder.

use std::fs;

use super::*;

#[test]
fn without_git_there_are_no_worktrees() {
    let story = Story::of(Project::new("unused"));
    let prepared = story.worktrees.prepare("one", &[]).unwrap();
    let Prepared::NoGit(no_git) = prepared else {
        panic!("{prepared:?}");
    };
    assert_eq!(no_git.reason, "this project is not a git repository");
    assert_eq!(story.worktrees.list().unwrap(), []);
    story.worktrees.prune().unwrap();
    story.worktrees.remove_all().unwrap();
}

#[test]
fn a_repository_without_a_commit_works() {
    let project = Project::new("unused");
    project.git(["init", "--quiet", "--initial-branch=main"]);
    project.write("a", "1");
    let story = Story::of(project);
    let snapshot = story.step("one", |folder| {
        assert_eq!(tree(folder), "a = 1");
        write(folder, "b", "2");
    });
    assert_eq!(story.merge(&snapshot), clean(&["b"]));
    assert_eq!(story.git(&["status", "--short"]), "?? a\n?? b\n");
}

#[test]
fn a_repository_with_longer_hashes_works() {
    let project = Project::new("unused");
    project.git(["init", "--quiet", "--object-format=sha256"]);
    project.write("a", "1");
    let story = Story::of(project);
    let snapshot = story.step("one", |folder| write(folder, "a", "2"));
    assert_eq!(snapshot.commit.len(), 64);
    assert_eq!(story.merge(&snapshot), clean(&["a"]));
}

#[test]
fn a_run_in_a_subfolder_works_in_the_same_subfolder() {
    let project = Project::with_git("unused");
    project.write("top", "1");
    project.write("apps/web/page", "1");
    project.write("apps/.gitignore", "out.json\n");
    let root = project.path().join("apps/web");
    let story = Story::at(project, &root);
    let worktree = story.prepare_with("one", &["out.json"]);
    assert!(worktree.folder.ends_with("one/apps/web"));
    write(&worktree.folder, "page", "2");
    write(&worktree.folder, "../../top", "2");
    write(&worktree.folder, "out.json", "{}");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    let changed = ["apps/web/out.json", "apps/web/page", "top"];
    assert_eq!(story.merge(&snapshot), clean(&changed));
    assert_eq!(fs::read_to_string(root.join("out.json")).unwrap(), "{}");
}

#[test]
fn files_of_repositories_inside_come_along_and_come_back() {
    let story = Story::with(&[("a", "1")]);
    let root = story.project.path();
    for inner in ["module", "loose"] {
        let folder = root.join(inner);
        story.git(&["init", "--quiet", folder.to_str().unwrap()]);
        write(&folder, "file", "1");
        story.git(&["-C", folder.to_str().unwrap(), "add", "--all"]);
        story.git(&[
            "-C",
            folder.to_str().unwrap(),
            "commit",
            "--quiet",
            "--message=1",
        ]);
    }
    story.git(&["-c", "advice.addEmbeddedRepo=false", "add", "module"]);
    story.git(&["commit", "--quiet", "--message=module"]);
    let worktree = story.prepare("one");
    assert_eq!(
        tree(&worktree.folder),
        "a = 1\nloose/file = 1\nmodule/file = 1"
    );
    write(&worktree.folder, "module/file", "2");
    write(&worktree.folder, "loose/other", "2");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(
        story.merge(&snapshot),
        clean(&["loose/other", "module/file"])
    );
    let inner = root.join("module");
    let status = story.git(&["-C", inner.to_str().unwrap(), "status", "--short"]);
    assert_eq!(status, " M file\n", "the repository inside is still one");
}

#[test]
fn what_is_not_checked_out_stays_as_it_is() {
    let story = Story::with(&[("in/a", "1"), ("out/b", "1")]);
    story.git(&["sparse-checkout", "set", "in"]);
    let worktree = story.prepare("one");
    assert_eq!(tree(&worktree.folder), "in/a = 1");
    write(&worktree.folder, "in/a", "2");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(story.merge(&snapshot), clean(&["in/a"]));
    assert_eq!(story.git(&["status", "--short"]), " M in/a\n");
}

#[test]
fn a_shallow_clone_and_a_linked_worktree_work() {
    let origin = Story::with(&[("a", "1\n2\n3\n4\n5\n")]);
    origin.project.write("b", "1");
    origin.git(&["add", "--all"]);
    origin.git(&["commit", "--quiet", "--message=b"]);
    let project = Project::new("unused");
    let from = format!("file://{}", origin.project.path().display());
    project.git(["clone", "--quiet", "--depth=1", &from, "."]);
    let linked = project.path().with_file_name("linked");
    project.git([
        "worktree",
        "add",
        "--quiet",
        "--detach",
        linked.to_str().unwrap(),
    ]);
    write(&linked, "only-here", "1");
    let story = Story::at(project, &linked);
    let snapshot = story.step("one", |folder| {
        assert!(folder.join("only-here").exists());
        write(folder, "a", "one\n2\n3\n4\n5\n");
    });
    write(&linked, "a", "1\n2\n3\n4\nfive\n");
    assert_eq!(story.merge(&snapshot), clean(&["a"]));
    assert_eq!(
        fs::read_to_string(linked.join("a")).unwrap(),
        "one\n2\n3\n4\nfive\n"
    );
    let other = fs::read_to_string(story.project.path().join("a")).unwrap();
    assert_eq!(
        other, "1\n2\n3\n4\n5\n",
        "the other worktree is somebody else's"
    );
}

#[test]
fn line_ends_and_filtered_files_are_carried_as_they_lie_there() {
    let story = Story::with(&[(".gitattributes", "*.txt text eol=crlf\n*.bin filter=lfs\n")]);
    story.git(&["config", "filter.lfs.clean", "false"]);
    story.git(&["config", "filter.lfs.smudge", "false"]);
    story.git(&["config", "filter.lfs.required", "true"]);
    story.project.write("a.txt", "1\r\n2\r\n");
    story.project.write("big.bin", b"\0big");
    let worktree = story.prepare("one");
    assert_eq!(tree(&worktree.folder), story.tree());
    write(&worktree.folder, "a.txt", "1\r\n2\r\n3\r\n");
    write(&worktree.folder, "big.bin", b"\0bigger");
    let snapshot = story.worktrees.finish(&worktree).unwrap();
    assert_eq!(story.merge(&snapshot), clean(&["a.txt", "big.bin"]));
    assert_eq!(story.project.read("a.txt"), "1\r\n2\r\n3\r\n");
}
