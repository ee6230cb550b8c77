//! The steps of a run's task graphs, one graph after another.

use std::collections::BTreeMap;

use engine::{Member, MemberState, Seconds, StageName, StepId};
use serde_json::{Value, json};

use crate::time::rfc3339;
use crate::view_input::ViewInput;

/// A step of one graph; another graph may have a step of the same id.
type Key<'a> = (&'a StageName, &'a StepId);

/// `with_reports`: what the steps left is read from the store, too.
pub(super) fn steps(input: &ViewInput<'_>, with_reports: bool) -> Value {
    let stages = input.pipeline.definition().stages.iter();
    let graphs = stages.filter_map(|stage| input.run.graphs.get_key_value(&stage.name));
    let members: Vec<(&StageName, &Member)> = graphs
        .flat_map(|(stage, graph)| graph.members.iter().map(move |it| (stage, it)))
        .collect();
    let waves = waves(&members);
    let step = |(number, (stage, member)): (usize, &(&StageName, &Member))| {
        let mut step = json(number, stage, member);
        let wave = waves.get(&(*stage, &member.step.id));
        step["wave"] = wave.copied().unwrap_or(0).into();
        if with_reports {
            step["reports"] = reports(input, member);
        }
        step
    };
    members.iter().enumerate().map(step).collect()
}

fn json(number: usize, stage: &StageName, member: &Member) -> Value {
    let step = &member.step;
    let (started, ended) = (member.started_at, member.ended_at);
    let took: Option<Seconds> = started.zip(ended).map(|(from, to)| to.since(from));
    let (status, fault, reason) = match &member.state {
        MemberState::Pending => ("pending", None, None),
        MemberState::Working { .. } => ("working", None, None),
        MemberState::Done => ("done", None, None),
        MemberState::Failed { fault, reason } => ("failed", Some(fault.word()), Some(reason)),
    };
    let begun = member.state != MemberState::Pending;
    json!({
        "number": number,
        "stage": stage.as_str(),
        "id": step.id.as_str(),
        "title": title(member),
        "agent": step.agent.as_str(),
        "needs": step.needs.iter().map(StepId::as_str).collect::<Vec<_>>(),
        "status": status,
        "fault": fault,
        "reason": reason,
        "attempts": member.retries + u32::from(begun),
        "started_at": started.map(rfc3339),
        "ended_at": ended.map(rfc3339),
        "duration_seconds": took.map(|took| took.0),
    })
}

/// Its title, or its id if it has no title.
fn title(member: &Member) -> &str {
    let step = &member.step;
    if step.title.trim().is_empty() {
        step.id.as_str()
    } else {
        &step.title
    }
}

/// A step belongs to the wave after the last of those that it needs.
fn waves<'a>(members: &[(&'a StageName, &'a Member)]) -> BTreeMap<Key<'a>, usize> {
    let mut waves = BTreeMap::new();
    // Plans list a step after what it needs, nearly always: then one pass is enough.
    loop {
        let before = waves.len();
        for (stage, member) in members {
            let needs = member.step.needs.iter();
            let needed: Option<Vec<usize>> = needs
                .map(|need| waves.get(&(*stage, need)).copied())
                .collect();
            if let Some(needed) = needed {
                let wave = needed.iter().max().map_or(0, |last| last + 1);
                waves.insert((*stage, &member.step.id), wave);
            }
        }
        if waves.len() == before {
            return waves;
        }
    }
}

/// What the step left, as far as it is a JSON object.
fn reports(input: &ViewInput<'_>, member: &Member) -> Value {
    let left = member.left.values();
    let reports = left.filter_map(|hash| {
        let text = (input.contents)(hash)?;
        serde_json::from_str::<Value>(&text).ok()
    });
    reports.filter(Value::is_object).collect()
}
