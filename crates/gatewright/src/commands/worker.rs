//! `gatewright worker`: takes queued runs, and headless runs that nobody drives any more.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Driver, Held, RunId, Status};
use runner::backoff::Backoff;
use runner::drive_options::DriveOptions;
use runner::drive_options::{DriveEnd, WhenWaiting};
use runner::drive_run;
use runner::drop_sender::DropSender;
use runner::lease;
use runtime::context::{Context, SharedContext};
use runtime::failure::Failure;
use runtime::person_only;
use runtime::signals;
use runtime::workspace::Workspace;
use store::{Backend as _, Group, RunSummary};
use views::Style;

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
/// stops it cleanly; the next `worker` or `resume` continues the runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Worker {
    /// How many runs to drive at once
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    at_once: LimitArguments,
    /// Exit when no run is left to drive
    #[arg(long)]
    once: bool,
}

/// What the threads report about their runs.
enum WorkerMessage {
    Line(String),
    Left(RunId, Result<DriveEnd, Failure>),
}

impl Worker {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "worker", Held::Nobody)?;
        let options = DriveOptions {
            when_waiting: WhenWaiting::Exit,
            limits: self.at_once.limits(),
            stop: signals::watch()?,
        };
        let mut driven = DrivenRuns::new(context, &options);
        loop {
            let stopping = options.stop.load(Ordering::Relaxed);
            let free = self.runs as usize - driven.decided.len();
            let due = if stopping || free == 0 {
                Vec::new()
            } else {
                driven.due()?
            };
            if driven.decided.is_empty() && (stopping || (due.is_empty() && self.once)) {
                break;
            }
            for run in due.into_iter().take(free) {
                driven.begin(run)?;
            }
            driven.listen(output);
        }
        Ok(match options.stop.load(Ordering::Relaxed) {
            true => Exit::Interrupted,
            false if driven.backoff.is_empty() => Exit::Success,
            false => Exit::No,
        })
    }
}

/// The runs that this process drives, and the backoff of the others.
struct DrivenRuns<'s> {
    context: &'s Context,
    options: &'s DriveOptions,
    decided: BTreeSet<RunId>,
    backoff: Backoff,
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
            group: None,
            sender,
            heard,
        }
    }

    fn due(&self) -> Result<Vec<RunId>, Failure> {
        match due(self.context, &self.decided, &self.backoff) {
            // A busy store must not end the runs at work.
            Err(_) if !self.decided.is_empty() => Ok(Vec::new()),
            found => found,
        }
    }

    fn begin(&mut self, run: RunId) -> Result<(), Failure> {
        let group = match self.group.take().filter(|_| !self.decided.is_empty()) {
            Some(group) => group,
            None => Group::open(self.context.state()?.folder())?,
        };
        self.group = Some(group.clone());
        let (sender, options) = (self.sender.clone(), self.options.clone());
        let (id, context) = (run.clone(), self.context.shared().with_group(group));
        thread::spawn(move || drive(&context, &id, &options, &sender));
        self.decided.insert(run);
        Ok(())
    }

    /// Handles pending messages, or waits a moment for one.
    fn listen(&mut self, output: &mut Output) {
        let mut word = self.heard.recv_timeout(GLANCE).ok();
        while let Some(heard) = word {
            match heard {
                WorkerMessage::Line(line) => output.say(&line),
                WorkerMessage::Left(run, left) => {
                    self.decided.remove(&run);
                    match &left {
                        Ok(_) => self.backoff.succeeded(&run, Instant::now()),
                        Err(_) => self.backoff.failed(run.clone(), Instant::now()),
                    }
                    tell(output, &run, left);
                }
            }
            word = self.heard.try_recv().ok();
        }
        if self.decided.is_empty() {
            self.group = None;
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
    let decided = Workspace::for_writing(&context)
        .and_then(|mut workspace| drive_run::drive(&mut workspace, run, options, &mut watcher));
    last.send(left(decided));
}

fn tell(output: &mut Output, run: &RunId, left: Result<DriveEnd, Failure>) {
    match left {
        Ok(DriveEnd::Over(status)) => output.say(&format!("{run} {}", status.word())),
        Ok(DriveEnd::Waiting(why)) => {
            output.say_in(
                Style::Strong,
                &format!("{run} waits for a person: {}", views::line(&why)),
            );
        }
        Ok(DriveEnd::Stopped) => output.say(&format!("{run} stopped")),
        Err(failure) => output.say_in(Style::Bad, &format!("{run}: {failure}")),
    }
}

/// The runs that wait for somebody who drives them, the oldest first.
fn due(
    context: &Context,
    decided: &BTreeSet<RunId>,
    backoff: &Backoff,
) -> Result<Vec<RunId>, Failure> {
    let Some(workspace) = Workspace::if_exists(context)? else {
        return Ok(Vec::new());
    };
    let now = Instant::now();
    let wanted = |run: &RunSummary| {
        let wanted = matches!(run.status, Status::Queued | Status::Running);
        wanted && run.driver == Driver::Headless && !backoff.is_waiting(&run.id, now)
    };
    let mut runs: Vec<RunSummary> = workspace.store.runs(None)?;
    runs.retain(wanted);
    runs.sort_by_key(|run| run.started_at);
    let mut due = Vec::new();
    // Of one worktree the next one is taken up when the one before it was: they keep their order.
    let mut queues: BTreeSet<&str> = BTreeSet::new();
    for run in &runs {
        let is_next = run.status != Status::Queued || queues.insert(&run.worktree);
        let is_free = || -> Result<bool, Failure> {
            Ok(lease::driver(workspace.store.lease(&run.id)?.as_ref()).is_none())
        };
        if is_next && !decided.contains(&run.id) && is_free()? {
            due.push(run.id.clone());
        }
    }
    Ok(due)
}
