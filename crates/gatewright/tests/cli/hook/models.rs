//! The model of a reviewer: a call that names another one is refused.

use serde_json::{Value, json};

use super::seat::Seat;

const PANEL: &str = r#"
name   = "panel"
about  = "One review, and then the end."
begins = "session"
start  = "working"

[artifacts.verdict]
path    = "verdict.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[stages.working]
review      = "writer"
panel       = [{ agent = "reviewer", model = "sonnet", leaves = "verdict" }]
rounds      = 3
on.approved = "complete"
on.exceeded = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// Each model has a call of its own: the same call gets the same answer again.
fn calls(model: Option<&str>) -> Value {
    let mut input =
        json!({"subagent_type": "reviewer", "prompt": "review", "description": "review"});
    if let Some(model) = model {
        input["model"] = json!(model);
    }
    json!({
        "hook_event_name": "PreToolUse", "tool_name": "Agent",
        "tool_use_id": format!("toolu_{}", model.unwrap_or("none")), "tool_input": input,
    })
}

#[test]
fn a_reviewer_with_another_model_is_refused_and_the_right_one_is_let_through() {
    let seat = Seat::enrolled_in("panel", PANEL);
    for other in ["opus", "haiku", "inherit"] {
        let refused = seat.hook("PreToolUse", &calls(Some(other)));
        assert!(refused.stdout.contains("GW-R119"), "{other}: {refused}");
        assert!(refused.stdout.contains("sonnet"), "{refused}");
    }
    let admitted = seat.hook("PreToolUse", &calls(Some("sonnet"))).succeeds();
    assert_eq!(admitted.stdout, "");
    let admitted = seat.journal();
    let admitted = admitted
        .iter()
        .filter(|entry| entry["fact"]["kind"] == "admitted");
    assert_eq!(admitted.count(), 1);
}

/// Then the host takes the model of the agent's file, or the session's.
#[test]
fn a_call_without_a_model_counts_as_what_the_host_takes() {
    for (file, admitted) in [
        (None, false),
        (Some("---\nname: reviewer\ndescription: x\n---\n"), false),
        (Some("---\nname: reviewer\nmodel: opus\n---\n"), false),
        (Some("---\nname: reviewer\nmodel: sonnet\n---\n"), true),
    ] {
        let seat = Seat::enrolled_in("panel", PANEL);
        if let Some(text) = file {
            seat.project.write(".claude/agents/reviewer.md", text);
        }
        let told = seat.hook("PreToolUse", &calls(None)).stdout;
        assert_eq!(told.is_empty(), admitted, "{file:?}: {told}");
        assert_eq!(told.contains("GW-R119"), !admitted, "{file:?}: {told}");
    }
}

#[test]
fn a_whole_name_is_let_through() {
    let whole = PANEL.replace("\"sonnet\"", "\"claude-sonnet-4-5\"");
    let seat = Seat::enrolled_in("panel", &whole);
    let other = seat.hook("PreToolUse", &calls(Some("opus")));
    assert!(other.stdout.contains("GW-R119"), "{other}");
    let same = seat.hook("PreToolUse", &calls(Some("sonnet"))).succeeds();
    assert_eq!(same.stdout, "");
}
