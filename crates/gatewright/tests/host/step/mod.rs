//! Steps with the real Codex, with a scripted model: its command line, its conversations and its end.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod inside;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::codex::{self, CodexModel, CodexTurn, fail, run, say};
use testkit::pipelines::REVIEW;
use testkit::{Project, Ran, until};

use crate::stage::program;

const APPROVES: &str =
    r#"mkdir -p .task && echo '{"status": "approved"}' > .task/review.json && ls .task"#;

/// A run that waits for Codex, and the model that speaks through it.
struct World {
    project: Project,
    model: CodexModel,
}

impl World {
    fn new(pipeline: &str, turns: impl IntoIterator<Item = CodexTurn>) -> Self {
        let world = Self {
            project: Project::with_git(program()),
            model: CodexModel::start(turns),
        };
        codex::settle(&world.project, &world.model);
        let pipeline = pipeline.replace("model            = \"some-model\"\n", "");
        world.project.write("pipeline.toml", pipeline);
        world.project.write("prompts/review.md", "Be strict.\n");
        world.project.trust_by_hash("pipeline.toml");
        world
            .run("start pipeline.toml --task try --by-hand --id r-test")
            .succeeds();
        world
    }

    fn command(&self, mut command: Command) -> Command {
        let system = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{system}", codex::folder().display()));
        command
    }

    fn run(&self, line: &str) -> Ran {
        let command = self.project.command(line.split_whitespace());
        Ran::from(self.command(command).output().unwrap())
    }

    fn history(&self) -> String {
        self.run("history r-test --json").succeeds().stdout
    }
}

#[test]
fn codex_is_the_pinned_one() {
    let said = Command::new(codex::folder().join("codex"))
        .arg("--version")
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.trim(), format!("codex-cli {}", codex::VERSION));
}

#[test]
fn a_real_review_moves_the_run() {
    let world = World::new(REVIEW, [run(APPROVES), say("approved")]);
    let ran = world.run("step").succeeds();
    assert!(ran.stdout.contains("complete"), "{ran}");
    let told = world.model.told();
    for words in ["'review-codex'", "Be strict.", "review.json"] {
        assert!(told.contains(words), "{told}");
    }
    let history = world.history();
    assert!(history.contains("\"worker\": \"codex:"), "{history}");
    assert!(history.contains("\"tokens\": 220"), "{history}");
}

#[test]
fn a_real_codex_that_leaves_nothing_is_hollow() {
    let world = World::new(REVIEW, [say("LGTM")]);
    world.run("step").exits(1);
    let history = world.history();
    assert!(history.contains("\"hollow\""), "{history}");
    assert_eq!(world.model.requests().len(), 1);
}

#[test]
fn a_real_codex_is_sent_back_into_its_own_conversation() {
    let world = World::new(
        REVIEW,
        [
            run("ls"),
            say("done"),
            run(APPROVES),
            say("now it is there"),
        ],
    );
    world.run("step").succeeds();
    let requests = world.model.requests();
    assert_eq!(requests.len(), 4);
    // The conversation goes on: what was said in it before is there again.
    let told = requests[2].to_string();
    for words in ["Be strict.", "review"] {
        assert!(told.contains(words), "{told}");
    }
    // Codex counts the whole conversation; the run counts it once.
    assert!(world.history().contains("\"tokens\": 440"));
}

#[test]
fn the_sandbox_keeps_a_real_reviewer_that_only_speaks_from_writing() {
    let reply = REVIEW.replace(r#"path    = ".task/review.json""#, r#"from    = "reply""#);
    let verdict = json!({ "status": "approved" }).to_string();
    let world = World::new(&reply, [run("touch stray; ls"), say(&verdict)]);
    world.run("step").succeeds();
    assert!(!world.project.path().join("stray").exists());
    assert!(
        world
            .run("status r-test")
            .succeeds()
            .stdout
            .contains("completed")
    );
}

#[test]
fn a_real_codex_without_its_model_has_crashed() {
    let world = World::new(REVIEW, [fail(400)]);
    let ran = world.run("step").exits(1);
    assert!(ran.stderr.contains("exit code 1"), "{ran}");
}

#[test]
fn the_tools_of_a_real_codex_end_with_it() {
    // The command in its shell is known by a word that nothing else has.
    let word = format!("tool-of-{}", std::process::id());
    let sleeps = format!("sh -c 'sleep 120 # {word}'; ls");
    let world = World::new(REVIEW, [run(&sleeps), say("done")]);
    let mut step = world.command(world.project.child(["step"]));
    step.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = step.spawn().unwrap();
    until("its tool runs", || !running(&word).is_empty());
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(process, Signal::TERM).unwrap();
    Ran::from(child.wait_with_output().unwrap()).exits(1);
    until("its tools are gone", || running(&word).is_empty());
}

/// The processes with this word in their command line.
fn running(word: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let is_ours = process.file_name() != Path::new("self").as_os_str();
        (is_ours && line.contains(word)).then_some(line)
    });
    lines.collect()
}
