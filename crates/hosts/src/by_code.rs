//! Answers by exit code: the one way to refuse that every host with hooks was seen to take.
//!
//! A no is the code 2 and a reason on stderr. Without a reason, or in JSON of another host's making,
//! it would be a yes. Tests beside the real programs show both.

use crate::claude::{self, Answer, Bytes, Event, Stake, Verdict};

/// The answer to an event, which the host knows by this word.
pub fn write(event: Event, word: &'static str, answer: &Answer) -> Bytes {
    match &answer.verdict {
        Verdict::Refuse(reason) | Verdict::GoOn(reason) if can_be_refused(event) => {
            claude::blocked(&claude::joined(reason, answer.context.as_deref()))
        }
        Verdict::Refuse(reason) | Verdict::GoOn(reason) => told(
            event,
            word,
            Some(&claude::joined(reason, answer.context.as_deref())),
        ),
        Verdict::Nothing | Verdict::Allow => told(event, word, answer.context.as_deref()),
    }
}

/// The answer when we could not judge: closed where a gate was promised, open elsewhere.
pub fn undecided(event: Event, stake: Stake, reason: &str) -> Bytes {
    match (event, stake) {
        (Event::PreToolUse, Stake::Gate) => claude::blocked(reason),
        _ => claude::remarked(reason),
    }
}

fn told(event: Event, word: &'static str, context: Option<&str>) -> Bytes {
    match context.filter(|_| carries_context(event)) {
        Some(context) => claude::context(word, context),
        None => claude::write(Event::Other, &Answer::nothing()),
    }
}

fn can_be_refused(event: Event) -> bool {
    matches!(
        event,
        Event::PreToolUse | Event::UserPromptSubmit | Event::Stop | Event::SubagentStop
    )
}

fn carries_context(event: Event) -> bool {
    matches!(event, Event::SessionStart | Event::UserPromptSubmit)
}
