//! Conversations: exactly the one that was asked for goes on, or the work has crashed.

use std::fs;

use serde_json::json;

use super::fixture::{APPROVES, ONE, OTHER, WORKED, World, began, done, says};

/// A reviewer that goes on in its conversation, round after round.
const ROUNDS: &str = r#"
name  = "rounds"
about = "Review until it is good."
start = "reviewing"

[counters]
again = { max = 5, then = "stopped" }

[artifacts.review]
path    = ".task/review.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[stages.reviewing]
agent            = "reviewer"
runner           = "RUNNER"
conversation     = "same"
leaves           = ["review"]
writes           = []
on.approved      = "complete"
on.needs_changes = { to = "reviewing", count = "again" }

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

const OBJECTS: &str = r#"mkdir -p .task; echo "{\"status\": \"needs_changes\", \"round\": $count}" > .task/review.json"#;

fn rounds(runner: &str) -> World {
    World::with(&ROUNDS.replace("RUNNER", runner))
}

/// A Codex that takes part in the conversation of this id, objects once and then approves.
fn objects_once(id: &str, tokens: [u64; 2]) -> String {
    let [first, second] = tokens.map(done);
    let answer =
        format!("if [ \"$count\" = 1 ]; then {OBJECTS}; {first}; else {APPROVES}; {second}; fi");
    [began(id).as_str(), WORKED, &answer].join("\n")
}

#[test]
fn the_same_conversation_goes_on_by_its_exact_id() {
    let world = rounds("codex");
    world.codex(&objects_once(ONE, [100, 250]));
    world.step().succeeds();
    world.step().succeeds();
    assert_eq!(world.stage(), "complete");
    let calls = world.calls("codex");
    assert!(!calls[0].contains("resume"), "{calls:?}");
    assert!(calls[1].ends_with(&format!("resume {ONE} -")), "{calls:?}");
    assert!(!calls.iter().any(|call| call.contains("--last")));
    // Codex counts from the beginning of a conversation; each piece of work reports its own part.
    let used: Vec<_> = world
        .history("ended")
        .iter()
        .map(|entry| entry["fact"]["used"]["tokens"].clone())
        .collect();
    assert_eq!(used, [json!(100), json!(150)]);
}

#[test]
fn another_conversation_than_the_one_that_was_asked_for_is_a_crash() {
    let world = rounds("codex");
    world.codex(&objects_once(ONE, [1, 1]));
    world.step().succeeds();
    // It begins somebody else's conversation, says so, and would go on for long.
    let other = [began(OTHER).as_str(), "sleep 60", APPROVES, &done(1)].join("\n");
    world.codex(&other);
    let ran = world.step().exits(1);
    for conversation in [ONE, OTHER] {
        assert!(ran.stderr.contains(conversation), "{ran}");
    }
    assert_eq!(world.stage(), "reviewing");
    // The stranger is not remembered as ours.
    assert_eq!(world.history("began").len(), 1);
    // The next attempt begins anew.
    world.codex(&[began(OTHER).as_str(), WORKED, APPROVES, &done(1)].join("\n"));
    world.step().succeeds();
    assert!(!world.calls("codex")[2].contains("resume"));
    assert_eq!(world.stage(), "complete");
}

#[test]
fn a_conversation_of_another_program_is_not_resumed() {
    let two = ROUNDS.replace("RUNNER", "codex").replace(
        r#"{ to = "reviewing", count = "again" }"#,
        r#"{ to = "second", count = "again" }"#,
    ) + r#"
[stages.second]
agent            = "reviewer"
runner           = "gemini"
conversation     = "same"
leaves           = ["review"]
writes           = []
on.approved      = "complete"
on.needs_changes = { to = "reviewing", count = "again" }
"#;
    let world = World::with(&two);
    world.codex(&objects_once(ONE, [1, 1]));
    world.step().succeeds();
    world.program("gemini", GEMINI);
    world.step().succeeds();
    let call = &world.calls("gemini")[0];
    assert!(
        call.contains("--session-id") && !call.contains(ONE),
        "{call}"
    );
}

/// It takes the id that it is given, objects once and then approves.
const GEMINI: &str = r#"
id=""; for word in "$@"; do id=$word; done
echo "{\"type\":\"init\",\"session_id\":\"$id\",\"model\":\"m\"}"
echo '{"type":"tool_use","tool_name":"write_file","tool_id":"1","parameters":{}}'
echo '{"type":"tool_result","tool_id":"1","status":"success"}'
mkdir -p .task
if [ "$count" = 1 ]; then status=needs_changes; else status=approved; fi
echo "{\"status\": \"$status\", \"round\": $count}" > .task/review.json
echo '{"type":"message","role":"assistant","content":"do","delta":true}'
echo '{"type":"message","role":"assistant","content":"ne","delta":true}'
echo '{"type":"result","status":"success","stats":{"total_tokens":70}}'
"#;

#[test]
fn gemini_is_given_an_id_and_goes_on_under_it() {
    let world = rounds("gemini");
    world.program("gemini", GEMINI);
    world.step().succeeds();
    world.step().succeeds();
    assert_eq!(world.stage(), "complete");
    let calls = world.calls("gemini");
    let words: Vec<&str> = calls[0].split(' ').collect();
    let id = words[words.len() - 1];
    assert_eq!(id.len(), 36, "{calls:?}");
    let same = "-o stream-json --skip-trust --approval-mode auto_edit";
    assert_eq!(calls[0], format!("{same} --session-id {id}"));
    assert_eq!(calls[1], format!("{same} -r {id}"));
    let used: Vec<_> = world
        .history("ended")
        .iter()
        .map(|entry| entry["fact"]["used"]["tokens"].clone())
        .collect();
    assert_eq!(used, [json!(70), json!(70)]);
}

#[test]
fn an_id_that_gemini_did_not_take_is_a_crash() {
    let world = rounds("gemini");
    let script = GEMINI.replace("id=$word", &format!("id={ONE}"));
    world.program("gemini", &script);
    let ran = world.step().exits(1);
    assert!(ran.stderr.contains(ONE), "{ran}");
    fs::remove_file(world.project.path().join(".task/review.json")).unwrap_or_default();
    assert_eq!(world.stage(), "reviewing");
}

#[test]
fn a_fresh_reviewer_begins_anew_every_time() {
    let fresh = ROUNDS
        .replace("RUNNER", "codex")
        .replace("conversation     = \"same\"\n", "");
    let world = World::with(&fresh);
    let answer = format!("if [ \"$count\" = 1 ]; then {OBJECTS}; else {APPROVES}; fi");
    let id = format!(
        "if [ \"$count\" = 1 ]; then {}; else {}; fi",
        began(ONE),
        began(OTHER)
    );
    world.codex(&[id.as_str(), WORKED, &answer, &says("x"), &done(9)].join("\n"));
    world.step().succeeds();
    world.step().succeeds();
    assert!(!world.calls("codex")[1].contains("resume"));
    assert_eq!(world.stage(), "complete");
}
