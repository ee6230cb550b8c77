//! What a store holds, as the program itself tells it: the entries of each run, and whether its chain is whole.

use serde_json::Value;

use super::stand::Stand;
use crate::failure::Failure;

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

    /// The number of entries of all runs.
    pub(super) fn entries(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

fn kinds(stand: &Stand, run: &str) -> Result<Vec<String>, Failure> {
    let entries = entries(stand, run)?;
    entries
        .iter()
        .map(|entry| text(entry, "/fact/kind").map(str::to_owned))
        .collect()
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

/// Every run's chain is whole.
pub(super) fn verify(stand: &Stand) -> Result<(), Failure> {
    stand.run(&["verify"]).map(drop)
}

fn list<'a>(answer: &'a Value, name: &str) -> Result<&'a Vec<Value>, Failure> {
    let list = answer.get(name).and_then(Value::as_array);
    list.ok_or_else(|| Failure::no(format!("the answer holds no list of {name}: {answer}")))
}

fn text<'a>(answer: &'a Value, pointer: &str) -> Result<&'a str, Failure> {
    let text = answer.pointer(pointer).and_then(Value::as_str);
    text.ok_or_else(|| Failure::no(format!("the answer holds no {pointer}: {answer}")))
}
