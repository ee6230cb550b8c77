//! `gatewright check`: the commands of the present check stage are run, and what they did is recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Happening, StageName};
use evidence::check::{Ran, Surroundings};
use store::Key;

use crate::arguments::{OfRun, Writing};
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Driven};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::{clock, runs, tell};

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
        let key = self.writing.key()?;
        let opened = desk.opened(stored)?;
        let driven = check(&mut desk, opened, &key)?;
        tell::tell(&driven, output)
    }
}

/// Runs the commands of the present stage and tells the engine what they did.
pub fn check(desk: &mut Desk<'_>, opened: Opened, key: &Key) -> Result<Driven, Failure> {
    if let Some(driven) = drive::repeated(desk, &opened.stored, key)? {
        return Ok(driven);
    }
    let opened = drive::take_up(desk, opened)?;
    if engine::is_stale(&opened.pipeline, opened.run(), clock::now()) {
        return happened(desk, opened, key, Happening::TimePassed);
    }
    if let Err(refusal) = engine::may_check(&opened.pipeline, opened.run()) {
        return Ok(Driven::refused(opened, refusal));
    }
    let (stage, visit) = (
        opened.run().position.stage.clone(),
        opened.run().position.visit,
    );
    let Ran { results, tree } = run_commands(desk, &opened, &stage)?;
    happened(
        desk,
        opened,
        key,
        Happening::ChecksRan {
            stage,
            visit,
            results,
            tree,
        },
    )
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

fn run_commands(desk: &Desk<'_>, opened: &Opened, stage: &StageName) -> Result<Ran, Failure> {
    let surroundings = surroundings(desk, opened)?;
    desk.looking(opened, &BTreeMap::new(), |looking| {
        evidence::check::run(stage, looking, &surroundings)
    })
}

fn surroundings(desk: &Desk<'_>, opened: &Opened) -> Result<Surroundings, Failure> {
    let search = desk.state.search_path(&opened.run().id).unwrap_or_default();
    Ok(Surroundings {
        variables: std::env::vars_os().collect(),
        search: std::env::split_paths(&search).collect(),
        stop: Some(stop_on_signals()?),
        ..Surroundings::default()
    })
}

/// The commands have a process group of their own, so a person's Ctrl-C reaches only us: we end them.
fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|cause| {
            Failure::outside(format!("cannot wait for signals ({cause})")).hint("do it again")
        })?;
    }
    Ok(stop)
}
