//! The real agent programs as workers, started as `hosts::worker` says, with hooks of our own.

mod crew;

use hosts::Program;
use hosts::agent_process::{Conversation, FileAccess, ReportedEnd};
use serde_json::{Value, json};
use testkit::model::{Actor, bash, fail, say, write};

use crew::Crew;

const ID: &str = "11111111-2222-4333-8444-555555555555";

fn writer() -> Actor {
    let turns = [
        bash("echo one > made"),
        say("WRITTEN"),
        bash("echo two > made"),
        say("AGAIN"),
    ];
    Actor::new("GO-WRITER", turns)
}

fn event(payload: &Value) -> String {
    payload["hook_event_name"].as_str().unwrap().to_owned()
}

/// Law 1 in one line for each program: a hook that says no is heard, for this process alone.
#[test]
fn a_no_of_our_hook_blocks_a_tool_of_every_program() {
    for program in Program::ALL {
        let crew = Crew::new([Actor::new("GO-WRITER", [bash("touch made"), say("I SEE")])]);
        crew.refuse("first gather the documents");
        let ran = crew.work(
            program,
            Conversation::New(ID),
            FileAccess::ReadWrite,
            "GO-WRITER: begin",
        );
        assert_eq!(
            ran.agent_output.end,
            Some(ReportedEnd::Done),
            "{program:?}\n{ran}"
        );
        assert!(!crew.has("made"), "{program:?}\n{ran}");
        assert!(!ran.agent_output.used_a_tool, "{program:?}\n{ran}");
        let told = crew.model.told("GO-WRITER");
        assert!(
            told.contains("first gather the documents"),
            "{program:?}\n{told}"
        );
    }
}

#[test]
fn our_hooks_hear_of_the_session_and_its_tools_and_the_program_is_read_as_it_is() {
    for program in Program::ALL {
        let crew = Crew::new([writer()]);
        let ran = crew.work(
            program,
            Conversation::New(ID),
            FileAccess::ReadWrite,
            "GO-WRITER: begin",
        );
        assert_eq!(
            ran.agent_output.end,
            Some(ReportedEnd::Done),
            "{program:?}\n{ran}"
        );
        assert_eq!(ran.agent_output.reply.as_deref(), Some("WRITTEN"), "{ran}");
        assert!(ran.agent_output.used_a_tool, "{program:?}\n{ran}");
        assert!(
            ran.agent_output
                .activity
                .as_ref()
                .unwrap()
                .contains("echo one"),
            "{ran}"
        );
        assert_eq!(crew.read("made"), "one\n");
        let began = ran.agent_output.conversation_id.clone().unwrap();
        assert!(began == ID || !program.takes_an_id(), "{began}");
        let heard: Vec<String> = crew
            .notes()
            .iter()
            .map(|(event, _)| event.clone())
            .collect();
        let wanted = match program {
            Program::Claude | Program::Codex => {
                ["SessionStart", "PreToolUse", "PostToolUse", "Stop"]
            }
            Program::Gemini => ["SessionStart", "BeforeTool", "AfterTool", "AfterAgent"],
        };
        assert_eq!(heard[..4], wanted, "{program:?}");
        for (word, payload) in crew.notes() {
            assert_eq!(word, event(&payload), "the argument names the event");
            let bytes = payload.to_string().into_bytes();
            let (_, read) = program
                .read_hook(Some(program.event(&word)), &bytes)
                .unwrap();
            assert_eq!(read.session.unwrap().as_str(), began, "{payload}");
        }
    }
}

#[test]
fn a_conversation_goes_on_under_its_id_and_is_counted_as_the_program_counts() {
    for program in Program::ALL {
        let crew = Crew::new([writer()]);
        let first = crew.work(
            program,
            Conversation::New(ID),
            FileAccess::ReadWrite,
            "GO-WRITER: begin",
        );
        let id = first.agent_output.conversation_id.clone().unwrap();
        let second = crew.work(
            program,
            Conversation::Resume(&id),
            FileAccess::ReadWrite,
            "go on",
        );
        assert_eq!(
            second.agent_output.conversation_id.as_ref(),
            Some(&id),
            "{second}"
        );
        assert_eq!(
            second.agent_output.reply.as_deref(),
            Some("AGAIN"),
            "{second}"
        );
        assert_eq!(crew.read("made"), "two\n", "{program:?}");
        let (before, after) = (first.agent_output.usage, second.agent_output.usage);
        assert_eq!(before.tokens, 30, "{first}");
        let expected = match program.usage_scope() {
            hosts::UsageScope::Process => 30,
            hosts::UsageScope::Conversation => 60,
        };
        assert_eq!(after.tokens, expected, "{program:?}\n{second}");
        let tells_cost = program.abilities().reports_cost;
        assert_eq!(before.cost_cents > 0, tells_cost, "{program:?}");
    }
}

#[test]
fn a_conversation_that_is_not_there_is_no_other_one() {
    for program in Program::ALL {
        let crew = Crew::new([writer()]);
        let ran = crew.work(
            program,
            Conversation::Resume(ID),
            FileAccess::ReadWrite,
            "GO-WRITER: go on",
        );
        assert_ne!(
            ran.agent_output.end,
            Some(ReportedEnd::Done),
            "{program:?}\n{ran}"
        );
        assert_ne!(ran.code, Some(0), "{program:?}\n{ran}");
        assert!(!crew.has("made"), "{program:?}\n{ran}");
    }
}

#[test]
fn who_may_only_read_writes_nothing_and_who_leaves_something_does() {
    for program in Program::ALL {
        for (file_access, written) in [
            (FileAccess::ReadOnly, false),
            (FileAccess::ArtifactsOnly, true),
        ] {
            let turns = [write("left.md", "text"), say("DONE")];
            let crew = Crew::new([Actor::new("GO-WRITER", turns)]);
            let ran = crew.work(
                program,
                Conversation::New(ID),
                file_access,
                "GO-WRITER: begin",
            );
            assert_eq!(
                ran.agent_output.end,
                Some(ReportedEnd::Done),
                "{program:?}\n{ran}"
            );
            assert_eq!(
                crew.has("left.md"),
                written,
                "{program:?} {file_access:?}\n{ran}"
            );
        }
    }
}

#[test]
fn a_service_that_says_no_is_not_the_workers_fault() {
    for program in Program::ALL {
        let overloaded = match program {
            Program::Claude => 529,
            Program::Codex | Program::Gemini => 503,
        };
        for (status, wanted) in [
            (429, "limited"),
            (overloaded, "limited"),
            (401, "not logged in"),
            (500, "limited"),
            (400, "failed"),
        ] {
            let crew = Crew::new([Actor::new("GO-WRITER", [fail(status)])]);
            let ran = crew.work(
                program,
                Conversation::New(ID),
                FileAccess::ReadOnly,
                "GO-WRITER: begin",
            );
            let told = match &ran.agent_output.end {
                Some(ReportedEnd::Limited(_)) => "limited",
                Some(ReportedEnd::NotLoggedIn(_)) => "not logged in",
                Some(ReportedEnd::Failed(_)) => "failed",
                Some(
                    ReportedEnd::Done | ReportedEnd::OverBudget(_) | ReportedEnd::DoneOverBudget,
                )
                | None => "something else",
            };
            assert_eq!(told, wanted, "{program:?} {status}\n{ran}");
        }
    }
}

#[test]
fn a_project_cannot_switch_the_hooks_of_claude_off() {
    let crew = Crew::new([Actor::new("GO-WRITER", [bash("touch made"), say("I SEE")])]);
    let off = json!({ "disableAllHooks": true }).to_string();
    crew.project.write(".claude/settings.local.json", &off);
    crew.project.write(".claude/settings.json", &off);
    crew.refuse("no");
    let ran = crew.work(
        Program::Claude,
        Conversation::New(ID),
        FileAccess::ReadWrite,
        "GO-WRITER: begin",
    );
    assert!(!crew.has("made"), "{ran}");
}

#[test]
fn nothing_is_left_where_other_sessions_would_find_it() {
    for program in Program::ALL {
        let crew = Crew::new([writer()]);
        let before = crew.settings();
        crew.work(
            program,
            Conversation::New(ID),
            FileAccess::ReadWrite,
            "GO-WRITER: begin",
        );
        assert_eq!(crew.settings(), before, "{program:?}");
        assert_eq!(crew.project_files(), ["made"], "{program:?}");
    }
}
