//! The words that every view uses for the same thing.

use engine::{
    Conversation, Driver, Duty, End, Format, Gate, Hash, Mode, Pipeline, Process, ServiceLimit,
    Source, Stage, StageName, TreeAccess, Unguarded, Usage, Who, Work,
};
use serde_json::{Value, json};

use crate::time::rfc3339;

/// Enough of a hash to compare it by eye.
pub(crate) fn short(hash: &Hash) -> String {
    hash.to_string().chars().take(8).collect()
}

/// Work that no hook guarded, and when it was.
pub(crate) fn unguarded(found: &Unguarded) -> String {
    let Unguarded {
        what, from, until, ..
    } = found;
    let (from, until) = (rfc3339(*from), rfc3339(*until));
    if from == until {
        format!("UNGUARDED at {from}: {what}")
    } else {
        format!("UNGUARDED from {from} to {until}: {what}")
    }
}

/// What a stage is, in one word.
pub fn stage_kind(stage: &Stage) -> &'static str {
    match &stage.work {
        Work::Agent(_) => "agent",
        Work::Open(_) => "open",
        Work::Check(_) => "check",
        Work::Ask(_) => "ask",
        Work::Review(_) => "review",
        Work::Steps(_) => "steps",
        Work::Route(_) => "route",
        Work::End(_) => "end",
    }
}

pub(crate) fn end(end: End) -> &'static str {
    match end {
        End::Completed => "completed",
        End::Failed => "failed",
        End::Cancelled => "cancelled",
    }
}

/// The stage by the name that views with fewer stages know.
pub(crate) fn shown<'a>(pipeline: &'a Pipeline, name: &'a StageName) -> &'a str {
    let stage = pipeline.stage(name);
    stage
        .and_then(|stage| stage.shown.as_deref())
        .unwrap_or(name.as_str())
}

pub(crate) fn driver(driver: Driver) -> &'static str {
    match driver {
        Driver::ByHand => "by_hand",
        Driver::Guarded => "guarded",
        Driver::Headless => "headless",
    }
}

/// The mark of a run whose agents were played by a program of a person.
pub(crate) const REHEARSAL: &str = "rehearsal";

/// The driver as people read it: a run by hand is shown as unwitnessed everywhere, and a rehearsal as one.
pub(crate) fn driver_text(driver: Driver, rehearsal: bool) -> &'static str {
    match driver {
        Driver::ByHand => "by hand, unwitnessed: nobody saw the agents work",
        Driver::Guarded => "guarded by hooks",
        Driver::Headless if rehearsal => "headless, rehearsal: a stand-in played the agents",
        Driver::Headless => "headless",
    }
}

pub(crate) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforced => "enforced",
        Mode::Advisory => "advisory",
    }
}

pub(crate) fn format(format: &Format) -> &'static str {
    match format {
        Format::Bundle => "bundle",
        Format::Json { .. } => "json",
        Format::Text => "text",
    }
}

pub(crate) fn source(source: &Source) -> &'static str {
    match source {
        Source::File(_) => "file",
        Source::Reply => "reply",
        Source::Answers => "answers",
    }
}

pub(crate) fn conversation(conversation: Conversation) -> &'static str {
    match conversation {
        Conversation::Fresh => "fresh",
        Conversation::Same => "same",
    }
}

/// What a dispatch is for, after its agent's name. Panels are numbered from 1 for people.
pub(crate) fn duty(duty: &Duty) -> String {
    match duty {
        Duty::Work | Duty::Open => String::new(),
        Duty::Review { reviewer } => format!(" as reviewer {}", reviewer + 1),
        Duty::Fix { reviewer } => format!(" to fix what reviewer {} found", reviewer + 1),
        Duty::Step { step } => format!(" for step {step}"),
    }
}

pub(crate) fn gate(gate: &Gate) -> String {
    match gate {
        Gate::Tree(tree) => format!("tree {}", short(tree)),
        Gate::Superseded(tree) => format!("tree {}, maybe changed since", short(tree)),
        Gate::Artifact { artifact, content } => format!("{artifact} {}", short(content)),
    }
}

pub(crate) fn gate_json(gate: &Gate) -> Value {
    match gate {
        Gate::Tree(tree) => json!({ "tree": tree.to_string() }),
        Gate::Superseded(tree) => json!({ "tree": tree.to_string(), "superseded": true }),
        Gate::Artifact { artifact, content } => {
            json!({ "artifact": artifact.as_str(), "content": content.to_string() })
        }
    }
}

pub(crate) fn who_json(who: &Who) -> Value {
    let kind = match who {
        Who::Person(_) => "person",
        Who::Unattended(_) => "unattended",
        Who::Agent(_) => "agent",
        Who::Through(_) => "through",
        Who::Session(_) => "session",
        Who::Engine => "gatewright",
    };
    json!({ "kind": kind, "name": who.name() })
}

pub(crate) fn process_json(process: &Process) -> Value {
    json!({ "id": process.id, "started": process.started })
}

pub fn usage_json(usage: &Usage) -> Value {
    let Usage {
        turns,
        tokens,
        cost_cents,
        estimated_cents,
    } = usage;
    let mut value = json!({ "turns": turns, "tokens": tokens, "cost_cents": cost_cents });
    if let Some(cents) = estimated_cents {
        value["estimated_cents"] = json!(cents);
    }
    value
}

/// A service that asks to wait.
pub(crate) fn limit_json(limit: &ServiceLimit) -> Value {
    json!({
        "runner": limit.service.runner.as_str(),
        "model": limit.service.model,
        "until": crate::time::rfc3339(limit.until),
        "named": limit.named,
        "reason": limit.reason,
    })
}

/// `until 2026-08-22T15:00:00Z, as claude (opus) said: …`.
pub fn limit(limit: &ServiceLimit) -> String {
    let (service, until) = (&limit.service, crate::time::rfc3339(limit.until));
    let why = if limit.named {
        format!("as {service} said")
    } else {
        format!("when {service} is asked again, because Gatewright found no time in its message")
    };
    format!("until {until}, {why}: {}", limit.reason)
}

/// `claude (opus) said: …`: the same where the time stands before it.
pub fn limit_reason(limit: &ServiceLimit) -> String {
    let ServiceLimit {
        service, reason, ..
    } = limit;
    if limit.named {
        format!("{service} said: {reason}")
    } else {
        format!(
            "Gatewright found no time in the message of {service}, which is asked again then: {reason}"
        )
    }
}

/// `1 entry`, `2 entries`.
pub(crate) fn entries(number: u64) -> String {
    match number {
        1 => "1 entry".to_owned(),
        more => format!("{more} entries"),
    }
}

pub(crate) use engine::{cents, usage_text as usage};

/// `1 step`, `3 steps`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

pub(crate) fn tree_access(access: TreeAccess) -> &'static str {
    match access {
        TreeAccess::ReadsOnly => "reads_only",
        TreeAccess::MayWrite => "may_write",
    }
}

/// What is said about a run on the machine that it was adopted from.
pub fn adopted_elsewhere(entry: u64, machine: &str, person: &str) -> String {
    crate::line(&format!(
        "{person} adopted this run on {machine} at entry {entry}: the run continues there; later entries exist only on this machine"
    ))
}
