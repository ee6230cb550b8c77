//! `gatewright worker`: takes queued runs, and headless runs that nobody drives any more.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};
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
use crate::headless::last_word::LastWord;
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
        let mut shift = Shift::new(context, &manner);
        loop {
            let stopping = manner.stop.load(Ordering::Relaxed);
            let free = self.runs as usize - shift.driven.len();
            let due = match stopping || free == 0 {
                true => Vec::new(),
                false => shift.due()?,
            };
            if shift.driven.is_empty() && (stopping || (due.is_empty() && self.once)) {
                break;
            }
            for run in due.into_iter().take(free) {
                shift.begin(run)?;
            }
            shift.listen(output);
        }
        Ok(match manner.stop.load(Ordering::Relaxed) {
            true => Exit::Interrupted,
            false if shift.setbacks.is_empty() => Exit::Success,
            false => Exit::No,
        })
    }
}

/// The runs that are driven now, and what is known of the others.
struct Shift<'s> {
    context: &'s Context,
    manner: &'s Manner,
    driven: BTreeSet<RunId>,
    setbacks: Setbacks,
    /// Runs that are driven at once share a store. With the last of them it is closed: whoever mends it
    /// meanwhile finds nobody in it.
    group: Option<Group>,
    sender: Sender<Heard>,
    heard: Receiver<Heard>,
}

impl<'s> Shift<'s> {
    fn new(context: &'s Context, manner: &'s Manner) -> Self {
        let (sender, heard) = mpsc::channel();
        Self {
            context,
            manner,
            driven: BTreeSet::new(),
            setbacks: Setbacks::default(),
            group: None,
            sender,
            heard,
        }
    }

    fn due(&self) -> Result<Vec<RunId>, Failure> {
        match due(self.context, &self.driven, &self.setbacks) {
            // Those who are at work are not ended for a store that is busy now.
            Err(_) if !self.driven.is_empty() => Ok(Vec::new()),
            found => found,
        }
    }

    fn begin(&mut self, run: RunId) -> Result<(), Failure> {
        let group = match self.group.take().filter(|_| !self.driven.is_empty()) {
            Some(group) => group,
            None => Group::open(self.context.state()?.folder())?,
        };
        self.group = Some(group.clone());
        let (sender, manner) = (self.sender.clone(), self.manner.clone());
        let (id, whereabouts) = (run.clone(), self.context.whereabouts().with(group));
        thread::spawn(move || drive(&whereabouts, &id, &manner, &sender));
        self.driven.insert(run);
        Ok(())
    }

    /// Hears what there is to hear, or waits a moment for it.
    fn listen(&mut self, output: &mut Output) {
        let mut word = self.heard.recv_timeout(GLANCE).ok();
        while let Some(heard) = word {
            match heard {
                Heard::Line(line) => output.say(&line),
                Heard::Left(run, left) => {
                    self.driven.remove(&run);
                    match &left {
                        Ok(_) => self.setbacks.passed(&run, Instant::now()),
                        Err(_) => self.setbacks.note(run.clone(), Instant::now()),
                    }
                    tell(output, &run, left);
                }
            }
            word = self.heard.try_recv().ok();
        }
        if self.driven.is_empty() {
            self.group = None;
        }
    }
}

fn drive(whereabouts: &Whereabouts, run: &RunId, manner: &Manner, sender: &Sender<Heard>) {
    let left = |left| Heard::Left(run.clone(), left);
    let fallen = Failure::bug("a thread fell in the middle of this run");
    let last = LastWord::new(sender.clone(), left(Err(fallen)));
    let context = whereabouts.context();
    let mut tell = |line: String| drop(sender.send(Heard::Line(line)));
    let mut watcher = Relay::new(run, &context.environment, &mut tell);
    let driven = Desk::for_writing(&context)
        .and_then(|mut desk| session::drive(&mut desk, run, manner, &mut watcher));
    last.say(left(driven));
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
