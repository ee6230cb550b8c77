//! A worker that the person interrupted: the host calls no hook for it, and writes its record some time later.

use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use rustix::fs::inotify;
use serde_json::json;
use testkit::Ran;
use testkit::pipelines::ONE;

use super::seat::{SESSION, Seat, fed};

const AT_WORK: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"hm"}]}}"#;
const INTERRUPTED: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#;

/// A session whose writer is at work, and the host's record of the writer.
fn at_work() -> (Seat, PathBuf) {
    let working = ONE.replace("writing", "working");
    let seat = Seat::enrolled_in("one", &format!("begins = \"session\"\n{working}"));
    let record = seat.project.home().join(SESSION).join("subagents");
    fs::create_dir_all(&record).expect("the folder of records");
    let record = record.join("agent-a1.jsonl");
    fs::write(&record, format!("{AT_WORK}\n")).expect("a record");
    calls(&seat, "first").succeeds();
    let worker = json!({"agent_id": "a1", "agent_type": "writer"});
    seat.hook("SubagentStart", &of_session(&seat, worker))
        .succeeds();
    (seat, record)
}

fn of_session(seat: &Seat, mut payload: serde_json::Value) -> serde_json::Value {
    let transcript = seat.project.home().join(format!("{SESSION}.jsonl"));
    payload["session_id"] = json!(SESSION);
    payload["cwd"] = json!(seat.project.path());
    payload["transcript_path"] = json!(transcript);
    payload
}

/// The session calls the writer.
fn calls(seat: &Seat, call: &str) -> Ran {
    let payload = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": call,
        "tool_input": {"subagent_type": "writer", "prompt": "p", "description": "d"},
    });
    let payload = of_session(seat, payload).to_string();
    fed(seat.command("PreToolUse"), payload.as_bytes())
}

/// Returns when somebody has read the file.
fn wait_for_reader(watch: &rustix::fd::OwnedFd) {
    let mut room = [MaybeUninit::uninit(); 512];
    let mut events = inotify::Reader::new(watch, &mut room);
    events.next().expect("a reader");
}

fn watch(record: &Path) -> rustix::fd::OwnedFd {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC).expect("inotify");
    let read = inotify::WatchFlags::CLOSE_NOWRITE;
    inotify::add_watch(&watch, record, read).expect("a watch");
    watch
}

#[test]
fn an_interruption_that_the_host_records_late_still_frees_the_agent() {
    let (seat, record) = at_work();
    let reader = watch(&record);
    let again = std::thread::scope(|scope| {
        let again = scope.spawn(|| calls(&seat, "again"));
        wait_for_reader(&reader);
        let whole = format!("{AT_WORK}\n{INTERRUPTED}\n");
        fs::write(&record, whole).expect("the record goes on");
        again.join().expect("the hook ends")
    });
    assert_eq!(again.succeeds().stdout, "");
    let rules = seat.journal();
    let count = |rule: &str| rules.iter().filter(|entry| entry["rule"] == rule).count();
    assert_eq!((count("GW-R106"), count("GW-R12")), (1, 0), "{rules:?}");
}

#[test]
fn an_agent_that_is_at_work_is_not_called_again() {
    let (seat, _) = at_work();
    let again = calls(&seat, "again");
    assert!(again.stdout.contains("GW-R12"), "{again}");
}
