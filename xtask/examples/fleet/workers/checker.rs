//! The checker: what may not be true of runs that real workers drove. It reads values only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::effects::{Effect, by_call};
use super::facts::{Admitted, Facts, RunFacts};

/// The stages that an agent works in.
pub(crate) const STAGES: [&str; 3] = ["first", "second", "third"];

/// The files that the project had before.
const BEFORE: [&str; 2] = ["a.txt", "parts.toml"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A run that is not completed.
    Unfinished(String),
    /// What `verify` found.
    Chain(String),
    /// Fences or claims that did not rise, or an entry under an old one.
    Fence(String),
    /// A dispatch or a stage that ended more than once.
    EndedTwice(String),
    /// Work that was begun again without a reason, or on another machine under the same dispatch.
    Repeated(String),
    /// Work that an old process ended beside the one that had taken it over.
    Beside(String),
    /// Work that no entry counts.
    Uncounted(String),
    /// A dispatch that the journal calls done, and nobody did it.
    Missing(String),
    /// The branch in the remote has something else than the stages wrote.
    Tree(String),
    /// A ref of a run that is over.
    Litter(String),
    /// A process that nobody ended.
    Orphans(String),
}

impl Damage {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Unfinished(_) => "unfinished",
            Self::Chain(_) => "chain broken",
            Self::Fence(_) => "fence",
            Self::EndedTwice(_) => "ended twice",
            Self::Repeated(_) => "work repeated",
            Self::Beside(_) => "beside",
            Self::Uncounted(_) => "work uncounted",
            Self::Missing(_) => "work missing",
            Self::Tree(_) => "another tree",
            Self::Litter(_) => "ref left",
            Self::Orphans(_) => "process left",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Unfinished(what)
            | Self::Chain(what)
            | Self::Fence(what)
            | Self::EndedTwice(what)
            | Self::Repeated(what)
            | Self::Beside(what)
            | Self::Uncounted(what)
            | Self::Missing(what)
            | Self::Tree(what)
            | Self::Litter(what)
            | Self::Orphans(what) => write!(f, "{word}: {what}"),
        }
    }
}

/// All damage.
pub(crate) fn check(facts: &Facts) -> Vec<Damage> {
    let mut found: Vec<Damage> = facts.refs.iter().cloned().map(Damage::Litter).collect();
    found.extend(facts.left.iter().cloned().map(Damage::Orphans));
    for run in &facts.runs {
        found.extend(standing(run));
        found.extend(fences(run));
        found.extend(ends(run, &facts.effects));
        found.extend(files(run));
    }
    found.extend(uncounted(facts));
    found.extend(repeated(facts));
    found.extend(beside(&facts.effects));
    found
}

fn standing(run: &RunFacts) -> Vec<Damage> {
    let told = || format!("{} is {}", run.id, run.status);
    let unfinished = (run.status != "completed").then(|| Damage::Unfinished(told()));
    let fault = run.fault.as_ref();
    let fault = fault.map(|fault| Damage::Chain(format!("{}: {fault}", run.id)));
    unfinished.into_iter().chain(fault).collect()
}

/// Each claim has a higher fence than the one before and is new; entries are written under the fences in their order, each
/// by one holder.
fn fences(run: &RunFacts) -> Vec<Damage> {
    let mut found = Vec::new();
    let told = |what: String| Damage::Fence(format!("{}: {what}", run.id));
    for pair in run.claims.windows(2) {
        if pair[1].0 <= pair[0].0 {
            found.push(told(format!("fence {} after {}", pair[1].0, pair[0].0)));
        }
    }
    let claims: BTreeSet<&String> = run.claims.iter().map(|(_, claim)| claim).collect();
    if claims.len() != run.claims.len() {
        found.push(told("a claim was given twice".to_owned()));
    }
    for pair in run.writes.windows(2) {
        if pair[1].0 < pair[0].0 {
            let (old, new) = (pair[1].0, pair[0].0);
            found.push(told(format!("an entry under fence {old} after {new}")));
        }
    }
    let mut holders: BTreeMap<u64, &str> = BTreeMap::new();
    for (fence, holder) in run.writes.iter().filter(|(_, holder)| holder != "-") {
        let first = *holders.entry(*fence).or_insert(holder);
        if first != holder {
            found.push(told(format!("{first} and {holder} under fence {fence}")));
        }
    }
    found
}

/// Each dispatch ended at most once, each stage is done exactly once, and somebody did it.
fn ends(run: &RunFacts, effects: &[Effect]) -> Vec<Damage> {
    let mut found = Vec::new();
    let mut dispatches = BTreeSet::new();
    for (dispatch, _) in &run.ended {
        if !dispatches.insert(dispatch) {
            found.push(Damage::EndedTwice(format!("{} {dispatch}", run.id)));
        }
    }
    for stage in STAGES {
        let done = done(run, stage);
        if done.len() > 1 {
            let told = format!("{} {stage}: {} times done", run.id, done.len());
            found.push(Damage::EndedTwice(told));
        }
        for admitted in done {
            let is_it = |effect: &&Effect| effect.began && effect.call == admitted.call;
            if !effects.iter().any(|effect| is_it(&effect)) {
                let told = format!("{} {stage} {}", run.id, admitted.dispatch);
                found.push(Damage::Missing(told));
            }
        }
    }
    found
}

/// The dispatches of the stage that ended as done.
pub(crate) fn done<'r>(run: &'r RunFacts, stage: &str) -> Vec<&'r Admitted> {
    let of_stage = run.admitted.iter().filter(|it| it.stage == stage);
    let is_done = |it: &&Admitted| {
        let mut ends = run.ended.iter();
        ends.any(|(dispatch, how)| *dispatch == it.dispatch && how == "done")
    };
    of_stage.filter(is_done).collect()
}

/// The branch has what was there before, and of each stage what the dispatch wrote that is done.
fn files(run: &RunFacts) -> Vec<Damage> {
    let mut found = Vec::new();
    let told = |what: String| Damage::Tree(format!("{}: {what}", run.id));
    let wanted: BTreeSet<String> = STAGES
        .iter()
        .map(|stage| format!("{stage}.txt"))
        .chain(BEFORE.map(str::to_owned))
        .collect();
    let names: BTreeSet<String> = run.tree.keys().cloned().collect();
    if names != wanted {
        found.push(told(format!("{names:?}")));
    }
    for stage in STAGES {
        let done = done(run, stage);
        let Some(admitted) = done.first() else {
            continue;
        };
        let wanted = format!("{} {stage} {}", run.id, admitted.call);
        let content = run.tree.get(&format!("{stage}.txt"));
        if content != Some(&wanted) {
            found.push(told(format!("{stage}.txt has {content:?}, not {wanted}")));
        }
    }
    found
}

fn uncounted(facts: &Facts) -> Vec<Damage> {
    let counted: BTreeSet<(&str, &str, &str)> = facts
        .runs
        .iter()
        .flat_map(|run| {
            let admitted = run.admitted.iter();
            admitted.map(|it| (run.id.as_str(), it.stage.as_str(), it.call.as_str()))
        })
        .collect();
    let effects = facts.effects.iter();
    let uncounted = effects.filter(|it| !counted.contains(&(&it.run, &it.stage, &it.call)));
    uncounted
        .map(|effect| Damage::Uncounted(format!("{effect:?}")))
        .collect()
}

/// A call is one machine's, and is begun again only after a blow to it.
fn repeated(facts: &Facts) -> Vec<Damage> {
    let mut found = Vec::new();
    for (call, effects) in by_call(&facts.effects) {
        let begun: Vec<&Effect> = effects.into_iter().filter(|it| it.began).collect();
        for pair in begun.windows(2) {
            let (first, second) = (pair[0], pair[1]);
            let mut blows = facts.blows.iter();
            let is_explained =
                first.home == second.home && blows.any(|blow| blow.explains(first, second));
            if !is_explained {
                let Effect { run, stage, .. } = second;
                let (from, to) = (first.home.display(), second.home.display());
                let later = second.at_ms.saturating_sub(first.at_ms);
                found.push(Damage::Repeated(format!(
                    "{run} {stage} {call}: at {from}, and {later} ms later at {to}"
                )));
            }
        }
    }
    found
}

/// Work of one call that an older start ended after a newer one had begun.
fn beside(effects: &[Effect]) -> Vec<Damage> {
    let mut found = Vec::new();
    for (call, effects) in by_call(effects) {
        let mut last = None;
        for effect in effects {
            if effect.began {
                last = Some(&effect.start);
            } else if last != Some(&effect.start) {
                let Effect { run, stage, .. } = effect;
                found.push(Damage::Beside(format!("{run} {stage} {call}")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::effects::Blow;
    use super::*;

    fn effect(start: &str, home: &str, at_ms: u64) -> Effect {
        Effect {
            began: true,
            run: "f-0".to_owned(),
            stage: "first".to_owned(),
            call: "c-1".to_owned(),
            start: start.to_owned(),
            home: PathBuf::from(home),
            at_ms,
        }
    }

    fn words(effects: Vec<Effect>, blows: Vec<Blow>) -> Vec<&'static str> {
        let run = RunFacts {
            id: "f-0".to_owned(),
            admitted: vec![Admitted {
                dispatch: "d1".to_owned(),
                stage: "first".to_owned(),
                call: "c-1".to_owned(),
            }],
            ..RunFacts::default()
        };
        let facts = Facts {
            runs: vec![run],
            effects,
            blows,
            ..Facts::default()
        };
        let found = check(&facts);
        let words = found.iter().map(Damage::word);
        words
            .filter(|word| word.starts_with("work") || *word == "beside")
            .collect()
    }

    #[test]
    fn work_is_begun_again_only_after_a_blow_to_its_machine() {
        let twice = || vec![effect("s1", "/a", 1_000), effect("s2", "/a", 90_000)];
        let blow = |home: &str, from_ms| Blow {
            home: Some(PathBuf::from(home)),
            from_ms,
            until_ms: from_ms + 10,
        };
        assert_eq!(words(twice(), vec![blow("/a", 2_000)]), [""; 0]);
        assert_eq!(words(twice(), vec![blow("/b", 2_000)]), ["work repeated"]);
        assert_eq!(words(twice(), vec![blow("/a", 95_000)]), ["work repeated"]);
        assert_eq!(words(twice(), Vec::new()), ["work repeated"]);
        let elsewhere = vec![effect("s1", "/a", 1_000), effect("s2", "/b", 9_000)];
        assert_eq!(words(elsewhere, vec![blow("/a", 2_000)]), ["work repeated"]);
    }

    #[test]
    fn an_old_process_that_ends_its_work_beside_the_new_one_is_found() {
        let ended = Effect {
            began: false,
            ..effect("s1", "/a", 9_000)
        };
        let blow = Blow {
            home: None,
            from_ms: 1_500,
            until_ms: 1_600,
        };
        let all = vec![effect("s1", "/a", 1_000), effect("s2", "/a", 2_000), ended];
        assert_eq!(words(all, vec![blow]), ["beside"]);
    }

    /// A run that went well: each stage was done once, under two claims.
    fn sound() -> Facts {
        let text = str::to_owned;
        let mut run = RunFacts {
            id: text("f-0"),
            status: text("completed"),
            claims: vec![(1, text("aa")), (2, text("bb"))],
            writes: vec![(1, text("m1")), (2, text("m2")), (2, text("-"))],
            tree: BEFORE.map(|name| (text(name), String::new())).into(),
            ..RunFacts::default()
        };
        let mut effects = Vec::new();
        for stage in STAGES {
            let (dispatch, call) = (format!("d-{stage}"), format!("c-{stage}"));
            effects.push(Effect {
                stage: text(stage),
                call: call.clone(),
                ..effect("s1", "/a", 1_000)
            });
            run.tree
                .insert(format!("{stage}.txt"), format!("f-0 {stage} {call}"));
            run.ended.push((dispatch.clone(), text("done")));
            run.admitted.push(Admitted {
                dispatch,
                stage: text(stage),
                call,
            });
        }
        Facts {
            runs: vec![run],
            effects,
            ..Facts::default()
        }
    }

    /// What is found after this was done to a run that went well.
    fn found(spoil: impl FnOnce(&mut RunFacts)) -> Vec<&'static str> {
        let mut facts = sound();
        spoil(&mut facts.runs[0]);
        check(&facts).iter().map(Damage::word).collect()
    }

    #[test]
    fn a_run_that_went_well_has_no_damage_and_each_fault_of_another_is_found() {
        assert_eq!(found(|_| ()), [""; 0]);
        assert_eq!(
            found(|run| run.status = "failed".to_owned()),
            ["unfinished"]
        );
        assert_eq!(
            found(|run| run.fault = Some(String::new())),
            ["chain broken"]
        );
        let twice = |run: &mut RunFacts| run.ended.push(run.ended[0].clone());
        assert_eq!(found(twice), ["ended twice"]);
        let gone = |run: &mut RunFacts| drop(run.tree.remove("second.txt"));
        assert_eq!(found(gone), ["another tree"; 2]);
        let more = |run: &mut RunFacts| drop(run.tree.insert("x".to_owned(), String::new()));
        assert_eq!(found(more), ["another tree"]);
    }

    #[test]
    fn a_fence_that_falls_or_is_shared_is_found() {
        assert_eq!(found(|run| run.claims[1].0 = 1), ["fence"]);
        assert_eq!(found(|run| run.claims[1].1 = "aa".to_owned()), ["fence"]);
        assert_eq!(found(|run| run.writes[2].0 = 1), ["fence"]);
        assert_eq!(found(|run| run.writes[2].1 = "m3".to_owned()), ["fence"]);
    }
}
