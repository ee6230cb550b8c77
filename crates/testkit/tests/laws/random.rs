//! By chance: random definitions, and events that are lost, doubled, late and out of order.

use engine::{Entry, Event, Evidence, Fact, Pipeline, apply, replay};

use crate::acts::{Act, Scope, acts, event};
use crate::chance::Chance;
use crate::definitions::random;
use crate::monitor::{Marks, Monitor, Scene};
use crate::world::{Judge, World, begun, pipeline, small_params};

/// What one seed came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wandered {
    /// Lint refused the definition, so there was nothing to wander through.
    Refused,
    Through {
        advances: usize,
    },
}

struct Wanderer<'a> {
    pipeline: &'a Pipeline,
    judge: Judge<'a>,
    world: World,
    marks: Marks,
    /// One member a decision: the store keeps decisions whole, so a journal is cut between them only.
    journal: Vec<Vec<Entry>>,
    advances: usize,
}

/// A decision of a random history: the run before it, its entries, and what came of it.
pub(crate) type Onlooker<'a> =
    &'a mut dyn FnMut(&Pipeline, &World, &[Entry], &World) -> Result<(), String>;

/// Plays so many random histories, and shows every decision to the onlooker.
pub(crate) fn wanderings(seeds: u64, onlooker: Onlooker<'_>) {
    for seed in 1..=seeds {
        let mut chance = Chance::new(seed);
        let text = random(&mut chance);
        let Ok(pipeline) = pipeline(&text) else {
            continue;
        };
        let mut world = begun(&pipeline, &small_params(&pipeline)).0;
        for _ in 0..80 {
            let act = choose(&pipeline, &world, Scope::Work, &mut chance);
            let Some((event, evidence)) = event(&pipeline, &world, &act) else {
                continue;
            };
            let decision = engine::decide(&pipeline, &world.run, &event, &evidence);
            let after = world.after(&decision);
            onlooker(&pipeline, &world, &decision.entries, &after)
                .unwrap_or_else(|law| panic!("seed {seed}: {law}\n{text}"));
            world = after;
        }
    }
}

/// Plays one random history; the first broken law ends it.
pub(crate) fn wander(seed: u64, judge: Judge<'_>) -> Result<Wandered, String> {
    let mut chance = Chance::new(seed);
    let text = random(&mut chance);
    let Ok(pipeline) = pipeline(&text) else {
        return Ok(Wandered::Refused);
    };
    let (world, beginning) = begun(&pipeline, &small_params(&pipeline));
    let journal = vec![beginning];
    let marks = Monitor {
        pipeline: &pipeline,
    }
    .start(&world);
    let mut wanderer = Wanderer {
        pipeline: &pipeline,
        judge,
        world,
        marks,
        journal,
        advances: 0,
    };
    let mut late: Vec<(Event, Evidence)> = Vec::new();
    for _ in 0..80 {
        wanderer
            .step(&mut chance, &mut late)
            .map_err(|law| format!("seed {seed}: {law}\n{text}"))?;
    }
    wanderer
        .journal_holds()
        .map_err(|law| format!("seed {seed}: {law}\n{text}"))?;
    Ok(Wandered::Through {
        advances: wanderer.advances,
    })
}

/// Mostly something that the engine would like, so that runs get far; often anything at all.
fn choose(pipeline: &Pipeline, world: &World, scope: Scope, chance: &mut Chance) -> Act {
    let all = acts(pipeline, world, scope);
    if chance.once_in(3) {
        return chance.pick(&all).clone();
    }
    let leads_on = |act: &&Act| {
        event(pipeline, world, act).is_some_and(|(event, evidence)| {
            let decision = engine::decide(pipeline, &world.run, &event, &evidence);
            decision.entries.iter().any(|entry| {
                matches!(
                    entry.fact,
                    Fact::Moved(_) | Fact::Admitted { .. } | Fact::Ended { .. }
                )
            })
        })
    };
    let useful: Vec<&Act> = all.iter().filter(leads_on).collect();
    if useful.is_empty() {
        chance.pick(&all).clone()
    } else {
        (*chance.pick(&useful)).clone()
    }
}

impl Wanderer<'_> {
    fn step(
        &mut self,
        chance: &mut Chance,
        late: &mut Vec<(Event, Evidence)>,
    ) -> Result<(), String> {
        let act = if chance.once_in(20) {
            Act::Unguarded
        } else {
            let scope = *chance.pick(&[Scope::Work, Scope::Sessions, Scope::Hosted]);
            choose(self.pipeline, &self.world, scope, chance)
        };
        if act == Act::TreeChanges {
            self.world.tree = 3 - self.world.tree;
            return Ok(());
        }
        let Some((event, evidence)) = event(self.pipeline, &self.world, &act) else {
            return Ok(());
        };
        match chance.below(12) {
            0 => {}
            1 => late.push((event, evidence)),
            2 => {
                self.judge(&event, &evidence)?;
                self.judge(&event, &evidence)?;
            }
            _ => self.judge(&event, &evidence)?,
        }
        if !late.is_empty() && chance.once_in(6) {
            let at = chance.below(late.len());
            let (event, evidence) = late.remove(at);
            self.judge(&event, &evidence)?;
        }
        Ok(())
    }

    fn judge(&mut self, event: &Event, evidence: &Evidence) -> Result<(), String> {
        let decision = (self.judge)(self.pipeline, &self.world.run, event, evidence);
        let after = self.world.after(&decision);
        let scene = Scene {
            before: &self.world,
            event,
            evidence,
            decision: &decision,
            after: &after,
        };
        self.marks = Monitor {
            pipeline: self.pipeline,
        }
        .watch(&self.marks, &scene)?;
        let moves = decision
            .entries
            .iter()
            .filter(|entry| matches!(entry.fact, Fact::Moved(_)));
        self.advances += moves.count();
        self.journal.push(decision.entries);
        self.world = after;
        Ok(())
    }

    /// The journal tells the run, whole and cut off after any decision.
    fn journal_holds(&self) -> Result<(), String> {
        if replay(self.journal.iter().flatten()).as_ref() != Ok(&self.world.run) {
            return Err(String::from("the journal does not fold to the run"));
        }
        let mut run = None;
        for decision in &self.journal {
            for entry in decision {
                run = Some(apply(run, entry).map_err(|damage| damage.to_string())?);
            }
            let stuck = run
                .as_ref()
                .filter(|run| engine::next(self.pipeline, run).is_empty());
            if let Some(run) = stuck {
                return Err(format!(
                    "cut off in {}, nothing can happen",
                    run.position.stage
                ));
            }
        }
        Ok(())
    }
}

#[test]
fn random_histories_of_random_definitions_keep_the_laws() {
    let (mut played, mut advances) = (0, 0);
    for seed in 1..=seeds() {
        match wander(seed, &engine::decide) {
            Ok(Wandered::Through { advances: more }) => {
                played += 1;
                advances += more;
            }
            Ok(Wandered::Refused) => {}
            Err(law) => panic!("{law}"),
        }
    }
    println!("{played} definitions played, {advances} advances, no law broken");
    assert!(
        played * 10 > seeds(),
        "too few random definitions pass lint: {played}"
    );
    assert!(
        advances > usize::try_from(played).unwrap(),
        "runs hardly advance: {advances}"
    );
}

/// A sample by default; `GATEWRIGHT_SEEDS` asks for more.
fn seeds() -> u64 {
    std::env::var("GATEWRIGHT_SEEDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_500)
}
