//! The session's own list: a tool that a stage may forbid, like any other.

use serde_json::json;

use super::seat::{OPEN, Seat};

#[test]
fn a_list_that_the_stage_forbids_is_refused() {
    for (denied, refused) in [("TodoWrite", true), ("Todo*", true), ("Edit", false)] {
        let text = format!("stop      = \"hold\"\ntools.deny = [\"{denied}\"]");
        let pipeline = OPEN.replace("stop      = \"hold\"", &text);
        let seat = Seat::enrolled_in("open", &pipeline);
        for status in ["completed", "pending"] {
            let call = json!({
                "hook_event_name": "PreToolUse", "tool_name": "TodoWrite", "tool_use_id": "t1",
                "tool_input": {"todos": [{"content": "x: look", "status": status}]},
            });
            let ran = seat.hook("PreToolUse", &call);
            let told = ran.stdout.contains("GW-R20");
            assert_eq!(told, refused, "{denied} {status}: {ran}");
        }
    }
}
