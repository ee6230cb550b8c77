//! `gatewright worker`: takes queued runs, and headless runs that nobody drives any more.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use engine::{Driver, Held, RunId, Status};
use store::{Backend as _, Group, RunSummary};
use views::Style;

use crate::caller::refusal;
use crate::context::{Context, Whereabouts};
use crate::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::headless::flags::AtOnce;
use crate::headless::lease;
use crate::headless::orchestrator::{LeftOff, Patience};
use crate::headless::relay::Relay;
use crate::headless::session::{self, Manner};
use crate::headless::setbacks::Setbacks;
use crate::headless::signals;
use crate::output::Output;

/// How often it is looked whether there is something to do.
const GLANCE: Duration = Duration::from_secs(1);

/// Take queued runs and drive them, several at a time
///
/// Takes runs of all projects that were queued with `gatewright start --queue`, and headless runs that
/// nobody drives any more: their orchestrator was killed, or somebody has answered what they asked. A
/// run that waits for a person is left waiting, and one that cannot be driven is tried again later. Ctrl-C stops cleanly; the runs stay as they are.
#[derive(Debug, clap::Args)]
pub struct Worker {
    /// How many runs are driven at once
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    at_once: AtOnce,
    /// End when there is nothing left to do
    #[arg(long)]
    once: bool,
}

/// What is heard of the runs that are driven.
enum Heard {
    Line(String),
    Left(RunId, Result<LeftOff, Failure>),
}

impl Worker {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        refusal::persons(context, "worker", Held::Nobody)?;
        let manner = Manner {
            patience: Patience::Leave,
            limits: self.at_once.limits(),
            stop: signals::watch()?,
        };
        let (sender, heard) = mpsc::channel();
        let mut driven: BTreeSet<RunId> = BTreeSet::new();
        let mut setbacks = Setbacks::default();
        // Runs that are driven at once share a store. With the last of them it is closed: whoever mends
        // it meanwhile finds nobody in it.
        let mut group: Option<Group> = None;
        loop {
            let stopping = manner.stop.load(Ordering::Relaxed);
            let free = self.runs as usize - driven.len();
            let due = match stopping || free == 0 {
                true => Vec::new(),
                false => due(context, &driven, &setbacks)?,
            };
            if driven.is_empty() && (stopping || (due.is_empty() && self.once)) {
                break;
            }
            if driven.is_empty() {
                group = None;
            }
            for run in due.into_iter().take(free) {
                let (sender, manner) = (sender.clone(), manner.clone());
                let shared = match group.take() {
                    Some(group) => group,
                    None => Group::open(context.state()?.folder())?,
                };
                group = Some(shared.clone());
                let (id, whereabouts) = (run.clone(), context.whereabouts().with(shared));
                thread::spawn(move || drive(&whereabouts, &id, &manner, &sender));
                driven.insert(run);
            }
            let mut word = heard.recv_timeout(GLANCE).ok();
            while let Some(heard_now) = word {
                match heard_now {
                    Heard::Line(line) => output.say(&line),
                    Heard::Left(run, left) => {
                        driven.remove(&run);
                        match &left {
                            Ok(_) => setbacks.passed(&run, Instant::now()),
                            Err(_) => setbacks.note(run.clone(), Instant::now()),
                        }
                        tell(output, &run, left);
                    }
                }
                word = heard.try_recv().ok();
            }
        }
        Ok(match manner.stop.load(Ordering::Relaxed) {
            true => Exit::Interrupted,
            false if setbacks.is_empty() => Exit::Success,
            false => Exit::No,
        })
    }
}

fn drive(whereabouts: &Whereabouts, run: &RunId, manner: &Manner, sender: &mpsc::Sender<Heard>) {
    let context = whereabouts.context();
    let mut tell = |line: String| drop(sender.send(Heard::Line(line)));
    let mut watcher = Relay::new(run, &context.environment, &mut tell);
    let left = Desk::for_writing(&context)
        .and_then(|mut desk| session::drive(&mut desk, run, manner, &mut watcher));
    let _ = sender.send(Heard::Left(run.clone(), left));
}

fn tell(output: &mut Output, run: &RunId, left: Result<LeftOff, Failure>) {
    match left {
        Ok(LeftOff::Over(status)) => output.say(&format!("{run} {}", status.word())),
        Ok(LeftOff::Waiting(why)) => {
            output.say_in(
                Style::Strong,
                &format!("{run} waits for a person: {}", views::line(&why)),
            );
        }
        Ok(LeftOff::Stopped) => output.say(&format!("{run} stopped")),
        Err(failure) => output.say_in(Style::Bad, &format!("{run}: {failure}")),
    }
}

/// The runs that wait for somebody who drives them, the oldest first.
fn due(
    context: &Context,
    driven: &BTreeSet<RunId>,
    setbacks: &Setbacks,
) -> Result<Vec<RunId>, Failure> {
    let Some(desk) = Desk::if_there(context)? else {
        return Ok(Vec::new());
    };
    let now = Instant::now();
    let wanted = |run: &RunSummary| {
        let wanted = matches!(run.status, Status::Queued | Status::Running);
        wanted && run.driver == Driver::Headless && !setbacks.rests(&run.id, now)
    };
    let mut runs: Vec<RunSummary> = desk.store.runs(None)?;
    runs.retain(wanted);
    runs.sort_by_key(|run| run.started_at);
    let mut due = Vec::new();
    // Of one worktree the next one is taken up when the one before it was: they keep their order.
    let mut queues: BTreeSet<&str> = BTreeSet::new();
    for run in &runs {
        let is_next = run.status != Status::Queued || queues.insert(&run.worktree);
        let is_free = || -> Result<bool, Failure> {
            Ok(lease::driver(desk.store.lease(&run.id)?.as_ref()).is_none())
        };
        if is_next && !driven.contains(&run.id) && is_free()? {
            due.push(run.id.clone());
        }
    }
    Ok(due)
}
