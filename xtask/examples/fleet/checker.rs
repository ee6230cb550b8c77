//! The checker: what may not be true of the journals, the logs of the drivers and their work. It reads values only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::facts::{Facts, RunFacts};
use crate::log::Acknowledged;
use crate::mark::{Attempt, Mark, Word, key};

/// What a fail-over to an asynchronous replica explains. Nothing else explains anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excused {
    /// The acknowledged keys that it lost, which were reported.
    pub lost: BTreeSet<String>,
    /// The fences of the new primary as it took over, if there was one: a higher one may be given a second time.
    pub fences: Option<BTreeMap<String, u64>>,
}

/// How much the fail-over explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Explained {
    /// Work that was done twice, since its first beginning was lost.
    pub repeated: usize,
    /// Fences that two holders got, since the first gift was lost. Only one of the two may write under it.
    pub shared: usize,
    /// Changes that were refused, since the journal has another entry where the driver knew one.
    pub altered: usize,
}

impl Excused {
    fn is_given_again(&self, run: &str, fence: u64) -> bool {
        let known = self.fences.as_ref();
        known.is_some_and(|fences| fences.get(run).is_none_or(|known| fence > *known))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// An acknowledged key that no journal has.
    Lost(String),
    /// A key that is there more than once.
    Doubled(String),
    /// Acknowledged, and the journal has something else under this key.
    Replaced(String),
    OldFence(String),
    FenceFell(String),
    FenceShared(String),
    /// An entry that one holder wrote while the lease was another's, under the same number.
    ForeignClaim(String),
    Chain(String),
    /// Work that was done more than once for one counted attempt.
    Repeated(String),
    /// Work that no entry counts.
    Uncounted(String),
    /// A queued run that neither ended nor was set aside.
    Left(String),
    Trouble(String),
}

impl Damage {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Lost(_) => "lost",
            Self::Doubled(_) => "doubled",
            Self::Replaced(_) => "replaced",
            Self::OldFence(_) => "under an old fence",
            Self::FenceFell(_) => "fence fell",
            Self::FenceShared(_) => "fence shared",
            Self::ForeignClaim(_) => "under another's claim",
            Self::Chain(_) => "chain broken",
            Self::Repeated(_) => "work repeated",
            Self::Uncounted(_) => "work uncounted",
            Self::Left(_) => "left",
            Self::Trouble(_) => "trouble",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Lost(what)
            | Self::Doubled(what)
            | Self::Replaced(what)
            | Self::OldFence(what)
            | Self::FenceFell(what)
            | Self::FenceShared(what)
            | Self::ForeignClaim(what)
            | Self::Chain(what)
            | Self::Repeated(what)
            | Self::Uncounted(what)
            | Self::Left(what)
            | Self::Trouble(what) => write!(f, "{word}: {what}"),
        }
    }
}

pub(crate) fn check(facts: &Facts, excused: &Excused) -> (Vec<Damage>, Explained) {
    let mut explained = Explained::default();
    let mut found = keys(facts, excused);
    found.extend(fences(facts, excused, &mut explained));
    found.extend(work(facts, excused, &mut explained));
    found.extend(facts.runs.iter().flat_map(run));
    let troubles = facts.troubles.iter().cloned();
    found.extend(troubles.map(Damage::Trouble));
    match &excused.fences {
        Some(_) => explained.altered += facts.altered.len(),
        None => found.extend(facts.altered.iter().map(|run| {
            Damage::Trouble(format!("the journal of {run} was altered under its driver"))
        })),
    }
    (found, explained)
}

/// The acknowledged keys that no journal has.
pub(crate) fn missing<'a>(
    acknowledged: impl Iterator<Item = &'a Acknowledged>,
    there: &BTreeSet<String>,
) -> BTreeSet<String> {
    let keys = acknowledged.map(Acknowledged::key);
    keys.filter(|key| !there.contains(key)).collect()
}

/// Where a key is: the run, the number of the entry, and what it says.
type KeyPlace<'a> = (&'a str, u64, Option<&'a Mark>);

/// Each acknowledged key is there exactly once, as it was acknowledged.
fn keys(facts: &Facts, excused: &Excused) -> Vec<Damage> {
    let mut places: BTreeMap<&str, Vec<KeyPlace<'_>>> = BTreeMap::new();
    for run in &facts.runs {
        for entry in &run.entries {
            let place = (run.id.as_str(), entry.number, entry.mark.as_ref());
            if let Some(key) = entry.key.as_deref() {
                places.entry(key).or_default().push(place);
            }
        }
    }
    let doubled = places.iter().filter(|(_, places)| places.len() > 1);
    let doubled = doubled.map(|(key, places)| Damage::Doubled(format!("{key}: {places:?}")));
    let mut found: Vec<Damage> = doubled.collect();
    for acknowledged in &facts.acknowledged {
        let key = acknowledged.key();
        let place = places.get(key.as_str()).and_then(|places| places.first());
        let as_told = (
            acknowledged.run.as_str(),
            acknowledged.number,
            Some(&acknowledged.mark),
        );
        if excused.lost.contains(&key) || place == Some(&as_told) {
            continue;
        }
        found.push(match place {
            None => Damage::Lost(key),
            Some(place) => Damage::Replaced(format!("{key}: {as_told:?} by {place:?}")),
        });
    }
    found
}

fn fences(facts: &Facts, excused: &Excused, explained: &mut Explained) -> Vec<Damage> {
    let mut found = Vec::new();
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    for step in &facts.fences {
        let before = last.insert(&step.run, step.after).unwrap_or(0);
        if step.after <= before || step.before != before {
            found.push(Damage::FenceFell(format!("{step:?} after {before}")));
        }
    }
    let mut holders: BTreeMap<(&str, u64), &str> = BTreeMap::new();
    for claim in &facts.claims {
        let holder = holders
            .entry((&claim.run, claim.fence))
            .or_insert(&claim.holder);
        if *holder == claim.holder {
            continue;
        }
        if excused.is_given_again(&claim.run, claim.fence) {
            explained.shared += 1;
        } else {
            found.push(Damage::FenceShared(format!("{claim:?} and {holder}")));
        }
    }
    for run in &facts.runs {
        for (number, mark) in run.marks() {
            // What the database itself saw in the transaction that stored the entry.
            let seen = facts.writes.get(&(run.id.clone(), number));
            let text = || format!("{} entry {number}: {mark}, the lease was {seen:?}", run.id);
            match seen {
                Some(seen) if seen.fence == mark.fence && seen.holder == mark.holder => {}
                // A fence that was given twice has two claims, so nothing explains this.
                Some(seen) if seen.fence == mark.fence => found.push(Damage::ForeignClaim(text())),
                Some(_) | None => found.push(Damage::OldFence(text())),
            }
        }
    }
    found
}

/// At most one side effect for each counted attempt, and none that is not counted.
fn work(facts: &Facts, excused: &Excused, explained: &mut Explained) -> Vec<Damage> {
    let begun = |run: &RunFacts| {
        let marks = run.marks().filter(|(_, mark)| mark.word == Word::Begin);
        marks
            .map(|(_, mark)| (run.id.clone(), mark.attempt))
            .collect::<Vec<_>>()
    };
    let counted: BTreeSet<(String, Attempt)> = facts.runs.iter().flat_map(begun).collect();
    let mut found = Vec::new();
    for (work, lines) in &facts.effects {
        let (run, attempt) = work;
        let text = key(run, Word::Begin, *attempt);
        let is_excused = excused.lost.contains(&text);
        match (lines.len(), counted.contains(work)) {
            (0 | 1, true) => {}
            _ if is_excused => explained.repeated += lines.len().saturating_sub(1),
            (_, true) => found.push(Damage::Repeated(format!("{text}: {lines:?}"))),
            (_, false) => found.push(Damage::Uncounted(format!("{text}: {lines:?}"))),
        }
    }
    found
}

fn run(run: &RunFacts) -> Vec<Damage> {
    let mut found = Vec::new();
    if let Some(fault) = &run.fault {
        found.push(Damage::Chain(format!("{}: {fault}", run.id)));
    }
    if !run.is_over && run.set_aside.is_none() {
        found.push(Damage::Left(run.id.clone()));
    }
    found
}

#[cfg(test)]
mod tests;
