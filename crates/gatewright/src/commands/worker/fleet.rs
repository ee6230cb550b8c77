//! `gatewright worker --fleet`: takes runs from the queue of the fleet, and drives them here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use engine::{RunId, Seconds};
use pg_store::{Claimed, LetGo, Postgres, QueueWatch, WorkerSign};
use runner::drive_options::{DriveEnd, DriveOptions};
use runner::drive_run;
use runner::drop_sender::DropSender;
use runner::lease::Lease;
use runtime::context::{Context, SharedContext};
use runtime::drive_settings::DriveSettings;
use runtime::failure::{Failure, FailureKind};
use runtime::fleet_project::FleetProject;
use runtime::lease_holder::{self, TERM};
use runtime::workspace::Workspace;
use runtime::{clock, fleet_clones, fleet_logs, fleet_look, fleet_seat};
use store::{Access, Backend as _, DatabaseFault, Fence, Handle, SharedBackend as _};

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

/// How often our clock is compared with the database's.
const MEASURE: Duration = Duration::from_secs(60);

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
    /// The runs at work, with their leases: each is ours until the queue knows what is to become of the run.
    driven: BTreeMap<RunId, Arc<Lease>>,
    /// What the queue does not know yet.
    untold: Vec<Leaving>,
    ends: night::Ends,
    signed: Option<Instant>,
    /// When our clock was compared with the database's.
    measured: Option<Instant>,
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
            driven: BTreeMap::new(),
            untold: Vec::new(),
            ends: night::Ends::new(),
            signed: None,
            measured: None,
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
        if self.give_sign()? {
            self.driven.keys().for_each(|run| self.hand_on(run));
            self.tell_again();
        }
        let mut is_idle = true;
        while !is_stopping && self.driven.len() < worker.runs as usize {
            match self.claim() {
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

    /// The next run for us. What we drive already may look free while the database was away: it is ours all the same.
    fn claim(&self) -> Result<Option<Claimed>, store::Error> {
        let driven: Vec<RunId> = self.driven.keys().cloned().collect();
        let store = &self.link.store;
        store.claim_queued_besides(&self.holder, &self.labels, TERM, &driven)
    }

    /// Tells that we are here, if it is time. A user who may not even do that drives nothing.
    fn give_sign(&mut self) -> Result<bool, store::Error> {
        if self.signed.is_some_and(|signed| signed.elapsed() < SIGN) {
            return Ok(false);
        }
        let skew = self.measured_skew();
        let sign = WorkerSign {
            machine: &self.link.membership.machine,
            process: &self.holder,
            labels: &self.labels,
            version: env!("CARGO_PKG_VERSION"),
            skew,
        };
        match self.link.store.worker_is_there(&sign) {
            Err(error) if self.signed.is_none() && may_never(&error) => return Err(error),
            // If it is lost, the next one tells.
            Ok(()) | Err(_) => {}
        }
        self.signed = Some(Instant::now());
        Ok(true)
    }

    /// How far our clock is off, now and then: it costs a round trip.
    fn measured_skew(&mut self) -> Option<i64> {
        if self.measured.is_some_and(|at| at.elapsed() < MEASURE) {
            return None;
        }
        self.measured = Some(Instant::now());
        self.link.store.clock_skew().ok()
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
        let address = self.link.address.clone();
        let connect = move || {
            let store = Postgres::open(&address, Access::Write)?;
            Ok(Handle::Fleet(Box::new(store)))
        };
        // From now on: to fetch what the run needs may take longer than a lease lasts.
        let lease = Lease::held(&claimed.lease, &claimed.run, connect);
        let lease = Arc::new(lease);
        self.driven.insert(claimed.run.clone(), Arc::clone(&lease));
        thread::spawn(move || drive(&context, &claimed, &lease, &options, &sender));
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
                // A run of the fleet comes with its lease.
                WorkerMessage::Taken(_) | WorkerMessage::Elsewhere(_) => {}
                WorkerMessage::Left(run, left) => {
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

    /// Tells the queue what is to become of a run that we do not drive any more, and then gives its lease back.
    fn let_go(&mut self, run: &RunId, left: &Result<DriveEnd, Failure>, output: &mut Output) {
        let Some(lease) = self.driven.remove(run) else {
            return;
        };
        let leaving = Leaving {
            run: run.clone(),
            fence: lease.fence,
            left: left.clone(),
        };
        if let Err(failure) = leaving.tell(&self.link.store) {
            output.say(&format!("{run}: {failure}"));
            self.untold.push(leaving);
        } else if let Ok(DriveEnd::Over(_)) = left
            && let Err(failure) = self.forget(run)
        {
            // The run is over all the same: what stays at the remote is in nobody's way.
            output.say(&format!(
                "{run} is over, and its trees stay at the remote: {failure}"
            ));
        }
        // It may wait for a database that is away.
        thread::spawn(move || drop(lease));
    }

    /// Tells the queue what it does not know yet: until it knows, another machine may take the run, and then nothing changes.
    fn tell_again(&mut self) {
        let store = &self.link.store;
        self.untold.retain(|leaving| leaving.tell(store).is_err());
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

/// Would the database refuse it however often we ask?
fn may_never(error: &store::Error) -> bool {
    matches!(
        error,
        store::Error::Database {
            fault: DatabaseFault::Forbidden | DatabaseFault::ReadOnly,
            ..
        }
    )
}

/// A run that we do not drive any more, and why.
struct Leaving {
    run: RunId,
    fence: Fence,
    left: Result<DriveEnd, Failure>,
}

impl Leaving {
    fn tell(&self, store: &Postgres) -> Result<(), Failure> {
        let run = &self.run;
        let how = match &self.left {
            Ok(DriveEnd::Over(_)) => return Ok(store.end_queued(run, self.fence)?),
            Ok(DriveEnd::Waiting(_)) => {
                let version = store.run(run)?.map_or(0, |stored| stored.version);
                LetGo::UntilItChanges { version }
            }
            // The queue itself holds it up, until the day ends or a person raises the cap.
            Ok(DriveEnd::Limited { .. }) if matches!(store.cap_reached(run), Ok(Some(_))) => {
                LetGo::Free
            }
            Ok(DriveEnd::Limited { until, .. }) => {
                let wait = until.0.saturating_sub(clock::now().0);
                LetGo::For(Duration::from_millis(wait))
            }
            Ok(DriveEnd::Stopped) => LetGo::Free,
            Err(failure) => return self.tell_failure(store, failure),
        };
        Ok(store.leave_queued(run, self.fence, how)?)
    }

    fn tell_failure(&self, store: &Postgres, failure: &Failure) -> Result<(), Failure> {
        let why = &failure.to_string();
        let how = match failure.kind {
            FailureKind::Unreachable => LetGo::Outage {
                why,
                delay: Duration::ZERO,
            },
            FailureKind::Usage
            | FailureKind::Refused
            | FailureKind::NotFound
            | FailureKind::Settings
            | FailureKind::Environment
            | FailureKind::Store
            | FailureKind::Bug => LetGo::Failed {
                why,
                delay: AFTER_FAILURE,
            },
        };
        Ok(store.leave_queued(&self.run, self.fence, how)?)
    }
}

fn drive(
    context: &SharedContext,
    claimed: &Claimed,
    lease: &Arc<Lease>,
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
        prepare(&workspace, claimed)?;
        drive_run::drive_under(&mut workspace, lease, run, options, &mut watcher)
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
