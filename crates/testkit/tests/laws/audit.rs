//! The audit of journals: what the engine wrote passes (the monitor asks it of every decision), and
//! what it did not write is refused.

use engine::{Audit, Entry, Fact, Fault, Pipeline, Run, WorkResult};

use crate::acts::{Scope, event};
use crate::walk::states;
use crate::world::{begun, small_params};

pub(crate) fn built_in(name: &str) -> Pipeline {
    let builtin = language::builtin::find(name).expect("a built-in");
    let compiled = language::compile(&builtin.sources());
    compiled.expect("it passes lint").pipeline
}

/// Every decision on the first ways of a walk that moves the run or passes a gate.
fn decisions(pipeline: &Pipeline) -> Vec<(Run, Vec<Entry>)> {
    let params = small_params(pipeline);
    let mut found = Vec::new();
    for way in states(pipeline, &params, Scope::Work, 400) {
        let (mut world, _) = begun(pipeline, &params);
        for act in &way {
            let Some((event, evidence)) = event(pipeline, &world, act) else {
                continue;
            };
            let decision = engine::decide(pipeline, &world.run, &event, &evidence);
            let after = world.after(&decision);
            found.push((world.run, decision.entries));
            world = after;
        }
    }
    found
}

fn passes(pipeline: &Pipeline, run: &Run, entries: &[Entry]) -> bool {
    let mut audit = Audit::from(pipeline, run.clone());
    entries.iter().all(|entry| audit.entry(entry).is_ok())
}

/// Does nothing but a person's own word lead out of this stage, so that the move is its own cause?
fn is_a_persons(entry: &Entry) -> bool {
    matches!(&entry.fact, Fact::Moved(step) if step.outcome == "finish") && entry.by.is_human()
}

#[test]
fn a_move_or_a_gate_without_its_cause_is_refused() {
    let mut forged = 0;
    for name in ["ansible", "multi-ai", "phases", "context-first"] {
        let pipeline = built_in(name);
        for (run, entries) in decisions(&pipeline) {
            assert!(passes(&pipeline, &run, &entries), "{name}: {entries:#?}");
            let alone = entries.iter().filter(|entry| {
                matches!(entry.fact, Fact::Moved(_) | Fact::GatePassed { .. })
                    && !is_a_persons(entry)
            });
            for entry in alone {
                let entry = std::slice::from_ref(entry);
                assert!(!passes(&pipeline, &run, entry), "{name}: {entry:#?}");
                forged += 1;
            }
        }
    }
    assert!(forged > 100, "{forged} forgeries were tried");
}

#[test]
fn a_move_to_any_other_stage_is_refused() {
    let mut forged = 0;
    let pipeline = built_in("ansible");
    for (run, entries) in decisions(&pipeline) {
        let Some(at) = entries
            .iter()
            .position(|entry| matches!(entry.fact, Fact::Moved(_)))
        else {
            continue;
        };
        for stage in &pipeline.definition().stages {
            let mut altered = entries.clone();
            altered.truncate(at + 1);
            let Fact::Moved(step) = &mut altered[at].fact else {
                unreachable!()
            };
            if step.to == stage.name {
                continue;
            }
            step.to = stage.name.clone();
            assert!(!passes(&pipeline, &run, &altered), "{altered:#?}");
            forged += 1;
        }
    }
    assert!(forged > 100, "{forged} forgeries were tried");
}

/// A worker that strayed in a person's tree was once retried; today a person is asked.
#[test]
fn an_older_journal_in_which_strayed_work_was_retried_is_founded() {
    let mut found = 0;
    for name in ["ansible", "multi-ai", "phases", "context-first"] {
        let pipeline = built_in(name);
        for (run, mut entries) in decisions(&pipeline) {
            let mut is_retried = false;
            for entry in &mut entries {
                match &mut entry.fact {
                    Fact::Ended {
                        result: WorkResult::Fault { fault, .. },
                        ..
                    } => *fault = Fault::Strayed,
                    Fact::Retried { fault, .. } => {
                        *fault = Fault::Strayed;
                        is_retried = true;
                    }
                    _ => {}
                }
            }
            if is_retried {
                assert!(passes(&pipeline, &run, &entries), "{name}: {entries:#?}");
                found += 1;
            }
        }
    }
    assert!(found > 0);
}
