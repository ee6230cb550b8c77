//! That the hooks of a worker live, and that they are nobody else's.

use serde_json::{Value, json};

use super::fixture::{CALL, JUDGED, ONE, Seat, Work, is_refused, judge, passes};
use super::hosts::Host;

fn started() -> Value {
    json!({"hook_event_name": "SessionStart", "source": "startup"})
}

#[test]
fn the_first_hook_of_a_worker_leaves_a_proof_that_they_live() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        assert!(!seat.beside("arrived").exists());
        passes(&seat.hook(&started()));
        assert!(seat.beside("arrived").exists(), "{host:?}");
        // A session that comes and goes has done nothing yet.
        assert_eq!(seat.rules(), [""; 0]);
    }
}

#[test]
fn a_proof_comes_from_any_hook_also_from_one_that_cannot_be_read() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        seat.raw(host.before(), b"{");
        assert!(seat.beside("arrived").exists(), "{host:?}");
    }
}

#[test]
fn ends_and_prompts_of_a_worker_are_nobodys_business_here() {
    for (host, events) in [
        (
            Host::Claude,
            &[
                "UserPromptSubmit",
                "SubagentStart",
                "SubagentStop",
                "Stop",
                "SessionEnd",
            ][..],
        ),
        (
            Host::Codex,
            &["UserPromptSubmit", "SubagentStop", "Stop", "SessionEnd"],
        ),
        (Host::Gemini, &["BeforeAgent", "AfterAgent", "SessionEnd"]),
    ] {
        let seat = Seat::at(&judge(host));
        for event in events {
            let payload = json!({
                "hook_event_name": event, "prompt": "/compact", "reason": "other",
                "agent_id": "a1", "agent_type": "judge", "last_assistant_message": "done",
                "stop_hook_active": false,
            });
            passes(&seat.hook(&payload));
        }
        assert_eq!(seat.rules(), [""; 0], "{host:?}");
    }
}

/// The same pipeline, always on. Its runs have files of their own, so that there can be two.
fn always_on() -> String {
    let begins = "start = \"judging\"\nbegins = \"session\"";
    let pipeline = JUDGED.replace("start = \"judging\"", begins);
    let pipeline = pipeline.replace("out/draft", "out/{run}/draft");
    pipeline.replace("out/verdict", "out/{run}/verdict")
}

fn runs(seat: &Seat) -> usize {
    let listed = seat.project.run(["list", "--json"]).succeeds();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    listed["runs"].as_array().unwrap().len()
}

#[test]
fn a_worker_in_a_project_that_is_always_on_begins_no_run() {
    let (host, pipeline) = (Host::Claude, always_on());
    let seat = Seat::at(&Work {
        pipeline: &pipeline,
        ..judge(host)
    });
    seat.project.run(["init", "mine", "--yes"]).succeeds();
    passes(&seat.hook(&started()));
    passes(&seat.hook(&host.shell("ls")));
    passes(&seat.hook(&json!({"hook_event_name": "Stop", "stop_hook_active": false})));
    assert_eq!(runs(&seat), 1);
    // A session that is not our worker begins one, as the pipeline says.
    let payload = seat.told(ONE, &started()).to_string();
    let begun = seat.raw_with("SessionStart", payload.as_bytes(), &[]);
    assert!(begun.stdout.contains("judging"), "{begun}");
    assert_eq!(runs(&seat), 2);
}

#[test]
fn the_session_of_another_host_is_not_ours_even_where_a_pipeline_is_always_on() {
    let pipeline = always_on();
    let mut seat = Seat::at(&Work {
        pipeline: &pipeline,
        ..judge(Host::Claude)
    });
    seat.project.run(["init", "mine", "--yes"]).succeeds();
    let (project, process) = (seat.project.path(), std::process::id().to_string());
    // Gemini CLI sets the first of these itself.
    let variables = [
        ("CLAUDE_PROJECT_DIR", project.to_str().unwrap()),
        ("CLAUDE_PID", process.as_str()),
    ];
    let payload = seat.told(ONE, &started()).to_string();
    for host in [Host::Codex, Host::Gemini] {
        seat.host = host;
        passes(&seat.raw_with("SessionStart", payload.as_bytes(), &variables));
    }
    assert_eq!(runs(&seat), 1);
    seat.host = Host::Claude;
    seat.raw_with("SessionStart", payload.as_bytes(), &variables)
        .succeeds();
    assert_eq!(runs(&seat), 2);
}

#[test]
fn without_its_record_it_is_no_worker_of_ours() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        std::fs::remove_file(seat.beside("json")).unwrap();
        passes(&seat.hook(&started()));
        passes(&seat.hook(&host.write(".gatewright/mine.toml")));
        assert!(!seat.beside("arrived").exists());
        let payload = seat
            .told(ONE, &host.write(".gatewright/mine.toml"))
            .to_string();
        for call in ["", "step-unheard", "../working/step-abcdefgh", "toolu_1"] {
            let variables = [("GATEWRIGHT_CALL", call)];
            passes(&seat.raw_with(host.before(), payload.as_bytes(), &variables));
        }
    }
}

#[test]
fn a_worker_is_a_worker_also_in_a_session_that_holds_a_run() {
    let (host, pipeline) = (Host::Claude, always_on());
    let seat = Seat::at(&Work {
        pipeline: &pipeline,
        ..judge(host)
    });
    seat.project.run(["init", "mine", "--yes"]).succeeds();
    let payload = seat.told(ONE, &started()).to_string();
    seat.raw_with("SessionStart", payload.as_bytes(), &[])
        .succeeds();
    assert_eq!(runs(&seat), 2);
    // The session's own file would have its agents judged by its own run.
    passes(&seat.hook(&host.agent("anybody")));
    let ours = seat.project.run(["history", "r-1", "--json"]).succeeds();
    assert!(ours.stdout.contains("GW-R41"), "{ours}");
    let agent = seat.told(ONE, &host.agent("anybody")).to_string();
    let ran = seat.raw_with("PreToolUse", agent.as_bytes(), &[]);
    is_refused(host, &ran, "R11");
}

#[test]
fn two_hooks_of_one_event_count_once() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        let payload = seat.told(ONE, &host.write("out/draft.md")).to_string();
        std::thread::scope(|scope| {
            let hooks: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| seat.raw(host.before(), payload.as_bytes())))
                .collect();
            for hook in hooks {
                is_refused(host, &hook.join().unwrap(), "R24");
            }
        });
        assert_eq!(seat.rules(), ["R41", "R24"], "{host:?}");
        // The next call is another one.
        let mut next = host.write("out/draft.md");
        next["tool_use_id"] = json!("another");
        next["timestamp"] = json!("2026-11-15T19:37:52.000Z");
        is_refused(host, &seat.hook(&next), "R24");
        assert_eq!(seat.rules(), ["R41", "R24", "R24"], "{host:?}");
    }
}

#[test]
fn the_call_in_the_environment_is_the_one_that_counts() {
    let seat = Seat::at(&judge(Host::Claude));
    let payload = seat.told(ONE, &Host::Claude.shell("ls")).to_string();
    passes(&seat.raw_with(
        "PreToolUse",
        payload.as_bytes(),
        &[("GATEWRIGHT_CALL", CALL)],
    ));
    assert_eq!(seat.rules(), ["R41", "R21"]);
}
