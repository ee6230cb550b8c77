//! The hooks inside real workers: forbidden calls are refused, and the model gets the reason.

use testkit::model::{Actor, bash, say, write};

use super::world::{RUN, World, you_are};

/// A person chooses between a maker and a judge, each of which leaves something.
fn pipeline(runner: &str) -> String {
    format!(
        r#"
name  = "two"
about = "Have one of two agents work."
start = "choosing"

[artifacts.made]
path   = "made.md"
format = "text"

[artifacts.verdict]
path   = "verdict.md"
format = "text"

[stages.choosing]
ask      = "Who works?"
on.make  = "making"
on.judge = "judging"

[stages.making]
agent   = "maker"
runner  = "{runner}"
leaves  = ["made"]
retry   = 0
on.done = "complete"

[stages.judging]
agent   = "judge"
runner  = "{runner}"
leaves  = ["verdict"]
on.done = "complete"

[stages.complete]
end = "completed"
"#
    )
}

const MAKE: [&str; 2] = ["--answer", "choosing=make"];

#[test]
fn what_a_worker_may_not_touch_is_refused_and_its_model_is_told_why() {
    for runner in ["claude", "codex", "gemini"] {
        let maker = you_are("maker");
        let world = World::planned(&pipeline(runner), |project| {
            let settings = project.path().join(".claude/settings.json");
            let turns = [
                bash(&format!("echo x > {}/evil", project.state().display())),
                write(settings, "{}"),
                write(project.path().join("verdict.md"), "good"),
                bash(&format!("gatewright answer {RUN} continue")),
                bash("echo text > made.md"),
                say("MADE"),
            ];
            vec![Actor::new(&maker, turns)]
        });
        world.run("pipeline.toml", &MAKE).succeeds();
        let told = world.model.told(&maker);
        for words in ["GW-R23", "GW-R24", "GW-R66"] {
            assert!(told.contains(words), "{runner}: {words}\n{told}");
        }
        let state_and_settings = told.matches("GW-R23").count();
        assert!(state_and_settings >= 2, "{runner}\n{told}");
        let refused = world.facts("refused");
        assert_eq!(refused.len(), 4, "{runner} {refused:?}");
        assert!(!world.project.state().join("evil").exists(), "{runner}");
        for name in [".claude/settings.json", "verdict.md"] {
            assert!(!world.project.path().join(name).exists(), "{runner} {name}");
        }
    }
}

const DENIED: &str = r#"
name  = "quiet"
about = "Have one agent work without a shell."
start = "judging"

[artifacts.verdict]
from    = "reply"
format  = "json"
outcome = { field = "status", values = { good = "done" } }

[stages.judging]
agent      = "judge"
leaves     = ["verdict"]
tools.deny = ["Bash"]
on.done    = "complete"

[stages.complete]
end = "completed"
"#;

#[test]
fn a_tool_that_the_stage_forbids_is_not_used() {
    for runner in ["claude", "codex", "gemini"] {
        let turns = [bash("echo x > stray"), say(r#"{"status": "good"}"#)];
        let world = World::with(DENIED, [Actor::new(&you_are("judge"), turns)]);
        world.run("pipeline.toml", &["--runner", runner]).succeeds();
        assert!(!world.project.path().join("stray").exists(), "{runner}");
    }
}

/// Claude Code lets nobody write to its own folder without a person. What the work leaves there may be
/// written all the same, and nothing else.
#[test]
fn in_the_folder_of_claude_code_a_worker_writes_what_it_leaves_and_nothing_else() {
    let pipeline = pipeline("claude").replace("made.md", ".claude/made.md");
    let world = World::planned(&pipeline, |project| {
        let folder = project.path().join(".claude");
        let turns = [
            bash("mkdir -p .claude && echo shell > .claude/made.md"),
            write(folder.join("agents/x.md"), "x"),
            write(folder.join("settings.local.json"), "{}"),
            write(folder.join("made.md"), "text"),
            say("MADE"),
        ];
        vec![Actor::new(&you_are("maker"), turns)]
    });
    let ran = world.run("pipeline.toml", &MAKE).succeeds();
    assert_eq!(world.project.read(".claude/made.md"), "text");
    // The person reads what the program itself refused, while the run goes on and afterwards.
    let history = world.project.run(["history", RUN]).succeeds();
    for told in [&ran.stderr, &history.stdout] {
        assert!(
            told.contains("claude did not allow d1 'maker'"),
            "{ran}\n{history}"
        );
    }
    let folder = world.project.path().join(".claude");
    let names: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
    let names: Vec<_> = names.iter().map(std::fs::DirEntry::file_name).collect();
    assert_eq!(names, ["made.md"]);
}

#[test]
fn the_settings_of_a_person_are_as_they_were_after_codex_worked() {
    let turns = [bash("echo x > made.md"), say("MADE")];
    let actors = [Actor::new(&you_are("maker"), turns)];
    let world = World::with(&pipeline("codex"), actors);
    let settings = world.project.home().join(".codex/config.toml");
    let before = std::fs::read_to_string(&settings).unwrap();
    world.run("pipeline.toml", &MAKE).succeeds();
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
}

#[test]
fn a_project_that_switches_the_hooks_of_gemini_off_is_told_before_anybody_works() {
    let turns = [bash("echo x > made.md"), say("MADE")];
    let actors = [Actor::new(&you_are("maker"), turns)];
    let world = World::with(&pipeline("gemini"), actors);
    let settings = ".gemini/settings.json";
    world
        .project
        .write(settings, r#"{ "hooksConfig": { "enabled": false } }"#);
    let ran = world.run("pipeline.toml", &MAKE);
    assert!(ran.stderr.contains(settings), "{ran}");
    assert_eq!(world.facts("admitted").len(), 0, "{ran}");
    world.project.write(settings, "{}");
    world.resume().succeeds();
}

#[test]
fn a_worker_whose_hooks_do_not_come_is_ended_at_its_first_tool() {
    let turns = [bash("echo x > made.md"), say("MADE")];
    let actors = [Actor::new(&you_are("maker"), turns)];
    let world = World::with(&pipeline("claude"), actors);
    // The real program, without the settings that we put in front of its command line.
    let real = world.program("claude");
    let version = testkit::tells_version("claude");
    let script = format!("{version}\nshift 2; exec '{}' \"$@\"", real.display());
    world.put_program("claude", &script);
    let ran = world.run("pipeline.toml", &MAKE).exits(6);
    let reason = "claude used a tool before any of its hooks called gatewright: it is not guarded";
    assert!(ran.stderr.contains(reason), "{ran}");
    let results = world.results();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].contains("crashed"), "{results:?}");
    assert_eq!(world.left_over(), Vec::<String>::new());
}
