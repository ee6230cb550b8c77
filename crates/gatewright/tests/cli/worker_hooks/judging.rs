//! A worker's tools: a refusal and a pass for each rule, in the words of each program.

use engine::{CallId, Happening, WorkEvent, WorkerId};
use serde_json::{Value, json};

use super::fixture::{CALL, JUDGED, ONE, OTHER, Seat, Work, is_refused, judge, passes};
use super::hosts::Host;

/// What a tool call comes to.
enum Comes {
    Passes,
    Refused(&'static str),
}
use Comes::{Passes, Refused};

#[track_caller]
fn check(seat: &Seat, payload: &Value, comes: &Comes) {
    let ran = seat.hook(payload);
    match comes {
        Passes => passes(&ran),
        Refused(rule) => is_refused(seat.host, &ran, rule),
    }
}

#[test]
fn what_the_run_rests_on_is_not_a_workers_to_change() {
    // To Codex, to write a file and to edit one is the same tool.
    let pipeline = JUDGED.replace(r#""Edit""#, r#""NotebookEdit""#);
    for host in Host::ALL {
        let seat = Seat::at(&Work {
            pipeline: &pipeline,
            ..judge(host)
        });
        let state = seat.project.state().join("store.db");
        let state = state.to_str().unwrap();
        let program = env!("CARGO_BIN_EXE_gatewright");
        for (path, comes) in [
            (state, Refused("R23")),
            (".claude/settings.json", Refused("R23")),
            (".codex/hooks.json", Refused("R23")),
            (".gemini/settings.json", Refused("R23")),
            (".gatewright/mine.toml", Refused("R23")),
            (program, Refused("R23")),
            ("out/draft.md", Refused("R24")),
            ("out/verdict.json", Passes),
            ("src/main.rs", Passes),
        ] {
            check(&seat, &host.write(path), &comes);
            let shell = host.shell(&format!("echo x > '{path}'"));
            check(&seat, &shell, &comes);
            check(&seat, &host.shell(&format!("cat '{path}'")), &Passes);
            check(&seat, &host.read(path), &Passes);
        }
    }
}

#[test]
fn every_other_door_is_shut_to_a_worker() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        for (command, comes) in [
            ("claude -p 'do it'", Refused("R26")),
            ("codex exec 'do it'", Refused("R26")),
            ("gemini -p 'do it'", Refused("R26")),
            ("gatewright answer yes", Refused("R66")),
            ("gatewright reset r-1", Refused("R66")),
            ("gatewright hook claude PreToolUse", Refused("R23")),
            ("gatewright status", Passes),
            ("cargo test", Passes),
        ] {
            check(&seat, &host.shell(command), &comes);
        }
    }
}

#[test]
fn what_a_stage_forbids_is_known_by_the_words_of_each_program() {
    let forbidden = [
        (Host::Claude, "Edit"),
        (Host::Claude, "mcp__files__read"),
        (Host::Codex, "apply_patch"),
        (Host::Gemini, "replace"),
        (Host::Gemini, "mcp_files_read"),
    ];
    for (host, tool) in forbidden {
        let seat = Seat::at(&judge(host));
        let input =
            json!({"file_path": "out/verdict.json", "command": "*** Begin Patch\n*** End Patch\n"});
        check(&seat, &host.asks(tool, &input), &Refused("R20"));
        check(&seat, &host.shell("ls"), &Passes);
    }
}

#[test]
fn a_workers_own_agents_are_its_work() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        check(&seat, &host.agent("anybody"), &Passes);
        // What they do is judged as what it does itself.
        let mut inside = host.shell("echo x > out/draft.md");
        if host != Host::Gemini {
            inside["agent_id"] = json!("a56bd50ee4ec3cf9c");
            inside["agent_type"] = json!("anybody");
        }
        check(&seat, &inside, &Refused("R24"));
        let denies = JUDGED.replace(r#""Edit""#, r#""Task""#);
        let seat = Seat::at(&Work {
            pipeline: &denies,
            ..judge(host)
        });
        check(&seat, &host.agent("anybody"), &Refused("R20"));
        check(&seat, &host.shell("ls"), &Passes);
    }
}

#[test]
fn a_script_that_starts_agents_is_refused_and_a_skill_is_not() {
    let (host, seat) = (Host::Claude, Seat::at(&judge(Host::Claude)));
    let workflow = host.asks("Workflow", &json!({"script": "agent()"}));
    check(&seat, &workflow, &Refused("R26"));
    let skill = host.asks("Skill", &json!({"skill": "tidy"}));
    check(&seat, &skill, &Passes);
    let message = host.asks("SendMessage", &json!({"to": "a1", "message": "go on"}));
    check(&seat, &message, &Passes);
}

#[test]
fn the_first_tool_ties_the_worker_to_its_work_by_its_call() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        seat.hook(&host.shell("ls")).succeeds();
        seat.hook(&host.shell("ls -l")).succeeds();
        // Began by its first tool, and seen to work: each once.
        assert_eq!(seat.rules(), ["R41", "R21"], "{host:?}");
        let began = seat.journal();
        let began = began
            .iter()
            .find(|entry| entry["rule"] == "GW-R41")
            .unwrap();
        let name = format!("{}:{ONE}", host.word());
        assert!(began.to_string().contains(&name), "{began}");
    }
}

#[test]
fn another_conversation_is_not_the_worker() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        seat.hook(&host.shell("ls")).succeeds();
        let ran = seat.hook_of(OTHER, &host.shell("ls"));
        is_refused(host, &ran, "R22");
        passes(&seat.hook(&host.shell("ls -l")));
        // Nor is one that is not the one which was begun for it.
        let seat = Seat::at(&judge(host));
        seat.record(&json!({"conversation": ONE}), &judge(host));
        let ran = seat.hook_of(OTHER, &host.shell("ls"));
        is_refused(host, &ran, "R22");
        passes(&seat.hook(&host.shell("ls -l")));
    }
}

#[test]
fn a_worker_that_was_begun_anew_takes_the_place_of_the_one_before() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        seat.hook_of(OTHER, &host.shell("ls")).succeeds();
        seat.record(&json!({"restarts": 1, "conversation": ONE}), &judge(host));
        passes(&seat.hook(&host.shell("ls")));
        is_refused(host, &seat.hook_of(OTHER, &host.shell("ls -l")), "R22");
    }
}

#[test]
fn another_program_is_not_the_worker() {
    // A worker of Codex has started Claude Code, in a project with our hooks in its settings.
    let mut seat = Seat::at(&judge(Host::Codex));
    seat.host = Host::Claude;
    let ran = seat.hook(&Host::Claude.shell("ls"));
    is_refused(Host::Claude, &ran, "R22");
    seat.host = Host::Codex;
    passes(&seat.hook(&Host::Codex.shell("ls")));
}

#[test]
fn whatever_a_script_starts_is_its_work() {
    let work = Work {
        runner: "command",
        ..judge(Host::Claude)
    };
    let seat = Seat::at(&work);
    passes(&seat.hook_of(ONE, &Host::Claude.shell("ls")));
    passes(&seat.hook_of(OTHER, &Host::Claude.shell("ls")));
    let ran = seat.hook_of(OTHER, &Host::Claude.write("out/draft.md"));
    is_refused(Host::Claude, &ran, "R24");
}

#[test]
fn a_worker_whose_work_is_over_uses_no_tool() {
    for host in Host::ALL {
        let seat = Seat::at(&judge(host));
        seat.hook(&host.shell("ls")).succeeds();
        seat.happen(&Happening::Work(WorkEvent::Ended {
            work: engine::WorkRef::Dispatch(engine::DispatchId(1)),
            ending: engine::Ending::Fault {
                fault: engine::Fault::Crashed,
                reason: "it is gone".into(),
            },
            usage: engine::Usage::default(),
        }));
        is_refused(host, &seat.hook(&host.shell("ls -l")), "R22");
        // Not even when the same agent is at work again.
        seat.admit("judge", None, "step-another");
        is_refused(host, &seat.hook(&host.shell("ls -a")), "R22");
    }
}

#[test]
fn a_worker_whose_run_is_over_uses_no_tool() {
    let host = Host::Claude;
    let seat = Seat::at(&judge(host));
    seat.hook(&host.shell("ls")).succeeds();
    let cancelled = seat
        .project
        .person(["cancel", "r-1", "--reason", "enough"], "r-1\n");
    cancelled.succeeds();
    is_refused(host, &seat.hook(&host.shell("ls -l")), "R16");
}

#[test]
fn a_worker_that_was_told_apart_by_its_output_is_known_to_its_hooks() {
    let host = Host::Claude;
    let seat = Seat::at(&judge(host));
    seat.happen(&Happening::Work(WorkEvent::Launched {
        call: CallId::parse(CALL).unwrap(),
        worker: WorkerId::parse(&format!("claude:{ONE}")).unwrap(),
    }));
    passes(&seat.hook(&host.shell("ls")));
    is_refused(host, &seat.hook_of(OTHER, &host.shell("ls")), "R22");
}
