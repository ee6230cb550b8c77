//! `gatewright worker --fleet`: takes runs from the queue of the fleet, and drives them here.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use engine::{RunId, Seconds};
use pg_store::{Claimed, LetGo, QueueWatch, WorkerSign};
use runner::drive_options::{DriveEnd, DriveOptions};
use runner::drive_run;
use runner::drop_sender::DropSender;
use runtime::context::{Context, SharedContext};
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::fleet_project::FleetProject;
use runtime::lease_holder::{self, TERM};
use runtime::workspace::Workspace;
use runtime::{clock, fleet_clones, fleet_logs, fleet_look, fleet_seat};
use store::{Access, Backend as _, Claim, SharedBackend as _};

use super::{Handed, Worker, WorkerMessage, night, tell};
use crate::exit::Exit;
use crate::fleet_link::FleetLink;
use crate::output::Output;
use crate::progress_view::relay::Relay;

/// How often we look, even if nobody calls.
const POLL: Duration = Duration::from_secs(2);

/// While runs are driven, their messages are shown at least so often.
const GLANCE: Duration = Duration::from_millis(200);

/// How often the fleet hears that we are here, and what the workers print.
const SIGN: Duration = Duration::from_secs(2);

/// How long nobody takes a run that could not be driven.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

impl Worker {
    pub(super) fn drive_fleet(
        &self,
        context: &Context,
        output: &mut Output,
        options: &DriveOptions,
    ) -> Result<Exit, Failure> {
        let link = FleetLink::open(context, Access::Write)?;
        let begun = Instant::now();
        fleet_clones::note(&context.state()?, &context.environment, &context.folder)?;
        let mut worker = FleetWorker::new(&link, context, &self.labels, options)?;
        worker.announce(output);
        while worker.round(self, output)? {}
        let lasted = Seconds(begun.elapsed().as_secs());
        worker.leave();
        let handed = night::tell_driven(&worker.context, output, &worker.ends, lasted)?;
        let is_failed = worker.ends.values().any(Result::is_err) || handed == Handed::NotAll;
        Ok(match options.stop.load(Ordering::Relaxed) {
            true => Exit::Interrupted,
            false if is_failed => Exit::No,
            false => Exit::Success,
        })
    }
}

struct FleetWorker<'w> {
    link: &'w FleetLink,
    context: Context,
    options: &'w DriveOptions,
    labels: Vec<String>,
    /// This process, as leases name it.
    holder: String,
    /// Hears when something is queued; without it we only look by ourselves.
    watch: Option<QueueWatch>,
    driven: BTreeSet<RunId>,
    ends: night::Ends,
    signed: Option<Instant>,
    sender: Sender<WorkerMessage>,
    heard: Receiver<WorkerMessage>,
}

impl<'w> FleetWorker<'w> {
    fn new(
        link: &'w FleetLink,
        context: &Context,
        labels: &[String],
        options: &'w DriveOptions,
    ) -> Result<Self, Failure> {
        let (sender, heard) = mpsc::channel();
        let mut all = link.membership.labels.clone();
        all.extend(labels.iter().cloned());
        all.sort();
        all.dedup();
        Ok(Self {
            link,
            context: link.context(context)?,
            options,
            labels: all,
            holder: lease_holder::in_fleet(&link.membership.name),
            watch: QueueWatch::open(&link.address).ok(),
            driven: BTreeSet::new(),
            ends: night::Ends::new(),
            signed: None,
            sender,
            heard,
        })
    }

    fn announce(&self, output: &mut Output) {
        let labels = match self.labels.as_slice() {
            [] => "without labels".to_owned(),
            labels => format!("with the labels {}", labels.join(", ")),
        };
        output.say(&format!(
            "{} takes runs of the fleet at {}, {labels}; Ctrl-C ends it",
            self.link.membership.name, self.link.address
        ));
    }

    /// Takes what is free, and listens for a while; `false` at the end.
    fn round(&mut self, worker: &Worker, output: &mut Output) -> Result<bool, Failure> {
        let is_stopping = self.options.stop.load(Ordering::Relaxed);
        if self.give_sign() {
            self.driven.iter().for_each(|run| self.hand_on(run));
        }
        let mut is_idle = true;
        while !is_stopping && self.driven.len() < worker.runs as usize {
            match self
                .link
                .store
                .claim_queued(&self.holder, &self.labels, TERM)
            {
                Ok(Some(claimed)) => {
                    is_idle = false;
                    self.begin(claimed);
                }
                Ok(None) => break,
                // A database that is away for a while must not end the runs at work.
                Err(error) if !self.driven.is_empty() || !worker.once => {
                    output.say(&format!("cannot look for runs: {error}"));
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        if self.driven.is_empty() && (is_stopping || (is_idle && worker.once)) {
            return Ok(false);
        }
        self.listen(output);
        Ok(true)
    }

    /// Tells that we are here, if it is time.
    fn give_sign(&mut self) -> bool {
        if self.signed.is_some_and(|signed| signed.elapsed() < SIGN) {
            return false;
        }
        let sign = WorkerSign {
            machine: &self.link.membership.machine,
            process: &self.holder,
            labels: &self.labels,
            version: env!("CARGO_PKG_VERSION"),
        };
        // If it is lost, the next one tells.
        let _ = self.link.store.worker_is_there(&sign);
        self.signed = Some(Instant::now());
        true
    }

    /// Hands on what the workers of a run printed. What cannot be handed on now comes later.
    fn hand_on(&self, run: &RunId) {
        if let Ok(state) = self.context.state() {
            let _ = fleet_logs::hand_on(&self.link.store, &state, run);
        }
    }

    fn begin(&mut self, claimed: Claimed) {
        let (sender, options) = (self.sender.clone(), self.options.clone());
        let context = self.context.shared();
        self.driven.insert(claimed.run.clone());
        thread::spawn(move || drive(&context, &claimed, &options, &sender));
    }

    /// Handles what the runs tell, and waits for a call or a message.
    fn listen(&mut self, output: &mut Output) {
        let patience = if self.driven.is_empty() {
            self.await_call();
            Duration::ZERO
        } else {
            GLANCE
        };
        let mut word = self.heard.recv_timeout(patience).ok();
        while let Some(heard) = word {
            match heard {
                WorkerMessage::Line(line) => output.say(&line),
                WorkerMessage::Left(run, left) => {
                    self.driven.remove(&run);
                    self.hand_on(&run);
                    self.let_go(&run, &left, output);
                    let end = left.clone().map_err(|failure| failure.to_string());
                    self.ends.insert(run.clone(), end);
                    tell(output, &run, left);
                }
            }
            word = self.heard.try_recv().ok();
        }
    }

    fn await_call(&mut self) {
        let heard = self.watch.as_ref().map(|watch| watch.wait(POLL));
        match heard {
            Some(Ok(())) => {}
            Some(Err(_)) | None => {
                thread::sleep(POLL);
                self.watch = QueueWatch::open(&self.link.address).ok();
            }
        }
    }

    /// Tells the queue what is to become of a run that we do not drive any more.
    fn let_go(&self, run: &RunId, left: &Result<DriveEnd, Failure>, output: &mut Output) {
        let (store, why) = (
            &self.link.store,
            left.as_ref().err().map(ToString::to_string),
        );
        let version = || {
            store
                .run(run)
                .map(|stored| stored.map_or(0, |it| it.version))
        };
        let leave = |how| store.leave_queued(run, &self.holder, how);
        let done = match left {
            Ok(DriveEnd::Over(_)) => self.forget(run).and_then(|()| Ok(store.dequeue(run)?)),
            Ok(DriveEnd::Waiting(_)) => version()
                .and_then(|version| leave(LetGo::UntilItChanges { version }))
                .map_err(Failure::from),
            // The queue itself holds it up, until the day ends or a person raises the cap.
            Ok(DriveEnd::Limited { .. }) if matches!(store.cap_reached(run), Ok(Some(_))) => {
                leave(LetGo::Free).map_err(Failure::from)
            }
            Ok(DriveEnd::Limited { until, .. }) => {
                let wait = until.0.saturating_sub(clock::now().0);
                let how = LetGo::For(Duration::from_millis(wait));
                leave(how).map_err(Failure::from)
            }
            Ok(DriveEnd::Stopped) => leave(LetGo::Free).map_err(Failure::from),
            Err(_) => {
                let how = LetGo::Failed {
                    why: why.as_deref().unwrap_or_default(),
                    delay: AFTER_FAILURE,
                };
                leave(how).map_err(Failure::from)
            }
        };
        if let Err(failure) = done {
            output.say(&format!("{run}: {failure}"));
        }
    }

    /// Nobody needs the trees of a run that is over.
    fn forget(&self, run: &RunId) -> Result<(), Failure> {
        let state = self.context.state()?;
        fleet_look::forget(&state, run);
        let Some(stored) = self.link.store.run(run)? else {
            return Ok(());
        };
        let folder = fleet_seat::project_folder(&state, &stored.home);
        let project = FleetProject {
            folder: &folder,
            environment: &self.context.environment,
        };
        project.forget(run)
    }

    fn leave(&self) {
        // A worker that does not say so is seen to be silent.
        let machine = &self.link.membership.machine;
        let _ = self.link.store.worker_ends(machine, &self.holder);
    }
}

fn drive(
    context: &SharedContext,
    claimed: &Claimed,
    options: &DriveOptions,
    sender: &Sender<WorkerMessage>,
) {
    let run = &claimed.run;
    let left = |left| WorkerMessage::Left(run.clone(), left);
    let fallen = Failure::bug("the thread of this run panicked");
    let last = DropSender::new(sender.clone(), left(Err(fallen)));
    let context = context.to_context();
    let mut tell = |line: String| drop(sender.send(WorkerMessage::Line(line)));
    let mut watcher = Relay::new(run, &context.environment, &mut tell);
    let decided = Workspace::for_writing(&context).and_then(|mut workspace| {
        if let Err(failure) = prepare(&workspace, claimed) {
            let fence = claimed.lease.fence;
            // If it stays, it expires soon.
            let _ = workspace.store.claim(run, &Claim::Release { fence });
            return Err(failure);
        }
        drive_run::drive(&mut workspace, run, options, &mut watcher)
    });
    last.send(left(decided));
}

/// Brings here what the run needs: its settings, and its trees.
fn prepare(workspace: &Workspace<'_>, claimed: &Claimed) -> Result<(), Failure> {
    let (run, state) = (&claimed.run, &workspace.state);
    let settings = DriveSettings::from_text(&claimed.settings).ok_or_else(|| {
        Failure::store(format!("cannot read the settings of {run}"))
            .hint("use the same version of gatewright on every machine")
    })?;
    settings.save(state, run)?;
    let unknown = || store::Error::UnknownRun { run: run.clone() };
    let stored = workspace.store.run(run)?.ok_or_else(unknown)?;
    let folder = fleet_seat::project_folder(state, &stored.home);
    let project = FleetProject {
        folder: &folder,
        environment: &workspace.context.environment,
    };
    project.fetch(&stored.home, run)
}
