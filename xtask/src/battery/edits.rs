//! The edits battery: every file of the state folder is edited, and the program must refuse, say so, or
//! answer as before.

mod answers;
mod edit;
mod ground;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use answers::{Answers, Harm, judge};
use edit::Edit;

use super::chance::Chance;
use super::stand::Stand;
use super::{Extent, Manner, at_once};
use crate::failure::Failure;
use crate::output::say;
use crate::setup;

/// How many edits a sample takes.
const SAMPLE: usize = 90;

/// How many grounds are edited at once: most of the time goes into starting processes.
const GROUNDS: usize = 2;

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    setup::ensure_databases()?;
    say(format_args!("  seed {}", manner.seed));
    let tallies = at_once(GROUNDS, |part| edit_part(program, manner, part));
    let tallies = tallies.into_iter().collect::<Result<Vec<_>, _>>()?;
    let tally = tallies.into_iter().fold(Tally::default(), Tally::with);
    say(&tally);
    control_is_found(program)?;
    match tally.harmful() {
        0 => Ok(()),
        harmful => Err(Failure::no(format!("{harmful} edits did harm"))),
    }
}

/// The same program behind a script that says of everything that it is sound.
const BLIND: &str = r#"#!/bin/sh
case "$1" in
verify) 'PROGRAM' "$@" >/dev/null 2>&1; echo '{"intact": true}' ;;
doctor) echo '{}' ;;
status) ('PROGRAM' "$@" 2>/dev/null || echo '{}') | sed 's/"damage": *"[^"]*"/"damage": null/' ;;
*) exec 'PROGRAM' "$@" ;;
esac
"#;

/// Every edit of the control is harmful to a program that does not look. Otherwise this battery would
/// find nothing.
fn control_is_found(program: &Path) -> Result<(), Failure> {
    let folder =
        tempfile::tempdir().map_err(Failure::file("make a folder in", Path::new("/tmp")))?;
    let blind = folder.path().join("gatewright");
    let program = program
        .canonicalize()
        .map_err(Failure::file("find", program))?;
    fs::write(&blind, BLIND.replace("PROGRAM", &program.to_string_lossy()))
        .and_then(|()| fs::set_permissions(&blind, fs::Permissions::from_mode(0o755)))
        .map_err(Failure::file("write", &blind))?;
    let trial = Trial::new(&blind)?;
    for edit in edit::control() {
        match trial.take(&edit)? {
            Some(harm) if !harm.is_empty() => {}
            Some(_) | None => {
                let why = format!("the control is not found, so this proves nothing: {edit}");
                return Err(Failure::no(why));
            }
        }
    }
    say("edits: the control is found");
    Ok(())
}

/// Every ground has the same edits, and takes a part of them.
fn edit_part(program: &Path, manner: Manner, part: usize) -> Result<Tally, Failure> {
    let trial = Trial::new(program)?;
    let mut chance = Chance::of(manner.seed, 0);
    let edits = edit::all(&trial.stand, &mut chance)?;
    let chosen = match manner.extent {
        Extent::Whole => edits,
        Extent::Sample => sample(edits, &mut chance),
    };
    let mut tally = Tally::default();
    for edit in chosen.into_iter().skip(part).step_by(GROUNDS) {
        tally.count(&edit, trial.take(&edit)?);
    }
    Ok(tally)
}

/// Some edits of every kind of file and of every table.
fn sample(edits: Vec<Edit>, chance: &mut Chance) -> Vec<Edit> {
    let mut subjects: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        subjects.entry(edit.subject()).or_default().push(edit);
    }
    let mut chosen = Vec::new();
    while chosen.len() < SAMPLE && !subjects.is_empty() {
        for left in subjects.values_mut() {
            chosen.push(left.swap_remove(chance.below(left.len())));
        }
        subjects.retain(|_, left| !left.is_empty());
    }
    chosen
}

/// The ground, and what is said of it before anybody edits it.
struct Trial {
    stand: Stand,
    runs: Vec<String>,
    sound: Answers,
}

impl Trial {
    fn new(program: &Path) -> Result<Self, Failure> {
        let stand = ground::lay(program)?;
        let listed = stand.ask(&["list", "--all"])?;
        let runs = listed["runs"].as_array().into_iter().flatten();
        let runs = runs.filter_map(|run| run["run"].as_str());
        let runs: Vec<String> = runs.map(str::to_owned).collect();
        let sound = Answers::gather(&stand, &runs, || stand.put_back())?;
        sound.is_sound()?;
        Ok(Self { stand, runs, sound })
    }

    /// Nothing where the edit changed nothing.
    fn take(&self, edit: &Edit) -> Result<Option<Vec<Harm>>, Failure> {
        let lay = || {
            self.stand.put_back()?;
            edit.take(&self.stand)
        };
        if !lay()? {
            return Ok(None);
        }
        let found = Answers::gather(&self.stand, &self.runs, || lay().map(drop))?;
        Ok(Some(judge(&self.sound, &found)))
    }
}

#[derive(Default)]
struct Tally {
    taken: BTreeMap<String, usize>,
    harm: Vec<(String, Harm)>,
    /// Edits that get through, as SECURITY.md says.
    known: usize,
}

/// Does SECURITY.md say that this gets through? Who changes what is remembered of the views hides that a
/// person removed the one that stops the run, until the run changes.
fn is_known(edit: &Edit, harm: &[Harm]) -> bool {
    let stop = Harm::Allowed(answers::AFTER_STOP);
    edit.subject() == "views" && !harm.is_empty() && harm.iter().all(|harm| *harm == stop)
}

impl Tally {
    fn count(&mut self, edit: &Edit, harm: Option<Vec<Harm>>) {
        let Some(harm) = harm else { return };
        *self.taken.entry(edit.subject()).or_default() += 1;
        if is_known(edit, &harm) {
            self.known += 1;
            return;
        }
        let harm = harm.into_iter().map(|harm| (edit.to_string(), harm));
        self.harm.extend(harm);
    }

    fn with(mut self, other: Self) -> Self {
        for (subject, count) in other.taken {
            *self.taken.entry(subject).or_default() += count;
        }
        self.harm.extend(other.harm);
        self.known += other.known;
        self
    }

    fn harmful(&self) -> usize {
        let mut edits: Vec<&String> = self.harm.iter().map(|(edit, _)| edit).collect();
        edits.dedup();
        edits.len()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (subject, count) in &self.taken {
            writeln!(f, "  {subject:<24} {count:>5} edits")?;
        }
        for (edit, harm) in &self.harm {
            writeln!(f, "    {edit}: {harm}")?;
        }
        let taken: usize = self.taken.values().sum();
        write!(
            f,
            "edits: {taken} edits, {} harmful, {} get through as documented",
            self.harmful(),
            self.known
        )
    }
}
