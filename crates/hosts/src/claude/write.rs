//! Our answers as the bytes and exit codes that Claude Code honours.
//!
//! The host lets a call pass on any exit code except 0 and 2, on an unknown value, and on text that is
//! not JSON. So there are two codes, and stdout is empty or one whole object.

use std::borrow::Cow;

use crate::hook::output::{about, blocked, cut, given, joined, object, refusing, remarked};
use crate::hook::{
    Answer, Bytes, Event, Message, Output, Permission, Specific, Stake, UpdatedMessage, Verdict,
};

/// The answer to an event.
///
/// Invariant: an allowed tool call gets no `permissionDecision`. The host would take `allow` for a
/// person's consent and skip its own question. Only the answer to a permission request says `allow`
/// explicitly.
pub(super) fn write(event: Event, answer: &Answer) -> Bytes {
    match &answer.verdict {
        Verdict::Allow if event == Event::PermissionRequest => permitted(),
        Verdict::Nothing | Verdict::Allow => passed(event, answer),
        Verdict::Refuse(reason) | Verdict::GoOn(reason) => held(event, given(reason), answer),
    }
}

/// The answer when we could not judge: closed where a gate was promised, open elsewhere, and with a
/// message wherever the host can show one.
pub(super) fn undecided(event: Event, stake: Stake, reason: &str) -> Bytes {
    let reason = given(reason);
    // A change of settings may remove our hooks.
    let is_closed =
        event == Event::ConfigChange || (event == Event::PreToolUse && stake == Stake::Gate);
    if is_closed {
        blocked(reason)
    } else if shows_messages(event) {
        object(&Output {
            system_message: Some(&cut(reason)),
            ..Output::default()
        })
    } else {
        remarked(reason)
    }
}

fn permitted() -> Bytes {
    object(&Output {
        hook_specific_output: Some(Specific {
            hook_event_name: Event::PermissionRequest.word(),
            permission_decision: None,
            permission_decision_reason: None,
            additional_context: None,
            decision: Some(Permission { behavior: "allow" }),
            updated_input: None,
        }),
        ..Output::default()
    })
}

fn passed(event: Event, answer: &Answer) -> Bytes {
    // The host drops what a hook prints at the end of a session, but shows the stderr of one that fails:
    // the only line of ours that a person sees under `-p`.
    if let (Event::SessionEnd, Some(notice)) = (event, &answer.notice) {
        return blocked(notice);
    }
    let context = answer.context.as_deref().filter(|_| carries_context(event));
    match answer
        .message
        .as_ref()
        .filter(|_| event == Event::PreToolUse)
    {
        Some(message) => readdressed(message, context, answer),
        None => spoken(event, context, answer),
    }
}

/// How to refuse, event by event.
fn held(event: Event, reason: &str, answer: &Answer) -> Bytes {
    match event {
        Event::PreToolUse => denied(reason, answer),
        // A separate context would also make the session continue, but not as a held stop.
        Event::Stop | Event::SubagentStop => {
            let told = joined(reason, answer.context.as_deref());
            stopped(event, &told, None, answer)
        }
        Event::UserPromptSubmit | Event::PostToolUse => {
            stopped(event, reason, answer.context.as_deref(), answer)
        }
        Event::UserPromptExpansion
        | Event::TaskCompleted
        | Event::ConfigChange
        | Event::PreCompact => blocked(reason),
        // The host ignores a refusal here, but the model gets the text.
        Event::SessionStart | Event::SubagentStart | Event::PostToolUseFailure => {
            let told = joined(reason, answer.context.as_deref());
            spoken(event, Some(&told), answer)
        }
        Event::SessionEnd | Event::PermissionRequest | Event::StopFailure | Event::Other => {
            spoken(event, None, answer)
        }
    }
}

/// Does `additionalContext` reach the model without another effect? At a stop it would make the model
/// continue.
fn carries_context(event: Event) -> bool {
    match event {
        Event::SessionStart
        | Event::UserPromptSubmit
        | Event::UserPromptExpansion
        | Event::PreToolUse
        | Event::PostToolUse
        | Event::PostToolUseFailure
        | Event::SubagentStart => true,
        Event::SessionEnd
        | Event::PermissionRequest
        | Event::SubagentStop
        | Event::Stop
        | Event::StopFailure
        | Event::TaskCompleted
        | Event::ConfigChange
        | Event::PreCompact
        | Event::Other => false,
    }
}

/// Does the host show a message to the person? PreCompact would take any output for instructions.
fn shows_messages(event: Event) -> bool {
    match event {
        Event::SessionEnd
        | Event::PermissionRequest
        | Event::StopFailure
        | Event::PreCompact
        | Event::Other => false,
        Event::SessionStart
        | Event::UserPromptSubmit
        | Event::UserPromptExpansion
        | Event::PreToolUse
        | Event::PostToolUse
        | Event::PostToolUseFailure
        | Event::SubagentStart
        | Event::SubagentStop
        | Event::Stop
        | Event::TaskCompleted
        | Event::ConfigChange => true,
    }
}

fn spoken(event: Event, context: Option<&str>, answer: &Answer) -> Bytes {
    let context = context.map(cut);
    let notice = notice(event, answer);
    object(&Output {
        system_message: notice.as_deref(),
        hook_specific_output: context.as_deref().map(|context| specific(event, context)),
        ..Output::default()
    })
}

/// The agent gets this message instead of the session's. The call itself is not judged here.
fn readdressed(message: &Message, context: Option<&str>, answer: &Answer) -> Bytes {
    let context = context.map(cut);
    let notice = notice(Event::PreToolUse, answer);
    object(&Output {
        system_message: notice.as_deref(),
        hook_specific_output: Some(Specific {
            hook_event_name: Event::PreToolUse.word(),
            permission_decision: None,
            permission_decision_reason: None,
            additional_context: context.as_deref(),
            decision: None,
            updated_input: message.text.as_deref().map(|text| UpdatedMessage {
                to: &message.to,
                summary: message.summary.as_deref(),
                message: text,
            }),
        }),
        ..Output::default()
    })
}

fn denied(reason: &str, answer: &Answer) -> Bytes {
    let (reason, context) = (cut(reason), answer.context.as_deref().map(cut));
    let notice = notice(Event::PreToolUse, answer);
    refusing(&Output {
        system_message: notice.as_deref(),
        hook_specific_output: Some(Specific {
            hook_event_name: Event::PreToolUse.word(),
            permission_decision: Some("deny"),
            permission_decision_reason: Some(&reason),
            additional_context: context.as_deref(),
            decision: None,
            updated_input: None,
        }),
        ..Output::default()
    })
}

fn stopped(event: Event, reason: &str, context: Option<&str>, answer: &Answer) -> Bytes {
    let (context, notice) = (context.map(cut), notice(event, answer));
    refusing(&Output {
        decision: Some("block"),
        reason: Some(&cut(reason)),
        system_message: notice.as_deref(),
        hook_specific_output: context.as_deref().map(|context| specific(event, context)),
    })
}

fn specific(event: Event, context: &str) -> Specific<'_> {
    about(event.word(), context)
}

fn notice(event: Event, answer: &Answer) -> Option<Cow<'_, str>> {
    let notice = answer.notice.as_deref().filter(|_| shows_messages(event));
    notice.map(cut)
}
