//! The laws of what a host numbers: one worker, one work, one end, and nobody else.

use engine::{DispatchId, Fact, Happening, Pipeline, Reply, Run, ToolEvent, WorkEvent, WorkRef};
use std::collections::BTreeSet;

use crate::monitor::Scene;

/// How often a session or a worker is held at most.
const MOST_HOLDS: u32 = 3;
const MOST_SENT_BACK: u32 = 2;

pub(crate) fn hold(pipeline: &Pipeline, scene: &Scene<'_>) -> Result<(), String> {
    each_has_its_own(&scene.after.run)?;
    limits_hold(&scene.after.run)?;
    ends_are_of_open_work(scene)?;
    only_what_was_told_ends(scene)?;
    refusals_are_recorded(scene)?;
    tools_are_for_the_admitted(pipeline, scene)?;
    allowed_calls_have_work(scene)
}

fn each_has_its_own(run: &Run) -> Result<(), String> {
    let (mut workers, mut calls) = (BTreeSet::new(), BTreeSet::new());
    for open in run.dispatches.values() {
        let worker = open.worker.as_ref().is_none_or(|id| workers.insert(id));
        let call = open.call.as_ref().is_none_or(|id| calls.insert(id));
        if !worker || !call {
            return Err(format!("{} shares its worker or its call", open.id));
        }
    }
    Ok(())
}

fn limits_hold(run: &Run) -> Result<(), String> {
    let tired = run.dispatches.values();
    let tired = tired.filter(|open| open.sent_back > MOST_SENT_BACK).count();
    if run.holds > MOST_HOLDS || tired > 0 {
        Err(String::from("somebody is held too often"))
    } else {
        Ok(())
    }
}

fn ended(scene: &Scene<'_>) -> impl Iterator<Item = DispatchId> {
    let facts = scene.decision.entries.iter().map(|entry| &entry.fact);
    facts.filter_map(|fact| match fact {
        Fact::Ended { dispatch, .. } => Some(*dispatch),
        _ => None,
    })
}

/// One end for one work; only the session's own work is admitted when it ends.
fn ends_are_of_open_work(scene: &Scene<'_>) -> Result<(), String> {
    let own = matches!(&scene.event.what, Happening::Work(WorkEvent::Ended {
        work: WorkRef::Agent { agent, .. }, ..
    }) if agent.as_str() == engine::SESSION);
    let mut seen = BTreeSet::new();
    for id in ended(scene) {
        let open = scene.before.run.dispatches.contains_key(&id) || own;
        if !open || !seen.insert(id) {
            return Err(format!("{id} ended and was not open"));
        }
    }
    Ok(())
}

/// What a host tells of one worker or call ends no other's work.
fn only_what_was_told_ends(scene: &Scene<'_>) -> Result<(), String> {
    let Happening::Work(WorkEvent::Ended {
        work: WorkRef::Host { call, worker },
        ..
    }) = &scene.event.what
    else {
        return Ok(());
    };
    for id in ended(scene) {
        let open = scene.before.run.dispatches.get(&id);
        let told = open.is_some_and(|open| {
            (worker.is_some() && open.worker == *worker) || (call.is_some() && open.call == *call)
        });
        if !told {
            return Err(format!("{id} ended, and something else was told"));
        }
    }
    Ok(())
}

/// A refused request stands in the journal, by the rule that refused it.
fn refusals_are_recorded(scene: &Scene<'_>) -> Result<(), String> {
    let asked = matches!(
        scene.event.what,
        Happening::Work(WorkEvent::Requested { .. })
            | Happening::Work(WorkEvent::MessageRequested { .. })
            | Happening::Tool(ToolEvent::Requested { .. })
            | Happening::Work(WorkEvent::Began { .. })
    );
    let Reply::Refuse(refusal) = &scene.decision.reply else {
        return Ok(());
    };
    let mut entries = scene.decision.entries.iter();
    let recorded = entries
        .any(|entry| matches!(entry.fact, Fact::Refused { .. }) && entry.rule == refusal.rule);
    if asked && !recorded {
        Err(String::from("a refusal is not in the journal"))
    } else {
        Ok(())
    }
}

fn tools_are_for_the_admitted(pipeline: &Pipeline, scene: &Scene<'_>) -> Result<(), String> {
    let Happening::Tool(ToolEvent::Requested {
        worker: Some(actor),
        ..
    }) = &scene.event.what
    else {
        return Ok(());
    };
    let run = &scene.after.run;
    let idle = run.work_of(&actor.id).is_none() && !engine::is_over(pipeline, run);
    if scene.decision.reply == Reply::Allow && idle {
        Err(format!("{} was not admitted, and used a tool", actor.id))
    } else {
        Ok(())
    }
}

fn allowed_calls_have_work(scene: &Scene<'_>) -> Result<(), String> {
    let Happening::Work(WorkEvent::Requested {
        call: Some(call), ..
    }) = &scene.event.what
    else {
        return Ok(());
    };
    let run = &scene.after.run;
    let open = run
        .dispatches
        .values()
        .filter_map(|open| open.call.as_ref());
    let known = run.workers.values().filter_map(|known| known.call.as_ref());
    let has_work = open.chain(known).any(|known| known == call);
    if scene.decision.reply == Reply::Allow && !has_work {
        Err(format!("{call} was allowed, and nothing was admitted"))
    } else {
        Ok(())
    }
}
