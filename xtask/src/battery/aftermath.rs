//! What must hold when a headless run is over, however often it was interrupted.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::journal;
use super::picture::Picture;
use super::processes::{self, Process};
use super::rehearsal::{Line, Noted, Rehearsal};
use crate::failure::Failure;

/// One that was killed is there for a moment longer.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// What may not come of an interrupted run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// An orchestrator ended otherwise than it should.
    Ended(String),
    /// It did not end.
    Stuck(String),
    /// It came to something else than a run that nobody interrupts.
    Differs(Vec<String>),
    Corrupt(String),
    /// Work that was known to have ended was begun again.
    Again(String),
    /// Processes are left, or worked on beside those who had taken their work over.
    Orphans(Vec<String>),
    /// Folders, records or locks are left.
    Litter(Vec<String>),
    /// One that had lost its lease did something.
    Meddled(String),
}

impl Harm {
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Ended(_) => "ended",
            Self::Stuck(_) => "stuck",
            Self::Differs(_) => "differs",
            Self::Corrupt(_) => "corrupt",
            Self::Again(_) => "again",
            Self::Orphans(_) => "orphans",
            Self::Litter(_) => "litter",
            Self::Meddled(_) => "meddled",
        }
    }
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Ended(what)
            | Self::Stuck(what)
            | Self::Corrupt(what)
            | Self::Again(what)
            | Self::Meddled(what) => write!(f, "{word}: {}", what.trim_end()),
            Self::Differs(all) | Self::Orphans(all) | Self::Litter(all) => {
                write!(f, "{word}: {}", all.join("; "))
            }
        }
    }
}

/// Work that is known to have ended, by its call, with how often it had been begun by then.
#[derive(Clone, Debug, Default)]
pub(super) struct Finished(BTreeMap<String, usize>);

impl Finished {
    /// Notes what the records of the workers tell: they can be read without the program.
    pub(super) fn note_records(&mut self, rehearsal: &Rehearsal) {
        let folder = rehearsal.stand.state_home().join("gatewright/working");
        let listed = fs::read_dir(folder).into_iter().flatten().flatten();
        for path in listed.map(|entry| entry.path()) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let record: Option<serde_json::Value> = serde_json::from_str(&text).ok();
            let ended = record.is_some_and(|record| !record["ended"].is_null());
            if let Some(call) = path.file_stem().filter(|_| ended) {
                self.note(rehearsal, &call.to_string_lossy());
            }
        }
    }

    /// Notes what the journal tells.
    pub(super) fn note_journal(&mut self, rehearsal: &Rehearsal) {
        // A run that has not begun has none.
        let entries = journal::entries(&rehearsal.stand, &rehearsal.run).unwrap_or_default();
        let facts = entries.iter().map(|entry| &entry["fact"]);
        let is = |kind: &'static str| move |fact: &&serde_json::Value| fact["kind"] == kind;
        for ended in facts.clone().filter(is("ended")) {
            let mut admitted = facts.clone().filter(is("admitted"));
            let admitted = admitted.find(|it| it["dispatch"] == ended["dispatch"]);
            if let Some(call) = admitted.and_then(|it| it["call"].as_str()) {
                self.note(rehearsal, call);
            }
        }
    }

    fn note(&mut self, rehearsal: &Rehearsal, call: &str) {
        let begun = begun(rehearsal, call);
        self.0.entry(call.to_owned()).or_insert(begun);
    }

    fn begun_again(&self, rehearsal: &Rehearsal) -> Option<Harm> {
        let again = self
            .0
            .iter()
            .find(|(call, times)| begun(rehearsal, call) > **times);
        again.map(|(call, times)| {
            let now = begun(rehearsal, call);
            Harm::Again(format!(
                "{call} had ended, begun {times} times, and was begun {now} times"
            ))
        })
    }
}

fn begun(rehearsal: &Rehearsal, call: &str) -> usize {
    let log = rehearsal.log();
    let begun = log
        .iter()
        .filter(|line| line.what == Noted::Began && line.call == call);
    begun.count()
}

/// Looks for all harm that can be seen when a run is over.
pub(super) fn judge(
    rehearsal: &Rehearsal,
    wanted: &Picture,
    finished: &Finished,
) -> Result<Vec<Harm>, Failure> {
    let mut harm = Vec::new();
    if let Err(damage) = journal::verify(&rehearsal.stand) {
        harm.push(Harm::Corrupt(damage.with_causes()));
    }
    match Picture::of(rehearsal) {
        Ok(picture) if picture == *wanted => {}
        Ok(picture) => harm.push(Harm::Differs(wanted.differences(&picture))),
        Err(failure) => harm.push(Harm::Differs(vec![failure.with_causes()])),
    }
    harm.extend(finished.begun_again(rehearsal));
    harm.extend(beside(&rehearsal.log()));
    harm.extend(orphans(rehearsal));
    harm.extend(litter(rehearsal)?);
    Ok(harm)
}

/// Work whose end was recorded after another process had restarted it.
fn beside(log: &[Line]) -> Option<Harm> {
    let is_late = |at: usize, ended: &Line| {
        let before = log.iter().take(at).rev();
        let mut begun = before.filter(|it| it.what == Noted::Began && it.call == ended.call);
        begun
            .next()
            .is_some_and(|last| last.process != ended.process)
    };
    let mut ended = log.iter().enumerate();
    let late = ended.find(|(at, line)| line.what == Noted::Ended && is_late(*at, line));
    late.map(|(_, Line { process, work, .. })| {
        Harm::Orphans(vec![format!(
            "{process} ended {work}, which had been taken over"
        )])
    })
}

fn orphans(rehearsal: &Rehearsal) -> Option<Harm> {
    let begun = Instant::now();
    let mut left = rehearsal.left();
    while !left.is_empty() && begun.elapsed() < LAST_BREATH {
        thread::sleep(Duration::from_millis(50));
        left = rehearsal.left();
    }
    let told = |process: &Process| format!("{} {}", process.id, process.line);
    (!left.is_empty()).then(|| Harm::Orphans(left.iter().map(told).collect()))
}

/// Folders of workers, their records, and locks.
fn litter(rehearsal: &Rehearsal) -> Result<Option<Harm>, Failure> {
    let state = rehearsal.stand.state_home().join("gatewright");
    // The lock of a claim that nobody holds harms nobody.
    let working = inside(&state.join("working"));
    let is_record = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let records = working.into_iter().filter(is_record);
    let worktrees = inside(&state.join("worktrees").join(&rehearsal.run));
    let folders = worktrees.into_iter().filter(|path| path.is_dir());
    let known = inside(&rehearsal.stand.project().join(".git/worktrees"));
    let left = records.chain(folders).chain(known);
    let mut left: Vec<String> = left.map(|path| path.display().to_string()).collect();
    left.extend(locks(&state));
    left.extend(locks(&state.join("working")));
    let run = rehearsal.stand.ask(&["recover", &rehearsal.run])?["runs"][0].clone();
    if !run["driver"].is_null() || run["left"] != serde_json::json!([]) {
        left.push(format!("`recover` tells {run}"));
    }
    Ok((!left.is_empty()).then_some(Harm::Litter(left)))
}

/// What lies in a folder; nothing where there is none.
pub(super) fn inside(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    listed.map(|entry| entry.path()).collect()
}

/// The files in this folder on which somebody holds a lock, as the system tells it.
fn locks(folder: &Path) -> Vec<String> {
    let files = inside(folder).into_iter().filter(|path| path.is_file());
    let held = files.filter(|path| !processes::lockers(path).is_empty());
    held.map(|path| format!("a lock on {}", path.display()))
        .collect()
}
