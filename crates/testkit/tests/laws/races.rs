//! Races: two who looked at the same run write one after the other, and neither's advance is lost.

use engine::{Decision, Entry, Fact, Pipeline, Run, replay};

use crate::acts::{Act, Scope, acts, event};
use crate::walk::states;
use crate::world::{World, begun, small_params};

/// A journal that several write to. What it acknowledges must stay.
struct Shelf {
    journal: Vec<Entry>,
    acknowledged: Vec<Entry>,
}

/// How a shelf takes a decision that was made on the first `seen` entries.
type Commit = fn(&mut Shelf, seen: usize, decision: &Decision) -> Committed;

#[derive(PartialEq, Eq)]
enum Committed {
    Done,
    /// Somebody else was first: look again.
    Moved,
}

/// Law 4: compare, and set.
fn compare_and_set(shelf: &mut Shelf, seen: usize, decision: &Decision) -> Committed {
    if shelf.journal.len() != seen {
        return Committed::Moved;
    }
    shelf.journal.extend(decision.entries.iter().cloned());
    shelf.acknowledged.extend(decision.entries.iter().cloned());
    Committed::Done
}

/// Law 4 broken: read, change, rename. The last who writes wins.
fn last_writer_wins(shelf: &mut Shelf, seen: usize, decision: &Decision) -> Committed {
    shelf.journal.truncate(seen);
    shelf.journal.extend(decision.entries.iter().cloned());
    shelf.acknowledged.extend(decision.entries.iter().cloned());
    Committed::Done
}

/// Both read the run, then both write, and read again if the store refuses the write.
fn race(pipeline: &Pipeline, begun: &Begun, pair: [&Act; 2], commit: Commit) -> Result<(), String> {
    let mut shelf = Shelf {
        journal: begun.journal.clone(),
        acknowledged: begun.journal.clone(),
    };
    let looked = pair.map(|act| (begun.world.clone(), begun.journal.len(), act));
    for (mut world, mut seen, act) in looked {
        while let Some((event, evidence)) = event(pipeline, &world, act) {
            let decision = engine::decide(pipeline, &world.run, &event, &evidence);
            if commit(&mut shelf, seen, &decision) == Committed::Done {
                break;
            }
            seen = shelf.journal.len();
            let run = replay(&shelf.journal).map_err(|damage| damage.to_string())?;
            world = World {
                run,
                tree: world.tree,
            };
        }
    }
    held(&shelf, pair)
}

fn held(shelf: &Shelf, pair: [&Act; 2]) -> Result<(), String> {
    if shelf.journal != shelf.acknowledged {
        return Err(format!("an acknowledged advance is lost: {pair:?}"));
    }
    replay(&shelf.journal)
        .map(|_: Run| ())
        .map_err(|damage| format!("{damage}: {pair:?}"))
}

/// A state of the walk as a journal can hold it.
struct Begun {
    world: World,
    journal: Vec<Entry>,
}

/// The states are reached by their shortest ways, so each has a real journal.
fn begun_states(pipeline: &Pipeline, most: usize) -> Vec<Begun> {
    let params = small_params(pipeline);
    let ways = states(pipeline, &params, Scope::Sessions, most);
    ways.into_iter()
        .map(|way| {
            let (mut world, mut journal) = begun(pipeline, &params);
            for act in way {
                if let Some((event, evidence)) = event(pipeline, &world, &act) {
                    let decision = engine::decide(pipeline, &world.run, &event, &evidence);
                    world = world.after(&decision);
                    journal.extend(decision.entries);
                }
            }
            Begun { world, journal }
        })
        .collect()
}

/// What would move or occupy the run if it came alone.
fn eager(pipeline: &Pipeline, world: &World) -> Vec<Act> {
    let all = acts(pipeline, world, Scope::Sessions).into_iter();
    all.filter(|act| {
        event(pipeline, world, act).is_some_and(|(event, evidence)| {
            let decision = engine::decide(pipeline, &world.run, &event, &evidence);
            let facts = decision.entries.iter().map(|entry| &entry.fact);
            facts
                .into_iter()
                .any(|fact| matches!(fact, Fact::Moved(_) | Fact::Admitted { .. }))
        })
    })
    .collect()
}

/// Every pair of eager acts in every state; gives how many races were run.
fn races(name: &str, commit: Commit) -> Result<usize, String> {
    let builtin = language::builtin::find(name).expect("a built-in");
    let pipeline = language::compile(&builtin.sources())
        .expect("it passes lint")
        .pipeline;
    let mut races = 0;
    for begun in begun_states(&pipeline, 400) {
        let eager = eager(&pipeline, &begun.world);
        for one in &eager {
            for other in &eager {
                race(&pipeline, &begun, [one, other], commit)?;
                races += 1;
            }
        }
    }
    Ok(races)
}

#[test]
fn no_acknowledged_advance_is_lost_in_a_race() {
    for name in ["ansible", "context-first", "phases", "multi-ai"] {
        let run = races(name, compare_and_set).unwrap_or_else(|law| panic!("{name}: {law}"));
        println!("{name}: {run} races, nothing lost");
        assert!(run > 100, "{name}: hardly a race was run");
    }
}

#[test]
fn a_race_notices_when_the_last_writer_wins() {
    let lost = races("ansible", last_writer_wins);
    assert!(lost.is_err_and(|law| law.contains("is lost")));
}
