//! Many runs: several tasks, a queue, workers of the machine and their limits.

use testkit::{Project, Ran};

use super::fixture::{ONE, PROGRAM, WRITES, World, says, until};

fn queue(world: &World, run: &str, task: &str) -> Ran {
    let agent = world.programs().join("agent");
    let line = format!(
        "start pipeline.toml --queue --task {task} --id {run} --stand-in {}",
        agent.display()
    );
    world.gatewright(&line)
}

fn in_place(world: &World, run: &str, task: &str) -> Ran {
    let agent = world.programs().join("agent");
    let line = format!(
        "start pipeline.toml --queue --in-place --task {task} --id {run} --stand-in {}",
        agent.display()
    );
    world.gatewright(&line)
}

#[test]
fn several_tasks_are_runs_one_after_another() {
    let world = World::with(ONE, WRITES);
    let line = world
        .line("--task more --task last")
        .replace("--id r-test", "");
    let ran = world.gatewright(&line).succeeds();
    assert_eq!(ran.stdout.matches(" completed").count(), 3, "{ran}");
    assert_eq!(world.starts().len(), 3);
    for (count, task) in ["try", "more", "last"].into_iter().enumerate() {
        says(&world.prompt(count + 1), &format!("> {task}"));
    }
}

/// Three tasks, of which the second writes nothing.
fn second_of_three_fails(more: &str) -> (World, Ran) {
    let world = World::with(
        &ONE.replace("on.done", "retry = 0\non.done"),
        r#"[ "$count" = 2 ] || echo n > note.txt"#,
    );
    let line = world.line(&format!("--task more --task last {more}"));
    let ran = world.gatewright(&line.replace("--id r-test", "")).exits(6);
    (world, ran)
}

#[test]
fn on_branches_a_task_that_waits_stops_none_behind_it_and_the_worst_end_counts() {
    let (world, ran) = second_of_three_fails("");
    assert_eq!(world.starts().len(), 3, "{ran}");
    assert_eq!(ran.stdout.matches(" completed").count(), 2, "{ran}");
    assert!(!ran.stderr.contains("not started"), "{ran}");
    let ran = world.gatewright(&world.line("--task more")).exits(2);
    says(&ran.stderr, "--id");
}

#[test]
fn in_one_tree_a_task_that_waits_holds_up_those_behind_it_and_the_command_for_them_is_told() {
    let (world, ran) = second_of_three_fails("--in-place");
    assert_eq!(world.starts().len(), 2, "{ran}");
    says(&ran.stderr, "not started: last");
    says(&ran.stderr, "--task last");
}

#[test]
fn after_an_interrupt_the_command_for_what_was_not_started_is_told() {
    let waits = r#"touch "$here/works"; while :; do sleep 0.05; done"#;
    let world = World::with(ONE, waits);
    let line = world.line("--task more --task last");
    let run = world.begin(&line.replace("--id r-test", ""));
    until("it works", || world.programs().join("works").exists());
    run.interrupt();
    let ran = run.end().exits(130);
    says(&ran.stderr, "not started: more");
    says(&ran.stderr, "--task more --task last");
    assert!(!ran.stderr.contains("--task try"), "{ran}");
}

#[test]
fn queued_runs_of_one_tree_go_one_after_another_in_their_order() {
    // An absence has no sign: the pause is the time for one too many.
    let world = World::with(
        ONE,
        r#"mkdir "$here/alone" || echo together >> "$here/together"
sleep 0.1
echo "note $count" > note.txt
rmdir "$here/alone""#,
    );
    let runs = ["r-c", "r-a", "r-e", "r-b", "r-f", "r-d"];
    for run in runs {
        in_place(&world, run, run).succeeds();
        assert_eq!(world.status(run), "queued");
    }
    assert!(world.starts().is_empty());
    let ran = world.gatewright("worker --once").succeeds();
    assert_eq!(world.starts().len(), runs.len());
    assert!(world.noted("together").is_empty());
    for (count, run) in runs.into_iter().enumerate() {
        assert_eq!(world.status(run), "completed", "{ran}");
        says(&ran.stderr, &format!("{run} completed"));
        says(&world.prompt(count + 1), &format!("> {run}"));
    }
}

/// Another project that shares the home and the agents of this one.
fn beside(world: &World, name: &str) -> std::path::PathBuf {
    let folder = world.project.home().join(name);
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(
        world.project.path().join("pipeline.toml"),
        folder.join("pipeline.toml"),
    )
    .unwrap();
    folder
}

fn trusted_and_queued(world: &World, folder: &std::path::Path, run: &str) {
    let trust = format!(
        "cd '{}' && '{PROGRAM}' trust pipeline.toml",
        folder.display()
    );
    world.project.person_at(&trust, "yes\n").succeeds();
    let agent = world.programs().join("agent");
    let line = format!(
        "start pipeline.toml --queue --task try --id {run} --stand-in {}",
        agent.display()
    );
    let mut command = world.command(&line);
    Ran::from(command.current_dir(folder).output().unwrap()).succeeds();
}

/// Waits until so many work at once, or tells how many did.
fn counting(number: u32) -> String {
    format!(
        r#"
mkdir -p "$here/now"; touch "$here/now/$count"
ls "$here/now" | wc -l >> "$here/at-once"
turns=0
while [ "$(cat "$here/at-once" | sort -n | tail -1)" -lt {number} ] && [ "$turns" -lt 600 ]; do sleep 0.05; turns=$((turns + 1)); done
echo "note $count" > note.txt
rm "$here/now/$count""#
    )
}

#[test]
fn queued_runs_of_several_projects_go_at_once() {
    let world = World::with(ONE, &counting(2));
    let other = beside(&world, "other");
    queue(&world, "r-a", "try").succeeds();
    trusted_and_queued(&world, &other, "r-b");
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.status("r-a"), "completed");
    assert_eq!(world.status("r-b"), "completed");
    let most = world.noted("at-once").into_iter().max();
    assert_eq!(most.as_deref(), Some("2"), "they met");
}

#[test]
fn runs_of_one_project_go_at_once_on_branches_of_their_own() {
    let own = ONE.replace("note.txt", "notes/{run}.txt");
    let script = counting(2).replace("> note.txt", "> notes/$GATEWRIGHT_RUN.txt");
    let world = World::with(&own, &format!("mkdir -p notes\n{script}"));
    queue(&world, "r-a", "try").succeeds();
    queue(&world, "r-b", "try").succeeds();
    world.gatewright("worker --once").succeeds();
    let most = world.noted("at-once").into_iter().max();
    assert_eq!(most.as_deref(), Some("2"), "they met");
}

#[test]
fn no_more_agents_work_than_the_machine_or_the_runner_may_have() {
    for limit in ["--agents 1", "--limit stand-in=1"] {
        // An absence has no sign: the pause is the time for one too many.
        let script = counting(1).replace("echo \"note", "sleep 0.3\necho \"note");
        let world = World::with(ONE, &script);
        let other = beside(&world, "other");
        queue(&world, "r-a", "try").succeeds();
        trusted_and_queued(&world, &other, "r-b");
        world
            .gatewright(&format!("worker --once {limit}"))
            .succeeds();
        assert_eq!(world.noted("at-once"), ["1", "1"], "{limit}");
    }
}

#[test]
fn a_worker_leaves_who_waits_and_takes_up_who_was_answered() {
    let asking = ONE
        .replace("start = \"writing\"", "start = \"asking\"")
        .replace(
            "[stages.writing]",
            "[stages.asking]\nask = \"Begin?\"\non.yes = \"writing\"\n\n[stages.writing]",
        );
    let world = World::with(&asking, WRITES);
    queue(&world, "r-a", "try").succeeds();
    let ran = world.gatewright("worker --once").succeeds();
    says(&ran.stderr, "Begin?");
    world.gatewright("answer r-a yes").succeeds();
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.status("r-a"), "completed");
}

#[test]
fn one_run_that_cannot_be_driven_does_not_stop_the_others() {
    let world = World::with(ONE, WRITES);
    let other = beside(&world, "other");
    trusted_and_queued(&world, &other, "r-gone");
    queue(&world, "r-a", "try").succeeds();
    std::fs::rename(&other, world.project.home().join("moved")).unwrap();
    let ran = world.gatewright("worker --once").exits(1);
    says(&ran.stderr, "r-gone: ");
    let told = ran.stderr.lines().filter(|line| line.contains("r-a"));
    let is_timed = |line: &str| line.starts_with("20") && line.contains("Z r-a");
    assert!(
        told.clone().count() > 1 && told.clone().all(is_timed),
        "{ran}"
    );
    let queue = world.facts("queue");
    let waits = &queue[0]["waits"];
    assert_eq!(waits["for"], "worker", "{queue}");
    says(waits["reason"].as_str().unwrap(), other.to_str().unwrap());
    says(&ran.stderr, other.to_str().unwrap());
    assert_eq!(world.status("r-a"), "completed", "{ran}");
}

#[test]
fn a_run_that_could_not_be_driven_is_tried_again_while_nothing_else_happens() {
    let world = World::with(ONE, WRITES);
    let other = beside(&world, "other");
    trusted_and_queued(&world, &other, "r-gone");
    let moved = world.project.home().join("moved");
    std::fs::rename(&other, &moved).unwrap();
    let worker = world.begin("worker");
    until("it failed", || worker.said().contains("r-gone: "));
    std::fs::rename(&moved, &other).unwrap();
    until("it went on", || world.status("r-gone") == "completed");
    worker.interrupt();
    worker.end().exits(130);
}

#[test]
fn a_worker_that_is_interrupted_leaves_its_runs_for_the_next_one() {
    let world = World::with(
        ONE,
        r#"echo $$ >> "$here/workers"
while [ ! -e "$here/go" ]; do sleep 0.05; done
echo "note $count" > note.txt"#,
    );
    queue(&world, "r-a", "try").succeeds();
    let worker = world.begin("worker");
    until("it works", || !world.noted("workers").is_empty());
    worker.interrupt();
    let ran = worker.end().exits(130);
    says(&ran.stderr, "r-a stopped");
    std::fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("worker --once").succeeds();
    assert_eq!(world.history_of("r-a", "admitted").len(), 1);
}

#[test]
fn a_worker_that_is_killed_leaves_nobody_and_the_next_one_goes_on_with_all_of_its_runs() {
    let own = ONE.replace("note.txt", "notes/{run}.txt");
    let world = World::with(
        &own,
        r#"echo $$ >> "$here/workers"
while [ ! -e "$here/go" ]; do sleep 0.05; done
mkdir -p notes; echo "note $count" > notes/$GATEWRIGHT_RUN.txt"#,
    );
    let runs = ["r-a", "r-b", "r-c"];
    for run in runs {
        queue(&world, run, "try").succeeds();
    }
    let worker = world.begin("worker");
    until("all work", || world.noted("workers").len() == runs.len());
    worker.kill();
    let is_alive = |id: &String| super::under_way::is_alive(id);
    until("nobody is left", || {
        !world.noted("workers").iter().any(is_alive)
    });
    std::fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("worker --once").succeeds();
    for run in runs {
        assert_eq!(world.status(run), "completed");
        assert_eq!(world.history_of(run, "admitted").len(), 1, "{run}");
        assert_eq!(world.history_of(run, "ended").len(), 1, "{run}");
    }
}

#[test]
fn a_worker_without_work_ends_when_it_may() {
    let world = World::new(Project::with_git(PROGRAM), WRITES);
    let ran = world.gatewright("worker --once").succeeds();
    says(&ran.stderr, "no run is queued");
    let waiting = world.begin("worker");
    until("it listens", || waiting.listens());
    until("it says that it waits", || {
        waiting.said().contains("no run is queued")
    });
    waiting.interrupt();
    waiting.end().exits(130);
}
