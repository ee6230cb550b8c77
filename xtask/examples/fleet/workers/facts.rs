//! Everything that the checker reads: the histories, what the database saw, the stand-in's log, the remote, and the
//! processes.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::effects::{self, Blow, Effect};
use super::yard::Yard;
use crate::Result;

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub runs: Vec<RunFacts>,
    pub effects: Vec<Effect>,
    pub blows: Vec<Blow>,
    /// The refs that only a run at work needs.
    pub refs: Vec<String>,
    /// Processes of the machines, after all workers have ended.
    pub left: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RunFacts {
    pub id: String,
    pub status: String,
    /// What `verify` says, if it finds something.
    pub fault: Option<String>,
    pub admitted: Vec<Admitted>,
    /// How each dispatch ended, an item for each end.
    pub ended: Vec<(String, String)>,
    /// How often another machine took it over.
    pub moved: usize,
    /// Each claim in order, with its fence.
    pub claims: Vec<(u64, String)>,
    /// Fence and holder at each entry, in the order of the journal.
    pub writes: Vec<(u64, String)>,
    /// The files of its branch in the remote.
    pub tree: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub dispatch: String,
    pub stage: String,
    pub call: String,
}

impl Facts {
    pub(crate) fn dispatches(&self) -> usize {
        self.runs.iter().map(|run| run.admitted.len()).sum()
    }

    /// How often work was begun.
    pub(crate) fn begun(&self) -> usize {
        self.effects.iter().filter(|effect| effect.began).count()
    }

    pub(crate) fn dropped(&self) -> usize {
        let ended = self.runs.iter().flat_map(|run| &run.ended);
        ended.filter(|(_, how)| how == "dropped").count()
    }

    pub(crate) fn moved(&self) -> usize {
        self.runs.iter().map(|run| run.moved).sum()
    }
}

pub(crate) fn gather(yard: &Yard) -> Result<Facts> {
    let runs = yard.runs();
    let runs = runs.iter().map(|run| run_facts(yard, run));
    Ok(Facts {
        runs: runs.collect::<Result<_>>()?,
        effects: effects(yard)?,
        blows: yard.blows.clone(),
        refs: refs(yard)?,
        left: left(yard),
    })
}

pub(crate) fn effects(yard: &Yard) -> Result<Vec<Effect>> {
    effects::read(&fs::read_to_string(yard.log())?)
}

pub(crate) fn refs(yard: &Yard) -> Result<Vec<String>> {
    let refs = git(
        yard,
        &["for-each-ref", "--format=%(refname)", "refs/gatewright"],
    )?;
    Ok(refs.lines().map(str::to_owned).collect())
}

pub(crate) fn left(yard: &Yard) -> Vec<String> {
    let machines = yard.machines.iter();
    let left = machines.flat_map(|machine| {
        let left = machine.left().into_iter();
        left.map(|process| format!("{}: {} {}", machine.name, process.id, process.line))
    });
    left.collect()
}

pub(crate) fn run_facts(yard: &Yard, run: &str) -> Result<RunFacts> {
    let mut facts = RunFacts {
        id: run.to_owned(),
        status: yard.sql(&format!(
            "SELECT status FROM gatewright.runs WHERE id = '{run}'"
        )),
        fault: fault(yard, run),
        claims: pairs(
            yard,
            &format!(
                "fence, encode(claim, 'hex') FROM observed.claims WHERE run = '{run}' ORDER BY place"
            ),
        )?,
        writes: pairs(
            yard,
            &format!("fence, holder FROM observed.writes WHERE run = '{run}' ORDER BY number"),
        )?,
        tree: tree(yard, run)?,
        ..RunFacts::default()
    };
    let history = yard.laptop.run(&["history", run, "--json"]);
    let history: Value = serde_json::from_str(&history.stdout)
        .map_err(|problem| format!("the history of {run}: {problem}\n{history}"))?;
    let entries = history["entries"].as_array();
    for entry in entries.ok_or("a history has entries")? {
        note(&mut facts, &entry["fact"]);
    }
    Ok(facts)
}

fn note(facts: &mut RunFacts, fact: &Value) {
    let word = |name: &str| fact[name].as_str().unwrap_or_default().to_owned();
    match fact["kind"].as_str() {
        Some("admitted") => facts.admitted.push(Admitted {
            dispatch: word("dispatch"),
            stage: word("stage"),
            call: word("call"),
        }),
        Some("ended") => {
            let result = &fact["result"];
            let how = result["outcome"].as_str().or(result["kind"].as_str());
            let how = how.unwrap_or_default().to_owned();
            facts.ended.push((word("dispatch"), how));
        }
        Some("relocated") => facts.moved += 1,
        _ => {}
    }
}

/// What `gatewright verify` finds.
pub(crate) fn fault(yard: &Yard, run: &str) -> Option<String> {
    let verified = yard.laptop.run(&["verify", run]);
    (verified.code != Some(0)).then(|| verified.to_string())
}

/// A number and a text of each row.
fn pairs(yard: &Yard, what: &str) -> Result<Vec<(u64, String)>> {
    let rows = yard.sql(&format!("SELECT {what}"));
    let pair = |line: &str| {
        let (number, text) = line.split_once('|').ok_or("two columns")?;
        Ok((number.parse()?, text.to_owned()))
    };
    rows.lines().map(pair).collect()
}

/// The files of the branch that the run was delivered as; none if there is no such branch.
pub(crate) fn tree(yard: &Yard, run: &str) -> Result<BTreeMap<String, String>> {
    let pattern = format!("refs/heads/gatewright/{run}-*");
    let branches = git(yard, &["for-each-ref", "--format=%(refname)", &pattern])?;
    let mut files = BTreeMap::new();
    for branch in branches.lines() {
        let names = git(yard, &["ls-tree", "-r", "--name-only", branch])?;
        for name in names.lines() {
            let content = git(yard, &["show", &format!("{branch}:{name}")])?;
            files.insert(name.to_owned(), content);
        }
    }
    Ok(files)
}

/// What git says in the bare remote.
pub(crate) fn git(yard: &Yard, words: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(yard.remote()).args(words).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git {words:?}: {said}").into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
