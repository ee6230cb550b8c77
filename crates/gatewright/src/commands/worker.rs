//! `gatewright worker`: takes queued runs, and headless runs that nobody drives any more.

#[cfg(feature = "fleet")]
mod fleet;
mod idle;
mod night;
mod waiting;

use night::Handed;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Held, RunId, Seconds, Standing};
use runner::backoff::Backoff;
use runner::drive_options::DriveOptions;
use runner::drive_options::{DriveEnd, WhenLimited, WhenWaiting};
use runner::drive_run;
use runner::drop_sender::DropSender;
use runner::lease::Lease;
use runner::queue::{self, Waits};
use runner::slot_bid::SlotBid;
use runner::untold_runs::UntoldRuns;
use runtime::caps;
use runtime::context::{Context, SharedContext};
use runtime::failure::Failure;
use runtime::find_run;
use runtime::lease_holder;
use runtime::workspace::Workspace;
use runtime::{clock, person_only, signals, undelivered};
use store::{Backend as _, Group, StoredRun};
use views::Style;
use views::facts::RestKeeper;

use crate::commands::start::fleet_queue;
use crate::drive_arguments::LimitArguments;
use crate::exit::Exit;
use crate::output::Output;
use crate::progress_view::relay::Relay;

/// How often we look for work.
const GLANCE: Duration = Duration::from_secs(1);

/// Drive queued runs, several at a time
///
/// Drives the runs of all projects that were queued with `gatewright start --queue`, and headless
/// runs that no process drives: runs whose orchestrator was killed, or whose question has been
/// answered. Leaves runs that wait for a person, and retries runs that it could not drive. Ctrl-C
/// stops it cleanly; the next `worker` or `resume` continues the runs. At its end it prints a summary, and exits with 1 if a run could not be driven or its work not delivered.
#[derive(Debug, clap::Args)]
pub(crate) struct Worker {
    /// How many runs to drive at once
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    at_once: LimitArguments,
    /// Exit when no run is left to drive, now or at the time that it was queued for
    #[arg(long)]
    once: bool,
    /// Drive the runs of the fleet that this machine has joined, and not its own
    #[arg(long)]
    fleet: bool,
    /// With --fleet: a label of this worker, besides those that the machine joined with. Repeat the option for
    /// several labels
    #[arg(long = "label", value_name = "LABEL", requires = "fleet", value_parser = fleet_queue::parse_name)]
    labels: Vec<String>,
}

/// What the threads report about their runs.
enum WorkerMessage {
    Line(String),
    /// This worker has the lease of the run.
    Taken(RunId),
    /// Another process was faster: it drives the run, and tells what becomes of it.
    Elsewhere(RunId),
    Left(RunId, Result<DriveEnd, Failure>),
}

impl Worker {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "worker", Held::Nobody)?;
        let options = DriveOptions {
            when_waiting: WhenWaiting::Exit,
            when_limited: WhenLimited::Leave,
            limits: self.at_once.limits(),
            bid: None,
            stop: signals::watch()?,
        };
        if self.fleet {
            return self.drive_fleet(context, output, &options);
        }
        let begun = Instant::now();
        let mut driven = DrivenRuns::new(context, &options);
        loop {
            let stopping = options.stop.load(Ordering::Relaxed);
            let free = self.runs as usize - driven.decided.len();
            let due = if stopping || free == 0 {
                Vec::new()
            } else {
                driven.due()?
            };
            let is_idle = due.is_empty() && !driven.awaits_a_time && !driven.has_rest();
            let is_over = driven.decided.is_empty() && (stopping || (is_idle && self.once));
            // The summary of a worker that has driven something says the rest.
            if due.is_empty() && !stopping && (!is_over || driven.ends.is_empty()) {
                driven.tell_idle(output, is_over);
            }
            if is_over {
                break;
            }
            for run in due.into_iter().take(free) {
                driven.begin(run)?;
            }
            driven.listen(output)?;
        }
        let lasted = Seconds(begun.elapsed().as_secs());
        let handed = night::tell(context, output, driven.untold, &driven.ends, lasted)?;
        Ok(match options.stop.load(Ordering::Relaxed) {
            true => Exit::Interrupted,
            false if driven.backoff.is_empty() && handed == Handed::Over => Exit::Success,
            false => Exit::No,
        })
    }
}

#[cfg(not(feature = "fleet"))]
impl Worker {
    fn drive_fleet(
        &self,
        context: &Context,
        _: &mut Output,
        _: &DriveOptions,
    ) -> Result<Exit, Failure> {
        crate::fleet_link::in_fleet(context).map(|_| Exit::Success)
    }
}

/// The runs that this process drives, and the backoff of the others.
struct DrivenRuns<'s> {
    context: &'s Context,
    options: &'s DriveOptions,
    decided: BTreeSet<RunId>,
    backoff: Backoff,
    /// How the drives ended, for the summary.
    ends: night::Ends,
    untold: UntoldRuns,
    /// The runs that a person must act on, with the version at which they were left. Until it changes there is
    /// nothing to drive.
    left: BTreeMap<RunId, u64>,
    /// A queued run waits for the time that a person set, or for the end of a cap or a limit.
    awaits_a_time: bool,
    /// What it waits for while it drives nothing.
    idle: idle::Idle,
    /// Counts what waits for a person, as the inbox shows it.
    waiting: waiting::Waiting,
    /// Concurrent runs share a store. It closes with the last of them, so that a repair finds no open
    /// connection.
    group: Option<Group>,
    sender: Sender<WorkerMessage>,
    heard: Receiver<WorkerMessage>,
}

impl<'s> DrivenRuns<'s> {
    fn new(context: &'s Context, options: &'s DriveOptions) -> Self {
        let (sender, heard) = mpsc::channel();
        Self {
            context,
            options,
            decided: BTreeSet::new(),
            backoff: Backoff::default(),
            ends: night::Ends::new(),
            untold: UntoldRuns::default(),
            left: BTreeMap::new(),
            awaits_a_time: false,
            idle: idle::Idle::default(),
            waiting: waiting::Waiting::default(),
            group: None,
            sender,
            heard,
        }
    }

    fn due(&mut self) -> Result<Vec<RunId>, Failure> {
        match self.look() {
            // A busy store must not end the runs at work.
            Err(_) if !self.decided.is_empty() => Ok(Vec::new()),
            found => found,
        }
    }

    /// The runs that wait for somebody who drives them, in the order of the queue.
    fn look(&mut self) -> Result<Vec<RunId>, Failure> {
        let Some(mut workspace) = Workspace::if_exists(self.context)? else {
            return Ok(Vec::new());
        };
        let queue = queue::look(&mut workspace, clock::now())?;
        let now = Instant::now();
        let capped = caps::reached(&workspace.state, clock::now())?.is_some();
        self.awaits_a_time = queue.iter().any(|it| awaits_a_time(&it.waits));
        // Who drives runs says nothing of this.
        if self.decided.is_empty() {
            let waiting = &mut self.waiting;
            self.idle
                .look(&queue, || waiting.number(&mut workspace, Instant::now()));
        }
        let due = queue.into_iter().filter(|it| {
            let id = &it.summary.id;
            let is_left = self.left.get(id) == Some(&it.summary.version);
            let is_resting = is_left
                || self.backoff.is_waiting(id, now)
                || rests(&workspace, &self.backoff, id, capped);
            is_due(&it.waits) && !self.decided.contains(id) && !is_resting
        });
        let due = due.map(|it| it.summary.id);
        let mut undelivered = undelivered(&workspace)?;
        undelivered.retain(|id| !self.decided.contains(id) && !self.backoff.is_waiting(id, now));
        Ok(undelivered.into_iter().chain(due).collect())
    }

    /// Does a run wait for a service, so that it is still to be driven?
    fn has_rest(&self) -> bool {
        let workspace = Workspace::if_exists(self.context).ok().flatten();
        let rests = |run: &RunId| {
            let stored = workspace.as_ref().map(|it| it.store.run(run));
            let stored = stored.and_then(Result::ok).flatten();
            // A cap leaves no mark in the run.
            stored.is_some_and(|it| it.run.standing == Standing::Going)
        };
        self.backoff.resting().any(rests)
    }

    /// A worker that does nothing says why, once.
    fn tell_idle(&mut self, output: &mut Output, is_over: bool) {
        if !self.decided.is_empty() {
            return;
        }
        let now = clock::now();
        if let Some(line) = self.idle.news(now, is_over) {
            output.say(&format!("{} {line}", views::time::rfc3339(now)));
        }
    }

    fn begin(&mut self, run: RunId) -> Result<(), Failure> {
        self.idle.forget();
        let group = match self.group.take().filter(|_| !self.decided.is_empty()) {
            Some(group) => group,
            None => Group::open(self.context.state()?.folder())?,
        };
        self.group = Some(group.clone());
        let (sender, mut options) = (self.sender.clone(), self.options.clone());
        options.bid = self.bid(&run)?;
        let (id, context) = (run.clone(), self.context.shared().with_group(group));
        thread::spawn(move || drive(&context, &id, &options, &sender));
        self.decided.insert(run);
        Ok(())
    }

    /// Places the bid of a run for a slot before that of the next one, in whatever order their threads ask.
    fn bid(&self, run: &RunId) -> Result<Option<Arc<SlotBid>>, Failure> {
        let names = self.options.limits.all_names();
        let workspace = Workspace::if_exists(self.context)?.filter(|_| !names.is_empty());
        let Some(workspace) = workspace else {
            return Ok(None);
        };
        let Some(stored) = workspace.store.run(run)? else {
            return Ok(None);
        };
        let bid = SlotBid::new(&workspace.state, &stored)?;
        bid.place(names, stored.run.last_dispatch.0 > 0);
        Ok(Some(Arc::new(bid)))
    }

    /// Handles pending messages, or waits a moment for one.
    fn listen(&mut self, output: &mut Output) -> Result<(), Failure> {
        let mut word = self.heard.recv_timeout(GLANCE).ok();
        while let Some(heard) = word {
            match heard {
                WorkerMessage::Line(line) => output.say(&line),
                WorkerMessage::Taken(run) => self.untold.note(&self.context.state()?, &run),
                WorkerMessage::Elsewhere(run) => {
                    self.decided.remove(&run);
                }
                WorkerMessage::Left(run, left) => {
                    self.decided.remove(&run);
                    match &left {
                        Ok(DriveEnd::Limited { until, .. }) => {
                            self.backoff.rest(run.clone(), *until);
                        }
                        Ok(_) => self.backoff.succeeded(&run, Instant::now()),
                        Err(_) => self.backoff.failed(run.clone(), Instant::now()),
                    }
                    self.remember(&run, &left);
                    tell(output, &run, left);
                }
            }
            word = self.heard.try_recv().ok();
        }
        if self.decided.is_empty() {
            self.group = None;
        }
        Ok(())
    }
}

impl DrivenRuns<'_> {
    fn remember(&mut self, run: &RunId, left: &Result<DriveEnd, Failure>) {
        let end = left.clone().map_err(|failure| failure.to_string());
        self.ends.insert(run.clone(), end);
        self.left.remove(run);
        if let Ok(DriveEnd::Waiting(_)) = left
            && let Ok(Some(workspace)) = Workspace::if_exists(self.context)
            && let Ok(Some(stored)) = workspace.store.run(run)
        {
            self.left.insert(run.clone(), stored.version);
        }
    }
}

fn drive(
    context: &SharedContext,
    run: &RunId,
    options: &DriveOptions,
    sender: &Sender<WorkerMessage>,
) {
    let left = |left| WorkerMessage::Left(run.clone(), left);
    let fallen = Failure::bug("the thread of this run panicked");
    let last = DropSender::new(sender.clone(), left(Err(fallen)));
    let context = context.to_context();
    let mut tell = |line: String| drop(sender.send(WorkerMessage::Line(line)));
    let mut watcher = Relay::new(run, &context.environment, &mut tell);
    let driven = Workspace::for_writing(&context).and_then(|mut workspace| {
        let Some(lease) = Lease::take_if_free(&mut workspace, run)? else {
            return Ok(None);
        };
        drop(sender.send(WorkerMessage::Taken(run.clone())));
        let lease = Arc::new(lease);
        drive_run::drive_under(&mut workspace, &lease, run, options, &mut watcher).map(Some)
    });
    last.send(match driven.transpose() {
        Some(decided) => left(decided),
        None => WorkerMessage::Elsewhere(run.clone()),
    });
}

fn tell(output: &mut Output, run: &RunId, left: Result<DriveEnd, Failure>) {
    let now = clock::now();
    let (style, text) = match left {
        Ok(DriveEnd::Over(status)) => (Style::Normal, status.word().to_owned()),
        Ok(DriveEnd::Waiting(why)) => {
            let why = views::line(&why);
            (Style::Strong, format!("waits for a person: {why}"))
        }
        Ok(DriveEnd::Limited { until, why }) => {
            let (until, why) = (views::time::moment(until, now), views::line(&why));
            (Style::Wait, format!("rests until {until}: {why}"))
        }
        Ok(DriveEnd::Stopped) => (Style::Normal, "stopped".to_owned()),
        Err(failure) => {
            let at = views::time::rfc3339(now);
            return output.say_in(Style::Bad, &format!("{at} {run}: {failure}"));
        }
    };
    let at = views::time::rfc3339(now);
    output.say_in(style, &format!("{at} {run} {text}"));
}

/// May this worker take the run? One that rests, and that no process keeps, is taken at once: its orchestrator knows
/// whether a fallback works.
fn is_due(waits: &Waits) -> bool {
    match waits {
        Waits::Worker => true,
        Waits::Rest(rest) => rest.keeper == RestKeeper::Nobody,
        Waits::Driven { .. }
        | Waits::Until(_)
        | Waits::Turn(_)
        | Waits::Tree(_)
        | Waits::SameFiles { .. }
        | Waits::Held { .. }
        | Waits::Person(_) => false,
    }
}

/// Will a queued run be due by itself?
fn awaits_a_time(waits: &Waits) -> bool {
    match waits {
        Waits::Until(_) | Waits::Held { .. } => true,
        Waits::Worker
        | Waits::Driven { .. }
        | Waits::Rest(_)
        | Waits::Turn(_)
        | Waits::Tree(_)
        | Waits::SameFiles { .. }
        | Waits::Person(_) => false,
    }
}

/// Does this run wait for a service or for a cap? A person may have ended that.
fn rests(workspace: &Workspace<'_>, backoff: &Backoff, run: &RunId, capped: bool) -> bool {
    let Some(until) = backoff.rests_until(run, clock::now()) else {
        return false;
    };
    let stored = workspace.store.run(run).ok().flatten();
    let is_limited = |it: &StoredRun| it.run.limits.iter().any(|limit| limit.until >= until);
    capped || stored.as_ref().is_none_or(is_limited)
}

/// Completed runs whose orchestrator was killed before it delivered their work.
fn undelivered(workspace: &Workspace<'_>) -> Result<Vec<RunId>, Failure> {
    let mut found = undelivered::open_runs(&workspace.state);
    if found.is_empty() {
        return Ok(found);
    }
    let over = workspace.store.runs(None)?.into_iter();
    let over = over.filter(|run| !find_run::is_active(run));
    let over: BTreeSet<RunId> = over.map(|run| run.id).collect();
    found.retain(|run| over.contains(run));
    let mut free = Vec::new();
    for run in found {
        if lease_holder::driver(workspace.store.lease(&run)?.as_ref()).is_none() {
            free.push(run);
        }
    }
    Ok(free)
}
