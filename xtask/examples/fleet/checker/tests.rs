//! The checker on facts that are made by hand: nothing in sound ones, and each kind of damage under its word.

use super::*;
use crate::facts::{ClaimFact, EntryFact, FenceStep, SeenLease};

/// Two runs that each one driver has led to the end: two attempts, and the second one ended.
fn sound() -> Facts {
    let mut facts = Facts::default();
    for id in ["r-0", "r-1"] {
        let texts = ["begin 0 1 a-1 1", "begin 0 2 b-2 2", "end 0 2 b-2 2"];
        let marks = texts.map(|text| Mark::parse(text).unwrap());
        for (number, mark) in (2..).zip(&marks) {
            let (run, mark) = (id.to_owned(), mark.clone());
            let (fence, holder) = (mark.fence, mark.holder.clone());
            let seen = SeenLease { fence, holder };
            facts.writes.insert((run.clone(), number), seen);
            facts.acknowledged.push(Acknowledged {
                at_ms: 0,
                run,
                number,
                mark,
            });
        }
        for mark in &marks[..2] {
            let (run, fence, holder) = (id.to_owned(), mark.fence, mark.holder.clone());
            let (before, after) = (fence - 1, fence);
            facts.fences.push(FenceStep {
                run: run.clone(),
                before,
                after,
            });
            let work = (run.clone(), mark.attempt);
            facts.effects.insert(work, vec![holder.clone()]);
            facts.claims.push(ClaimFact { run, fence, holder });
        }
        let entries = (2..).zip(marks).map(|(number, mark)| EntryFact {
            number,
            key: Some(mark.key(id)),
            mark: Some(mark),
        });
        facts.runs.push(RunFacts {
            id: id.to_owned(),
            is_over: true,
            set_aside: None,
            fault: None,
            entries: entries.collect(),
        });
    }
    facts
}

fn words(facts: &Facts, excused: &Excused) -> Vec<&'static str> {
    let (found, _) = check(facts, excused);
    found.iter().map(Damage::word).collect()
}

fn after(damage: impl FnOnce(&mut Facts)) -> Vec<&'static str> {
    let mut facts = sound();
    damage(&mut facts);
    words(&facts, &Excused::default())
}

fn first_work() -> (String, Attempt) {
    let (piece, number) = (0, 1);
    ("r-0".to_owned(), Attempt { piece, number })
}

#[test]
fn sound_facts_have_no_damage() {
    assert!(after(|_| {}).is_empty());
}

#[test]
fn what_was_acknowledged_is_there_once_and_as_it_was_told() {
    let lost = after(|facts| {
        facts.runs[0].entries.pop();
    });
    assert_eq!(lost, ["lost"]);
    let doubled = after(|facts| {
        let key = facts.runs[0].entries[0].key.clone();
        facts.runs[1].entries.push(EntryFact {
            number: 5,
            key,
            mark: None,
        });
    });
    assert_eq!(doubled, ["doubled"]);
    let replaced = after(|facts| facts.acknowledged[1].mark.holder = "c-3".to_owned());
    assert_eq!(replaced, ["replaced"]);
    let elsewhere = after(|facts| facts.acknowledged[1].number = 7);
    assert_eq!(elsewhere, ["replaced"]);
}

#[test]
fn fences_rise_and_nobody_writes_under_an_old_one() {
    let fell = after(|facts| facts.fences[1].after = 1);
    assert_eq!(fell, ["fence fell"]);
    let unseen = after(|facts| facts.fences.truncate(3));
    assert!(unseen.is_empty());
    let shared = after(|facts| facts.claims[1].fence = 1);
    assert_eq!(shared, ["fence shared"]);
    let write = ("r-0".to_owned(), 2);
    let seen = |fence, holder: &str| SeenLease {
        fence,
        holder: holder.to_owned(),
    };
    for (lease, word) in [
        (Some(seen(2, "b-2")), "under an old fence"),
        (Some(seen(1, "c-3")), "under another's claim"),
        (None, "under an old fence"),
    ] {
        let found = after(|facts| match lease {
            Some(lease) => drop(facts.writes.insert(write.clone(), lease)),
            None => drop(facts.writes.remove(&write)),
        });
        assert_eq!(found, [word]);
    }
}

#[test]
fn work_is_counted_and_done_once() {
    let repeated = after(|facts| {
        let again = vec!["a-1".to_owned(), "b-2".to_owned()];
        facts.effects.insert(first_work(), again);
    });
    assert_eq!(repeated, ["work repeated"]);
    let uncounted = after(|facts| {
        let (run, attempt) = first_work();
        let number = 9;
        let attempt = Attempt { number, ..attempt };
        facts.effects.insert((run, attempt), vec!["a-1".to_owned()]);
    });
    assert_eq!(uncounted, ["work uncounted"]);
}

#[test]
fn a_run_ends_or_is_set_aside_and_its_chain_holds() {
    let left = after(|facts| facts.runs[0].is_over = false);
    assert_eq!(left, ["left"]);
    let aside = after(|facts| {
        facts.runs[0].is_over = false;
        facts.runs[0].set_aside = Some("five times".to_owned());
    });
    assert!(aside.is_empty());
    let chain = after(|facts| facts.runs[0].fault = Some("entry 2".to_owned()));
    assert_eq!(chain, ["chain broken"]);
    let trouble = after(|facts| facts.troubles.push("odd".to_owned()));
    assert_eq!(trouble, ["trouble"]);
    let altered = after(|facts| facts.altered.push("r-0".to_owned()));
    assert_eq!(altered, ["trouble"]);
}

#[test]
fn a_reported_loss_explains_what_follows_from_it_and_no_more() {
    let mut facts = sound();
    let again = vec!["a-1".to_owned(), "b-2".to_owned()];
    facts.effects.insert(first_work(), again);
    facts.claims[1].fence = 1;
    facts.acknowledged[0].number = 9;
    let excused = Excused {
        lost: BTreeSet::from(["r-0 begin 0 1".to_owned()]),
        fences: Some(BTreeMap::from([("r-0".to_owned(), 0)])),
    };
    facts.altered.push("r-0".to_owned());
    let (found, explained) = check(&facts, &excused);
    assert!(found.is_empty(), "{found:?}");
    let all = Explained {
        repeated: 1,
        shared: 1,
        altered: 1,
    };
    assert_eq!(explained, all);
    let nothing = BTreeSet::new();
    let lost = missing(facts.acknowledged.iter(), &nothing);
    assert_eq!(lost.len(), 6);
    let known = Some(BTreeMap::from([("r-0".to_owned(), 1)]));
    let later = Excused {
        fences: known,
        ..excused.clone()
    };
    assert_eq!(words(&facts, &later), ["fence shared"]);
    facts.runs[1].entries.pop();
    assert_eq!(words(&facts, &excused), ["lost"]);
    // Of two holders of one fence, one alone may write.
    let holder = "b-2".to_owned();
    let seen = SeenLease { fence: 1, holder };
    facts.writes.insert(("r-0".to_owned(), 2), seen);
    assert_eq!(words(&facts, &excused), ["lost", "under another's claim"]);
}
