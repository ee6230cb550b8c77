//! What the host makes of an answer. What it does not understand is as if it had not been said.

use hosts::Event;
use serde_json::{Map, Value};

use super::process::{Ended, Got};

/// What the host does after it has read an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It goes on, and nothing was said to anybody.
    Silence,
    /// It goes on. With what was said to the model or to the person.
    Pass(String),
    /// It does not do what was asked about.
    Refusal(String),
    /// Who wanted to end goes on.
    GoOn(String),
    /// It takes no notice of the answer.
    Nothing(String),
}

/// Reads an answer as the host does.
pub fn heard(event: Event, got: &Got) -> Heard {
    let code = match &got.ended {
        Ended::Code(code) => *code,
        Ended::Signal(signal) => return Heard::Nothing(format!("signal {signal} killed it")),
        Ended::TimedOut => return Heard::Nothing("it did not answer in time".to_owned()),
        Ended::NotStarted(reason) => return Heard::Nothing(reason.clone()),
    };
    match code {
        2 => held(event, first_line(&got.stderr)),
        0 if got.stdout.is_empty() && got.stderr.is_empty() => Heard::Silence,
        0 if got.stdout.is_empty() => Heard::Pass(first_line(&got.stderr)),
        0 => match serde_json::from_slice(&got.stdout) {
            Ok(Value::Object(answer)) => told(event, &answer),
            Ok(_) | Err(_) => Heard::Nothing("its output is not a JSON object".to_owned()),
        },
        code => Heard::Nothing(format!("it ended with exit code {code}")),
    }
}

fn held(event: Event, reason: String) -> Heard {
    match event {
        Event::Stop | Event::SubagentStop => Heard::GoOn(reason),
        _ => Heard::Refusal(reason),
    }
}

fn told(event: Event, answer: &Map<String, Value>) -> Heard {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let own = answer.get("hookSpecificOutput");
    let is_own = own.is_some_and(|own| own["hookEventName"] == event.word());
    if own.is_some() && !is_own {
        return Heard::Nothing("its answer names another event".to_owned());
    }
    let denies = own.is_some_and(|own| own["permissionDecision"] == "deny");
    if event == Event::PreToolUse && denies {
        let reason = own.and_then(|own| text(own.get("permissionDecisionReason")));
        return Heard::Refusal(reason.unwrap_or_default());
    }
    if answer
        .get("decision")
        .is_some_and(|decision| decision == "block")
    {
        return held(event, text(answer.get("reason")).unwrap_or_default());
    }
    let context = own.and_then(|own| text(own.get("additionalContext")));
    let said = [text(answer.get("systemMessage")), context];
    let said: Vec<String> = said.into_iter().flatten().collect();
    Heard::Pass(said.join("\n"))
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: Event, code: i32, stdout: &str, expected: Heard) {
        let got = Got {
            ended: Ended::Code(code),
            stdout: stdout.as_bytes().to_vec(),
            stderr: b"why\n".iter().filter(|_| code == 2).copied().collect(),
        };
        assert_eq!(heard(event, &got), expected, "{stdout}");
    }

    #[test]
    fn an_answer_is_read_as_the_host_reads_it() {
        let nothing = |why: &str| Heard::Nothing(why.to_owned());
        let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
        let unnamed = r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#;
        let other = nothing("its answer names another event");
        for (event, code, stdout, expected) in [
            (Event::PreToolUse, 0, "", Heard::Silence),
            (Event::PreToolUse, 2, "", Heard::Refusal("why".to_owned())),
            (Event::Stop, 2, "", Heard::GoOn("why".to_owned())),
            (Event::PreToolUse, 0, deny, Heard::Refusal("no".to_owned())),
            (Event::PreToolUse, 0, unnamed, other.clone()),
            (Event::Stop, 0, deny, other),
            (
                Event::Stop,
                0,
                r#"{"decision":"block","reason":"no"}"#,
                Heard::GoOn("no".to_owned()),
            ),
            (
                Event::Stop,
                0,
                r#"{"systemMessage":"hm"}"#,
                Heard::Pass("hm".to_owned()),
            ),
            (
                Event::Stop,
                0,
                "{",
                nothing("its output is not a JSON object"),
            ),
            (
                Event::PreToolUse,
                1,
                deny,
                nothing("it ended with exit code 1"),
            ),
        ] {
            check(event, code, stdout, expected);
        }
    }
}
