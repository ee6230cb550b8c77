//! Bad input: one clear line each, the run waits with its reason or does not begin, nothing is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use testkit::{Project, Ran};

use super::fixture::{ONE, PROGRAM, WRITES, World, says, until};

/// A run may take this much memory, in kilobytes, however much its workers print.
const MOST_MEMORY: u64 = 300_000;

/// `ONE`, whose faults are a person's at once.
fn strict() -> String {
    ONE.replace("on.done", "retry = 0\non.done")
}

#[test]
fn a_missing_agent_program_is_named_and_the_run_goes_on_when_it_is_there() {
    let world = World::with(ONE, "");
    // Nothing but the system's programs.
    let run = |line: &str| {
        let mut command = world.command(line);
        command.env(
            "PATH",
            format!("{}:/usr/bin:/bin", world.programs().display()),
        );
        Ran::from(command.output().unwrap())
    };
    let ran = run("run pipeline.toml --task try --id r-test --runner gemini").exits(4);
    says(&ran.stderr, "`gemini`");
    says(&ran.stderr, "`gatewright resume r-test`");
    says(&ran.stderr, "`gatewright cancel r-test ");
    assert_eq!(world.history("admitted").len(), 0, "no attempt is spent");
    let ran = run("resume r-test").exits(4);
    says(&ran.stderr, "`gemini`");
    world.program("gemini", "exit 1");
    let ran = run("resume r-test");
    assert_ne!(ran.code, Some(4), "{ran}");
    assert!(
        !world.history("admitted").is_empty(),
        "now it was started\n{ran}"
    );
}

#[test]
fn what_cannot_be_run_does_not_begin() {
    let world = World::with(ONE, WRITES);
    let plain = world.programs().join("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let plain = plain.display().to_string();
    for (words, code, told) in [
        ("--stand-in nowhere", 3, "nowhere"),
        ("--stand-in .", 3, "project/."),
        (&format!("--stand-in {plain}"), 2, &plain),
        ("--runner magic", 2, "claude, codex, gemini"),
        ("--runner command", 2, "claude, codex, gemini"),
        ("--agents 0", 2, "0"),
        ("--limit codex", 2, "RUNNER=NUMBER"),
        ("--notify ''", 2, "notify"),
    ] {
        let line = format!("run pipeline.toml --task try --id r-test {words}");
        let words = line
            .split_whitespace()
            .map(|word| if word == "''" { "" } else { word });
        let ran = world.project.run(words).exits(code);
        says(&ran.stderr, told);
    }
    let runs = world.facts("list --all");
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(0), "{runs}");
}

#[test]
fn a_stand_in_that_is_gone_when_it_is_needed_costs_no_attempt() {
    let world = World::with(
        &ONE.replace("start = \"writing\"", "start = \"asking\"")
            .replace(
                "[stages.writing]",
                "[stages.asking]\nask = \"Begin?\"\non.yes = \"writing\"\n\n[stages.writing]",
            ),
        WRITES,
    );
    world.run("").exits(6);
    world.gatewright("answer r-test yes").succeeds();
    fs::remove_file(world.programs().join("agent")).unwrap();
    let ran = world.gatewright("resume r-test").exits(4);
    says(&ran.stderr, "/agent");
    assert!(world.history("admitted").is_empty());
    world.agent(WRITES);
    world.gatewright("resume r-test").succeeds();
}

#[test]
fn output_that_is_no_text_harms_nobody() {
    let world = World::with(
        ONE,
        &format!(r"printf '\377\376\300 \000 bad\n'; printf '\377' >&2; {WRITES}"),
    );
    world.run("").succeeds();
    let world = World::with(&strict(), r"printf '\377\376\n' >&2; exit 1");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "crashed");
    says(&ran.stdout, "exit code 1");
    let world = World::with(&strict(), r"printf '\377\376\n' > note.txt");
    says(&world.run("").exits(6).stdout, "UTF-8");
}

/// Runs this agent and tells the most memory that the orchestrator had.
fn memory_for(world: &World) -> (Ran, u64) {
    let run = world.begin(&world.line(""));
    let most = std::cell::Cell::new(0);
    until("it has ended", || match run.memory() {
        Some(memory) => {
            most.set(most.get().max(memory));
            false
        }
        None => true,
    });
    (run.end(), most.get())
}

#[test]
fn more_output_than_memory_is_read_with_little() {
    for (what, prints) in [
        ("one line", "head -c 400000000 /dev/zero"),
        (
            "long lines",
            "yes \"$(head -c 1000000 /dev/zero | tr '\\0' a)\" | head -c 400000000",
        ),
        ("complaints", "head -c 400000000 /dev/zero >&2"),
    ] {
        let world = World::with(ONE, &format!("{prints}\n{WRITES}"));
        let (ran, memory) = memory_for(&world);
        ran.succeeds();
        assert!((1..MOST_MEMORY).contains(&memory), "{what}: {memory} KB");
    }
}

#[test]
fn output_without_an_end_is_ended_by_the_time_limit() {
    let world = World::with(
        &strict().replace("retry = 0", "retry = 0\ntimeout = \"2s\""),
        "echo $$ > \"$here/worker\"\nexec yes",
    );
    let (ran, memory) = memory_for(&world);
    says(&ran.exits(6).stdout, "timeout");
    assert!((1..MOST_MEMORY).contains(&memory), "{memory} KB");
    let worker = world.noted("worker").remove(0);
    until("it has ended", || !super::under_way::is_alive(&worker));
}

#[test]
fn an_artifact_that_leads_out_of_the_project_is_none() {
    for (leaves, told) in [
        ("ln -s /etc/hostname note.txt", "is a symbolic link"),
        (
            "ln -s \"$here\" out; mkdir -p \"$here/x\"; echo secret > \"$here/note.txt\"; ln -s \"$here/note.txt\" note.txt",
            "is a symbolic link",
        ),
        ("mkdir note.txt", "`note.txt` is a folder"),
        ("mkfifo note.txt", "`note.txt` is a pipe"),
        (
            "head -c 10000000 /dev/zero | tr '\\0' a > note.txt",
            "it is longer than",
        ),
        (": > note.txt", "it is empty"),
    ] {
        let world = World::with(&strict(), leaves);
        let ran = world.run("").exits(6);
        says(&ran.stdout, told);
        assert_eq!(world.status("r-test"), "waiting");
    }
}

#[test]
fn a_task_of_200_kilobytes_reaches_the_worker_whole() {
    let world = World::with(ONE, WRITES);
    let task = format!("{}the very end", "a long story, ".repeat(15_000));
    assert!(task.len() > 200_000);
    let line = world.line("").replace("--task try", "--task -");
    let words = line.split_whitespace().map(str::to_owned);
    let ran = world.project.run_with_input(words, &task).succeeds();
    says(&world.prompt(1), "the very end");
    let longest = ran.stderr.lines().map(str::len).max();
    assert!(longest < Some(1000), "a line stays a line");
}

#[test]
fn a_project_that_moved_is_told_and_goes_on_when_it_is_back() {
    let world = World::with(&strict(), "exit 1");
    world.run("").exits(6);
    world.gatewright("retry r-test").succeeds();
    let (here, there) = (world.project.path(), world.project.home().join("moved"));
    fs::rename(&here, &there).unwrap();
    fs::create_dir(&here).unwrap();
    let elsewhere = |line: &str| {
        let mut command = world.command(line);
        command
            .current_dir(world.project.home())
            .stdin(Stdio::null());
        Ran::from(command.output().unwrap())
    };
    fs::remove_dir(&here).unwrap();
    let ran = elsewhere("resume r-test").exits(4);
    says(&ran.stderr, here.to_str().unwrap());
    fs::rename(&there, &here).unwrap();
    world.agent(WRITES);
    world.gatewright("resume r-test").succeeds();
}

#[test]
fn no_git_at_all_is_no_obstacle() {
    let world = World::new(Project::new(PROGRAM), WRITES);
    world.pipeline(ONE);
    world.run("").succeeds();
}

#[test]
fn a_worker_that_ends_well_and_tells_an_error_is_not_believed() {
    // Exit code 0 alone says nothing.
    let world = World::with(&strict(), "echo all is done; exit 0");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "`note`");
}

#[test]
fn a_login_that_has_run_out_costs_no_attempt() {
    let replied = ONE.replace(
        "path   = \"note.txt\"\nformat = \"text\"",
        "from = \"reply\"",
    );
    let world = World::with(&replied, "");
    let thread =
        r#"echo '{"type":"thread.started","thread_id":"01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4"}'"#;
    world.program(
        "codex",
        &format!(
            "{thread}\n{}\nexit 1",
            r#"echo '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Missing bearer authentication"}}'"#
        ),
    );
    let ran = world
        .gatewright("run pipeline.toml --task try --id r-test --runner codex")
        .exits(4);
    says(&ran.stderr, "codex");
    assert!(world.history("retried").is_empty());
    world.program(
        "codex",
        &format!(
            "{thread}\n{}",
            r#"echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"all is well"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":5,"output_tokens":1}}'"#
        ),
    );
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.history("admitted").len(), 1);
}
