//! Sessions without a terminal.

use serde_json::{Value, json};
use testkit::claude::VERSION;
use testkit::model::{
    Actor, agent, agent_in_foreground, bash, fail, fail_first, hold, make, say, send_message,
};

use super::world::{World, order};

fn writer() -> Actor {
    Actor::new("GO-WRITER", [bash("echo text > file"), say("WRITTEN")])
}

#[test]
fn the_host_is_the_pinned_one() {
    let world = World::new([]);
    let said = world.claude().run(["--version"]).succeeds().stdout;
    assert_eq!(said.trim(), format!("{VERSION} (Claude Code)"));
}

#[test]
fn an_agent_in_the_foreground_ends_before_its_call_does() {
    let call = agent_in_foreground("writer", "GO-WRITER");
    let world = World::new([Actor::new("GO-MAIN", [call, say("ALL DONE")]), writer()]);
    let ran = world.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(ran.result(), "ALL DONE");
    assert!(world.model.told("GO-MAIN").contains("WRITTEN"));
    assert_eq!(world.project.read("file"), "text\n");
    let names = world.recorder.names();
    let wanted = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse Agent",
        "SubagentStart",
        "PreToolUse Bash",
        "PostToolUse Bash",
        "SubagentStop",
        "PostToolUse Agent",
        "Stop",
        "SessionEnd",
    ];
    assert_eq!(order(&names, &wanted), wanted, "{names:?}");
    assert!(world.model.strangers().is_empty());
}

#[test]
fn an_agent_in_the_background_outlives_its_call_and_is_announced() {
    let main = [
        agent("writer", "GO-WRITER"),
        say("LAUNCHED"),
        say("ALL DONE"),
    ];
    let slow = Actor::new("GO-WRITER", [hold("launched", say("WRITTEN"))]);
    let world = World::new([Actor::new("GO-MAIN", main), slow]);
    let running = world.claude().begin("GO-MAIN: begin");
    let stop = world.recorder.wait_for("Stop", |_| true);
    assert_eq!(
        stop["background_tasks"].as_array().map(Vec::len),
        Some(1),
        "{stop}"
    );
    world.model.release("launched");
    let ran = running.wait().succeeds();
    assert_eq!(ran.of_type("result").len(), 2);
    assert_eq!(ran.result(), "ALL DONE");
    let call = &world.recorder.of("PostToolUse")[0];
    assert_eq!(call["tool_response"]["status"], "async_launched", "{call}");
    let prompts = world.recorder.of("UserPromptSubmit");
    let announced = prompts[1]["prompt"].as_str().unwrap();
    assert!(announced.starts_with("<task-notification>"), "{announced}");
    assert!(
        announced.contains("<result>WRITTEN</result>"),
        "{announced}"
    );
}

#[test]
fn a_refused_call_reaches_the_model_with_its_reason() {
    let call = agent_in_foreground("writer", "GO-WRITER");
    let mut world = World::new([Actor::new("GO-MAIN", [call, say("I SEE")]), writer()]);
    world.recorder = world.recorder.deny("Agent", "first gather the documents");
    let ran = world.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(ran.result(), "I SEE");
    let told = world.model.told("GO-MAIN");
    assert!(
        told.contains("PreToolUse:Agent hook error: first gather the documents"),
        "{told}"
    );
    assert!(world.recorder.of("SubagentStart").is_empty());
    assert!(world.model.told("GO-WRITER").is_empty());
}

#[test]
fn two_calls_of_one_message_run_at_the_same_time() {
    let pair =
        agent_in_foreground("writer", "GO-ONE").and_also(agent_in_foreground("writer", "GO-TWO"));
    let world = World::new([
        Actor::new("GO-MAIN", [pair, say("ALL DONE")]),
        Actor::new("GO-ONE", [hold("one", say("ONE WRITTEN"))]),
        Actor::new("GO-TWO", [hold("two", say("TWO WRITTEN"))]),
    ]);
    let running = world.claude().begin("GO-MAIN: begin");
    world.model.wait_until_held("one");
    world.model.wait_until_held("two");
    world.model.release("one");
    world.model.release("two");
    running.wait().succeeds();
    let told = world.model.told("GO-MAIN");
    assert!(
        told.contains("ONE WRITTEN") && told.contains("TWO WRITTEN"),
        "{told}"
    );
    let names = world.recorder.names();
    let first = names.iter().position(|name| name == "SubagentStart");
    let calls = names[..first.unwrap()]
        .iter()
        .filter(|name| *name == "PreToolUse Agent");
    assert_eq!(calls.count(), 2, "{names:?}");
}

#[test]
fn a_resumed_session_keeps_its_id_and_goes_on_and_a_fork_has_a_new_one() {
    let world = World::new([Actor::new(
        "GO-MAIN",
        [say("ONE"), say("TWO"), say("THREE")],
    )]);
    let id = "11111111-2222-4333-8444-555555555555";
    let first = world
        .claude()
        .session_id(id)
        .ask("GO-MAIN: begin")
        .succeeds();
    let second = world.claude().resume(id).ask("go on").succeeds();
    let fork = world.claude().fork(id).ask("go another way").succeeds();
    assert_eq!(
        [first.result(), second.result(), fork.result()],
        ["ONE", "TWO", "THREE"]
    );
    assert_eq!([first.session_id(), second.session_id()], [id, id]);
    assert_ne!(fork.session_id(), id);
    let starts = world.recorder.of("SessionStart");
    let sources: Vec<_> = starts.iter().map(|start| &start["source"]).collect();
    assert_eq!(sources, ["startup", "resume", "fork"]);
}

#[test]
fn a_turn_can_use_what_the_model_was_told() {
    let go_on = make(|request| send_message(&request.agent_id(), "once more"));
    let world = World::new([
        Actor::new(
            "GO-MAIN",
            [
                agent_in_foreground("writer", "GO-WRITER"),
                go_on,
                say("SENT"),
                say("ALL DONE"),
            ],
        ),
        Actor::new("GO-WRITER", [say("WRITTEN"), say("WRITTEN AGAIN")]),
    ]);
    world
        .claude()
        .allow(["SendMessage"])
        .ask("GO-MAIN: begin")
        .succeeds();
    let told = world.model.told("GO-MAIN");
    assert!(told.contains("WRITTEN AGAIN"), "{told}");
    let starts = world.recorder.of("SubagentStart");
    assert_eq!(starts.len(), 2);
    assert_eq!(starts[0]["agent_id"], starts[1]["agent_id"]);
}

#[test]
fn a_failing_server_ends_the_session_and_a_failure_that_passes_does_not() {
    let world = World::new([
        Actor::new("GO-BAD", [fail(400)]),
        Actor::new("GO-SLOW", [fail_first(529, 1, say("AT LAST"))]),
    ]);
    let ran = world.claude().ask("GO-BAD: begin");
    assert_eq!((ran.code, ran.is_error()), (Some(1), true), "{ran}");
    let ran = world.claude().ask("GO-SLOW: begin").succeeds();
    assert_eq!(ran.result(), "AT LAST");
    assert_eq!(world.model.requests_of("GO-SLOW").len(), 2);
}

#[test]
fn context_of_a_hook_is_what_the_model_is_told() {
    let mut world = World::new([Actor::new("GO-MAIN", [say("DONE")])]);
    let context =
        json!({ "hookEventName": "SessionStart", "additionalContext": "THE RUN STANDS AT BUILD" });
    let reply = json!({ "hookSpecificOutput": context });
    world.recorder = world.recorder.answer("SessionStart", "startup", &reply);
    world.claude().ask("GO-MAIN: begin").succeeds();
    assert!(
        world
            .model
            .told("GO-MAIN")
            .contains("THE RUN STANDS AT BUILD")
    );
}

#[test]
fn what_is_ended_leaves_no_process_behind() {
    let world = World::new([Actor::new(
        "GO-MAIN",
        [bash("echo $$ > shell; tail -f /dev/null")],
    )]);
    let running = world.claude().begin("GO-MAIN: begin");
    let shell: u32 = world.wait_for_file("shell").trim().parse().unwrap();
    let host = running.process();
    assert!(is_alive(shell) && is_alive(host));
    drop(running);
    testkit::until("both have ended", || !is_alive(shell) && !is_alive(host));
}

/// A process that has ended and that nobody has asked about yet is not alive.
fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn the_host_sees_a_home_of_its_own_and_nothing_of_whoever_runs_the_test() {
    let world = World::new([Actor::new("GO-MAIN", [bash("env"), say("DONE")])]);
    world
        .claude()
        .env("EXTRA", "more")
        .ask("GO-MAIN: begin")
        .succeeds();
    let calls = world.recorder.of("PostToolUse");
    let variables = calls[0]["tool_response"]["stdout"].as_str().unwrap();
    let home = format!("HOME={}", world.project.home().display());
    for wanted in [home.as_str(), "EXTRA=more", "CLAUDECODE=1"] {
        assert!(
            variables.lines().any(|line| line == wanted),
            "no {wanted} in\n{variables}"
        );
    }
    let cargo = variables.lines().find(|line| line.starts_with("CARGO"));
    assert_eq!(
        cargo, None,
        "the test was run by cargo, which the host must not see"
    );
    let used: Vec<&Value> = calls.iter().map(|call| &call["cwd"]).collect();
    assert_eq!(
        used,
        [world
            .project
            .path()
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()]
    );
}
