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

/// A run whose worker has five questions: more than a call of the host takes.
const QUESTIONS: &str = r#"
name   = "asks"
about  = "A worker asks."
begins = "session"
start  = "working"

[artifacts.signal]
path   = "signal.json"
format = "json"

[artifacts.answers]
from = "answers"

[stages.working]
agent   = "writer"
leaves  = ["signal"]
on.done = "asking"

[stages.asking]
ask         = "The worker has questions."
from        = "signal.questions"
leaves      = "answers"
on.answered = "complete"

[stages.complete]
end = "completed"
"#;

const ASKED: [&str; 5] = [
    "Which port?",
    "Which host?",
    "Which user?",
    "Which path?",
    "Which day?",
];

/// A session at the questions of its worker.
fn at_questions() -> Asked {
    let questions = ASKED.iter().enumerate();
    let questions: Vec<Value> = questions
        .map(|(at, text)| json!({"id": format!("q{at}"), "question": text}))
        .collect();
    let signal = json!({ "questions": questions });
    Asked::after_work(QUESTIONS, "signal.json", &signal.to_string())
}

/// The person's answers to these questions, in one call of the host.
fn some(texts: &[&str]) -> Value {
    let questions: Vec<Value> = texts.iter().map(|text| json!({"question": text})).collect();
    let answers = texts
        .iter()
        .map(|text| ((*text).to_owned(), json!(format!("answer to {text}"))));
    json!({"questions": questions, "answers": answers.collect::<serde_json::Map<_, _>>()})
}

/// The host reports answers to these questions, and records who gave them.
fn answers(asked: &Asked, call: &str, texts: &[&str], decision: &str) -> Ran {
    let ran = asked.hears(call, &some(texts));
    asked.records(call, &some(texts), decision);
    ran
}

#[test]
fn answers_to_many_questions_are_collected_over_several_calls() {
    let asked = at_questions();
    let ran = answers(&asked, "a1", &ASKED[..4], BY_PERSON);
    assert!(
        ran.stdout.contains("Which day?"),
        "the open one is named: {ran}"
    );
    assert!(!ran.stdout.contains("Which host?"), "{ran}");
    asked.goes_on("PreToolUse");
    assert_eq!(asked.chosen().len(), 0);
    answers(&asked, "a2", &ASKED[4..], BY_PERSON);
    asked.goes_on("PreToolUse");
    assert_eq!(asked.chosen().len(), 1);
    let run = asked.seat.project.run(["status", "--json"]).succeeds();
    let run: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let id = run["run"].as_str().expect("an id").to_owned();
    let kept = asked
        .seat
        .project
        .run(["export", &id, "--artifact", "answers"]);
    for text in ASKED {
        assert!(kept.stdout.contains(&format!("answer to {text}")), "{kept}");
    }
}

#[test]
fn answers_of_a_hook_among_them_make_the_whole_no_answer() {
    let asked = at_questions();
    answers(&asked, "a1", &ASKED[..4], BY_HOOK);
    answers(&asked, "a2", &ASKED[4..], BY_PERSON);
    asked.goes_on("PreToolUse");
    assert_eq!(asked.chosen().len(), 0);
    // The person is asked once more, for all of them.
    answers(&asked, "a3", &ASKED[..4], BY_PERSON);
    answers(&asked, "a4", &ASKED[4..], BY_PERSON);
    asked.goes_on("PreToolUse");
    assert_eq!(asked.chosen().len(), 1);
}

/// A session at a question, with the host's own record of it.
pub(super) struct Asked {
    pub(super) seat: Seat,
}

impl Asked {
    fn new() -> Self {
        Self {
            seat: Seat::enrolled_in("asks", ASKING),
        }
    }

    /// The first stage of the pipeline `asks` is over: its writer has left this file.
    pub(super) fn after_work(pipeline: &str, file: &str, content: &str) -> Self {
        let asked = Self {
            seat: Seat::enrolled_in("asks", pipeline),
        };
        let agent = json!({
            "tool_name": "Agent", "tool_use_id": "t-writer",
            "tool_input": {"subagent_type": "writer", "prompt": "p", "description": "d"},
        });
        asked.hook("PreToolUse", agent);
        let worker = json!({"agent_id": "a-writer", "agent_type": "writer"});
        asked.hook("SubagentStart", worker);
        let tool = json!({
            "tool_name": "Write", "tool_use_id": "t-write", "agent_id": "a-writer", "agent_type": "writer",
            "tool_input": {"file_path": file, "content": "x"},
        });
        asked.hook("PreToolUse", tool);
        asked.seat.project.write(file, content);
        asked.hook(
            "SubagentStop",
            json!({
                "agent_id": "a-writer", "agent_type": "writer", "last_assistant_message": "I ASK",
                "stop_hook_active": false, "background_tasks": [],
            }),
        );
        asked
    }

    fn record(&self) -> PathBuf {
        self.seat.project.home().join(format!("{SESSION}.jsonl"))
    }

    pub(super) fn hook(&self, event: &str, mut payload: Value) -> Ran {
        payload["transcript_path"] = json!(self.record());
        payload["hook_event_name"] = json!(event);
        self.seat.hook(event, &payload).succeeds()
    }

    /// The host reports this answer.
    fn is_told(&self, call: &str, answer: &str) -> Ran {
        self.hears(call, &told(answer))
    }

    /// The host reports these questions and answers.
    pub(super) fn hears(&self, call: &str, told: &Value) -> Ran {
        let payload = json!({
            "tool_name": "AskUserQuestion", "tool_use_id": call,
            "tool_input": told, "tool_response": told,
        });
        self.hook("PostToolUse", payload)
    }

    /// The host writes down who gave this answer.
    fn is_recorded(&self, call: &str, answer: &str, decision: &str) {
        self.records(call, &told(answer), decision);
    }

    /// The host writes down who gave these answers.
    pub(super) fn records(&self, call: &str, told: &Value, decision: &str) {
        let mut text = fs::read_to_string(self.record()).unwrap_or_default();
        text.push_str(&answer_record::line(call, told, decision));
        fs::write(self.record(), text).expect("written");
    }

    /// The session goes on: with a tool, or to its end.
    pub(super) fn goes_on(&self, event: &str) -> Ran {
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
    pub(super) fn chosen(&self) -> Vec<String> {
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
        // The person reads it once.
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

/// A reviewer asks for what only a person knows: what they type is the answer, and the next worker reads it.
#[test]
fn words_alone_answer_where_one_choice_needs_them() {
    let pipeline = ASKING.replace(
        "on.again = \"working\"",
        "on.again = { to = \"working\", text = \"required\" }",
    );
    let asked = Asked {
        seat: Seat::enrolled_in("asks", &pipeline),
    };
    asked.is_recorded("a1", "Old greetings may go.", BY_PERSON);
    asked.is_told("a1", "Old greetings may go.");
    assert_eq!(asked.chosen(), ["again"]);
    let journal = asked.seat.journal();
    let answered = journal.iter().find(|entry| entry["rule"] == "GW-R60");
    let words = answered.map(|entry| entry["fact"]["words"].clone());
    assert_eq!(words, Some(json!("Old greetings may go.")));
    // A choice that needs words and has none is none.
    asked.is_recorded("a2", "again", BY_PERSON);
    let told = asked.is_told("a2", "again");
    assert!(told.stdout.contains("GW-R109"), "{told}");
    assert_eq!(asked.chosen(), ["again"]);
}

/// The host's own time, as it writes it.
fn now() -> String {
    let mut clock = std::process::Command::new("date");
    let told = clock.args(["-u", "+%Y-%m-%dT%H:%M:%S.000Z"]).output();
    let told = told.expect("there is a clock").stdout;
    String::from_utf8(told).expect("a text").trim().to_owned()
}

/// A file of the host's schedules makes it submit a command as if a person had typed it.
#[test]
fn a_command_that_a_schedule_submits_is_not_a_persons() {
    let pipeline = format!("{ASKING}\n[commands]\nasks-yes = \"answer yes\"\n");
    let asked = Asked {
        seat: Seat::enrolled_in("asks", &pipeline),
    };
    let typed = |prompt: &str| {
        asked.hook(
            "UserPromptExpansion",
            json!({
                "expansion_type": "slash_command", "command_name": "asks-yes", "command_args": "",
                "prompt": "/asks-yes", "prompt_id": prompt,
            }),
        )
    };
    let due = json!({
        "type": "system", "subtype": "scheduled_task_fire", "uuid": "f-1", "prompt": "/asks-yes",
        "timestamp": now(),
    });
    fs::write(asked.record(), format!("{due}\n")).expect("written");
    let told = typed("p-1");
    assert!(told.stdout.contains("GW-R66"), "{told}");
    assert_eq!(asked.chosen(), [""; 0]);
    let refused = |entry: &&Value| entry["rule"] == "GW-R66";
    assert_eq!(asked.seat.journal().iter().filter(refused).count(), 1);
    // The prompt of the schedule is over, and a person types the same.
    let submitted = json!({"type": "user", "scheduledFireId": "f-1", "turnOrigin": "scheduled"});
    fs::write(asked.record(), format!("{due}\n{submitted}\n")).expect("written");
    typed("p-2");
    assert_eq!(asked.chosen(), ["yes"]);
}

/// A person pastes a megabyte behind their choice. It is too much, and said so; a short text counts.
#[test]
fn a_megabyte_of_words_is_refused_and_nothing_is_lost() {
    let pipeline = format!("{ASKING}\n[commands]\nasks-answer = \"answer\"\n");
    let asked = Asked {
        seat: Seat::enrolled_in("asks", &pipeline),
    };
    let typed = |prompt: &str, words: &str| {
        asked.hook(
            "UserPromptExpansion",
            json!({
                "expansion_type": "slash_command", "command_name": "asks-answer",
                "command_args": words, "prompt": format!("/asks-answer {words}"), "prompt_id": prompt,
            }),
        )
    };
    let long = format!("yes {}", "x\u{1b}[31m ".repeat(1024 * 1024 / 8));
    let told = typed("p-1", &long);
    let said = format!("{}{}", told.stdout, told.stderr);
    assert!(said.contains("characters"), "{said}");
    assert!(said.len() < 4_000 && !said.contains('\u{1b}'), "{said}");
    assert_eq!(asked.chosen().len(), 0);
    typed("p-2", "yes with a short word");
    assert_eq!(asked.chosen().len(), 1);
}
