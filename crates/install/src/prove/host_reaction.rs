//! What the host does with an answer. It ignores an answer that it does not understand.

use hosts::Event;
use serde_json::{Map, Value};

use super::hook_process::{HookOutput, ProcessEnd};

/// What the host does with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostReaction {
    /// It continues without a message.
    Silence,
    /// It continues. The text goes to the model or to the person.
    Pass(String),
    /// It does not make the call.
    Refusal(String),
    /// It does not let the session or worker stop.
    Continue(String),
    /// It ignores the answer.
    Nothing(String),
}

/// Reads an answer as the host does.
pub(super) fn host_reaction(event: Event, output: &HookOutput) -> HostReaction {
    let code = match &output.ended {
        ProcessEnd::Code(code) => *code,
        ProcessEnd::Signal(signal) => {
            return HostReaction::Nothing(format!("signal {signal} killed it"));
        }
        ProcessEnd::TimedOut => {
            return HostReaction::Nothing("it did not answer in time".to_owned());
        }
        ProcessEnd::NotStarted(reason) => return HostReaction::Nothing(reason.clone()),
    };
    match code {
        2 => held(event, first_line(&output.stderr)),
        0 if output.stdout.is_empty() && output.stderr.is_empty() => HostReaction::Silence,
        0 if output.stdout.is_empty() => HostReaction::Pass(first_line(&output.stderr)),
        0 => match serde_json::from_slice(&output.stdout) {
            Ok(Value::Object(answer)) => told(event, &answer),
            Ok(_) | Err(_) => HostReaction::Nothing("its output is not a JSON object".to_owned()),
        },
        code => HostReaction::Nothing(format!("it ended with exit code {code}")),
    }
}

fn held(event: Event, reason: String) -> HostReaction {
    if matches!(event, Event::Stop | Event::SubagentStop) {
        HostReaction::Continue(reason)
    } else {
        HostReaction::Refusal(reason)
    }
}

fn told(event: Event, answer: &Map<String, Value>) -> HostReaction {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let own = answer.get("hookSpecificOutput");
    let is_own = own.is_some_and(|own| own["hookEventName"] == event.word());
    if own.is_some() && !is_own {
        return HostReaction::Nothing("its answer names another event".to_owned());
    }
    let denies = own.is_some_and(|own| own["permissionDecision"] == "deny");
    if event == Event::PreToolUse && denies {
        let reason = own.and_then(|own| text(own.get("permissionDecisionReason")));
        return HostReaction::Refusal(reason.unwrap_or_default());
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
    HostReaction::Pass(said.join("\n"))
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: Event, code: i32, stdout: &str, expected: HostReaction) {
        let output = HookOutput {
            ended: ProcessEnd::Code(code),
            stdout: stdout.as_bytes().to_vec(),
            stderr: b"why\n".iter().filter(|_| code == 2).copied().collect(),
        };
        assert_eq!(host_reaction(event, &output), expected, "{stdout}");
    }

    #[test]
    fn an_answer_is_read_as_the_host_reads_it() {
        let nothing = |why: &str| HostReaction::Nothing(why.to_owned());
        let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
        let unnamed = r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#;
        let other = nothing("its answer names another event");
        for (event, code, stdout, expected) in [
            (Event::PreToolUse, 0, "", HostReaction::Silence),
            (
                Event::PreToolUse,
                2,
                "",
                HostReaction::Refusal("why".to_owned()),
            ),
            (Event::Stop, 2, "", HostReaction::Continue("why".to_owned())),
            (
                Event::PreToolUse,
                0,
                deny,
                HostReaction::Refusal("no".to_owned()),
            ),
            (Event::PreToolUse, 0, unnamed, other.clone()),
            (Event::Stop, 0, deny, other),
            (
                Event::Stop,
                0,
                r#"{"decision":"block","reason":"no"}"#,
                HostReaction::Continue("no".to_owned()),
            ),
            (
                Event::Stop,
                0,
                r#"{"systemMessage":"hm"}"#,
                HostReaction::Pass("hm".to_owned()),
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
