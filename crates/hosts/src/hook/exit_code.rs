//! Answers by exit code: the one way to refuse that works with every host.
//!
//! A refusal is exit code 2 with a reason on stderr. Without a reason, or with the JSON of another
//! host, the host would go on. Tests with the real programs show both.

use super::answer::{Answer, Bytes, Stake, Verdict};
use super::event::Event;
use super::output::{blocked, context, joined, remarked};

/// The answer to an event. `word` is the host's name for it.
pub(crate) fn write(event: Event, word: &'static str, answer: &Answer) -> Bytes {
    match &answer.verdict {
        Verdict::Refuse(reason) | Verdict::GoOn(reason) if can_be_refused(event) => {
            blocked(&joined(reason, answer.context.as_deref()))
        }
        Verdict::Refuse(reason) | Verdict::GoOn(reason) => told(
            event,
            word,
            Some(&joined(reason, answer.context.as_deref())),
        ),
        Verdict::Nothing | Verdict::Allow => told(event, word, answer.context.as_deref()),
    }
}

/// The answer when we could not judge: closed where a gate was promised, open elsewhere.
pub(crate) fn undecided(event: Event, stake: Stake, reason: &str) -> Bytes {
    if event == Event::PreToolUse && stake == Stake::Gate {
        blocked(reason)
    } else {
        remarked(reason)
    }
}

fn told(event: Event, word: &'static str, words: Option<&str>) -> Bytes {
    match words.filter(|_| carries_context(event)) {
        Some(words) => context(word, words),
        None => Bytes::nothing(),
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
