//! Workers that hide: a process that leaves its group and loses its parents is found and killed.

use std::process::Stdio;

use testkit::pipelines::one_check;

use super::fixture::{ONE, World, says, until};
use super::under_way::is_alive;

/// Leaves the group and the session, loses its parents, and listens to no signal.
const HIDES: &str = r#"
(setsid sh -c 'trap "" TERM INT HUP; echo $$ >> "$1"; while :; do sleep 0.05; done' sh "$here/hidden" </dev/null >/dev/null 2>&1 &)
while [ "$(wc -l < "$here/hidden" 2>/dev/null || echo 0)" -lt "$count" ]; do sleep 0.02; done
"#;

/// The same without a variable of ours.
const HIDES_BARE: &str = r#"
(env -i PATH="$PATH" setsid sh -c 'trap "" TERM INT HUP; echo $$ >> "$1"; while :; do sleep 0.05; done' sh "$here/hidden" </dev/null >/dev/null 2>&1 &)
while [ "$(wc -l < "$here/hidden" 2>/dev/null || echo 0)" -lt "$count" ]; do sleep 0.02; done
"#;

#[track_caller]
fn nobody_hides(world: &World) {
    let hidden = world.noted("hidden");
    assert!(!hidden.is_empty(), "somebody hid");
    until("whoever hid has ended", || {
        hidden.iter().all(|id| !is_alive(id))
    });
}

#[test]
fn a_daemon_does_not_outlive_the_work_that_started_it() {
    for hides in [HIDES, HIDES_BARE] {
        let script = format!("{hides}\necho \"note $count\" > note.txt");
        let world = World::with(ONE, &script);
        world.run("").succeeds();
        nobody_hides(&world);
    }
}

#[test]
fn a_daemon_does_not_outlive_a_killed_orchestrator() {
    let script = format!(
        "{HIDES_BARE}\nwhile [ ! -e \"$here/go\" ]; do sleep 0.05; done\necho \"note $count\" > note.txt"
    );
    let world = World::with(ONE, &script);
    let run = world.begin(&world.line(""));
    until("somebody hides", || !world.noted("hidden").is_empty());
    run.kill();
    nobody_hides(&world);
    std::fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("resume r-test").succeeds();
    nobody_hides(&world);
}

#[test]
fn an_orphan_that_nobody_ended_is_shown_by_recover_and_ended_by_resume() {
    let world = World::with(
        ONE,
        "echo $GATEWRIGHT_CALL > \"$here/call\"\nwhile [ ! -e \"$here/go\" ]; do sleep 0.05; done\necho \"note $count\" > note.txt",
    );
    let run = world.begin(&world.line(""));
    until("a worker is at work", || !world.noted("call").is_empty());
    run.kill();
    // One that came through everything, as after a kill of the watchdog, too.
    let call = world.noted("call").remove(0);
    let mut orphan = world.project.at_home("sh");
    orphan.env("GATEWRIGHT_CALL", &call);
    orphan.stdout(Stdio::null()).stderr(Stdio::null());
    orphan.args(["-c", "echo $$ > \"$0\"; while :; do sleep 0.05; done"]);
    let mut orphan = orphan.arg(world.programs().join("hidden")).spawn().unwrap();
    until("somebody hides", || !world.noted("hidden").is_empty());
    let shown = world.gatewright("recover").succeeds().stdout;
    let id = world.noted("hidden").remove(0);
    says(&shown, &id);
    assert!(is_alive(&id), "recover only looks");
    std::fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("resume r-test").succeeds();
    nobody_hides(&world);
    orphan.wait().unwrap();
}

#[test]
fn the_commands_of_a_check_do_not_outlive_a_killed_orchestrator() {
    let world = World::with(&one_check(r#""check-it""#), "");
    let here = world.programs().display();
    world.program(
        "check-it",
        &format!("echo $$ >> {here}/hidden\n[ -e {here}/go ] || {{ sleep 600 & wait; }}"),
    );
    let run = world.begin(&world.line(""));
    until("the check runs", || !world.noted("hidden").is_empty());
    run.kill();
    nobody_hides(&world);
    let again = world.begin("resume r-test");
    until("the check runs again", || world.noted("hidden").len() == 2);
    again.interrupt();
    let ran = again.end().exits(130);
    says(&ran.stderr, "`gatewright resume r-test`");
    nobody_hides(&world);
    std::fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(
        world.history("checked").len(),
        1,
        "only what came to its end counts"
    );
}

#[test]
fn a_daemon_does_not_outlive_the_check_that_started_it() {
    let world = World::with(&one_check(r#""check-it""#), "");
    let here = world.programs().display();
    let script = format!("here={here}\ncount=1\n{HIDES_BARE}");
    world.program("check-it", &script);
    world.run("").succeeds();
    nobody_hides(&world);
}
