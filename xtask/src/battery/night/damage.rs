//! What may not come of a night, and the look that finds it.

use std::fmt;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::belongings::Belongings;
use super::plan::{Incident, NightTask, Plan, Standing};
use super::scene::{Scene, Told};
use crate::failure::Failure;

/// One that was killed is there for a moment longer.
const LAST_BREATH: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// A worker ended otherwise than it should.
    Ended(String),
    /// A run stands elsewhere than it should.
    Stands(String),
    /// The branch of a completed run is not there, or not its work.
    Lost(String),
    /// A journal does not hold.
    Corrupt(String),
    /// The summaries do not say how a run ended.
    Untold(String),
    /// Something of the person's is not as they left it.
    Touched(Vec<String>),
    Orphans(Vec<String>),
    /// Locks or records are left.
    Litter(Vec<String>),
}

impl Damage {
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Ended(_) => "ended",
            Self::Stands(_) => "stands",
            Self::Lost(_) => "lost",
            Self::Corrupt(_) => "corrupt",
            Self::Untold(_) => "untold",
            Self::Touched(_) => "touched",
            Self::Orphans(_) => "orphans",
            Self::Litter(_) => "litter",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Ended(what)
            | Self::Stands(what)
            | Self::Lost(what)
            | Self::Corrupt(what)
            | Self::Untold(what) => write!(f, "{word}: {}", what.trim_end()),
            Self::Touched(all) | Self::Orphans(all) | Self::Litter(all) => {
                write!(f, "{word}: {}", all.join("; "))
            }
        }
    }
}

/// Everything that a night may have done, after the person has answered.
pub(super) fn look(
    scene: &Scene,
    plan: &Plan,
    told: &Told,
    persons: &Belongings,
) -> Result<Vec<Damage>, Failure> {
    let mut found = Vec::new();
    for task in &plan.tasks {
        found.extend(of_task(scene, task)?);
        found.extend(of_row(task, told));
    }
    found.extend(touched(scene, persons)?);
    found.extend(orphans(scene));
    found.extend(litter(scene));
    Ok(found)
}

/// The answered question is the only thing that changed since the morning.
fn at_last(task: &NightTask) -> Standing {
    match task.incident {
        Incident::Ask => Standing::Done,
        other => other.in_the_morning(),
    }
}

/// Runs that do not stand where they should before the person has answered anything.
pub(super) fn in_the_morning(scene: &Scene, plan: &Plan) -> Result<Vec<Damage>, Failure> {
    let stands = |task| stands(scene, task, task.incident.in_the_morning());
    let found: Result<Vec<_>, Failure> = plan.tasks.iter().map(stands).collect();
    Ok(found?.into_iter().flatten().collect())
}

fn stands(scene: &Scene, task: &NightTask, wanted: Standing) -> Result<Option<Damage>, Failure> {
    let shown = scene.stand.ask(&["status", &task.run])?;
    let (run, part) = (&task.run, &task.part);
    let told = || format!("{run} ({part}) is {}: {}", shown["status"], shown["reason"]);
    let is_right = shown["status"] == wanted.status();
    Ok((!is_right).then(|| Damage::Stands(told())))
}

fn of_task(scene: &Scene, task: &NightTask) -> Result<Option<Damage>, Failure> {
    let run = &task.run;
    if let Err(damage) = scene.stand.run(&["verify", run]) {
        return Ok(Some(Damage::Corrupt(damage.with_causes())));
    }
    let wanted = at_last(task);
    let elsewhere = stands(scene, task, wanted)?;
    if elsewhere.is_some() || wanted != Standing::Done {
        return Ok(elsewhere);
    }
    let shown = scene.stand.ask(&["status", run])?;
    let branch = shown["place"]["branch"].as_str().unwrap_or_default();
    Ok(lost(scene, task, branch).map(|why| Damage::Lost(format!("{run} ({}): {why}", task.part))))
}

/// Why the branch is not the work of the run.
fn lost(scene: &Scene, task: &NightTask, branch: &str) -> Option<String> {
    let (run, base) = (&task.run, &scene.base);
    if !branch.starts_with(&format!("gatewright/{run}-")) {
        return Some(format!("its branch is {branch:?}"));
    }
    let ask = |line: String| scene.git(&line).unwrap_or_else(|gone| gone.with_causes());
    let trailer = "--format=%(trailers:key=Gatewright-Run,valueonly)";
    let signed = ask(format!("log -1 {trailer} {branch}"));
    if signed != *run {
        return Some(format!("the trailer of {branch} is {signed:?}"));
    }
    let begins = ask(format!("merge-base {base} {branch}"));
    let changed = ask(format!("diff --name-only {base} {branch}"));
    if begins != *base || changed != task.changes().join("\n") {
        return Some(format!("it changes {changed:?} since {begins}"));
    }
    let part = ask(format!("show {branch}:made/{0}.txt", task.part));
    (part != task.part).then(|| format!("its part is {part:?}"))
}

fn of_row(task: &NightTask, told: &Told) -> Option<Damage> {
    let row = told.get(&task.run).unwrap_or(&Value::Null);
    let wanted = at_last(task);
    let has_reason = row["reason"].is_string();
    let is_right = row["result"] == wanted.result()
        && row["task"] == task.text()
        && has_reason == (wanted != Standing::Done);
    (!is_right).then(|| Damage::Untold(format!("{} ({}): {row}", task.run, task.part)))
}

pub(super) fn touched(scene: &Scene, persons: &Belongings) -> Result<Option<Damage>, Failure> {
    let names = persons.differences(&Belongings::of(scene)?);
    Ok((!names.is_empty()).then_some(Damage::Touched(names)))
}

fn orphans(scene: &Scene) -> Option<Damage> {
    let begun = Instant::now();
    loop {
        let left = scene.left();
        if left.is_empty() {
            return None;
        }
        if begun.elapsed() >= LAST_BREATH {
            let lines = left.into_iter().map(|process| process.line);
            return Some(Damage::Orphans(lines.collect()));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Locks of git, and records of workers that told everything.
fn litter(scene: &Scene) -> Option<Damage> {
    let mut found = Vec::new();
    let git = scene.stand.project().join(".git");
    collect(&git, &|name| name.ends_with(".lock"), &mut found);
    let workers = scene.stand.state_home().join("gatewright/workers");
    collect(&workers, &|_| true, &mut found);
    (!found.is_empty()).then_some(Damage::Litter(found))
}

fn collect(folder: &Path, is: &dyn Fn(&str) -> bool, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, is, found);
        } else if is(&entry.file_name().to_string_lossy()) {
            found.push(path.display().to_string());
        }
    }
}
