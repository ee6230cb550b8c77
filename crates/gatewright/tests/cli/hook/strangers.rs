//! A process that is not the host calls the hooks of a session, with whatever it likes, at every moment: the
//! host gets the same answers as without it.

use serde_json::{Value, json};

use super::forged::stranger;
use super::seat::Seat;

const TWO: &str = r#"
name   = "two"
about  = "A first agent with a draft, then a second, then a question."
begins = "session"
start  = "working"

[commands]
stop-it = "cancel"

[artifacts.draft]
path   = "draft.md"
format = "text"

[stages.working]
agent   = "first"
leaves  = ["draft"]
on.done = "after"

[stages.after]
agent   = "second"
on.done = "asking"

[stages.asking]
ask    = "Go on?"
on.yes = "complete"
on.no  = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

fn named(event: &str, mut payload: Value) -> Value {
    payload["hook_event_name"] = json!(event);
    payload
}

fn agent_call(agent: &str, id: &str) -> Value {
    let input = json!({"subagent_type": agent, "prompt": "work", "description": "work"});
    named(
        "PreToolUse",
        json!({"tool_name": "Agent", "tool_use_id": id, "tool_input": input}),
    )
}

fn worker(event: &str, id: &str, agent: &str) -> Value {
    named(
        event,
        json!({
            "agent_id": id, "agent_type": agent, "last_assistant_message": "done",
            "stop_hook_active": false, "background_tasks": [],
        }),
    )
}

fn tool(event: &str, id: &str, agent: &str) -> Value {
    named(
        event,
        json!({
            "tool_name": "Write", "tool_use_id": format!("w-{id}"), "agent_id": id,
            "agent_type": agent, "tool_response": {},
            "tool_input": {"file_path": "draft.md", "content": "x"},
        }),
    )
}

/// What the host calls, from a prompt to an answer of its person.
fn calls() -> Vec<Value> {
    vec![
        named("UserPromptSubmit", json!({"prompt": "go on"})),
        agent_call("second", "toolu_1"),
        agent_call("first", "toolu_2"),
        worker("SubagentStart", "a-1", "first"),
        tool("PreToolUse", "a-1", "first"),
        tool("PostToolUse", "a-1", "first"),
        worker("SubagentStop", "a-1", "first"),
        agent_call("first", "toolu_3"),
        agent_call("second", "toolu_4"),
        worker("SubagentStart", "a-2", "second"),
        tool("PreToolUse", "a-2", "second"),
        worker("SubagentStop", "a-2", "second"),
        named(
            "Stop",
            json!({"stop_hook_active": false, "background_tasks": []}),
        ),
        answer("no"),
    ]
}

fn answer(word: &str) -> Value {
    let asked = json!([{"question": "Go on?"}]);
    named(
        "PostToolUse",
        json!({
            "tool_name": "AskUserQuestion", "tool_use_id": "asked",
            "tool_input": {"questions": asked, "answers": {"Go on?": word}},
            "tool_response": {"questions": asked, "answers": {"Go on?": word}},
        }),
    )
}

/// What a stranger adds to copies of the host's own calls.
fn inventions() -> Vec<Value> {
    let typed = json!({
        "expansion_type": "slash_command", "command_name": "stop-it", "command_args": "enough",
        "prompt": "/stop-it enough",
    });
    vec![
        named("SessionStart", json!({"source": "resume"})),
        named("SessionStart", json!({"source": "clear"})),
        named("SessionEnd", json!({"reason": "other"})),
        named("UserPromptExpansion", typed),
        named("ConfigChange", json!({"source": "local_settings"})),
        named(
            "StopFailure",
            json!({"agent_id": "a-1", "agent_type": "first", "error": "x"}),
        ),
        named(
            "TaskCompleted",
            json!({"task_id": "1", "task_subject": "x"}),
        ),
        worker("SubagentStop", "a-9", "first"),
        answer("yes"),
    ]
}

fn event_of(call: &Value) -> &str {
    call["hook_event_name"].as_str().expect("a name")
}

/// The host's answers, when this is done before each of its calls; and what the journal has of the run.
fn answers(before: &dyn Fn(&Seat, usize)) -> (Vec<String>, Vec<String>) {
    let seat = Seat::enrolled_in("two", TWO);
    let mut answers = Vec::new();
    for (number, call) in calls().iter().enumerate() {
        before(&seat, number);
        if call["tool_name"] == "Write" && call["agent_id"] == "a-1" {
            seat.project.write("draft.md", "A draft.\n");
        }
        let ran = seat.hook(event_of(call), call);
        let text = format!("{:?} {} {}", ran.code, ran.stdout, ran.stderr);
        answers.push(text.replace(&run_id(&seat), "RUN"));
    }
    let journal = seat.journal();
    let rules = journal.iter().filter_map(|entry| entry["rule"].as_str());
    // What strangers did is a remark, and never more.
    let rules = rules.filter(|rule| *rule != "GW-R99");
    let folder = seat.project.path();
    let folder = folder.to_str().expect("a text");
    let answers = answers.iter().map(|it| it.replace(folder, "PROJECT"));
    (answers.collect(), rules.map(str::to_owned).collect())
}

fn run_id(seat: &Seat) -> String {
    let listed = seat.project.run(["list", "--all", "--json"]).succeeds();
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    listed["runs"][0]["run"].as_str().expect("an id").to_owned()
}

#[test]
fn no_call_of_a_stranger_changes_an_answer_to_the_host() {
    let alone = answers(&|_, _| {});
    // It is a story with admissions, refusals and moves.
    assert!(alone.1.len() > calls().len(), "{alone:#?}");
    let forged: Vec<Value> = calls().into_iter().chain(inventions()).collect();
    let among_strangers = answers(&|seat, _| {
        for call in &forged {
            stranger(seat, event_of(call), call.clone());
        }
    });
    for (number, (one, other)) in alone.0.iter().zip(&among_strangers.0).enumerate() {
        assert_eq!(one, other, "call {number}");
    }
    assert_eq!(alone.1, among_strangers.1);
}

/// The control: the same calls from the host itself change its answers, so the comparison sees it.
#[test]
fn the_same_calls_from_the_host_change_its_answers() {
    let alone = answers(&|_, _| {});
    let doubled = answers(&|seat, number| {
        if number == 1 {
            let call = agent_call("first", "toolu_2");
            seat.hook(event_of(&call), &call);
        }
    });
    assert_ne!(alone.0, doubled.0);
    assert_ne!(alone.1, doubled.1);
}
