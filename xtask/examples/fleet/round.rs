//! A round: machines work, faults strike, and in the end the checker looks at everything.

use crate::Result;
use crate::chance::Chance;
use crate::checker::{self, Damage, Excused, Explained};
use crate::facts;
use crate::failover::{self, Loss};
use crate::nemesis::{self, Fault};
use crate::site::{Site, TEAM};

/// What came of a round.
pub(crate) struct Round {
    pub faults: Vec<Fault>,
    pub runs: usize,
    pub set_aside: usize,
    pub acknowledged: usize,
    pub fenced: usize,
    /// What the asynchronous fail-over lost, as it was reported.
    pub reported: usize,
    pub explained: Explained,
    pub found: Vec<Damage>,
}

pub(crate) fn run(seed: u64, number: usize, each: usize) -> Result<Round> {
    let mut chance = Chance::of(seed, number);
    let faults = nemesis::plan(each, &mut chance);
    let mut site = Site::new()?;
    let mut excused = Excused::default();
    let mut found = Vec::new();
    for fault in &faults {
        let struck = match fault {
            Fault::Asynchronous => failover::to_asynchronous(&mut site).map(|loss| {
                found.extend(unreported(&loss));
                excused.lost.extend(loss.lost);
                excused.fences = Some(loss.fences);
            }),
            other => nemesis::strike(&mut site, *other, &mut chance),
        };
        let went_on = struck.and_then(|()| site.go_on());
        went_on.map_err(|stuck| format!("round {number}, {fault}: {stuck}"))?;
    }
    site.finish()?;
    let facts = facts::gather(&site.primary, TEAM, site.folder.path())?;
    let (damage, explained) = checker::check(&facts, &excused);
    found.extend(damage);
    let set_aside = facts.runs.iter().filter(|run| run.set_aside.is_some());
    Ok(Round {
        faults,
        runs: facts.runs.len(),
        set_aside: set_aside.count(),
        acknowledged: facts.acknowledged.len(),
        fenced: facts.fenced,
        reported: excused.lost.len(),
        explained,
        found,
    })
}

/// The loss must show, and the fail-over must explain all of it.
fn unreported(loss: &Loss) -> Vec<Damage> {
    let nothing = "the asynchronous fail-over lost nothing, so its report was not tried";
    let nothing = loss
        .lost
        .is_empty()
        .then(|| Damage::Trouble(nothing.to_owned()));
    let unexplained = loss.unexplained.iter().cloned().map(Damage::Lost);
    unexplained.chain(nothing).collect()
}
