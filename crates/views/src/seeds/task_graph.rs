//! `task-graph`: the steps with what they need, and the waves in which they can be done.

use std::collections::BTreeMap;

use engine::{StageName, StepId};
use serde_json::{Value, json};

use super::workflow::{Phase, Workflow};
use crate::file::Material;
use crate::json::json_text;

pub fn task_graph(material: &Material<'_>) -> String {
    let workflow = Workflow::of(material);
    let waves = waves(&workflow.phases);
    let number = |phase: &Phase<'_>| waves.get(&key(phase)).copied().unwrap_or(0);
    let last = waves.values().max().map_or(0, |last| last + 1);
    let members = |wave: usize| {
        let phases = workflow.phases.iter().filter(|it| number(it) == wave);
        phases
            .map(|phase| phase.member.step.id.as_str())
            .collect::<Vec<_>>()
    };
    let undone = workflow.phases.iter().filter(|phase| !phase.is_done());
    json_text(&json!({
        "workflow_id": workflow.id,
        "task": material.run.task,
        "current_wave": undone.map(number).min(),
        "waves": (0..last).map(members).collect::<Vec<_>>(),
        "tasks": workflow.phases.iter().map(|it| task(it, number(it))).collect::<Vec<_>>(),
    }))
}

/// A step of one graph; another graph may have a step of the same id.
type Key<'a> = (&'a StageName, &'a StepId);

fn key<'a>(phase: &Phase<'a>) -> Key<'a> {
    (phase.stage, &phase.member.step.id)
}

/// A step belongs to the wave after the last of those that it needs.
fn waves<'a>(phases: &[Phase<'a>]) -> BTreeMap<Key<'a>, usize> {
    let mut waves = BTreeMap::new();
    // Plans list a step after what it needs, nearly always: then one pass is enough.
    loop {
        let before = waves.len();
        for phase in phases {
            let needs = phase.member.step.needs.iter();
            let needed: Option<Vec<usize>> = needs
                .map(|need| waves.get(&(phase.stage, need)).copied())
                .collect();
            if let Some(needed) = needed {
                let wave = needed.iter().max().map_or(0, |last| last + 1);
                waves.insert(key(phase), wave);
            }
        }
        if waves.len() == before {
            return waves;
        }
    }
}

fn task(phase: &Phase<'_>, wave: usize) -> Value {
    let step = &phase.member.step;
    let needs: Vec<&str> = step.needs.iter().map(StepId::as_str).collect();
    json!({
        "id": step.id.as_str(),
        "phase": phase.id(),
        "title": phase.title(),
        "agent": step.agent.as_str(),
        "needs": needs,
        "wave": wave,
        "status": phase.status(),
    })
}
