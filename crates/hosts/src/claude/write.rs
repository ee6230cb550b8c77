//! Our answers as the bytes and exit codes that Claude Code honours.
//!
//! The host lets a call pass on any code but 0 and 2, on a word that it does not know, and on text
//! that is no JSON. So there are two codes, and stdout is empty or one whole object.

use std::borrow::Cow;

use super::Event;
use super::wire::{Output, Permission, Specific};

/// The host cuts a context of more than 10,000 characters down to a preview.
const LONGEST: usize = 9_500;
const CUT: &str = "\n[cut here: too long for the host]";

/// What we have to say to one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    /// For the model. Events that cannot carry it lose it.
    pub context: Option<String>,
    /// For the person at the host.
    pub notice: Option<String>,
}

impl Answer {
    /// Nothing to say.
    pub fn nothing() -> Self {
        Self {
            verdict: Verdict::Nothing,
            context: None,
            notice: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Nothing,
    Allow,
    /// With the reason.
    Refuse(String),
    /// It may not end yet: a stop that is held, a worker that is sent back. With the reason.
    GoOn(String),
}

/// What the process leaves with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// Empty, or one whole JSON object.
    pub stdout: Vec<u8>,
    /// Empty, or one line.
    pub stderr: Vec<u8>,
    /// 0 or 2.
    pub code: u8,
    /// The code if the host takes our words no more: a no is said by it alone.
    pub unheard: u8,
}

/// What hangs on a call that could not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stake {
    /// It starts an agent, or may write what is protected: a gate was promised.
    Gate,
    Ordinary,
}

/// The answer to an event.
///
/// Invariant: an allowed tool call gets no `permissionDecision`. The host would take `allow` for a
/// person's consent and skip its own question. Where that question itself is put to us, in a worker of
/// ours, a yes is said in so many words.
pub fn write(event: Event, answer: &Answer) -> Bytes {
    match &answer.verdict {
        Verdict::Allow if event == Event::PermissionRequest => permitted(),
        Verdict::Nothing | Verdict::Allow => passed(event, answer),
        Verdict::Refuse(reason) | Verdict::GoOn(reason) => held(event, given(reason), answer),
    }
}

/// The answer when we could not judge: closed where a gate was promised, open elsewhere, never silent
/// where the host can show a line.
pub fn undecided(event: Event, stake: Stake, reason: &str) -> Bytes {
    let reason = given(reason);
    match (event, stake) {
        // A change of settings may be what takes our hooks away.
        (Event::PreToolUse, Stake::Gate) | (Event::ConfigChange, _) => blocked(reason),
        _ if shows_messages(event) => object(&Output {
            system_message: Some(&cut(reason)),
            ..Output::default()
        }),
        _ => remarked(reason),
    }
}

/// A line for whoever reads along. The host goes on.
pub(crate) fn remarked(reason: &str) -> Bytes {
    Bytes {
        stdout: Vec::new(),
        stderr: line(given(reason)),
        code: 0,
        unheard: 0,
    }
}

/// Words for the model at an event that carries them, which the host knows by this word.
pub(crate) fn context(event: &'static str, context: &str) -> Bytes {
    let context = cut(context);
    object(&Output {
        hook_specific_output: Some(about(event, &context)),
        ..Output::default()
    })
}

fn permitted() -> Bytes {
    object(&Output {
        hook_specific_output: Some(Specific {
            hook_event_name: Event::PermissionRequest.word(),
            permission_decision: None,
            permission_decision_reason: None,
            additional_context: None,
            decision: Some(Permission { behavior: "allow" }),
        }),
        ..Output::default()
    })
}

fn passed(event: Event, answer: &Answer) -> Bytes {
    let context = answer.context.as_deref().filter(|_| carries_context(event));
    spoken(event, context, answer)
}

/// What the host does with a no, event by event.
fn held(event: Event, reason: &str, answer: &Answer) -> Bytes {
    match event {
        Event::PreToolUse => denied(reason, answer),
        // A context of its own would make the session go on, too, but not as a held stop.
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
        // These cannot be refused, but the model can be told.
        Event::SessionStart | Event::SubagentStart | Event::PostToolUseFailure => {
            let told = joined(reason, answer.context.as_deref());
            spoken(event, Some(&told), answer)
        }
        Event::SessionEnd | Event::PermissionRequest | Event::StopFailure | Event::Other => {
            spoken(event, None, answer)
        }
    }
}

/// Does `additionalContext` reach the model, and do nothing else? At a stop it would make the model
/// go on.
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

fn denied(reason: &str, answer: &Answer) -> Bytes {
    let (reason, context) = (cut(reason), answer.context.as_deref().map(cut));
    let notice = notice(Event::PreToolUse, answer);
    a_no(&Output {
        system_message: notice.as_deref(),
        hook_specific_output: Some(Specific {
            hook_event_name: Event::PreToolUse.word(),
            permission_decision: Some("deny"),
            permission_decision_reason: Some(&reason),
            additional_context: context.as_deref(),
            decision: None,
        }),
        ..Output::default()
    })
}

fn stopped(event: Event, reason: &str, context: Option<&str>, answer: &Answer) -> Bytes {
    let (context, notice) = (context.map(cut), notice(event, answer));
    a_no(&Output {
        decision: Some("block"),
        reason: Some(&cut(reason)),
        system_message: notice.as_deref(),
        hook_specific_output: context.as_deref().map(|context| specific(event, context)),
    })
}

fn specific(event: Event, context: &str) -> Specific<'_> {
    about(event.word(), context)
}

fn about<'a>(event: &'static str, context: &'a str) -> Specific<'a> {
    Specific {
        hook_event_name: event,
        permission_decision: None,
        permission_decision_reason: None,
        additional_context: Some(context),
        decision: None,
    }
}

fn notice(event: Event, answer: &Answer) -> Option<Cow<'_, str>> {
    let notice = answer.notice.as_deref().filter(|_| shows_messages(event));
    notice.map(cut)
}

/// Some events know no JSON that refuses; there the code does, and stderr has the reason.
pub(crate) fn blocked(reason: &str) -> Bytes {
    Bytes {
        stdout: Vec::new(),
        stderr: line(given(reason)),
        code: 2,
        unheard: 2,
    }
}

fn a_no(output: &Output<'_>) -> Bytes {
    Bytes {
        unheard: 2,
        ..object(output)
    }
}

fn object(output: &Output<'_>) -> Bytes {
    let says_something = output.decision.is_some()
        || output.system_message.is_some()
        || output.hook_specific_output.is_some();
    let said = says_something.then(|| serde_json::to_vec(output));
    match said {
        Some(Ok(stdout)) => Bytes {
            stdout,
            stderr: Vec::new(),
            code: 0,
            unheard: 0,
        },
        // Texts always become JSON. Should they not, a refusal must not become an allow.
        Some(Err(_)) => blocked("gatewright could not write its answer"),
        None => Bytes {
            stdout: Vec::new(),
            stderr: Vec::new(),
            code: 0,
            unheard: 0,
        },
    }
}

/// A refusal without a reason may be none to the host.
fn given(reason: &str) -> &str {
    match reason.trim() {
        "" => "refused by gatewright",
        reason => reason,
    }
}

pub(crate) fn joined(reason: &str, context: Option<&str>) -> String {
    match context {
        Some(context) => format!("{reason}\n\n{context}"),
        None => reason.to_owned(),
    }
}

fn line(reason: &str) -> Vec<u8> {
    let words: Vec<_> = cut(reason).split_whitespace().map(str::to_owned).collect();
    let mut line = words.join(" ").into_bytes();
    line.push(b'\n');
    line
}

/// At most as much as the host takes. It counts as JavaScript does: in UTF-16.
fn cut(text: &str) -> Cow<'_, str> {
    let mut units = 0;
    let over = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > LONGEST
    });
    match over {
        Some((at, _)) => Cow::Owned(format!("{}{CUT}", text.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}
