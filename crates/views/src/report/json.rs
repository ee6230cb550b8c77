//! A report as JSON: the status with all its facts, and what only a report has.

use engine::DispatchId;
use serde_json::{Value, json};

use super::{AgentTotal, JournalIntegrity, Promise, PromiseState, ReportView};
use crate::change::ChangeStat;
use crate::words;

pub(super) fn render(view: &ReportView) -> Value {
    let mut facts = view.status.json();
    let (integrity, damage) = match &view.integrity {
        JournalIntegrity::NotVerified => ("not_verified", None),
        JournalIntegrity::Intact => ("intact", None),
        JournalIntegrity::Damaged(what) => ("damaged", Some(what.raw())),
    };
    facts["journal"] = crate::status::journal_json(&view.journal);
    let changes = view.changes.iter();
    let changes: Vec<Value> = changes.map(|(id, stat)| change(*id, *stat)).collect();
    facts["report"] = json!({
        "tone": view.verdict.tone.word(),
        "verdict": view.verdict.title,
        "facts": view.verdict.facts,
        "promises": view.promises.iter().map(promise).collect::<Vec<_>>(),
        "agents": view.agents.iter().map(agent).collect::<Vec<_>>(),
        "changes": changes,
        "integrity": integrity,
        "damage": damage,
        "verified_by": view.verified_by(),
    });
    facts
}

fn promise(promise: &Promise) -> Value {
    let why = match &promise.state {
        PromiseState::Kept => None,
        PromiseState::Weakened { why } => Some(why),
    };
    json!({
        "name": promise.name.raw(),
        "claim": promise.claim.raw(),
        "kept": why.is_none(),
        "why": why,
    })
}

fn change(dispatch: DispatchId, stat: ChangeStat) -> Value {
    json!({
        "dispatch": dispatch.to_string(),
        "files": stat.files,
        "added": stat.added,
        "removed": stat.removed,
    })
}

fn agent(total: &AgentTotal) -> Value {
    json!({
        "agent": total.agent.as_str(),
        "attempts": total.attempts,
        "seconds": total.time.0,
        "used": words::usage_json(&total.usage),
    })
}
