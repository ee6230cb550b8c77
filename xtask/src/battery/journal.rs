//! What a store holds, as the program itself tells it: the entries of each run, and whether its chain is whole.

use std::fmt;

use serde_json::Value;

use super::stand::Stand;
use crate::failure::Failure;

/// The entry that marks a run for an event that nobody judged.
const UNJUDGED: &str = "unevaluated";

/// The rule by which a call is refused that nobody could judge. It is a mark, too.
const UNDECIDED: &str = "GW-R101";

/// What happened in each run, as the kinds of its entries, and the runs in the order of these. Ids
/// and times are left out: they differ when the same is done again on a fresh store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outline(Vec<Vec<String>>);

impl Outline {
    pub(super) fn of(stand: &Stand) -> Result<Self, Failure> {
        let runs = runs(stand)?;
        let kinds = runs
            .iter()
            .map(|run| kinds(stand, run))
            .collect::<Result<Vec<_>, _>>();
        kinds.map(|mut kinds| {
            kinds.sort();
            Self(kinds)
        })
    }

    /// The same, but for events that were not judged: of those there are as many at least.
    pub(super) fn is_marked_like(&self, wanted: &Self) -> bool {
        let marks = |outline: &Self| {
            let kinds = outline.0.iter().flatten();
            kinds.filter(|kind| *kind == UNJUDGED).count()
        };
        marks(self) >= marks(wanted) && self.unmarked() == wanted.unmarked()
    }

    fn unmarked(&self) -> Vec<Vec<&String>> {
        let runs = self.0.iter();
        let mut runs: Vec<Vec<&String>> = runs
            .map(|kinds| kinds.iter().filter(|kind| *kind != UNJUDGED).collect())
            .collect();
        runs.sort();
        runs
    }

    /// The number of entries of all runs.
    pub(super) fn entries(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs: Vec<String> = self.0.iter().map(|kinds| kinds.join(" ")).collect();
        f.write_str(&runs.join(" | "))
    }
}

fn kinds(stand: &Stand, run: &str) -> Result<Vec<String>, Failure> {
    let entries = entries(stand, run)?;
    let kind = |entry: &Value| {
        let kind = text(entry, "/fact/kind")?;
        let is_mark = kind == "refused" && entry["rule"] == UNDECIDED;
        Ok(if is_mark { UNJUDGED } else { kind }.to_owned())
    };
    entries.iter().map(kind).collect()
}

/// What the journals say of unguarded work.
pub(super) fn unguarded(stand: &Stand) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for run in runs(stand)? {
        let entries = entries(stand, &run)?;
        let entries = entries
            .iter()
            .filter(|it| it["fact"]["kind"] == "unguarded");
        found.extend(entries.map(|entry| entry["fact"].to_string()));
    }
    Ok(found)
}

fn runs(stand: &Stand) -> Result<Vec<String>, Failure> {
    let answer = stand.ask(&["list", "--all"])?;
    let runs = list(&answer, "runs")?.iter();
    runs.map(|run| text(run, "/run").map(str::to_owned))
        .collect()
}

pub(super) fn entries(stand: &Stand, run: &str) -> Result<Vec<Value>, Failure> {
    let answer = stand.ask(&["history", run])?;
    list(&answer, "entries").cloned()
}

/// The names of all checkpoints among these entries, each as often as it is there.
pub(super) fn checkpoints(entries: &[Value]) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for entry in entries {
        if text(entry, "/fact/kind")? == "checkpointed" {
            names.push(text(entry, "/fact/name")?.to_owned());
        }
    }
    Ok(names)
}

/// Every run's chain is whole. Work that no hook saw is not damage, although the answer is no.
pub(super) fn verify(stand: &Stand) -> Result<(), Failure> {
    let whole = stand.run(&["verify"]).map(drop);
    let Err(failure) = whole else {
        return Ok(());
    };
    let answer = stand.take(&["verify", "--json"], 1)?;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    if answer["intact"] == true {
        Ok(())
    } else {
        Err(failure)
    }
}

fn list<'a>(answer: &'a Value, name: &str) -> Result<&'a Vec<Value>, Failure> {
    let list = answer.get(name).and_then(Value::as_array);
    list.ok_or_else(|| Failure::no(format!("the answer holds no list of {name}: {answer}")))
}

fn text<'a>(answer: &'a Value, pointer: &str) -> Result<&'a str, Failure> {
    let text = answer.pointer(pointer).and_then(Value::as_str);
    text.ok_or_else(|| Failure::no(format!("the answer holds no {pointer}: {answer}")))
}
