//! `gatewright check`: the commands of the present check stage are run, and what they did is recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Commands, Happening, Refusal, Reply, Rule, StageName, Status};
use evidence::check::{Ran, Surroundings};
use store::{Backend, Key};
use views::Style;

use crate::arguments::{OfRun, Writing};
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Driven};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::key::{self, Command};
use crate::output::Output;
use crate::trust::scripts;
use crate::worker::{Leash, MARK, START, end_started};
use crate::{chance, clock, runs, tell};

/// How many changed files a message names.
const MOST_NAMED: usize = 5;

/// Run the commands of the present check stage, and record what they did
///
/// Each command is a program with its words, not a shell line. It gets few variables of the
/// environment, no input and a time limit. It is looked for on the search path with which the run
/// was started. The result counts only if the tree is the same before and after.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    of: OfRun,
    #[command(flatten)]
    writing: Writing,
}

impl Check {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut desk = Desk::for_writing(context)?;
        let stored = runs::find(&desk, self.of.run.as_deref())?;
        let command = Command::new("check");
        let key = key::of_run(&desk, &stored, &self.writing, &command)?;
        let opened = desk.opened(stored)?;
        if output.is_talking_to_a_person()
            && let Some(line) = running(&opened)
        {
            output.say_in(Style::Dim, &line);
        }
        let watch = Watch::by_us(&opened)?;
        let driven = check(&mut desk, opened, (&key, &watch))?;
        tell::tell(&driven, output)
    }
}

/// What is about to be run, for whoever waits for it.
fn running(opened: &Opened) -> Option<String> {
    let work = engine::may_check(&opened.pipeline, opened.run()).ok()?;
    Some(match &work.commands {
        Commands::Fixed(commands) => {
            let lines: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
            format!("running {} …", lines.join(", then "))
        }
        Commands::Approved(fields) => {
            let artifacts: Vec<&str> = fields.iter().map(|field| field.artifact.as_str()).collect();
            format!("running the commands of {} …", artifacts.join(" and "))
        }
    })
}

/// How commands are held while they run.
pub struct Watch {
    /// Set from outside to end them.
    pub stop: Arc<AtomicBool>,
    /// By which all of their processes are known.
    pub call: String,
}

impl Watch {
    /// By this process, until a signal comes.
    pub fn by_us(opened: &Opened) -> Result<Self, Failure> {
        Ok(Self {
            stop: stop_on_signals()?,
            call: format!("check-{}-{}", opened.run().id, std::process::id()),
        })
    }
}

/// Runs the commands of the present stage and tells the engine what they did.
pub fn check(
    desk: &mut Desk<'_>,
    opened: Opened,
    (key, watch): (&Key, &Watch),
) -> Result<Driven, Failure> {
    if let Some(driven) = drive::repeated(desk, &opened.stored, key)? {
        return Ok(driven);
    }
    let is_git = desk.project_of(&opened)?.is_git();
    let taken = drive::as_taken_up(&opened, &desk.context.who(), clock::now());
    if engine::is_stale(&taken.pipeline, taken.run(), clock::now()) {
        return happened(desk, opened, key, Happening::TimePassed);
    }
    if let Err(refusal) = engine::may_check(&taken.pipeline, taken.run()) {
        let refusal = explained(&opened, refusal);
        return Ok(Driven::refused(opened, refusal));
    }
    let opened = drive::take_up(desk, opened)?;
    let (stage, visit) = (
        opened.run().position.stage.clone(),
        opened.run().position.visit,
    );
    let Ran {
        results,
        tree,
        changed,
    } = run_commands(desk, &opened, (&stage, watch))?;
    let mut driven = happened(
        desk,
        opened,
        key,
        Happening::ChecksRan {
            stage,
            visit,
            results,
            tree,
        },
    )?;
    if let Reply::Refuse(refusal) = &mut driven.reply
        && refusal.rule == Rule::CheckVoid
        && !changed.is_empty()
    {
        let advice = match is_git {
            true => "add what the check writes to .gitignore",
            false => "have the check write outside the project",
        };
        refusal.reason = format!(
            "{} changed while the check ran: {advice}, and let it run again",
            some(&changed)
        );
    }
    Ok(driven)
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

/// Says what the run waits for, where the engine only says that it waits.
fn explained(opened: &Opened, refusal: Refusal) -> Refusal {
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
    desk: &mut Desk<'_>,
    opened: Opened,
    key: &Key,
    what: Happening,
) -> Result<Driven, Failure> {
    let mut make = |_: &Desk<'_>, _: &Opened, _| Ok(what.clone().into());
    drive::drive(desk, opened.stored, key, &mut make)
}

fn run_commands(
    desk: &Desk<'_>,
    opened: &Opened,
    (stage, watch): (&StageName, &Watch),
) -> Result<Ran, Failure> {
    let started = chance::key()?;
    let surroundings = surroundings(desk, opened, (watch, started.as_str()))?;
    // Whoever kills us must not leave them behind: they would change what the next check looks at.
    let _leash = Leash::on(started.as_str(), None)
        .map_err(|cause| Failure::outside(format!("cannot watch the check ({cause})")))?;
    let ran = desk.looking(opened, &BTreeMap::new(), |looking| {
        evidence::check::run(stage, looking, &surroundings)
    });
    end_started(started.as_str());
    ran
}

fn surroundings(
    desk: &Desk<'_>,
    opened: &Opened,
    (watch, started): (&Watch, &str),
) -> Result<Surroundings, Failure> {
    let search = desk.state.search_path(&opened.run().id).unwrap_or_default();
    let files = desk.store.definition(opened.run().definition)?;
    Ok(Surroundings {
        scripts: files.as_ref().map(scripts::of_run).unwrap_or_default(),
        variables: std::env::vars_os().collect(),
        search: std::env::split_paths(&search).collect(),
        stop: Some(Arc::clone(&watch.stop)),
        own: BTreeMap::from([
            (MARK.into(), watch.call.clone().into()),
            (START.into(), started.into()),
        ]),
        ..Surroundings::default()
    })
}

/// The commands have a process group of their own, so a person's Ctrl-C reaches only us: we end them.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|cause| {
            Failure::outside(format!("cannot wait for signals ({cause})")).hint("do it again")
        })?;
    }
    Ok(stop)
}
