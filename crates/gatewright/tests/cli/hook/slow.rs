//! A hook that has more to look at than it has time for.

use std::fs::{self, File};

use serde_json::json;

use super::seat::Seat;

/// What the agents of this pipeline may change is restricted, so the tree is read before one begins.
const NARROW: &str = r#"
name   = "narrow"
about  = "Agents may change the notes alone."
begins = "session"
start  = "working"

[stages.working]
allow     = ["*"]
writes    = ["notes/**"]
on.finish = "complete"

[stages.complete]
end = "completed"
"#;

/// A file without content that takes minutes to read.
const HUGE: u64 = 1 << 36;

/// It takes as long as a hook has time.
#[test]
fn what_takes_too_long_is_refused_before_the_host_gives_up_and_is_marked() {
    let seat = Seat::enrolled_in("narrow", NARROW);
    let huge = seat.project.path().join("huge");
    let file = File::create(&huge).expect("a file can be made");
    file.set_len(HUGE).expect("a file may have holes");
    let asked = json!({
        "hook_event_name": "PreToolUse",
        "tool_name": "Agent",
        "tool_input": {"subagent_type": "writer", "prompt": "write"},
        "tool_use_id": "toolu_1",
    });
    let ran = seat.hook("PreToolUse", &asked);
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("GW-R101"), "{ran}");

    fs::remove_file(huge).expect("the file can be removed");
    seat.hook("PreToolUse", &asked).succeeds();
    let journal = seat.journal();
    let told = |rule: &str, part: &str| {
        let entries = journal.iter().filter(|entry| entry["rule"] == rule);
        entries
            .filter(|entry| entry["text"].to_string().contains(part))
            .count()
    };
    assert_eq!(told("GW-R100", "PreToolUse"), 1, "{journal:?}");
    assert_eq!(told("GW-R10", "'writer' (d1)"), 1, "{journal:?}");
}
