//! The disk in the way: full, read-only, foreign, linked; and stores of another version.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use rusqlite::Connection;
use testkit::{Project, Ran};

use crate::fixture::{PROGRAM, RUN, entries, run, says_one_line, start, started};

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let project = started();
    let database = Connection::open(project.state().join("store.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    for line in [
        "status",
        "list",
        "checkpoint r-test x",
        "verify",
        "start small.toml --task x --by-hand",
    ] {
        says_one_line(run(&project, line), 5, &["99"]);
    }
}

#[test]
fn a_state_folder_that_is_a_link_or_a_file_is_not_used() {
    let project = crate::fixture::project();
    symlink(project.home(), project.state()).unwrap();
    says_one_line(
        start(&project, "small.toml"),
        4,
        &[project.state().to_str().unwrap()],
    );
    fs::remove_file(project.state()).unwrap();
    fs::write(project.state(), "x").unwrap();
    says_one_line(
        start(&project, "small.toml"),
        4,
        &[project.state().to_str().unwrap()],
    );
}

#[test]
fn the_state_is_private() {
    let project = started();
    for (path, mode) in [("", 0o700), ("store.db", 0o600), ("environments", 0o700)] {
        let found = fs::metadata(project.state().join(path))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(found & 0o777, mode, "{path}");
    }
    fs::set_permissions(project.state(), Permissions::from_mode(0o777)).unwrap();
    says_one_line(
        run(&project, "checkpoint r-test x"),
        4,
        &[project.state().to_str().unwrap()],
    );
}

#[test]
fn a_store_that_is_no_database_is_damage_and_never_made_anew() {
    let project = started();
    let database = project.state().join("store.db");
    fs::remove_file(project.state().join("store.db-wal")).ok();
    fs::write(&database, vec![0x55; 8192]).unwrap();
    says_one_line(
        run(&project, "checkpoint r-test x"),
        5,
        &["gatewright verify --repair"],
    );
    assert_eq!(fs::read(&database).unwrap(), vec![0x55; 8192]);
    fs::remove_file(&database).unwrap();
    says_one_line(
        start(&project, "small.toml"),
        5,
        &["gatewright verify --repair"],
    );
}

/// Runs a script in a mount namespace of its own, as root there. Tests that need it say so.
pub(crate) fn in_a_namespace(project: &Project, script: &str) -> Ran {
    let mut command = project.at_home("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-ec", script]);
    command.env("GATEWRIGHT", PROGRAM);
    Ran::from(
        command
            .output()
            .expect("unshare (of util-linux) is installed"),
    )
}

#[test]
fn a_full_disk_loses_nothing() {
    let project = crate::fixture::project();
    let ran = in_a_namespace(
        &project,
        r#"
        mount -t tmpfs -o size=700k,mode=700 tmpfs "$XDG_STATE_HOME"
        hash=$("$GATEWRIGHT" trust small.toml --show | sed -n 's/^hash  //p')
        "$GATEWRIGHT" trust small.toml --hash "$hash" >&2
        "$GATEWRIGHT" start small.toml --task x --by-hand --id r-test >&2
        "$GATEWRIGHT" checkpoint r-test before >&2
        dd if=/dev/zero of="$XDG_STATE_HOME/filler" bs=4k 2>/dev/null || true
        for name in a b c d e f; do
            "$GATEWRIGHT" checkpoint r-test $name >out 2>err && echo done || echo "exit $? $(cat err)"
        done
        rm "$XDG_STATE_HOME/filler"
        "$GATEWRIGHT" checkpoint r-test after >&2
        "$GATEWRIGHT" verify
        "$GATEWRIGHT" history --json > history.json
        "#,
    )
    .succeeds();
    let done = ran.stdout.lines().filter(|line| *line == "done").count();
    let refused: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("exit"))
        .collect();
    assert!(!refused.is_empty(), "the disk did not become full\n{ran}");
    for line in &refused {
        assert!(line.starts_with("exit 4 gatewright: "), "{ran}");
    }
    let history: serde_json::Value = serde_json::from_str(&project.read("history.json")).unwrap();
    assert_eq!(
        history["entries"].as_array().unwrap().len(),
        3 + done,
        "{ran}"
    );
    assert!(ran.stdout.contains("r-test  intact"), "{ran}");
}

#[test]
fn a_read_only_state_folder_is_told() {
    let project = started();
    let before = entries(&project, RUN);
    let ran = in_a_namespace(
        &project,
        r#"
        mount --bind "$XDG_STATE_HOME" "$XDG_STATE_HOME"
        mount -o remount,bind,ro "$XDG_STATE_HOME"
        for line in "checkpoint r-test x" "start small.toml --task x --by-hand" "reset r-test --reason x"; do
            "$GATEWRIGHT" $line >out 2>err && echo done || echo "exit $? $(cat err)"
        done
        "#,
    )
    .succeeds();
    assert_eq!(ran.stdout.lines().count(), 3, "{ran}");
    for line in ran.stdout.lines() {
        assert!(
            line.starts_with("exit 4 gatewright: ")
                && line.contains(project.state().to_str().unwrap()),
            "{ran}"
        );
    }
    assert_eq!(entries(&project, RUN), before);
}

#[test]
fn a_folder_that_is_gone_is_told() {
    let project = started();
    let gone = project.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let script = format!("rmdir {} && {PROGRAM} list", gone.display());
    let mut command = project.at_home("sh");
    command.args(["-c", &script]).current_dir(&gone);
    let ran = Ran::from(command.output().unwrap());
    says_one_line(ran, 4, &["folder"]);
}

#[test]
fn a_worktree_that_is_gone_is_told() {
    let project = started();
    let moved = project.path().with_file_name("moved");
    fs::rename(project.path(), &moved).unwrap();
    let mut command = project.command(["report", RUN, "--agent", "writer"]);
    let ran = Ran::from(command.current_dir(&moved).output().unwrap());
    says_one_line(
        ran,
        4,
        &["r-test", project.path().to_str().unwrap(), "cancel"],
    );
    let in_moved = |words: &[&str]| {
        let mut command = project.command(words);
        Ran::from(command.current_dir(&moved).output().unwrap())
    };
    for words in [&["check", RUN][..], &["skip", RUN, "--reason", "x"]] {
        says_one_line(in_moved(words), 4, &[project.path().to_str().unwrap()]);
    }
    let mut command = project.command(["status", RUN]);
    Ran::from(command.current_dir(&moved).output().unwrap()).succeeds();
    in_moved(&["cancel", RUN, "--reason", "it is gone"]).succeeds();
}
