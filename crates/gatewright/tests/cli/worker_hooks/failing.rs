//! What nobody can judge: a worker's tool is not used, and all else goes on.

use std::fs;

use serde_json::json;

use super::fixture::{Seat, is_refused, judge, passes};
use super::hosts::Host;

#[test]
fn a_tool_call_that_cannot_be_read_is_refused() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        for bytes in [
            &b""[..],
            b"{",
            b"[1]",
            b"hello",
            b"\xff\xfe",
            b"{\"tool_name\":7}",
        ] {
            let ran = seat.raw(host.before(), bytes);
            assert_eq!(ran.code, Some(2), "{host:?} {bytes:?} {ran}");
            is_refused(host, &ran, "R101");
        }
        let nobody = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
        let ran = seat.raw(host.before(), nobody.to_string().as_bytes());
        is_refused(host, &ran, "R101");
    }
}

#[test]
fn a_worker_whose_store_or_record_is_damaged_uses_no_tool_and_may_end() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        let read = host.read("README.md");
        passes(&seat.hook(&read));
        let record = fs::read(seat.beside("json")).unwrap();
        fs::write(seat.beside("json"), "{").unwrap();
        let ran = seat.hook(&read);
        assert_eq!(ran.code, Some(2), "{ran}");
        is_refused(host, &ran, "R101");
        fs::write(seat.beside("json"), record).unwrap();
        passes(&seat.hook(&read));
        damage(&seat);
        let ran = seat.hook(&read);
        assert_eq!(ran.code, Some(2), "{ran}");
        is_refused(host, &ran, "R101");
        for event in ["SessionStart", "SessionEnd"] {
            let payload = json!({"hook_event_name": event});
            passes(&seat.hook(&payload));
        }
        // What was done cannot be undone by an answer.
        let used = host.used("Bash", &json!({"command": "ls"}));
        assert_eq!(seat.hook(&used).code, Some(0));
    }
}

fn damage(seat: &Seat) {
    let files = fs::read_dir(seat.project.state()).unwrap();
    for file in files.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        if name.contains(".db") {
            fs::write(
                &file,
                b"this is no database, and long enough to be looked at",
            )
            .unwrap();
        }
    }
}

#[test]
fn a_worker_that_was_left_behind_does_nothing_and_settles_nothing() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        passes(&seat.hook(&host.shell("ls")));
        seat.is_left_behind();
        is_refused(host, &seat.hook(&host.shell("ls -l")), "R22");
        passes(&seat.hook(&host.used("Bash", &json!({}))));
        // The process that goes on with the run decides about its work.
        assert_eq!(seat.rules(), ["R41", "R21"], "{host:?}");
    }
}

#[test]
fn a_change_of_settings_does_not_reach_a_worker() {
    let seat = Seat::at(&judge(Host::Claude));
    let changed = json!({
        "hook_event_name": "ConfigChange", "source": "project_settings",
        "file_path": seat.project.path().join(".claude/settings.json"),
    });
    let ran = seat.hook(&changed);
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("GW-R23"), "{ran}");
}
