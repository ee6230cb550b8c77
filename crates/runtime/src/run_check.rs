//! Runs the commands of a check stage, watches them, and records their results.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{EngineEvent, Happening, Refusal, Reply, Rule, StageName, Status};
use evidence::check::{CheckEnvironment, Ran};
use store::{Backend, Key};

use crate::check_environment::{self, Origin, SavedEnvironment};
use crate::failure::Failure;
use crate::transact::{self, Decided};
use crate::trust::scripts;
use crate::watchdog::{CALL_VARIABLE, START_VARIABLE, Watchdog, kill_started};
use crate::workspace::{OpenRun, Workspace};
use crate::{accepted_programs, clock, current_exe, ids, signals};

/// How many changed files a message names.
const MOST_NAMED: usize = 5;

/// How running commands are watched.
pub struct CheckWatch {
    /// Set from outside to end them.
    pub stop: Arc<AtomicBool>,
    /// The value that marks all of their processes.
    pub call: String,
}

impl CheckWatch {
    /// Watched by this process, until a signal arrives.
    pub fn by_us(opened: &OpenRun) -> Result<Self, Failure> {
        Ok(Self {
            stop: signals::watch()?,
            call: format!("check-{}-{}", opened.run().id, std::process::id()),
        })
    }
}

/// Runs the commands of the current stage and reports the results to the engine.
pub fn check(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    key: &Key,
    watch: &CheckWatch,
) -> Result<Decided, Failure> {
    if let Some(decided) = transact::repeated(workspace, &opened.run().id, Some(key))? {
        return Ok(decided);
    }
    let is_git = workspace.project_of(&opened)?.is_git();
    let taken = transact::as_taken_up(workspace, &opened, &workspace.context.who(), clock::now())?;
    if engine::is_stale(&taken.pipeline, taken.run(), clock::now()) {
        return happened(
            workspace,
            opened,
            key,
            Happening::Engine(EngineEvent::TimePassed),
        );
    }
    if let Err(refusal) = engine::may_check(&taken.pipeline, taken.run()) {
        let refusal = explained(&opened, refusal);
        return Ok(Decided::refused(opened, refusal));
    }
    let opened = transact::take_up(workspace, opened)?;
    let (stage, visit) = (
        opened.run().position.stage.clone(),
        opened.run().position.visit,
    );
    let Ran {
        results,
        tree,
        changed,
    } = run_commands(workspace, &opened, &stage, watch)?;
    let mut decided = happened(
        workspace,
        opened,
        key,
        Happening::Engine(EngineEvent::ChecksRan {
            stage,
            visit,
            results,
            tree,
        }),
    )?;
    if let Reply::Refuse(refusal) = &mut decided.reply
        && refusal.rule == Rule::CheckVoid
        && !changed.is_empty()
    {
        let advice = if is_git {
            "make the check leave sources alone, or name what it writes in .gitignore or in the pipeline's `litter`"
        } else {
            "make the check write outside the project"
        };
        refusal.reason = format!(
            "{} changed while the check ran: {advice}, then type `gatewright check`",
            some(&changed)
        );
    }
    Ok(decided)
}

/// The first paths of a list, and how many more there are.
fn some(paths: &[String]) -> String {
    let named = paths.iter().take(MOST_NAMED).cloned();
    let named = named.collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Adds what the run waits for, which the engine's refusal does not say.
fn explained(opened: &OpenRun, refusal: Refusal) -> Refusal {
    match engine::status(&opened.pipeline, opened.run()) {
        Status::Waiting(why) if refusal.rule == Rule::RunWaits => Refusal {
            reason: format!("the run waits for a person: {why}"),
            ..refusal
        },
        Status::Completed | Status::Failed | Status::Cancelled => Refusal {
            rule: Rule::RunIsOver,
            reason: "the run is over".to_owned(),
            ..refusal
        },
        Status::Waiting(_) | Status::Queued | Status::Running => refusal,
    }
}

fn happened(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    key: &Key,
    what: Happening,
) -> Result<Decided, Failure> {
    let mut make = |_: &Workspace<'_>, _: &OpenRun, _| Ok(what.clone().into());
    transact::command(workspace, &opened.run().id, key, &mut make)
}

fn run_commands(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    stage: &StageName,
    watch: &CheckWatch,
) -> Result<Ran, Failure> {
    let started = ids::key()?;
    let surroundings = surroundings(workspace, opened, watch, started.as_str())?;
    // If this process is killed, the watchdog kills them: they would change files under the next
    // check.
    let _watchdog = Watchdog::start(started.as_str(), None)
        .map_err(|cause| Failure::environment(format!("cannot watch the check ({cause})")))?;
    let ran = workspace.looking(opened, &BTreeMap::new(), |looking| {
        evidence::check::run(stage, looking, &surroundings)
    });
    kill_started(started.as_str());
    ran
}

fn variables(environment: SavedEnvironment) -> BTreeMap<OsString, OsString> {
    let variables = environment.variables.into_iter();
    variables.map(|(n, v)| (n.into(), v.into())).collect()
}

fn surroundings(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    watch: &CheckWatch,
    started: &str,
) -> Result<CheckEnvironment, Failure> {
    let (environment, lost) = match check_environment::of_run(&workspace.state, opened.run()) {
        Ok(environment) => (environment, None),
        Err(reason) => (SavedEnvironment::of_system(), Some(reason)),
    };
    let files = workspace.store.definition(opened.run().definition)?;
    let project = workspace.project_of(opened)?;
    let accepted = (environment.origin == Origin::Person)
        .then(|| accepted_programs::of_project(&workspace.state, &project).programs);
    Ok(CheckEnvironment {
        scripts: files.as_ref().map(scripts::of_run).unwrap_or_default(),
        search: environment.folders(),
        known: environment.known(),
        accepted,
        lost,
        variables: variables(environment),
        stop: Some(Arc::clone(&watch.stop)),
        holder: current_exe::program().ok(),
        own: BTreeMap::from([
            (CALL_VARIABLE.into(), watch.call.clone().into()),
            (START_VARIABLE.into(), started.into()),
        ]),
        ..CheckEnvironment::default()
    })
}
