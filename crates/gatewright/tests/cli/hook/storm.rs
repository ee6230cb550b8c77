//! Every payload that the host was ever seen to send, twice, in random order, from 16 processes at once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::seat::{SESSION, Seat};

const PROCESSES: usize = 16;

/// The captured payloads that a hook can get, by event.
fn payloads(seat: &Seat) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../hosts/tests/claude-code");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the captured payloads are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a payload");
        let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let Some(event) = value
            .get("hook_event_name")
            .and_then(Value::as_str)
            .map(str::to_owned)
        else {
            continue;
        };
        // The end of a session is sent last, so that all others are judged.
        if event == "SessionEnd" {
            continue;
        }
        value["session_id"] = json!(SESSION);
        value["cwd"] = json!(seat.project.path());
        found.push((event, value.to_string().into_bytes()));
    }
    assert!(found.len() > 40, "{} payloads", found.len());
    found
}

/// The same order every time, and no order that anybody would think of.
fn shuffled<T>(mut items: Vec<T>) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for index in (1..items.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        items.swap(index, (state >> 33) as usize % (index + 1));
    }
    items
}

#[test]
fn nothing_is_lost_and_nothing_is_doubled() {
    let seat = Seat::enrolled();
    let once = payloads(&seat);
    let calls = asked(&once);
    let twice: Vec<_> = once.iter().chain(&once).cloned().collect();
    let queue = Mutex::new(shuffled(twice));
    std::thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("the queue").pop();
                    let Some((event, bytes)) = next else { break };
                    let ran = seat.raw(&event, &bytes);
                    assert!(matches!(ran.code, Some(0 | 2)), "{event}: {ran}");
                    assert!(!ran.stderr.contains("not judged"), "{event}: {ran}");
                    let whole = ran.stdout.is_empty()
                        || serde_json::from_str::<Value>(&ran.stdout)
                            .is_ok_and(|value| value.is_object());
                    assert!(whole, "{event}: {ran}");
                }
            });
        }
    });

    let journal = seat.journal();
    let mut admitted: BTreeMap<String, usize> = BTreeMap::new();
    let mut ended: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &journal {
        let fact = &entry["fact"];
        match fact["kind"].as_str() {
            Some("admitted") => {
                let call = fact["dispatch"]["call"].as_str().or(fact["call"].as_str());
                *admitted
                    .entry(call.unwrap_or_default().to_owned())
                    .or_default() += 1;
            }
            Some("ended") => {
                *ended.entry(fact["dispatch"].to_string()).or_default() += 1;
            }
            _ => {}
        }
    }
    assert!(ended.values().all(|times| *times == 1), "{ended:?}");
    for (call, agent) in calls {
        let times = admitted.get(&call).copied().unwrap_or(0);
        let refused = journal.iter().filter(|entry| {
            let text = entry["text"].as_str().unwrap_or_default();
            text.starts_with("refused") && text.contains(&agent)
        });
        assert!(
            times == 1 || (times == 0 && refused.count() > 0),
            "{call} of {agent}: {times}"
        );
    }
    seat.project.person(["verify"], "").succeeds();
}

/// The calls for agents, with the agent's name.
fn asked(payloads: &[(String, Vec<u8>)]) -> Vec<(String, String)> {
    let calls = payloads.iter().filter_map(|(event, bytes)| {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let agent = value["tool_input"]["subagent_type"].as_str()?;
        let call = value["tool_use_id"].as_str()?;
        (event == "PreToolUse").then(|| (call.to_owned(), agent.to_owned()))
    });
    calls.collect()
}
