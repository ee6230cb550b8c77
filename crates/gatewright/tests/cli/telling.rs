//! Messages for people: what is wrong, where, and what to type.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use testkit::Ran;

use crate::fixture::{
    PROGRAM, RUN, SMALL, entries, fact, number_of_runs, project, run, says_one_line, stage, start,
    started, status, to_the_end, to_the_question, until_old_enough,
};

#[test]
fn of_two_checks_at_once_one_counts_and_the_other_is_told() {
    let project = project();
    let slow = "mkdir $HOME/began/$$; while [ ! -e $HOME/go ]; do sleep 0.02; done";
    project.write("slow.sh", slow);
    let pipeline = SMALL.replace("grep -q Hello note.md", "sh slow.sh");
    project.write("slow.toml", pipeline);
    let began = project.home().join("began");
    fs::create_dir(&began).unwrap();
    start(&project, "slow.toml").succeeds();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    let check = || {
        let mut command = project.command(["check"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let both = [check(), check()];
    testkit::until("both checks run", || {
        fs::read_dir(&began).unwrap().count() == 2
    });
    fs::write(project.home().join("go"), "").unwrap();
    let mut ran = both.map(|child| Ran::from(child.wait_with_output().unwrap()));
    ran.sort_by_key(|ran| ran.code);
    let [first, second] = ran;
    first.succeeds();
    says_one_line(second, 1, &["GW-R52"]);
    assert_eq!(stage(&project), "asking");
}

#[test]
fn a_folder_that_is_not_searched_is_told_with_its_reason() {
    let project = project();
    let missing = SMALL.replace("grep -q Hello note.md", "my-own-tool");
    project.write("missing.toml", missing);
    let tool = project.write("bin/my-own-tool", "#!/bin/sh\n");
    testkit::make_executable(&tool);
    project.trust_by_hash("missing.toml");
    let words = ["start", "missing.toml", "--task", "x", "--by-hand"];
    let mut command = project.command(words);
    let open = project.home().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    command.env("PATH", format!("{}:bin:/usr/bin", open.display()));
    Ran::from(command.output().unwrap()).succeeds();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    let open = open.display().to_string();
    let ran = run(&project, "check");
    let facts = ["GW-R55", "my-own-tool", "/usr/bin", &open, "relative"];
    says_one_line(ran, 4, &facts);
}

#[test]
fn what_must_say_something_is_not_empty() {
    let project = project();
    for task in ["", " \n"] {
        let ran = project.run(["start", "small.toml", "--by-hand", "--task", task]);
        says_one_line(ran, 2, &["task"]);
    }
    let start_ansible = |param: &str| {
        let words = ["start", "ansible", "--by-hand", "--task", "x", "--param"];
        project.run(words.into_iter().chain([param]))
    };
    let told = &["'target'", "--param target=VALUE"];
    says_one_line(start_ansible("target="), 1, told);
    says_one_line(
        start_ansible("tagret=x"),
        1,
        &["GW-R01", "--param target=VALUE"],
    );
    let ran = run(&project, "start ansible --by-hand --task x");
    says_one_line(ran, 1, &["GW-R01", "--param target=VALUE"]);
    assert_eq!(number_of_runs(&project), 0);
}

#[test]
fn a_reason_says_something() {
    let project = started();
    for what in ["cancel", "reset"] {
        let ran = project.run([what, RUN, "--reason", " "]);
        says_one_line(ran, 1, &["--reason"]);
    }
    assert!(!project.state().join("backups").exists());
    assert_eq!(entries(&project, RUN), 1);
    run(&project, "checkpoint r-test 12").exits(2);
    run(&project, "checkpoint r-test v12").succeeds();
}

#[test]
fn backups_go_with_their_runs() {
    let project = started();
    run(&project, "reset --reason x").succeeds();
    let backups = || {
        fs::read_dir(project.state().join("backups"))
            .unwrap()
            .count()
    };
    run(&project, "gc --older-than 0s").succeeds();
    assert_eq!(backups(), 1);
    run(&project, "cancel --reason x").succeeds();
    until_old_enough(&project);
    let collected = run(&project, "gc --older-than 0s").succeeds();
    assert!(collected.stdout.contains("1 run"), "{collected}");
    assert_eq!(backups(), 0);
}

#[test]
fn a_task_may_come_from_the_input() {
    let project = project();
    let words = [
        "start",
        "small.toml",
        "--by-hand",
        "--id",
        RUN,
        "--task",
        "-",
    ];
    says_one_line(project.run(words), 2, &["task"]);
    let long = "x".repeat(1024 * 1024 + 1);
    says_one_line(project.run_with_input(words, &long), 1, &["1048576"]);
    project.trust("small.toml");
    project.run_with_input(words, "write\na note\n").succeeds();
    assert_eq!(fact(&project, "status")["task"], "write\na note");
}

#[test]
fn a_list_without_active_runs_names_the_way_to_the_others() {
    let project = started();
    run(&project, "cancel --reason x").succeeds();
    says_one_line(run(&project, "list"), 0, &["`gatewright list --all`"]);
    let one = run(&project, "list --all").succeeds();
    assert!(!one.stdout.contains("PROJECT"), "{one}");

    let elsewhere = project.home();
    fs::copy(
        project.path().join("small.toml"),
        elsewhere.join("small.toml"),
    )
    .unwrap();
    let trust = format!("cd {} && {PROGRAM} trust small.toml", elsewhere.display());
    project.person_at(&trust, "yes\n").succeeds();
    let mut command = project.command(["start", "small.toml", "--task", "x", "--by-hand"]);
    Ran::from(command.current_dir(&elsewhere).output().unwrap()).succeeds();
    let both = run(&project, "list --all").succeeds();
    for words in ["PROJECT", &elsewhere.display().to_string()] {
        assert!(both.stdout.contains(words), "{words}\n{both}");
    }
}

#[test]
fn a_list_of_damaged_runs_is_not_empty() {
    let project = started();
    let store = project.state().join("store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    store
        .execute_batch("UPDATE runs SET state = x'00'")
        .unwrap();
    let listed = run(&project, "list").exits(5);
    assert!(
        listed.stdout.contains("r-test") && listed.stdout.contains("damaged"),
        "{listed}"
    );
    assert!(!listed.stderr.contains("gatewright start"), "{listed}");
    let ran = project.run(["list", "--json"]).exits(5);
    let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(facts["runs"][0]["status"], "damaged");
}

#[test]
fn a_report_out_of_place_is_told_the_true_reason() {
    let project = started();
    says_one_line(run(&project, "report"), 1, &["GW-R34", "note.md"]);
    let given = "report --artifact note=no-such-file.md";
    says_one_line(
        run(&project, given),
        4,
        &["no-such-file.md", "--artifact note="],
    );
    project.write("note.md", [0xff]);
    says_one_line(run(&project, "report"), 1, &["GW-R34", "note.md"]);
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    says_one_line(run(&project, "report"), 1, &["GW-R11", "testing"]);
    run(&project, "check").succeeds();
    says_one_line(run(&project, "report"), 1, &["GW-R11", "asking"]);
    says_one_line(run(&project, "check"), 1, &["GW-R52", "asking"]);
    run(&project, "cancel --reason x").succeeds();
    says_one_line(run(&project, "check r-test"), 1, &["GW-R16"]);
}

#[test]
fn a_stuck_check_says_what_it_waits_for() {
    let project = started();
    for _ in 0..3 {
        run(&project, "report --outcome crashed").succeeds();
    }
    assert_eq!(status(&project), "waiting");
    says_one_line(run(&project, "check"), 1, &["GW-R17"]);
}

#[test]
fn a_captured_artifact_can_be_read() {
    let project = started();
    let told = &["'note'"];
    says_one_line(run(&project, "export r-test --artifact note"), 3, told);
    to_the_question(&project);
    project.write("note.md", "changed since\n");
    let shown = run(&project, "export r-test --artifact note").succeeds();
    assert_eq!(shown.stdout, "Hello\n");
    run(&project, "export r-test --artifact note -o copy.md").succeeds();
    assert_eq!(project.read("copy.md"), "Hello\n");
    says_one_line(
        run(&project, "export r-test --artifact verdict"),
        3,
        &["'verdict'", "note"],
    );
    says_one_line(
        run(&project, "export r-test --format md --json"),
        2,
        &["--json"],
    );
}

#[test]
fn each_of_several_files_has_its_line() {
    let project = project();
    project.write("bad.toml", "name = 1\n");
    let linted = run(&project, "lint bad.toml small.toml").exits(1);
    let lines: Vec<&str> = linted.stdout.lines().collect();
    assert!(lines[0].starts_with("bad.toml: "), "{linted}");
    assert_eq!(lines[1], "small.toml: accepted");
}

#[test]
fn a_built_in_pipeline_is_written_with_all_its_files() {
    let project = project();
    let shown = run(&project, "pipelines multi-ai").succeeds();
    for words in ["multi-ai/plan.json", "--out FOLDER"] {
        assert!(shown.stderr.contains(words), "{words}\n{shown}");
    }
    let written = run(&project, "pipelines multi-ai --out mine").succeeds();
    assert!(written.stdout.starts_with("multi-ai.toml\n"), "{written}");
    run(&project, "lint mine/multi-ai.toml").succeeds();
    let again = run(&project, "pipelines multi-ai --out mine");
    says_one_line(again, 1, &["multi-ai.toml"]);
    run(&project, "pipelines --out mine").exits(2);
}

#[test]
fn the_cache_is_private() {
    let project = started();
    to_the_question(&project);
    to_the_end(&project);
    let mode = fs::metadata(project.state().join("cache"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o700);
}
