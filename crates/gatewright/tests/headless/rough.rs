//! Rough weather: workers that destroy what they stand on, signals of all kinds, and odd ends.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use testkit::Ran;

use super::fixture::{ONE, WRITES, World, says, until};
use super::under_way::{UnderWay, is_alive};

fn strict() -> String {
    ONE.replace("on.done", "retry = 0\non.done")
}

#[test]
fn a_worker_that_takes_its_project_away_is_told_and_the_run_stays() {
    let world = World::with(&strict(), r#"rm -rf "$PWD""#);
    let ran = world.run("").exits(4);
    says(&ran.stderr, world.project.path().to_str().unwrap());
    let mut command = world.command("status r-test --json");
    let ran = Ran::from(command.current_dir(world.project.home()).output().unwrap());
    says(&ran.succeeds().stdout, "\"running\"");
}

#[test]
fn a_worker_that_destroys_the_repository_is_judged_by_what_it_leaves() {
    let world = World::with(&strict(), &format!("rm -rf .git\n{WRITES}"));
    world.run("").succeeds();
    assert_eq!(world.status("r-test"), "completed");
}

#[test]
fn a_program_that_the_system_cannot_execute_is_a_crash_with_its_reason() {
    let world = World::with(&strict(), "");
    let odd = world.programs().join("odd");
    fs::write(&odd, [0x7f, b'E', b'L', b'F', 0, 0]).unwrap();
    fs::set_permissions(&odd, fs::Permissions::from_mode(0o755)).unwrap();
    let line = world.line("");
    let line = line.replace("/agent", "/odd");
    let ran = world.gatewright(&line).exits(6);
    says(&ran.stdout, "Exec format error");
}

#[test]
fn a_task_that_is_no_text_is_refused() {
    let world = World::with(ONE, WRITES);
    let line = world.line("").replace("--task try", "--task -");
    let file = world.programs().join("task");
    fs::write(&file, [b'a', 0xff, 0xfe]).unwrap();
    let mut command = world.command(&line);
    command.stdin(fs::File::open(&file).unwrap());
    let ran = Ran::from(command.output().unwrap());
    says(&ran.exits(1).stderr, "UTF-8");
    assert!(world.starts().is_empty());
}

#[test]
fn a_closed_terminal_and_a_shutdown_stop_as_cleanly_as_ctrl_c() {
    for signal in [Signal::TERM, Signal::HUP] {
        let script = r#"echo $$ > "$here/worker"; while [ ! -e "$here/go" ]; do sleep 0.05; done"#;
        let world = World::with(ONE, &format!("{script}\n{WRITES}"));
        let run = world.begin(&world.line(""));
        until("it works", || !world.noted("worker").is_empty());
        run.signal(signal);
        let ran = run.end().exits(130);
        says(&ran.stderr, "`gatewright resume r-test`");
        let worker = world.noted("worker").remove(0);
        assert!(!is_alive(&worker));
        fs::write(world.programs().join("go"), "").unwrap();
        world.gatewright("resume r-test").succeeds();
        assert_eq!(world.history("admitted").len(), 1);
    }
}

#[test]
fn a_worker_that_stops_itself_is_ended_by_its_time() {
    let definition = strict().replace("retry = 0", "retry = 0\ntimeout = \"2s\"");
    let world = World::with(&definition, "echo $$ > \"$here/worker\"; kill -STOP $$");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "timeout");
    let worker = world.noted("worker").remove(0);
    assert!(!is_alive(&worker));
}

#[test]
fn of_two_runs_with_one_id_one_begins() {
    let script = r#"while [ ! -e "$here/go" ]; do sleep 0.05; done"#;
    let world = World::with(ONE, &format!("{script}\n{WRITES}"));
    let runs = [(); 3].map(|()| world.begin(&world.line("")));
    until("all but one have given up", || {
        let alive = |run: &&UnderWay| is_alive(&run.id.to_string());
        runs.iter().filter(alive).count() == 1
    });
    fs::write(world.programs().join("go"), "").unwrap();
    let codes = runs.map(|run| run.end().code);
    let done = codes.iter().filter(|code| **code == Some(0)).count();
    assert_eq!(done, 1, "{codes:?}");
    assert_eq!(world.starts().len(), 1);
    assert_eq!(world.status("r-test"), "completed");
}

#[test]
fn an_artifact_of_twenty_gigabytes_is_not_read() {
    let world = World::with(&strict(), "truncate -s 20G note.txt");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "`note`");
}
