//! What came of all rounds, in words.

use std::collections::BTreeMap;
use std::fmt;

use crate::checker::{Damage, Explained};
use crate::nemesis::Fault;
use crate::round::Round;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    faults: BTreeMap<Fault, usize>,
    runs: usize,
    set_aside: usize,
    acknowledged: usize,
    fenced: usize,
    reported: usize,
    explained: Explained,
    damage: Counted,
    /// How many pieces of damage were planted and found.
    pub planted: usize,
}

/// Damage by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    lost: usize,
    doubled: usize,
    old_fence: usize,
    other: usize,
}

impl Counted {
    fn add(&mut self, damage: &Damage) {
        match damage {
            Damage::Lost(_) | Damage::Replaced(_) => self.lost += 1,
            Damage::Doubled(_) | Damage::Repeated(_) => self.doubled += 1,
            Damage::OldFence(_)
            | Damage::FenceFell(_)
            | Damage::FenceShared(_)
            | Damage::ForeignClaim(_) => self.old_fence += 1,
            Damage::Chain(_) | Damage::Uncounted(_) | Damage::Left(_) | Damage::Trouble(_) => {
                self.other += 1;
            }
        }
    }
}

impl Tally {
    pub(crate) fn add(&mut self, round: &Round) {
        for fault in &round.faults {
            *self.faults.entry(*fault).or_default() += 1;
        }
        self.runs += round.runs;
        self.set_aside += round.set_aside;
        self.acknowledged += round.acknowledged;
        self.fenced += round.fenced;
        self.reported += round.reported;
        self.explained.repeated += round.explained.repeated;
        self.explained.shared += round.explained.shared;
        self.explained.altered += round.explained.altered;
        round
            .found
            .iter()
            .for_each(|damage| self.damage.add(damage));
    }

    pub(crate) fn harm(&self) -> usize {
        let Counted {
            lost,
            doubled,
            old_fence,
            other,
        } = self.damage;
        lost + doubled + old_fence + other
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted {
            lost,
            doubled,
            old_fence,
            other,
        } = self.damage;
        let all: usize = self.faults.values().sum();
        let kinds = self
            .faults
            .iter()
            .map(|(fault, times)| format!("{times} {fault}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        writeln!(f, "{all} faults: {kinds}")?;
        let (runs, aside, fenced) = (self.runs, self.set_aside, self.fenced);
        writeln!(
            f,
            "  {runs} runs, {aside} set aside, {} acknowledged, {fenced} drivers refused by their fence",
            self.acknowledged
        )?;
        let Explained {
            repeated,
            shared,
            altered,
        } = self.explained;
        writeln!(
            f,
            "  asynchronous fail-overs: {} acknowledged keys gone and reported; by that {repeated} pieces of work \
             done again, {shared} fences given twice, and {altered} \
             changes refused as altered",
            self.reported
        )?;
        write!(
            f,
            "  {lost} lost, {doubled} doubled, {old_fence} under an old fence, {other} other damage; {} planted \
             pieces of damage found",
            self.planted
        )
    }
}
