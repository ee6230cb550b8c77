//! The second half of the battery: real `gatewright worker --fleet` processes on machines of their own drive queued runs
//! with a stand-in for agents, and machines, workers and the server break.

mod checker;
mod control;
mod effects;
mod facts;
mod machine;
mod nemesis;
mod processes;
mod yard;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use checker::Damage;
use nemesis::Fault;
use yard::Yard;

use crate::chance::Chance;
use crate::{Result, SHOWN, say};

/// What came of all rounds.
#[derive(Default)]
struct Tally {
    faults: BTreeMap<Fault, usize>,
    runs: usize,
    dispatches: usize,
    begun: usize,
    moved: usize,
    /// Dispatches that ended with their machine.
    dropped: usize,
    harm: usize,
    planted: usize,
}

/// Runs this many rounds, each with every fault this often.
pub(crate) fn battery(program: &Path, seed: u64, rounds: usize, each: usize) -> Result<()> {
    let mut tally = Tally::default();
    for number in 0..rounds {
        let found = round(program, seed, number, each, &mut tally)?;
        for damage in found.iter().take(SHOWN) {
            say(&format!("  workers, round {number}: {damage}"))?;
        }
        tally.harm += found.len();
    }
    say(&format!("fleet, real workers: {tally}"))?;
    match tally.harm {
        0 => Ok(()),
        harm => Err(format!("{harm} pieces of damage; --seed {seed} takes the same again").into()),
    }
}

/// One round. The first one is the control, too.
fn round(
    program: &Path,
    seed: u64,
    number: usize,
    each: usize,
    tally: &mut Tally,
) -> Result<Vec<Damage>> {
    // Another stream than that of the store's rounds.
    let mut chance = Chance::of(!seed, number);
    let mut yard = Yard::new(program)?;
    let mut found = Vec::new();
    for fault in nemesis::plan(each, &mut chance) {
        let struck = nemesis::strike(&mut yard, fault, &mut chance);
        let struck = struck.and_then(|orphans| yard.go_on().map(|()| orphans));
        let orphans = struck.map_err(|stuck| format!("workers, round {number}, {fault}: {stuck}"));
        found.extend(orphans?.map(Damage::Orphans));
        *tally.faults.entry(fault).or_default() += 1;
    }
    yard.finish()?;
    let facts = facts::gather(&yard)?;
    found.extend(checker::check(&facts));
    tally.runs += facts.runs.len();
    tally.dispatches += facts.dispatches();
    tally.begun += facts.begun();
    tally.moved += facts.moved();
    tally.dropped += facts.dropped();
    if number == 0 && found.is_empty() {
        tally.planted = control::run(&yard, facts)?;
    }
    Ok(found)
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: usize = self.faults.values().sum();
        let kinds = self.faults.iter();
        let kinds = kinds.map(|(fault, times)| format!("{times} {fault}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        writeln!(f, "{all} faults: {kinds}")?;
        write!(
            f,
            "  {} runs, {} dispatches begun {} times, {} moves to another machine, which dropped {} dispatches\n  \
             {} pieces of damage; {} planted ones found",
            self.runs,
            self.dispatches,
            self.begun,
            self.moved,
            self.dropped,
            self.harm,
            self.planted
        )
    }
}
