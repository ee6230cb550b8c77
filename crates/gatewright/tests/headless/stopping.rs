//! Stopped, killed and driven twice: the run goes on where it was, and nothing is done twice.

use rustix::process::Signal;

use super::delivery::{remote, stand_in};
use super::fixture::{ONE, WRITES, World, says, until};
use super::places::{CHECKED, NAMES_ITSELF, folder, repository};
use super::under_way::is_alive;

/// Works until it is let go, and leaves what it must.
const LONG: &str = r#"
echo $$ >> "$here/workers"
while [ ! -e "$here/go" ]; do sleep 0.05; done
echo "note $count" > note.txt
"#;

fn at_work(world: &World, number: usize) {
    until("a worker is at work", || {
        world.noted("workers").len() >= number
    });
}

#[track_caller]
fn no_worker_is_left(world: &World) {
    until("no worker is left", || {
        world.noted("workers").iter().all(|id| !is_alive(id))
    });
}

fn let_go(world: &World) {
    std::fs::write(world.programs().join("go"), "").unwrap();
}

#[test]
fn one_interrupt_stops_cleanly_says_how_to_go_on_and_resume_finishes() {
    let world = World::with(ONE, LONG);
    let run = world.begin(&world.line(""));
    at_work(&world, 1);
    run.interrupt();
    let ran = run.end().exits(130);
    says(&ran.stdout, "r-test stopped");
    says(&ran.stderr, "`gatewright resume r-test`");
    no_worker_is_left(&world);
    let_go(&world);
    let ran = world.gatewright("resume").succeeds();
    says(&ran.stderr, "'writer'");
    assert_eq!(world.history("admitted").len(), 1, "one dispatch in all");
    assert_eq!(world.history("ended").len(), 1);
    assert_eq!(world.starts().len(), 2);
}

/// The interrupt comes before the orchestrator has seen that a person ended the run.
#[test]
fn an_interrupt_of_a_run_that_is_over_says_how_it_ended_and_promises_no_delivery() {
    let world = World::with(ONE, LONG);
    let run = world.begin(&world.line(""));
    at_work(&world, 1);
    run.signal(Signal::STOP);
    world
        .person("cancel r-test --reason enough", "r-test\n")
        .succeeds();
    run.interrupt().signal(Signal::CONT);
    let ran = run.end().exits(1);
    says(&ran.stdout, "r-test cancelled");
    assert!(!ran.stderr.contains("gatewright deliver"), "{ran}");
    no_worker_is_left(&world);
}

#[test]
fn after_an_interrupt_no_other_task_begins_although_the_run_at_work_was_over() {
    let world = World::with(ONE, LONG);
    let line = world
        .line("--branch --task more")
        .replace("--id r-test ", "");
    let run = world.begin(&line);
    at_work(&world, 1);
    run.signal(Signal::STOP);
    let first = world.facts("list --all")["runs"][0]["run"].clone();
    let first = first.as_str().unwrap();
    world
        .person(
            &format!("cancel {first} --reason enough"),
            &format!("{first}\n"),
        )
        .succeeds();
    run.interrupt().signal(Signal::CONT);
    let ran = run.end().exits(130);
    says(&ran.stderr, "not started: more");
    let runs = world.facts("list --all")["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
}

#[test]
fn a_second_interrupt_ends_at_once_and_leaves_no_worker() {
    // An agent that ignores signals is killed, too.
    let deaf = format!("trap '' TERM INT HUP\n{LONG}");
    let world = World::with(ONE, &deaf);
    let run = world.begin(&world.line(""));
    at_work(&world, 1);
    run.interrupt();
    // Either the second one finds it stopping, or it has stopped already.
    let id = rustix::process::Pid::from_raw(run.id).unwrap();
    let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
    run.end().exits(130);
    no_worker_is_left(&world);
    let_go(&world);
    world.gatewright("resume r-test").succeeds();
}

#[test]
fn a_killed_orchestrator_leaves_nobody_and_one_command_goes_on() {
    let world = World::with(ONE, LONG);
    let run = world.begin(&world.line(""));
    at_work(&world, 1);
    let killed = run.id;
    assert_eq!(run.kill().code, None);
    no_worker_is_left(&world);
    let shown = world.gatewright("recover").succeeds().stdout;
    says(&shown, "r-test in writing");
    says(&shown, "'writer' (d1)");
    says(&shown, "`gatewright resume r-test`");
    let facts = world.facts("recover r-test");
    assert_eq!(facts["runs"][0]["left"][0]["agent"], "writer", "{facts}");
    let_go(&world);
    let ran = world.gatewright("resume").succeeds();
    assert!(!ran.stderr.contains(&format!("process {killed}")));
    assert_eq!(world.history("admitted").len(), 1);
    assert_eq!(world.status("r-test"), "completed");
    let facts = world.facts("recover r-test");
    assert_eq!(facts["runs"][0]["left"].as_array().map_or(0, Vec::len), 0);
}

#[test]
fn gc_deletes_what_it_announces_also_after_a_kill() {
    let world = World::with(ONE, LONG);
    let run = world.begin(&world.line(""));
    at_work(&world, 1);
    run.kill();
    no_worker_is_left(&world);
    world
        .person("cancel r-test --reason enough", "r-test\n")
        .succeeds();
    let announced = world.facts("gc --older-than 0s --dry-run");
    assert_eq!(announced["runs"], 1, "{announced}");
    let ran = world.person("gc --older-than 0s", "delete\n").succeeds();
    world.gatewright("status r-test").exits(3);
    let left = world.facts("gc --older-than 0s --dry-run");
    assert_eq!(left["runs"], 0, "{left}\n{ran}");
}

#[test]
fn a_run_that_is_driven_is_refused_to_everybody_else_with_the_process() {
    let world = World::with(ONE, LONG);
    let run = world.begin(&world.line(""));
    at_work(&world, 1);
    let ran = world.gatewright("resume r-test").exits(1);
    says(&ran.stderr, &format!("process {}", run.id));
    let shown = world.gatewright("recover").succeeds().stdout;
    says(&shown, &format!("process {}", run.id));
    // The very same command is the same run.
    let ran = world.run("");
    assert_ne!(ran.code, Some(0), "{ran}");
    let_go(&world);
    run.end().succeeds();
    assert_eq!(world.starts().len(), 1);
}

#[test]
fn of_two_who_resume_at_once_one_goes_on() {
    let world = World::with(ONE, LONG);
    let run = world.begin(&world.line(""));
    at_work(&world, 1);
    run.kill();
    let both = [world.begin("resume r-test"), world.begin("resume r-test")];
    at_work(&world, 2);
    let_go(&world);
    let mut codes: Vec<_> = both.map(|one| one.end().code).into_iter().collect();
    codes.sort_unstable();
    // A command that came when it was over found it completed.
    assert!(
        codes == [Some(0), Some(1)] || codes == [Some(0), Some(0)],
        "{codes:?}"
    );
    assert_eq!(world.starts().len(), 2, "one before and one after");
    assert_eq!(world.history("ended").len(), 1);
}

#[test]
fn work_that_had_ended_is_judged_and_not_done_again() {
    // The worker kills its own orchestrator in its last breath.
    let world = World::with(
        ONE,
        r#"echo $$ >> "$here/workers"
echo "note $count" > note.txt
echo done > "$here/done""#,
    );
    let run = world.begin(&world.line(""));
    until("it has ended", || world.programs().join("done").exists());
    // It may have come to its end meanwhile.
    let id = rustix::process::Pid::from_raw(run.id).unwrap();
    let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    run.end();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.history("ended").len(), 1);
}

#[test]
fn there_is_nothing_to_resume_where_nothing_is_under_way() {
    let world = World::with(ONE, WRITES);
    let ran = world.gatewright("resume").exits(3);
    says(&ran.stderr, "`gatewright run PIPELINE --task TEXT`");
    assert_eq!(world.facts("recover")["runs"], serde_json::json!([]));
    world.run("").succeeds();
    // What is over stays as it is.
    let ran = world.gatewright("resume r-test").succeeds();
    says(&ran.stdout, "r-test completed");
    assert_eq!(world.starts().len(), 1);
    let ran = world.gatewright("resume r-nobody").exits(3);
    says(&ran.stderr, "r-nobody");
}

#[test]
fn a_run_of_another_driver_is_not_resumed() {
    let world = World::with(ONE, WRITES);
    world
        .gatewright("start pipeline.toml --task try --by-hand --id r-hand")
        .succeeds();
    let ran = world.gatewright("resume r-hand").exits(1);
    says(&ran.stderr, "r-hand");
    assert!(world.starts().is_empty());
}

/// Hangs with a child of its own where it would make the request, until it is let go.
const HANGS: &str = r#"
case "$1 $2" in
"pr view") exit 1 ;;
"pr create")
    sh -c 'while [ ! -e "$0/go" ]; do sleep 0.05; done' "$here" & echo $! > "$here/hangs.new"
    mv "$here/hangs.new" "$here/hangs"; wait; echo https://host/pr/7 ;;
esac"#;

#[test]
fn an_interrupt_ends_a_delivery_that_hangs_and_leaves_it_open() {
    let world = repository(CHECKED, NAMES_ITSELF);
    remote(&world);
    stand_in(&world, "gh", HANGS);
    let hangs = world.programs().join("hangs");
    let queued = world.line("--deliver pull-request");
    let queued = queued.replace("run pipeline.toml", "start pipeline.toml --queue");
    world
        .gatewright(&queued.replace("r-test", "r-night"))
        .succeeds();
    for (run, line) in [
        ("r-night", "worker".to_owned()),
        ("r-test", world.line("--deliver pull-request")),
        ("r-test", "resume r-test".to_owned()),
        ("r-test", "deliver r-test".to_owned()),
    ] {
        let under_way = world.begin(&line);
        until("it hangs", || hangs.exists());
        let child = world.noted("hangs").concat();
        std::fs::remove_file(&hangs).unwrap();
        under_way.interrupt();
        let ran = under_way.end().exits(130);
        let command = format!("`gatewright deliver {run}`");
        says(&format!("{}{}", ran.stderr, ran.stdout), &command);
        assert!(!is_alive(&child), "{line}\n{ran}");
        assert_eq!(world.status(run), "completed");
        assert!(
            world.history_of(run, "delivery_failed").is_empty(),
            "{line}"
        );
        let lacks = world.facts(&format!("status {run}"))["undelivered"].clone();
        assert!(lacks.is_object(), "{line}: {lacks}");
    }
    let_go(&world);
    world.gatewright("deliver r-test").succeeds();
    world.gatewright("worker --once").succeeds();
    for run in ["r-test", "r-night"] {
        assert_eq!(world.history_of(run, "delivered").len(), 1, "{run}");
    }
}

#[test]
fn gc_keeps_the_worktree_from_which_a_run_is_delivered() {
    let world = repository(CHECKED, NAMES_ITSELF);
    remote(&world);
    stand_in(&world, "gh", HANGS);
    let under_way = world.begin(&world.line("--deliver pull-request"));
    until("it hangs", || world.programs().join("hangs").exists());
    world.person("gc", "").succeeds();
    assert!(folder(&world, "r-test").exists());
    let_go(&world);
    under_way.end().succeeds();
    assert_eq!(world.history("delivered").len(), 1);
    world.person("gc", "").succeeds();
    assert!(!folder(&world, "r-test").exists());
}
