//! Sessions at a terminal.

use serde_json::json;
use testkit::model::{Actor, agent, bash, call, hold, say};

use super::world::World;

#[test]
fn a_background_agent_ends_while_the_session_waits_and_its_notice_comes_as_a_prompt() {
    let main = [
        agent("writer", "GO-WRITER"),
        say("LAUNCHED"),
        say("ALL DONE"),
    ];
    let writer = [bash("echo text > file"), hold("launched", say("WRITTEN"))];
    let world = World::new([Actor::new("GO-MAIN", main), Actor::new("GO-WRITER", writer)]);
    let session = world.claude().open();
    session.say("GO-MAIN: begin");
    session.wait_for("LAUNCHED");
    let stop = world.recorder.wait_for("Stop", |_| true);
    assert_eq!(
        stop["background_tasks"].as_array().map(Vec::len),
        Some(1),
        "{stop}"
    );
    world.model.release("launched");
    let notice = world.recorder.wait_for("UserPromptSubmit", |payload| {
        payload["prompt"]
            .as_str()
            .unwrap()
            .starts_with("<task-notification>")
    });
    assert!(
        notice["prompt"]
            .as_str()
            .unwrap()
            .contains("<result>WRITTEN</result>"),
        "{notice}"
    );
    session.wait_for("ALL DONE");
    assert_eq!(session.leave().code, Some(0));
    assert_eq!(
        world.recorder.of("SessionEnd")[0]["reason"],
        "prompt_input_exit"
    );
}

#[test]
fn clearing_gives_a_new_session_and_compacting_keeps_it() {
    let world = World::new([
        Actor::new("GO-MAIN", [say("ONE"), say("TWO")]),
        Actor::new("GO-AGAIN", [say("AFRESH")]),
    ]);
    let session = world.claude().open();
    session.say("GO-MAIN: begin");
    session.wait_for("● ONE");
    world.recorder.wait_for("Stop", |_| true);
    session.say("/compact");
    let compacted = world
        .recorder
        .wait_for("SessionStart", |start| start["source"] == "compact");
    world.recorder.wait_for("PostCompact", |_| true);
    // The turns before the summary count: the script goes on, it does not begin again.
    session.say("go on");
    session.wait_for("● TWO");
    world
        .recorder
        .wait_for("Stop", |stop| stop["last_assistant_message"] == "TWO");
    session.say("/clear");
    let cleared = world
        .recorder
        .wait_for("SessionStart", |start| start["source"] == "clear");
    session.say("GO-AGAIN: begin");
    session.wait_for("● AFRESH");
    let first = &world.recorder.of("SessionStart")[0]["session_id"];
    assert_eq!(&compacted["session_id"], first);
    assert_ne!(&cleared["session_id"], first);
    assert!(world.model.strangers().is_empty());
}

#[test]
fn a_session_of_a_terminal_is_resumed_without_one() {
    let world = World::new([Actor::new("GO-MAIN", [say("ONE"), say("TWO")])]);
    let session = world.claude().open();
    session.say("GO-MAIN: begin");
    let stop = world.recorder.wait_for("Stop", |_| true);
    session.leave();
    let id = stop["session_id"].as_str().unwrap();
    let ran = world.claude().resume(id).ask("go on").succeeds();
    assert_eq!((ran.session_id(), ran.result()), (id, "TWO"));
}

#[test]
fn a_person_answers_a_question_of_the_model() {
    let options = json!([
        { "label": "Red", "description": "like fire" },
        { "label": "Blue", "description": "like the sea" },
    ]);
    let question = json!({
        "question": "Which colour?", "header": "Colour", "multiSelect": false, "options": options,
    });
    let ask = call("AskUserQuestion", json!({ "questions": [question] }));
    let world = World::new([Actor::new("GO-MAIN", [ask, say("PAINTED")])]);
    let session = world.claude().open();
    session.say("GO-MAIN: begin");
    session.wait_for("Which colour?");
    session.choose("Blue");
    session.wait_for("PAINTED");
    let answered = &world.recorder.of("PostToolUse")[0];
    assert_eq!(
        answered["tool_response"]["answers"],
        json!({ "Which colour?": "Blue" })
    );
    assert!(
        world
            .model
            .told("GO-MAIN")
            .contains("\"Which colour?\"=\"Blue\"")
    );
}

#[test]
fn a_person_is_asked_before_a_tool_that_is_not_allowed() {
    let turns = [bash("touch made"), say("DONE")];
    let world = World::new([Actor::new("GO-MAIN", turns)]);
    let session = world.bare_claude().permission_mode("manual").open();
    session.say("GO-MAIN: begin");
    session.choose("Yes");
    session.wait_for("● DONE");
    assert_eq!(world.project.read("made"), "");
}

#[test]
fn a_typed_command_is_seen_as_a_prompt_and_then_as_its_expansion() {
    let world = World::new([Actor::new("GO-MAIN", [say("DONE")])]);
    world.project.write(
        ".claude/commands/paint.md",
        "GO-MAIN: paint it $ARGUMENTS\n",
    );
    let session = world.claude().open();
    session.say("/paint blue");
    session.wait_for("● DONE");
    let prompt = &world.recorder.of("UserPromptSubmit")[0];
    let expansion = &world.recorder.of("UserPromptExpansion")[0];
    assert_eq!(prompt["prompt"], "/paint blue");
    assert_eq!(expansion["command_args"], "blue");
    assert_eq!(prompt["prompt_id"], expansion["prompt_id"]);
    assert!(
        world
            .model
            .told("GO-MAIN")
            .contains("GO-MAIN: paint it blue")
    );
}

#[test]
fn a_terminated_session_still_says_that_it_ends() {
    let world = World::new([Actor::new("GO-MAIN", [hold("never", say("DONE"))])]);
    let session = world.claude().open();
    session.say("GO-MAIN: begin");
    world.model.wait_until_held("never");
    session.terminate();
    assert_eq!(session.wait_for_end().code, Some(143));
    let end = world.recorder.wait_for("SessionEnd", |_| true);
    assert_eq!(end["reason"], "other");
}

#[test]
fn bypassing_permissions_asks_nothing_first() {
    let world = World::new([Actor::new("GO-MAIN", [bash("touch made"), say("DONE")])]);
    let session = world
        .bare_claude()
        .permission_mode("bypassPermissions")
        .open();
    session.say("GO-MAIN: begin");
    session.wait_for("● DONE");
    assert_eq!(world.project.read("made"), "");
}
