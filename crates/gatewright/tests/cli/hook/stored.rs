//! What lies in the state folder is what `SECURITY.md` says.

use std::fs;

use serde_json::json;

use super::seat::Seat;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../SECURITY.md");

#[test]
fn everything_in_the_state_folder_is_named_in_the_table() {
    let seat = Seat::enrolled();
    let call = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": "ls"},
    });
    seat.hook("PreToolUse", &call).succeeds();
    let stop = json!({"hook_event_name": "Stop", "stop_hook_active": false});
    seat.hook("Stop", &stop);
    seat.project.run(["check"]);
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let table = page.split("## What is stored, and where").nth(1);
    let table = table.expect("the table is there");
    let listed = fs::read_dir(seat.project.state()).expect("a folder");
    let names: Vec<String> = listed
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        let said = match name.as_str() {
            "store.db-wal" | "store.db-shm" => "store.db",
            lock if lock.ends_with(".lock") => "*.lock",
            other => other,
        };
        assert!(table.contains(&format!("`{said}`")), "{name}");
    }
}
