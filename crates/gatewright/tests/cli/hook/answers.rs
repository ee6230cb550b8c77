//! Answers to the host's questions: who gave them stands in the host's own record, and that is what counts.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::Ran;

use super::seat::{SESSION, Seat};
use crate::answer_record::{self, BY_HOOK, BY_PERSON};

/// A run that asks at once, and that a person may let ask again.
const ASKING: &str = r#"
name   = "asks"
about  = "Asks at once."
begins = "session"
start  = "working"

[stages.working]
ask      = "Go on?"
on.yes   = "more"
on.again = "working"
on.no    = "less"

[stages.more]
allow     = ["*"]
on.finish = "complete"

[stages.less]
allow     = ["*"]
on.finish = "complete"

[stages.complete]
end = "completed"
"#;

/// A session at a question, with the host's own record of it.
struct Asked {
    seat: Seat,
}

impl Asked {
    fn new() -> Self {
        Self {
            seat: Seat::enrolled_in("asks", ASKING),
        }
    }

    fn record(&self) -> PathBuf {
        self.seat.project.home().join(format!("{SESSION}.jsonl"))
    }

    fn hook(&self, event: &str, mut payload: Value) -> Ran {
        payload["transcript_path"] = json!(self.record());
        payload["hook_event_name"] = json!(event);
        self.seat.hook(event, &payload).succeeds()
    }

    /// The host reports this answer.
    fn is_told(&self, call: &str, answer: &str) -> Ran {
        let payload = json!({
            "tool_name": "AskUserQuestion", "tool_use_id": call,
            "tool_input": told(answer), "tool_response": told(answer),
        });
        self.hook("PostToolUse", payload)
    }

    /// The host writes down who gave this answer.
    fn is_recorded(&self, call: &str, answer: &str, decision: &str) {
        let mut text = fs::read_to_string(self.record()).unwrap_or_default();
        text.push_str(&answer_record::line(call, &told(answer), decision));
        fs::write(self.record(), text).expect("written");
    }

    /// The session goes on: with a tool, or to its end.
    fn goes_on(&self, event: &str) -> Ran {
        let tool =
            json!({"tool_name": "Read", "tool_use_id": "r1", "tool_input": {"file_path": "x"}});
        match event {
            "PreToolUse" => self.hook(event, tool),
            "Stop" => self.hook(
                event,
                json!({"stop_hook_active": false, "background_tasks": []}),
            ),
            _ => self.hook(event, json!({"prompt": "hello", "prompt_id": "p"})),
        }
    }

    /// The choices that persons made, in order.
    fn chosen(&self) -> Vec<String> {
        let journal = self.seat.journal();
        let answered = journal.iter().filter(|entry| entry["rule"] == "GW-R60");
        let answered = answered.filter(|entry| entry["fact"]["kind"] == "answered");
        answered
            .map(|entry| {
                entry["fact"]["answer"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    }
}

fn told(answer: &str) -> Value {
    json!({"questions": [{"question": "Go on?"}], "answers": {"Go on?": answer}})
}

#[test]
fn an_answer_counts_when_the_host_has_recorded_that_the_person_gave_it() {
    for event in ["PreToolUse", "Stop", "UserPromptSubmit"] {
        let asked = Asked::new();
        let ran = asked.is_told("a1", "yes");
        assert!(
            ran.stdout.contains("`more`"),
            "the session hears what follows: {ran}"
        );
        assert_eq!(asked.chosen(), [""; 0]);
        asked.is_recorded("a1", "yes", BY_PERSON);
        asked.goes_on(event);
        assert_eq!(asked.chosen(), ["yes"], "{event}");
        // And it counts once.
        asked.goes_on(event);
        assert_eq!(asked.chosen(), ["yes"], "{event}");
    }
}

#[test]
fn an_answer_that_is_already_recorded_counts_at_once() {
    let asked = Asked::new();
    asked.is_recorded("a1", "yes", BY_PERSON);
    asked.is_told("a1", "yes");
    assert_eq!(asked.chosen(), ["yes"]);
}

#[test]
fn an_answer_that_a_hook_gave_or_that_nobody_recorded_does_not_count() {
    let rule = r#"{"decision":"accept","source":"config","reasonType":"rule"}"#;
    for (recorded, what) in [
        (vec![("a1", BY_HOOK)], "a hook's"),
        (vec![("a1", rule)], "a rule's"),
        (vec![("a1", "null")], "of a host that does not say whose"),
        (vec![("a1", BY_PERSON), ("a1", BY_HOOK)], "of two minds"),
        (vec![("a2", BY_PERSON)], "about another question"),
        (vec![], "none"),
    ] {
        let asked = Asked::new();
        asked.is_told("a1", "yes");
        for (call, decision) in recorded {
            asked.is_recorded(call, "yes", decision);
        }
        let ran = asked.goes_on("PreToolUse");
        assert_eq!(asked.chosen(), [""; 0], "{what}");
        assert!(ran.stdout.contains("gatewright answer"), "{what}: {ran}");
        // The person is told once.
        let ran = asked.goes_on("PreToolUse");
        assert!(!ran.stdout.contains("gatewright answer"), "{what}: {ran}");
    }
}

/// A hook that was told of another answer than the person gave changes nothing.
#[test]
fn the_recorded_answer_is_the_one_that_counts() {
    let asked = Asked::new();
    asked.is_told("a1", "yes");
    asked.is_recorded("a1", "no", BY_PERSON);
    asked.goes_on("PreToolUse");
    assert_eq!(asked.chosen(), ["no"]);
}

#[test]
fn an_answer_does_not_count_for_a_later_question() {
    let asked = Asked::new();
    asked.is_told("a1", "yes");
    asked
        .seat
        .project
        .person(["answer", "again"], "")
        .succeeds();
    asked.is_recorded("a1", "yes", BY_PERSON);
    asked.goes_on("PreToolUse");
    assert_eq!(asked.chosen(), ["again"]);
}
