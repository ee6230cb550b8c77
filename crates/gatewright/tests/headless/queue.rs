//! The queue: tasks from a file, what waits and why, the order that a person chooses, and the summary of a worker.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::pipelines::TWO;
use testkit::{Project, Ran};

use super::fixture::{ONE, PROGRAM, WRITES, World, says, until};

/// Asks before anything is written.
fn asking() -> String {
    ONE.replace("start = \"writing\"", "start = \"asking\"")
        .replace(
            "[stages.writing]",
            "[stages.asking]\nask = \"Begin?\"\non.yes = \"writing\"\non.no = \"stopped\"\n\n[stages.stopped]\nend = \"failed\"\n\n[stages.writing]",
        )
}

/// Queues runs that work in the person's tree, one after another.
fn line(world: &World, more: &str) -> String {
    on_branches(world, &format!("--in-place {more}"))
}

/// Queues runs that work on branches of their own.
fn on_branches(world: &World, more: &str) -> String {
    let agent = world.programs().join("agent");
    let agent = agent.display();
    format!("start pipeline.toml --queue --stand-in {agent} {more}")
}

fn queue(world: &World, run: &str) {
    let line = line(world, &format!("--task {run} --id {run}"));
    world.gatewright(&line).succeeds();
}

/// The ids of all runs that are not over, in their order.
fn order(world: &World) -> Vec<String> {
    let rows = world.facts("queue");
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["run"].as_str().unwrap().to_owned())
        .collect()
}

fn waits(world: &World, run: &str) -> Value {
    let rows = world.facts("queue");
    let mut rows = rows.as_array().unwrap().iter();
    let row = rows.find(|row| row["run"] == run);
    row.map_or(Value::Null, |row| row["waits"].clone())
}

fn from_stdin(world: &World, text: &str) -> Ran {
    let mut command = world.command(&line(world, "--tasks - --json"));
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn who_queues_a_run_learns_that_it_has_not_begun_when_it_may_and_what_begins_it() {
    let world = World::with(ONE, WRITES);
    let queued = world
        .gatewright(&line(&world, "--task a --id r-a"))
        .succeeds();
    says(&queued.stdout, "r-a is queued");
    says(&queued.stdout, "gatewright worker");
    assert!(!queued.stdout.contains("not before"), "{queued}");
    let later = line(&world, "--task b --id r-b --at 2099-12-01T02:00");
    for said in [
        world.gatewright(&later).succeeds(),
        world.gatewright("next r-b").succeeds(),
    ] {
        says(&said.stdout, "r-b is queued");
        says(&said.stdout, "not before 2099-12-01");
    }
}

#[test]
fn a_file_without_a_task_and_a_folder_are_named_with_what_to_do() {
    let world = World::with(ONE, WRITES);
    let ran = from_stdin(&world, "\n\n").exits(1);
    says(&ran.stderr, "stdin is empty");
    assert!(!ran.stderr.contains("line 1"), "{ran}");
    let ran = world.gatewright(&line(&world, "--tasks .")).exits(4);
    assert!(!ran.stderr.contains("; retry"), "{ran}");
    let ran =
        world.gatewright(&line(&world, "--task a --id r-a").replace("--in-place", "--branch"));
    ran.succeeds();
}

#[test]
fn where_there_is_no_repository_a_branch_needs_git_init() {
    let world = World::new(Project::new(PROGRAM), WRITES);
    world.pipeline(ONE);
    let ran = world.gatewright(&world.line("--branch")).exits(1);
    says(&ran.stderr, "`git init`");
}

#[test]
fn a_long_task_is_cut_and_the_command_that_has_all_of_it_is_named() {
    let world = World::with(ONE, WRITES);
    let task = "x".repeat(100_000);
    world
        .gatewright(&line(&world, &format!("--task {task} --id r-a")))
        .succeeds();
    let status = world.gatewright("status r-a").succeeds().stdout;
    assert!(status.len() < 5_000, "{} characters", status.len());
    says(&status, "gatewright status r-a --json");
    assert_eq!(world.facts("status r-a")["task"], task);
    world
        .gatewright(&line(&world, "--task short --id r-b"))
        .succeeds();
    let status = world.gatewright("status r-b").succeeds().stdout;
    assert!(!status.contains("--json"), "{status}");
}

#[test]
fn every_task_of_a_file_is_a_queued_run() {
    let world = World::with(ONE, WRITES);
    world.project.write("tasks.txt", "one\n\ntwo\n");
    world
        .gatewright(&line(&world, "--tasks tasks.txt"))
        .succeeds();
    let ran = from_stdin(&world, "three\nand more\n---\nfour\n").succeeds();
    let queued: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(queued["queued"], 2);
    assert_eq!(queued["runs"][0]["task"], "three\nand more");
    assert_eq!(queued["runs"][1]["line"], 4);
    let ran = world.gatewright("worker --once").succeeds();
    assert_eq!(world.starts().len(), 4, "{ran}");
    for (count, task) in ["one", "two", "three", "four"].into_iter().enumerate() {
        let prompt = world.prompt(count + 1);
        assert!(prompt.contains(&format!("> {task}")), "{prompt}");
    }
    let later = line(&world, "--tasks tasks.txt --at 2099-12-01T02:00");
    says(&world.gatewright(&later).succeeds().stderr, "2099-12-01");
}

#[test]
fn a_bad_task_names_its_line_and_nothing_is_queued() {
    let world = World::with(ONE, WRITES);
    for (text, expected) in [("one\n---\n\n---\ntwo\n", "line 3"), ("", "stdin is empty")] {
        let ran = from_stdin(&world, text).exits(1);
        assert!(ran.stderr.contains(expected), "{ran}");
        assert!(order(&world).is_empty(), "{ran}");
    }
    world
        .gatewright(&line(&world, "--tasks absent.txt"))
        .exits(4);
    for bad in [
        "--tasks x --task y",
        "--tasks x --id r-x",
        "--tasks x --key k",
    ] {
        world.gatewright(&line(&world, bad)).exits(2);
    }
    let direct = line(&world, "--tasks x").replace("--queue", "");
    world.gatewright(&direct).exits(2);
    assert!(order(&world).is_empty());
}

#[test]
fn five_hundred_tasks_are_one_command() {
    let world = World::with(ONE, WRITES);
    let tasks: String = (0..500).map(|number| format!("task {number}\n")).collect();
    from_stdin(&world, &tasks).succeeds();
    let rows = world.facts("queue");
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 500);
    assert_eq!(rows[0]["task"], "task 0");
    assert_eq!(rows[499]["task"], "task 499");
}

#[test]
fn the_queue_says_what_each_run_waits_for() {
    let world = World::with(&asking(), WRITES);
    assert_eq!(world.facts("queue"), json!([]));
    for run in ["r-a", "r-b", "r-c"] {
        queue(&world, run);
    }
    assert_eq!(waits(&world, "r-a"), json!({ "for": "worker" }));
    assert_eq!(waits(&world, "r-b"), json!({ "for": "turn", "run": "r-a" }));
    world.gatewright("worker --once").succeeds();
    assert_eq!(waits(&world, "r-a")["for"], "person");
    assert_eq!(waits(&world, "r-b"), json!({ "for": "tree", "run": "r-a" }));
    assert_eq!(world.status("r-b"), "queued");
    let facts = world.facts("status r-b");
    assert_eq!(facts["held_up"], json!({ "for": "tree", "run": "r-a" }));
    let next = world.gatewright("next r-b").succeeds();
    says(&next.stdout, "waits for r-a, which works in this tree");
    world.gatewright("answer r-a no").succeeds();
    world.gatewright("worker --once").succeeds();
    assert_eq!(waits(&world, "r-b")["for"], "person");
}

#[test]
fn a_run_that_waits_for_a_slot_says_so() {
    let own = ONE.replace("note.txt", "notes/{run}.txt");
    let world = World::with(
        &own,
        r#"while [ ! -e "$here/go" ]; do sleep 0.05; done
mkdir -p notes; echo "note $count" > notes/$GATEWRIGHT_RUN.txt"#,
    );
    for run in ["r-a", "r-b"] {
        let line = on_branches(&world, &format!("--task {run} --id {run}"));
        world.gatewright(&line).succeeds();
    }
    let worker = world.begin("worker --limit stand-in=1");
    let is_waiting = |run: &str| {
        let waits = waits(&world, run);
        waits["for"] == "slot" && waits["runner"] == "stand-in"
    };
    until("one waits for the other", || {
        is_waiting("r-a") || is_waiting("r-b")
    });
    let run = if is_waiting("r-a") { "r-a" } else { "r-b" };
    for command in ["status", "next"] {
        let facts = world.facts(&format!("{command} {run}"));
        assert_eq!(facts["held_up"]["for"], "slot", "{facts}");
        let ran = world.gatewright(&format!("{command} {run}")).succeeds();
        says(&ran.stdout, "waits for a slot of stand-in");
    }
    std::fs::write(world.programs().join("go"), "").unwrap();
    until("both are done", || order(&world).is_empty());
    worker.interrupt();
    worker.end().exits(130);
}

/// Each run has two agents, and each notes who it is.
#[test]
fn a_scarce_slot_goes_to_the_first_in_the_queue_and_to_who_has_begun() {
    let two = TWO
        .replace("note.txt", "notes/{run}.txt")
        .replace("end.txt", "ends/{run}.txt");
    for limit in ["--limit stand-in=1", "--agents 1"] {
        let world = World::with(
            &two,
            r#"echo "$GATEWRIGHT_RUN" >> "$here/order"; sleep 0.3
mkdir -p notes ends; echo "note $count" > notes/$GATEWRIGHT_RUN.txt; echo "end $count" > ends/$GATEWRIGHT_RUN.txt"#,
        );
        for run in ["r-a", "r-b", "r-c", "r-d"] {
            let line = on_branches(&world, &format!("--task {run} --id {run}"));
            world.gatewright(&line).succeeds();
        }
        world.gatewright("queue r-d --first").succeeds();
        world
            .gatewright(&format!("worker --once {limit}"))
            .succeeds();
        let expected = ["r-d", "r-d", "r-a", "r-a", "r-b", "r-b", "r-c", "r-c"];
        assert_eq!(world.noted("order"), expected, "{limit}");
    }
}

#[test]
fn a_person_changes_the_order_and_the_history_has_it() {
    let world = World::with(ONE, WRITES);
    let runs = ["r-a", "r-b", "r-c", "r-d"];
    runs.iter().for_each(|run| queue(&world, run));
    for (typed, expected) in [
        ("queue r-c --first", ["r-c", "r-a", "r-b", "r-d"]),
        ("queue r-d --before r-a", ["r-c", "r-d", "r-a", "r-b"]),
        ("queue r-c --last", ["r-d", "r-a", "r-b", "r-c"]),
    ] {
        world.gatewright(typed).succeeds();
        assert_eq!(order(&world), expected, "{typed}");
    }
    let remarks = world.history_of("r-c", "noted");
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    queue(&world, "r-e");
    assert_eq!(order(&world).last().map(String::as_str), Some("r-e"));
    world.gatewright("worker --once").succeeds();
    for (count, task) in ["r-d", "r-a", "r-b", "r-c", "r-e"].into_iter().enumerate() {
        let prompt = world.prompt(count + 1);
        assert!(prompt.contains(&format!("> {task}")), "{prompt}");
    }
}

#[test]
fn only_a_person_moves_a_run_and_only_one_that_has_not_begun() {
    let world = World::with(ONE, WRITES);
    queue(&world, "r-a");
    queue(&world, "r-b");
    let mut agent = world.command("queue r-b --first");
    let ran = Ran::from(agent.env("CLAUDECODE", "1").output().unwrap()).exits(1);
    assert!(ran.stderr.contains("GW-R"), "{ran}");
    assert_eq!(order(&world), ["r-a", "r-b"]);
    for (bad, code) in [
        ("queue r-b", 2),
        ("queue --first", 2),
        ("queue r-b --first --last", 2),
        ("queue r-b --before r-b", 1),
        ("queue r-b --before r-x", 3),
    ] {
        world.gatewright(bad).exits(code);
    }
    world.gatewright("worker --once").succeeds();
    world.gatewright("queue r-a --first").exits(1);
}

#[test]
fn a_run_begins_at_its_time_and_holds_nobody_up() {
    let world = World::with(ONE, WRITES);
    let later = line(&world, "--task later --id r-later --at +2d");
    world.gatewright(&later).succeeds();
    assert_eq!(waits(&world, "r-later")["for"], "time");
    let soon = line(&world, "--task soon --id r-soon --at +1s");
    world.gatewright(&soon).succeeds();
    let worker = world.begin("worker --once");
    until("its time has come", || {
        world.status("r-soon") == "completed"
    });
    assert_eq!(world.status("r-later"), "queued");
    until("it says for which run it waits", || {
        worker.said().contains("r-later is due")
    });
    worker.interrupt();
    let ran = worker.end().exits(130);
    assert!(ran.stdout.contains("r-later"), "{ran}");
    let told = ran.stderr.matches("r-later is due").count();
    assert_eq!(told, 1, "{ran}");
    for bad in ["soon", "2020-01-01T00:00"] {
        let line = line(&world, &format!("--task x --at {bad}"));
        world.gatewright(&line).exits(2);
    }
    // A person who names the run starts it now.
    world.gatewright("resume r-later").succeeds();
}

#[test]
fn a_worker_ends_with_a_summary_of_what_became_of_each_run() {
    let world = World::with(
        &ONE.replace("on.done", "retry = 0\non.crashed = \"stopped\"\non.done")
            .replace(
                "[stages.complete]",
                "[stages.stopped]\nend = \"failed\"\n\n[stages.complete]",
            ),
        r#"[ "$count" = 2 ] && exit 3; echo "note $count" > note.txt"#,
    );
    queue(&world, "r-a");
    queue(&world, "r-b");
    let night = world.facts("worker --once");
    assert_eq!(night["counts"]["done"], 1, "{night}");
    assert_eq!(night["counts"]["failed"], 1);
    let rows = night["runs"].as_array().unwrap();
    let of = |run: &str| rows.iter().find(|row| row["run"] == run).unwrap();
    assert_eq!(of("r-a")["result"], "done");
    assert_eq!(of("r-a")["branch"], Value::Null);
    let reason = of("r-b")["reason"].as_str().unwrap();
    assert!(reason.contains("crashed"), "{reason}");
    assert_eq!(of("r-b")["command"], "gatewright why r-b");
    world.pipeline(&asking());
    queue(&world, "r-c");
    queue(&world, "r-d");
    let ran = world.gatewright("worker --once").succeeds();
    assert!(ran.stdout.contains("waits for you\n  r-c"), "{ran}");
    assert!(ran.stdout.contains("not done\n  r-d"), "{ran}");
    let nothing = world.gatewright("worker --once").succeeds();
    assert!(!nothing.stdout.contains("r-a"), "{nothing}");
}

#[test]
fn while_a_worker_is_there_nobody_is_asked_to_start_one() {
    let slow = r#"while [ ! -e "$here/go" ]; do sleep 0.05; done; echo "note $count" > note.txt"#;
    let world = World::with(&asking(), slow);
    for run in ["r-a", "r-b"] {
        let line = on_branches(&world, &format!("--branch --task try --id {run}"));
        world.gatewright(&line).succeeds();
    }
    let worker = world.begin("worker --runs 1");
    until("both ask", || {
        ["r-a", "r-b"]
            .iter()
            .all(|run| world.status(run) == "waiting")
    });
    let resumes = |ran: &Ran, run: &str| ran.stdout.contains(&format!("gatewright resume {run}"));
    let answered = world.gatewright("answer r-a yes").succeeds();
    assert!(!resumes(&answered, "r-a"), "{answered}");
    until("it is at work", || !world.noted("starts").is_empty());
    let answered = world.gatewright("answer r-b yes").succeeds();
    assert!(!resumes(&answered, "r-b"), "{answered}");
    let expected = json!({ "for": "worker", "live_workers": 1 });
    assert_eq!(waits(&world, "r-b"), expected);
    worker.interrupt();
    worker.end().exits(130);
    assert_eq!(waits(&world, "r-b"), json!({ "for": "worker" }));
    assert!(resumes(&world.gatewright("next r-b"), "r-b"));
}

#[test]
fn the_summary_has_the_reason_of_the_person_who_cancelled_a_run() {
    let backoff = "retry = { max = 1, backoff = \"10m\" }\non.done";
    let world = World::with(&ONE.replace("on.done", backoff), "exit 3");
    queue(&world, "r-a");
    let worker = world.begin("worker --once --json");
    until("its fault is known", || {
        !world.history_of("r-a", "ended").is_empty()
    });
    world
        .person("cancel r-a --reason unwanted", "r-a\n")
        .succeeds();
    let ran = worker.end();
    let night: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(night["counts"]["cancelled"], 1, "{ran}");
    assert_eq!(night["runs"][0]["reason"], "unwanted", "{ran}");
}

/// A crash takes the summary with it, and the person still learns in the morning what the night came to.
#[test]
fn of_two_workers_each_tells_the_runs_that_it_drove() {
    let own = ONE.replace("note.txt", "notes/{run}.txt");
    let world = World::with(
        &own,
        "mkdir -p notes; echo note > notes/$GATEWRIGHT_RUN.txt",
    );
    let mut runs: Vec<String> = (0..12).map(|number| format!("r-{number}")).collect();
    for run in &runs {
        let line = on_branches(&world, &format!("--task {run} --id {run}"));
        world.gatewright(&line).succeeds();
    }
    let workers = ["worker --once --runs 12 --json"; 2].map(|line| world.begin(line));
    let mut told = Vec::new();
    for worker in workers {
        let ran = worker.end().succeeds();
        let night: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let rows = night["runs"].as_array().cloned().unwrap_or_default();
        told.extend(
            rows.iter()
                .map(|row| row["run"].as_str().unwrap().to_owned()),
        );
    }
    told.sort();
    runs.sort();
    assert_eq!(told, runs);
}

#[test]
fn the_next_summary_tells_what_a_killed_worker_did() {
    let world = World::with(
        ONE,
        r#"[ "$GATEWRIGHT_RUN" = r-a ] || while [ ! -e "$here/go" ]; do sleep 0.05; done
echo "note $count" > note.txt"#,
    );
    queue(&world, "r-a");
    queue(&world, "r-b");
    let worker = world.begin("worker --once");
    until("the second works", || world.starts().len() == 2);
    worker.kill();
    std::fs::write(world.programs().join("go"), "").unwrap();
    let night = world.facts("worker --once");
    let rows = night["runs"].as_array().unwrap().iter();
    let told: Vec<_> = rows.map(|row| (&row["run"], &row["result"])).collect();
    let (done, expected) = (json!("done"), [json!("r-a"), json!("r-b")]);
    assert_eq!(told.len(), 2, "{night}");
    for run in &expected {
        assert!(told.contains(&(run, &done)), "{night}");
    }
    let again = world.gatewright("worker --once").succeeds();
    assert_eq!(again.stdout, "", "each is told once");
}
