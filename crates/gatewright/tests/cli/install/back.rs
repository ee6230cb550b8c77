//! `uninit`: files as they were, or what somebody wrote since without our part.

use std::fs;

use super::fixture::{LOCAL, SHARED, init, json, project, tree, uninit};

#[test]
fn settings_that_were_changed_since_keep_the_change() {
    let project = project();
    let mine = "{\n  \"model\": \"opus\"\n}\n";
    project.write(LOCAL, mine);
    init(&project, &[]).succeeds();
    let changed = project.read(LOCAL).replace("\"opus\"", "\"sonnet\"");
    project.write(LOCAL, &changed);
    let ran = uninit(&project).succeeds();
    assert!(ran.stderr.contains(LOCAL), "{ran}");
    assert_eq!(project.read(LOCAL), mine.replace("opus", "sonnet"));
}

#[test]
fn a_change_between_two_installations_is_kept_as_well() {
    let project = project();
    project.write(LOCAL, "{\n  \"model\": \"opus\"\n}\n");
    init(&project, &[]).succeeds();
    let changed = project.read(LOCAL).replace("\"opus\"", "\"sonnet\"");
    project.write(LOCAL, changed.replace("\"timeout\": 10", "\"timeout\": 1"));
    init(&project, &[]).succeeds();
    assert_eq!(
        json(&project, LOCAL)["hooks"]["Stop"][0]["hooks"][0]["timeout"],
        10
    );
    uninit(&project).succeeds();
    assert_eq!(project.read(LOCAL), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn lines_that_were_added_to_the_ignore_file_stay() {
    let project = project();
    project.write(".gitignore", "target\n");
    init(&project, &[]).succeeds();
    let changed = project.read(".gitignore") + "more\n";
    project.write(".gitignore", changed);
    uninit(&project).succeeds();
    assert_eq!(project.read(".gitignore"), "target\nmore\n");
}

#[test]
fn files_of_ours_that_were_changed_stay_and_are_named() {
    let project = project();
    init(&project, &[]).succeeds();
    let path = ".claude/agents/context-gatherer.md";
    project.write(path, "better\n");
    let ran = uninit(&project).succeeds();
    assert!(ran.stderr.contains(path), "{ran}");
    assert!(
        ran.stdout.contains(path),
        "not all files are as they were: {ran}"
    );
    let left = tree(&project.path());
    let files: Vec<_> = left.iter().filter(|(_, bytes)| bytes.is_some()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(project.read(path), "better\n");
}

#[test]
fn a_folder_in_which_somebody_put_something_stays() {
    let project = project();
    init(&project, &[]).succeeds();
    project.write(".gatewright/notes.md", "mine\n");
    uninit(&project).succeeds();
    assert_eq!(project.read(".gatewright/notes.md"), "mine\n");
    assert!(!project.path().join(".gatewright/agents").exists());
}

#[test]
fn files_that_are_gone_stay_gone() {
    let project = project();
    project.write(LOCAL, "{}");
    init(&project, &[]).succeeds();
    fs::remove_file(project.path().join(LOCAL)).unwrap();
    fs::remove_dir_all(project.path().join(".claude/agents")).unwrap();
    uninit(&project).succeeds();
    assert!(!project.path().join(LOCAL).exists());
    assert!(!project.path().join(".claude/agents").exists());
}

#[test]
fn where_nothing_is_installed_there_is_nothing_to_do() {
    let project = project();
    project.write(LOCAL, "{\"model\": \"opus\"}");
    let before = tree(&project.path());
    let ran = uninit(&project).succeeds();
    assert_eq!(ran.stdout.lines().count(), 1, "{ran}");
    assert_eq!(tree(&project.path()), before);
}

#[test]
fn hooks_that_nobody_remembers_are_taken_out() {
    let project = project();
    let mine = "{\n  \"model\": \"opus\"\n}\n";
    project.write(LOCAL, mine);
    init(&project, &[]).succeeds();
    fs::remove_dir_all(project.state().join("installs")).unwrap();
    uninit(&project).succeeds();
    assert_eq!(project.read(LOCAL), mine);
}

#[test]
fn hooks_that_a_teammate_committed_stay() {
    let project = project();
    init(&project, &["--shared"]).succeeds();
    fs::remove_dir_all(project.state()).unwrap();
    let before = project.read(SHARED);
    let ran = uninit(&project).succeeds();
    assert!(ran.stderr.contains(SHARED), "{ran}");
    assert_eq!(project.read(SHARED), before);
}

#[test]
fn a_person_types_the_word() {
    let project = project();
    init(&project, &[]).succeeds();
    let ran = project.person(["uninit"], "y\n").exits(1);
    assert!(ran.stdout.contains("Type uninit"), "{ran}");
    assert!(project.path().join(LOCAL).exists());
    project.person(["uninit"], "uninit\n").succeeds();
    assert!(!project.path().join(".claude").exists());
}

#[test]
fn without_a_terminal_and_without_yes_nothing_is_taken_out() {
    let project = project();
    init(&project, &[]).succeeds();
    let before = tree(&project.path());
    let ran = project.run(["uninit"]).exits(1);
    assert!(ran.stderr.contains("--yes"), "{ran}");
    assert_eq!(tree(&project.path()), before);
}

#[test]
fn a_worktree_is_told_where_its_project_was_installed() {
    let project = project();
    init(&project, &[]).succeeds();
    project.git(["worktree", "add", "--quiet", "../other"]);
    let other = project.path().parent().unwrap().join("other");
    let mut command = project.command(["uninit", "--yes"]);
    let ran = testkit::Ran::from(command.current_dir(&other).output().unwrap()).succeeds();
    assert!(
        ran.stderr.contains(project.path().to_str().unwrap()),
        "{ran}"
    );
    let mut command = project.command(["init", "--yes"]);
    let ran = testkit::Ran::from(command.current_dir(&other).output().unwrap()).succeeds();
    assert!(ran.stderr.contains(LOCAL), "{ran}");
    let mut command = project.command(["uninit", "--yes"]);
    testkit::Ran::from(command.current_dir(&other).output().unwrap()).succeeds();
    let known = project.run(["doctor"]).succeeds();
    assert!(known.stdout.contains("context-first"), "{known}");
}
