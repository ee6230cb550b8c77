//! The test suite that 002 lists, and its faults, each through the real Claude Code.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use testkit::model::{Actor, Turn, agent, agent_in_foreground, bash, fail, say};

use crate::stage::{Stage, is_refused};

/// Agents that a project has besides those of the pipeline.
const OWN: [&str; 4] = ["bash-expert", "nix-expert", "c-expert", "rust-expert"];

/// Somebody who looks around and says what came of it.
fn worker(marker: &str, says: &str) -> Actor {
    Actor::new(marker, [bash("ls"), say(says)])
}

/// The agents of the pipeline, each with the marker of its prompt.
fn crew() -> Vec<Actor> {
    vec![
        worker("GO-GATHER", "GATHERED: parse.rs reads the input"),
        worker("GO-REFINE", "REFINED: only line 12 matters"),
        worker("GO-PLAN", "PLAN: bash-expert changes line 12"),
        worker("GO-BASH", "CHANGED"),
        worker("GO-NIX", "CHANGED"),
        worker("GO-C", "CHANGED"),
        worker("GO-EXPLORE", "EXPLORED"),
        Actor::new("GO-EARLY", [bash("echo early > early.txt"), say("EARLY")]),
    ]
}

fn stage(turns: impl IntoIterator<Item = Turn>) -> Stage {
    let main = Actor::new("GO-MAIN", turns);
    let stage = Stage::always_on(std::iter::once(main).chain(crew()));
    for agent in OWN {
        let text = format!("---\nname: {agent}\ndescription: {agent}\n---\nWork.\n");
        let path = format!(".claude/agents/{agent}.md");
        stage.project.write(path, text);
    }
    stage
}

fn gather() -> Turn {
    agent_in_foreground("context-gatherer", "GO-GATHER")
}

fn refine() -> Turn {
    agent_in_foreground("context-refiner", "GO-REFINE")
}

fn plan() -> Turn {
    agent_in_foreground("strategic-orchestrator", "GO-PLAN")
}

fn early(agent: &str) -> Turn {
    agent_in_foreground(agent, "GO-EARLY")
}

/// Where the run went, stage by stage.
fn moves(stage: &Stage) -> Vec<String> {
    let journal = stage.journal();
    let facts = journal.iter().map(|entry| &entry["fact"]);
    let moves = facts.filter(|fact| fact["kind"] == "moved");
    moves
        .map(|fact| format!("{} {}", word(&fact["from"]), word(&fact["to"])))
        .collect()
}

/// The names of what was captured and still counts.
fn kept(stage: &Stage) -> Vec<String> {
    let status = stage.status(&stage.run());
    let artifacts = status["artifacts"].as_array().cloned().unwrap_or_default();
    let names = artifacts.iter().map(|artifact| word(&artifact["name"]));
    names.collect()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn state_initialization() {
    let stage = stage([say("END")]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.place(), "IDLE running");
    assert_eq!(kept(&stage), [""; 0]);
    // The state is the user's alone, and not in the project.
    let state = stage.project.state();
    let mode = fs::metadata(&state)
        .expect("the state folder")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o700);
    assert!(!state.starts_with(stage.project.path()));
}

#[test]
fn workflow_injection() {
    let injected = "This project works in a fixed order";
    let stage = stage([say("FIRST"), gather(), say("SECOND"), say("THIRD")]);
    let first = stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains(injected), "{told}");
    let session = first.session_id();
    stage.claude().resume(session).ask("gather").succeeds();
    stage.claude().resume(session).ask("go on").succeeds();
    assert_eq!(stage.place(), "GATHERING running", "{}", stage.history());
    let last = stage.model.requests_of("GO-MAIN");
    let news = last
        .last()
        .map(testkit::model::Request::news)
        .unwrap_or_default();
    assert!(!news.contains(injected), "{news}");
}

#[test]
fn agent_approvals_and_blocks_in_each_state() {
    let stage = stage([
        // IDLE
        early("Explore"),
        early("general-purpose"),
        early("context-refiner"),
        early("bash-expert"),
        gather(),
        // GATHERING
        early("context-gatherer"),
        early("strategic-orchestrator"),
        early("nix-expert"),
        agent_in_foreground("Explore", "GO-EXPLORE"),
        refine(),
        // REFINING
        early("context-refiner"),
        early("c-expert"),
        agent_in_foreground("Plan", "GO-EXPLORE"),
        plan(),
        // EXECUTING
        early("strategic-orchestrator"),
        early("rust-expert"),
        agent_in_foreground("bash-expert", "GO-BASH"),
        agent_in_foreground("nix-expert", "GO-NIX"),
        agent_in_foreground("c-expert", "GO-C"),
        agent_in_foreground("general-purpose", "GO-EXPLORE"),
        say("END"),
        // COMPLETE
        early("bash-expert"),
        early("Explore"),
        gather(),
        say("AGAIN"),
    ]);
    let first = stage.claude().ask("GO-MAIN: begin").succeeds();
    stage.project.person(["finish"], "").succeeds();
    let resumed = stage.claude().resume(first.session_id());
    resumed.ask("the next task").succeeds();
    let told = stage.model.told("GO-MAIN");
    let refused = [
        (
            "IDLE",
            [
                "Explore",
                "general-purpose",
                "context-refiner",
                "bash-expert",
            ]
            .as_slice(),
        ),
        (
            "GATHERING",
            &["context-gatherer", "strategic-orchestrator", "nix-expert"],
        ),
        ("REFINING", &["context-refiner", "c-expert"]),
        ("EXECUTING", &["strategic-orchestrator", "rust-expert"]),
        ("COMPLETE", &["bash-expert", "Explore"]),
    ];
    for (place, agents) in refused {
        for agent in agents {
            let refused = told.split("GW-R11").any(|refusal| {
                let names = [format!("'{agent}'"), format!(" in {place}")];
                names.iter().all(|name| refusal.contains(name))
            });
            assert!(refused, "{agent} in {place}\n{told}");
        }
    }
    assert_eq!(stage.count("GW-R11"), 13, "{}", stage.history());
    assert!(stage.model.requests_of("GO-EARLY").is_empty());
    for marker in ["GO-BASH", "GO-NIX", "GO-C", "GO-EXPLORE"] {
        assert!(!stage.model.requests_of(marker).is_empty(), "{marker}");
    }
    assert_eq!(stage.place(), "GATHERING running");
}

#[test]
fn state_transitions() {
    let bash_expert = agent_in_foreground("bash-expert", "GO-BASH");
    let stage = stage([
        gather(),
        refine(),
        plan(),
        bash_expert,
        say("END"),
        gather(),
        say("AGAIN"),
    ]);
    let first = stage.claude().ask("GO-MAIN: begin").succeeds();
    // Language agents move nothing: a person says when it is done.
    assert_eq!(stage.place(), "EXECUTING running", "{}", stage.history());
    stage.project.person(["finish"], "").succeeds();
    assert_eq!(stage.place(), "COMPLETE completed");
    assert_eq!(stage.status(&stage.run())["task"], "GO-MAIN: begin");
    // The next task begins again, and moves. It is what the person wrote, and has nothing of the last one.
    let resumed = stage.claude().resume(first.session_id());
    resumed.ask("the next task").succeeds();
    assert_eq!(stage.status(&stage.run())["task"], "the next task");
    assert_eq!(kept(&stage), ["gathered"]);
    assert_eq!(
        moves(&stage),
        [
            "IDLE GATHERING",
            "GATHERING REFINING",
            "REFINING EXECUTING",
            "EXECUTING COMPLETE",
            "COMPLETE GATHERING",
        ],
        "{}",
        stage.history()
    );
}

#[test]
fn utility_agent_bypass() {
    let explore = || agent_in_foreground("Explore", "GO-EXPLORE");
    let stage = stage([
        early("Explore"),
        gather(),
        explore(),
        refine(),
        explore(),
        plan(),
        explore(),
        say("END"),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R11", "'Explore'"), "{told}");
    assert_eq!(told.matches("EXPLORED").count(), 3, "{told}");
    assert_eq!(moves(&stage).len(), 3, "{}", stage.history());
    assert!(!stage.path("early.txt").exists());
}

#[test]
fn context_storage() {
    let bash_expert = agent_in_foreground("bash-expert", "GO-BASH");
    let stage = stage([gather(), refine(), plan(), bash_expert, say("END")]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(kept(&stage), ["gathered", "orchestration", "refined"]);
    for (marker, told) in [
        ("GO-REFINE", "GATHERED: parse.rs reads the input"),
        ("GO-PLAN", "REFINED: only line 12 matters"),
        ("GO-BASH", "PLAN: bash-expert changes line 12"),
    ] {
        let heard = stage.model.told(marker);
        assert!(heard.contains(told), "{marker}\n{heard}");
    }
    // What was said is kept word for word, with who said it.
    let run = stage.run();
    let export = stage.project.person(["export", &run], "").succeeds();
    assert!(export.stdout.contains("GATHERED: parse.rs"), "{export}");
}

#[test]
fn history_tracking() {
    let stage = stage([gather(), early("bash-expert"), refine(), say("END")]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let journal = stage.journal();
    let ended = journal
        .iter()
        .filter(|entry| entry["fact"]["kind"] == "ended");
    assert_eq!(ended.count(), 2, "{}", stage.history());
    assert_eq!(moves(&stage), ["IDLE GATHERING", "GATHERING REFINING"]);
    for entry in &journal {
        assert!(word(&entry["at"]).ends_with('Z'), "{entry}");
    }
    let text = stage.history();
    for told in [
        "'context-gatherer' (d1)",
        "IDLE → GATHERING",
        "'bash-expert'",
    ] {
        assert!(text.contains(told), "{told}\n{text}");
    }
    let run = stage.run();
    stage.project.person(["verify", &run], "").succeeds();
}

/// A person types the command: the run begins again, what was is kept, and can be had back.
#[test]
fn reset_functionality() {
    let stage = stage([
        // At a terminal every agent works in the background, and its end is a prompt.
        agent("context-gatherer", "GO-GATHER"),
        say("BEGUN"),
        say("DONE-1"),
        say("DONE-2"),
    ]);
    let session = stage.claude().open();
    session.say("GO-MAIN: begin");
    session.wait_for("DONE-1");
    assert_eq!(stage.place(), "GATHERING running", "{}", stage.history());
    session.say("/reset-pipeline another task");
    session.wait_for("DONE-2");
    session.leave();
    assert_eq!(stage.place(), "IDLE running", "{}", stage.history());
    let told = stage.history();
    assert!(told.contains("another task"), "{told}");
    assert!(told.contains("IDLE → GATHERING"), "{told}");
    let backups = fs::read_dir(stage.project.state().join("backups")).expect("backups");
    assert_eq!(backups.count(), 1);
    let run = stage.run();
    let back = ["restore", &run, "@GATHERING", "--reason", "it was right"];
    stage.project.person(back, &format!("{run}\n")).succeeds();
    assert_eq!(stage.place(), "GATHERING running", "{}", stage.history());
    assert_eq!(kept(&stage), ["gathered"]);
}

/// An agent that failed leaves the run where the last checked outcome put it.
#[test]
fn a_failed_agent_leaves_the_run_where_it_was() {
    let main = Actor::new(
        "GO-MAIN",
        [
            gather(),
            agent_in_foreground("context-refiner", "GO-BREAK"),
            early("strategic-orchestrator"),
            refine(),
            say("END"),
        ],
    );
    let breaks = Actor::new("GO-BREAK", [bash("ls"), fail(400)]);
    let stage = Stage::always_on([main, breaks].into_iter().chain(crew()));
    stage.claude().ask("GO-MAIN: begin");
    let told = stage.model.told("GO-MAIN");
    let refused = is_refused(&told, "GW-R11", "'strategic-orchestrator'");
    assert!(refused, "{told}");
    assert_eq!(stage.place(), "REFINING running", "{}", stage.history());
    assert_eq!(moves(&stage), ["IDLE GATHERING", "GATHERING REFINING"]);
}

#[test]
fn another_sessions_progress_does_not_count_for_mine() {
    let stage = stage([gather(), say("END")]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let other = Stage {
        model: testkit::model::Model::start([
            Actor::new("GO-OTHER", [early("context-refiner"), say("END")]),
            worker("GO-EARLY", "NEVER"),
        ]),
        project: stage.project,
    };
    other.claude().ask("GO-OTHER: begin").succeeds();
    let told = other.model.told("GO-OTHER");
    assert!(is_refused(&told, "GW-R11", "'context-refiner'"), "{told}");
    let places: Vec<String> = other.runs().iter().map(|run| other.place_of(run)).collect();
    assert_eq!(places, ["IDLE running", "GATHERING running"]);
}

/// Eight agents at once: eight ends in the history, and the run is where it was.
#[test]
fn parallel_completions_are_all_recorded() {
    let at_once = (1..8).fold(agent_in_foreground("bash-expert", "GO-BASH"), |turn, _| {
        turn.and_also(agent_in_foreground("bash-expert", "GO-BASH"))
    });
    let stage = stage([gather(), refine(), plan(), at_once, say("END")]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let journal = stage.journal();
    let ended = journal
        .iter()
        .filter(|entry| entry["fact"]["kind"] == "ended");
    assert_eq!(ended.count(), 11, "{}", stage.history());
    assert_eq!(stage.place(), "EXECUTING running");
}

/// The files of the seed, rendered from the run: they are never read back.
#[test]
fn the_state_file_and_the_log_are_written_after_every_change() {
    let stage = stage([gather(), early("bash-expert"), say("END")]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let folder = format!(".claude/state/{}", stage.run());
    let text = stage.project.read(format!("{folder}/pipeline-state.json"));
    let state: Value = serde_json::from_str(&text).expect("the state is JSON");
    assert_eq!(state["version"], "1.0");
    assert_eq!(state["state"], "GATHERING");
    assert_eq!(state["history"][0]["agent"], "context-gatherer", "{state}");
    assert_eq!(state["history"][0]["state_before"], "IDLE");
    assert_eq!(state["history"][0]["state_after"], "GATHERING");
    let gathered = word(&state["context"]["gathered"]);
    assert!(gathered.contains("GATHERED: parse.rs"), "{state}");
    let log = stage.project.read(format!("{folder}/pipeline.log"));
    let mut blocked = log.lines().filter(|line| line.contains("] blocked: "));
    assert!(blocked.any(|line| line.contains("'bash-expert'")), "{log}");
    assert!(log.contains("IDLE → GATHERING"), "{log}");
}

/// A person trusts a settings file that adds to a group; the definition stays as it is.
#[test]
fn a_settings_file_lets_more_agents_work() {
    let rust = agent_in_foreground("rust-expert", "GO-BASH");
    let stage = stage([gather(), refine(), plan(), rust, say("END")]);
    let settings = r#"{"language": ["rust-*"]}"#;
    stage.project.write(".gatewright/agents.json", settings);
    stage.project.trust("context-first");
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.count("GW-R11"), 0, "{}", stage.history());
    assert!(!stage.model.requests_of("GO-BASH").is_empty());
    assert_eq!(stage.place(), "EXECUTING running");
}

/// Without a person's word nobody is let in, and with it nobody who would break a promise: no run begins,
/// and so no agent.
#[test]
fn settings_that_nobody_trusts_or_that_break_a_promise_let_no_agent_work() {
    for (settings, reason) in [
        (r#"{"language": ["rust-*"]}"#, "gatewright trust"),
        (
            r#"{"utility": ["bash-*"]}"#,
            "no language agent works before the plan is made",
        ),
    ] {
        let stage = stage([early("context-gatherer"), say("END")]);
        stage.project.write(".gatewright/agents.json", settings);
        stage.claude().ask("GO-MAIN: begin").succeeds();
        let told = stage.model.told("GO-MAIN");
        assert!(told.contains(reason), "{told}");
        assert!(stage.model.requests_of("GO-EARLY").is_empty());
        assert!(!stage.path("early.txt").exists());
    }
}
