//! What the program says of the ground, and what it lets happen there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;

use serde_json::Value;

use super::super::played_hook::{Hook, allows, hook};
use super::super::stand::Stand;
use super::ground::STARTUP;
use crate::failure::Failure;

/// What `status` and `history` say of a run. Nothing where they say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunAnswer {
    status: String,
    stage: String,
    unjudged: u64,
    damaged: bool,
    entries: Vec<String>,
}

/// What the program says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    runs: BTreeMap<String, RunAnswer>,
    listed: BTreeMap<String, String>,
    intact: bool,
    /// `doctor` finds nothing red.
    sound: bool,
}

/// `doctor` runs some hooks itself, so it is asked once.
#[derive(Clone, Copy)]
enum Doctor {
    Asked,
    Unasked,
}

/// Everything that was asked of one ground.
pub(super) struct Answers {
    before: Reading,
    /// What was let through.
    allowed: BTreeSet<&'static str>,
    after: Reading,
}

impl Reading {
    fn of(stand: &Stand, runs: &[String], doctor: Doctor) -> Result<Self, Failure> {
        // `status` and `verify` mark a store as damaged, so the others are asked first.
        let sound = match doctor {
            Doctor::Asked => said(stand, &["doctor"])?.is_some(),
            Doctor::Unasked => true,
        };
        let listed = said(stand, &["list", "--all"])?.unwrap_or_default();
        let listed = items(&listed, "runs").map(|run| (word(run, "/run"), word(run, "/status")));
        let listed = listed.collect();
        let answers = runs.iter().map(|run| {
            let answer = RunAnswer::of(stand, run)?;
            Ok((run.clone(), answer))
        });
        let runs = answers.collect::<Result<_, Failure>>()?;
        let intact = said(stand, &["verify"])?.is_some();
        let mut reading = Self {
            runs,
            listed,
            intact,
            sound,
        };
        // What is said to be damaged proves nothing, so nobody reads on.
        if !reading.is_flagged() {
            for (run, answer) in &mut reading.runs {
                let history = said(stand, &["history", run])?.unwrap_or_default();
                answer.entries = items(&history, "entries").map(Value::to_string).collect();
            }
        }
        Ok(reading)
    }

    /// Does the program say that something is wrong?
    fn is_flagged(&self) -> bool {
        !self.intact || !self.sound || self.runs.values().any(|run| run.damaged)
    }

    fn completed(&self) -> BTreeSet<&String> {
        let shown = self.runs.iter().filter(|(_, run)| !run.damaged);
        let shown = shown.filter(|(_, run)| run.status == "completed");
        let listed = self.listed.iter().filter(|_| self.intact);
        let listed = listed.filter(|(_, status)| *status == "completed");
        shown
            .map(|(run, _)| run)
            .chain(listed.map(|(run, _)| run))
            .collect()
    }
}

impl RunAnswer {
    fn of(stand: &Stand, run: &str) -> Result<Self, Failure> {
        let Some(status) = said(stand, &["status", run])? else {
            return Ok(Self {
                damaged: true,
                ..Self::default()
            });
        };
        Ok(Self {
            status: word(&status, "/status"),
            stage: word(&status, "/stage/name"),
            unjudged: status["unjudged"].as_u64().unwrap_or_default(),
            damaged: !status["damage"].is_null(),
            entries: Vec::new(),
        })
    }
}

/// The JSON that a command prints; nothing where it fails.
fn said(stand: &Stand, words: &[&str]) -> Result<Option<Value>, Failure> {
    let words = [words, &["--json"]].concat();
    let output = stand.output(&mut stand.command(&words))?;
    if !output.status.success() {
        return Ok(None);
    }
    Ok(serde_json::from_slice(&output.stdout).ok())
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn word(value: &Value, pointer: &str) -> String {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}

const NOBODY: Hook = hook(
    "PreToolUse",
    r#"{"tool_name": "Agent", "tool_use_id": "toolu_7",
        "tool_input": {"subagent_type": "nobody", "prompt": "x", "description": "x"}}"#,
);

const SECOND: Hook = hook(
    "PreToolUse",
    r#"{"tool_name": "Agent", "tool_use_id": "toolu_8",
        "tool_input": {"subagent_type": "writer", "prompt": "x", "description": "x"}}"#,
);

const SETTINGS: Hook = hook(
    "PreToolUse",
    r#"{"tool_name": "Write", "tool_use_id": "toolu_9",
        "tool_input": {"file_path": "{project}/.claude/settings.local.json", "content": "{}"}}"#,
);

/// Calls that are refused on sound ground.
const CALLS: [(&str, Hook); 5] = [
    ("an agent that no stage has", NOBODY),
    ("a second writer", SECOND),
    ("a write to the settings", SETTINGS),
    (
        "an agent that no stage has, in another session",
        NOBODY.in_session("other"),
    ),
    (
        "an agent that no stage has, in a new session",
        NOBODY.in_session("new"),
    ),
];

/// Commands that fail on sound ground.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("a check that fails", &["check", "r-checked"]),
    (
        "a pipeline that nobody trusts",
        &["start", "untrusted", "--task", "x", "--by-hand"],
    ),
    (
        "a pipeline that was changed since",
        &["start", "changed", "--task", "x", "--by-hand"],
    ),
    // A person removed the file that stops the run.
    (AFTER_STOP, &["answer", "r-waits", "yes"]),
];

pub(super) const AFTER_STOP: &str = "work after a stop";

/// The file whose removal stops the run that waits.
const STOP_FILE: &str = ".gatewright/r-waits.json";

impl Answers {
    /// Fails where the ground is not sound before any edit: then nothing could be found.
    pub(super) fn is_sound(&self) -> Result<(), Failure> {
        let flagged = self.before.is_flagged() || self.after.is_flagged();
        if flagged || !self.allowed.is_empty() {
            let allowed: Vec<_> = self.allowed.iter().copied().collect();
            let why = format!("{:?}, allowed: {}", self.before, allowed.join(", "));
            return Err(Failure::no(format!("the ground is not sound: {why}")));
        }
        Ok(())
    }

    /// Reads, on ground on which nobody has done anything yet; then does all that must be refused,
    /// on ground that nobody has read; and reads again.
    pub(super) fn gather(
        stand: &Stand,
        runs: &[String],
        lay: impl Fn() -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        lay()?;
        let before = Reading::of(stand, runs, Doctor::Asked)?;
        lay()?;
        let allowed = try_all(stand)?;
        let after = Reading::of(stand, runs, Doctor::Unasked)?;
        Ok(Self {
            before,
            allowed,
            after,
        })
    }
}

fn try_all(stand: &Stand) -> Result<BTreeSet<&'static str>, Failure> {
    let mut allowed = BTreeSet::new();
    STARTUP.in_session("new").run(stand, &[])?;
    for (name, call) in CALLS {
        if allows(&call.run(stand, &[])?) {
            allowed.insert(name);
        }
    }
    let stop = stand.project().join(STOP_FILE);
    fs::remove_file(&stop).map_err(Failure::file("remove", &stop))?;
    for (name, words) in COMMANDS {
        let output = stand.output(&mut stand.command(words))?;
        if output.status.success() {
            allowed.insert(name);
        }
    }
    Ok(allowed)
}

/// What an edit may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// A run is completed that was not, and nothing is said.
    Completed(String),
    /// Something is let through that is refused on sound ground.
    Allowed(&'static str),
    /// Something differs from sound ground, and all is said to be well.
    Unsaid(String),
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed(run) => write!(f, "completed: {run}"),
            Self::Allowed(what) => write!(f, "allowed: {what}"),
            Self::Unsaid(what) => write!(f, "unsaid: {what}"),
        }
    }
}

/// Compares what is said after an edit with what is said on sound ground.
pub(super) fn judge(sound: &Answers, found: &Answers) -> Vec<Harm> {
    let mut harm = Vec::new();
    for (sound, found) in [(&sound.before, &found.before), (&sound.after, &found.after)] {
        let known = sound.completed();
        let new = found.completed();
        harm.extend(
            new.difference(&known)
                .map(|run| Harm::Completed((*run).clone())),
        );
    }
    let new = found.allowed.difference(&sound.allowed);
    harm.extend(new.map(|what| Harm::Allowed(what)));
    if !found.before.is_flagged() {
        harm.extend(unsaid(&sound.before, &found.before, RunAnswer::is_same));
    }
    if !found.after.is_flagged() {
        harm.extend(unsaid(&sound.before, &found.after, RunAnswer::goes_on));
    }
    harm
}

fn unsaid(
    sound: &Reading,
    found: &Reading,
    agrees: fn(&RunAnswer, &RunAnswer) -> bool,
) -> Vec<Harm> {
    let mut harm = Vec::new();
    for (run, answer) in &sound.runs {
        let told = found.runs.get(run);
        if !told.is_some_and(|told| agrees(answer, told)) {
            harm.push(Harm::Unsaid(format!("{run} has another state or history")));
        }
        if !found.listed.contains_key(run) {
            harm.push(Harm::Unsaid(format!("{run} is not in the list")));
        }
    }
    harm
}

impl RunAnswer {
    fn is_same(&self, found: &Self) -> bool {
        self == found
    }

    /// Nothing is missing from its history.
    fn goes_on(&self, found: &Self) -> bool {
        found.unjudged >= self.unjudged && found.entries.starts_with(&self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(runs: &[(&str, &str, &[&str])]) -> Reading {
        let runs = runs.iter().map(|(run, status, entries)| {
            let answer = RunAnswer {
                status: (*status).to_owned(),
                entries: entries.iter().map(|it| (*it).to_owned()).collect(),
                ..RunAnswer::default()
            };
            ((*run).to_owned(), answer)
        });
        let runs: BTreeMap<String, RunAnswer> = runs.collect();
        let listed = runs
            .iter()
            .map(|(run, it)| (run.clone(), it.status.clone()));
        Reading {
            listed: listed.collect(),
            runs,
            intact: true,
            sound: true,
        }
    }

    fn answers(before: Reading, allowed: &[&'static str], after: Reading) -> Answers {
        Answers {
            before,
            allowed: allowed.iter().copied().collect(),
            after,
        }
    }

    /// What is found, where sound ground has a run with two entries, and later a third.
    fn harm(found: &Answers) -> Vec<String> {
        let before = reading(&[("r-1", "running", &["a", "b"])]);
        let after = reading(&[("r-1", "running", &["a", "b", "c"])]);
        let harm = judge(&answers(before, &[], after), found);
        harm.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_differs_and_is_not_said_is_found() {
        let before = || reading(&[("r-1", "running", &["a", "b"])]);
        let after = || reading(&[("r-1", "running", &["a", "b", "c"])]);
        assert_eq!(harm(&answers(before(), &[], after())), [""; 0]);
        let allowed = harm(&answers(before(), &["an agent"], after()));
        assert_eq!(allowed, ["allowed: an agent"]);
        let completed = reading(&[("r-1", "completed", &["a", "b"])]);
        let found = harm(&answers(completed.clone(), &[], after()));
        let other = "unsaid: r-1 has another state or history";
        assert_eq!(found, ["completed: r-1", other]);
        let shorter = reading(&[("r-1", "running", &["a", "c"])]);
        assert_eq!(harm(&answers(before(), &[], shorter)), [other]);
        let gone = harm(&answers(reading(&[]), &[], after()));
        assert_eq!(gone, [other, "unsaid: r-1 is not in the list"]);
    }

    #[test]
    fn what_is_said_to_be_damaged_does_no_harm() {
        let flagged = |reading: Reading| Reading {
            intact: false,
            ..reading
        };
        let shorter = || flagged(reading(&[("r-1", "running", &["a"])]));
        assert_eq!(harm(&answers(shorter(), &[], shorter())), [""; 0]);
        let mut damaged = reading(&[("r-1", "completed", &["a"])]);
        damaged.runs.values_mut().for_each(|run| run.damaged = true);
        damaged.intact = false;
        assert_eq!(harm(&answers(damaged.clone(), &[], damaged)), [""; 0]);
    }
}
