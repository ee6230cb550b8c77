//! The control: damage is planted piece by piece in a round that went well, and the checker must find each.

use std::fs;

use super::checker::{self, Damage, STAGES, done};
use super::facts::{self, Facts, git, run_facts};
use super::yard::Yard;
use crate::Result;
use crate::control::insist;

/// Plants each piece. Returns how many there were. What is planted in the database stays, so that comes last.
pub(crate) fn run(yard: &Yard, sound: Facts) -> Result<usize> {
    let planted = log(yard, &sound)? + remote(yard, &sound)? + processes(yard, &sound)?;
    Ok(planted + database(yard, sound)?)
}

fn words(facts: &Facts) -> Vec<&'static str> {
    checker::check(facts).iter().map(Damage::word).collect()
}

/// A second line for a dispatch, one for no dispatch, and none for one that is done.
fn log(yard: &Yard, sound: &Facts) -> Result<usize> {
    let text = fs::read_to_string(yard.log())?;
    // The very first one: no blow was before it.
    let first = text.lines().next().ok_or("the stand-in wrote nothing")?;
    let twice = format!("{first}\n{text}");
    let strange = text.replacen(" first ", " unknown ", 1);
    let run = sound.runs.first().ok_or("a round has runs")?;
    let of_stage = done(run, STAGES[0]);
    let call = &of_stage.first().ok_or("a completed run has done it")?.call;
    let missing: Vec<&str> = text.lines().filter(|it| !it.contains(call)).collect();
    let missing = format!("{}\n", missing.join("\n"));
    let plants = [
        ("work repeated", twice),
        ("work uncounted", strange),
        ("work missing", missing),
    ];
    for (word, planted) in &plants {
        fs::write(yard.log(), planted)?;
        let facts = Facts {
            effects: facts::effects(yard)?,
            ..sound.clone()
        };
        insist(word, &words(&facts))?;
    }
    fs::write(yard.log(), text)?;
    Ok(plants.len())
}

/// A ref that stays, and a branch with the tree of the beginning.
fn remote(yard: &Yard, sound: &Facts) -> Result<usize> {
    let run = &sound.runs.first().ok_or("a round has runs")?.id;
    let left = format!("refs/gatewright/{run}/tree.9.left");
    git(yard, &["update-ref", &left, "main"])?;
    let mut facts = Facts {
        refs: facts::refs(yard)?,
        ..sound.clone()
    };
    insist("ref left", &words(&facts))?;
    git(yard, &["update-ref", "-d", &left])?;
    let pattern = format!("refs/heads/gatewright/{run}-*");
    let branch = git(yard, &["for-each-ref", "--format=%(refname)", &pattern])?;
    let delivered = git(yard, &["rev-parse", &branch])?;
    git(yard, &["update-ref", &branch, "main"])?;
    facts = sound.clone();
    facts.runs[0].tree = facts::tree(yard, run)?;
    insist("another tree", &words(&facts))?;
    git(yard, &["update-ref", &branch, &delivered])?;
    Ok(2)
}

fn processes(yard: &Yard, sound: &Facts) -> Result<usize> {
    let planted = yard.plant_process()?;
    let facts = Facts {
        left: facts::left(yard),
        ..sound.clone()
    };
    drop(planted);
    insist("process left", &words(&facts))?;
    Ok(1)
}

/// Rows that are changed behind the back of the store's triggers, and older ones that come back.
fn database(yard: &Yard, mut facts: Facts) -> Result<usize> {
    let run = facts.runs.first().ok_or("a round has runs")?.id.clone();
    let plants = [
        (
            "fence",
            format!(
                "UPDATE gatewright.runs SET last_fence = 0, last_claim = '\\x00' WHERE id = '{run}'"
            ),
        ),
        (
            "unfinished",
            format!("UPDATE gatewright.runs SET status = 'running' WHERE id = '{run}'"),
        ),
        (
            "chain broken",
            format!(
                "SET session_replication_role = replica; \
                 UPDATE gatewright.entries SET entry = replace(entry, 'first', 'other') WHERE run = '{run}' AND number = 4"
            ),
        ),
    ];
    for (word, statement) in &plants {
        yard.sql(statement);
        match *word {
            "chain broken" => facts.runs[0].fault = facts::fault(yard, &run),
            _ => facts.runs[0] = run_facts(yard, &run)?,
        }
        insist(word, &words(&facts))?;
    }
    Ok(plants.len())
}
