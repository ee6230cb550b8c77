//! The orchestrator: drives one run until it is over, waits for a person, or a signal stops it.
//!
//! Every step is one durable transition. What is due depends only on the run, so a new process
//! continues where the old one stopped.

mod ask_decision;
mod ask_edits;
mod ask_person;
mod driven_time;
mod judge_version;
mod resting;
mod spent_before;
mod start_workers;
mod turn;
mod waiting;
mod wishes;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{DispatchId, EngineEvent, Happening, Reply, RunId, Time, Who};
use runtime::drive_settings::DriveSettings;
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::rest::RestNote;
use runtime::run_check::{self, CheckWatch};
use runtime::transact::{self, Options, Request, Target};
use runtime::tree_turn::TreeTurn;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, ids};
use store::{Backend as _, Key};

use super::drive_options::{DriveEnd, DriveOptions, WhenLimited, WhenWaiting};
use super::due::{self, Due};
use super::kept_trees;
use super::lease::Lease;
use super::notes;
use super::notices::Notices;
use super::pool::{Member, Pool, PoolEvent, PoolReport, Shared};
use super::progress::{Progress, ProgressContext, Watcher};
use super::recent_journal::RecentJournal;
use super::recovery;
use super::run_place;
use super::slot_bid::SlotBid;
use super::slots::AgentLimits;
use super::spending::Spending;
use super::step_folder::{MergeQueue, StepFolder};
use super::wait_note::WaitNote;
use crate::agent::choice::Starter;
use crate::agent::listener::WorkerUpdate;
use crate::agent::version;
use driven_time::DrivenTime;
use runtime::lease_holder;

/// How often the progress is redrawn and signals are checked.
const TICK: Duration = Duration::from_millis(100);

/// How often a run that waits for a person is read again.
const PERSON_POLL_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct Orchestrator<'o, 'd> {
    workspace: &'o mut Workspace<'d>,
    run: RunId,
    settings: DriveSettings,
    starter: Starter,
    lease: Arc<Lease>,
    /// Set by a signal to this process. Other runs may share it, so it is never set here.
    signal: Arc<AtomicBool>,
    /// Set when this run must stop.
    stop: Arc<AtomicBool>,
    when_waiting: WhenWaiting,
    when_limited: WhenLimited,
    limits: AgentLimits,
    /// Its place among those that wait for a slot.
    bid: Arc<SlotBid>,
    /// What the workers use before the journal has it.
    spending: Arc<Spending>,
    /// How long the run is driven.
    driven: DrivenTime,
    /// The order in which the changes of parallel workers are merged.
    merge_queue: MergeQueue,
    pool: Pool,
    watcher: &'o mut dyn Watcher,
    notices: &'o mut Notices,
    begun: Instant,
    /// The turn of the run in its tree, while it works there.
    turn: Option<TreeTurn>,
    /// The run that it waits for there, as it was last reported.
    reported_holder: Option<(RunId, String)>,
    /// The stays in stages, as far as they were read.
    stays: RunReader,
    /// The last reported stage.
    reported_stage: Option<engine::StageName>,
    /// The last reported pause, so that it is reported once.
    pausing: Option<Time>,
    /// What this run waits for, as others can read it.
    wait_note: Option<WaitNote>,
    /// What this run rests for, until somebody works again.
    rest: Option<RestNote>,
    /// The version of the run at which a person was last asked.
    asked: Option<u64>,
    /// The stage whose check runs.
    checking: Option<engine::StageName>,
    /// The last entry that was searched for notes about views.
    noted: u64,
    /// The agent programs whose version was checked.
    versions: version::VersionChecks,
}

impl<'o, 'd> Orchestrator<'o, 'd> {
    /// Drives the run under this lease.
    pub(crate) fn new(
        workspace: &'o mut Workspace<'d>,
        lease: Arc<Lease>,
        run: &RunId,
        options: &DriveOptions,
        watcher: &'o mut dyn Watcher,
        notices: &'o mut Notices,
    ) -> Result<Self, Failure> {
        let settings = DriveSettings::load(&workspace.state, run)?;
        let starter = Starter::of(&settings)?;
        let bid = match &options.bid {
            Some(bid) => Arc::clone(bid),
            None => {
                let stored = workspace.read(run)?.stored;
                Arc::new(SlotBid::new(&workspace.state, &stored)?)
            }
        };
        workspace.fence = Some(lease.fence);
        Ok(Self {
            workspace,
            run: run.clone(),
            settings,
            starter,
            lease,
            signal: Arc::clone(&options.stop),
            stop: Arc::new(AtomicBool::new(false)),
            when_waiting: options.when_waiting,
            when_limited: options.when_limited,
            limits: options.limits.clone(),
            bid,
            spending: Arc::default(),
            driven: DrivenTime::default(),
            merge_queue: MergeQueue::default(),
            pool: Pool::new(),
            watcher,
            notices,
            begun: Instant::now(),
            turn: None,
            reported_holder: None,
            stays: RunReader::new(run.clone()),
            reported_stage: None,
            pausing: None,
            wait_note: None,
            rest: None,
            asked: None,
            checking: None,
            noted: 0,
            versions: version::VersionChecks::default(),
        })
    }

    /// Drives the run. However this ends, it leaves no worker of ours alive.
    pub(crate) fn drive(mut self) -> Result<DriveEnd, Failure> {
        let decided = self.drive_to_rest();
        // Ends running workers; their work stays open.
        self.stop.store(true, Ordering::Relaxed);
        while !self.pool.is_idle() {
            self.pool.wait(TICK);
        }
        self.bid.withdraw();
        let rest = self.rest.take();
        self.end_wait();
        let at_rest = self.at_rest().and_then(|()| self.report_time());
        let left = self.confirmed(decided)?;
        at_rest?;
        let opened = self.workspace.read(&self.run)?;
        self.leave_rest(&opened, rest);
        let (status, reason) = match &left {
            DriveEnd::Over(status) => (status.word(), String::new()),
            DriveEnd::Waiting(why) => ("waiting", why.clone()),
            DriveEnd::Limited { until, why } => {
                let until = views::time::moment(*until, clock::now());
                ("limited", format!("until {until}: {why}"))
            }
            DriveEnd::Stopped => ("stopped", String::new()),
        };
        let status = status.to_owned();
        self.tell(&opened, &Progress::DriveEnded { status, reason });
        Ok(left)
    }

    /// No worker is at work any more: looks around once more, unless another orchestrator does.
    fn at_rest(&mut self) -> Result<(), Failure> {
        if self.lease.is_lost() {
            return Ok(());
        }
        let opened = self.workspace.read(&self.run)?;
        let opened = self.compare_surroundings(opened)?;
        StepFolder::remove_spares(self.workspace, &opened)?;
        kept_trees::keep(self.workspace, &opened, self.spending.in_flight())?;
        self.tell_notes(&opened)
    }

    fn drive_to_rest(&mut self) -> Result<DriveEnd, Failure> {
        let opened = self.workspace.read(&self.run)?;
        let (opened, remarks) = run_place::make_here(self.workspace, opened)?;
        let mut opened = self.remark(opened, remarks)?;
        self.workspace.project_of(&opened)?;
        if opened.run().standing == engine::Standing::Queued {
            opened = match self.taken_up(opened)? {
                Some(opened) => opened,
                None => return Ok(DriveEnd::Stopped),
            };
        }
        self.note_manner(&opened)?;
        self.noted = opened.stored.version;
        let again = opened.run().last_dispatch.0 > 0;
        self.tell(&opened, &Progress::Driving { again });
        if !opened.run().dispatches.is_empty() && !self.wait_for_turn(&opened)? {
            return Ok(DriveEnd::Stopped);
        }
        self.tell_spent_before(&opened)?;
        self.take_over(opened)?;
        loop {
            if self.is_stopped() {
                return Ok(DriveEnd::Stopped);
            }
            self.is_ours()?;
            self.count_time()?;
            let opened = self.look()?;
            if let Some(left) = self.step(opened)? {
                return Ok(left);
            }
        }
    }

    /// Records once how this run differs from a normal one.
    fn note_manner(&mut self, opened: &OpenRun) -> Result<(), Failure> {
        let Some(message) = self.settings.summary() else {
            return Ok(());
        };
        let key = Key::parse("driving").map_err(|problem| Failure::bug(problem.to_string()))?;
        if !self.workspace.store.keyed(&self.run, &key)?.is_empty() {
            return Ok(());
        }
        transact::remark(self.workspace, opened.clone(), Some(&key), &message).map(drop)
    }

    fn is_stopped(&self) -> bool {
        if self.signal.load(Ordering::Relaxed) {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn is_ours(&self) -> Result<(), Failure> {
        if self.lease.is_lost() {
            Err(self.lost())
        } else {
            Ok(())
        }
    }

    /// Tells a person, now and in the history.
    fn remark(&mut self, mut opened: OpenRun, remarks: Vec<String>) -> Result<OpenRun, Failure> {
        for text in remarks {
            opened = transact::remark(self.workspace, opened, None, &text)?.opened;
            self.tell(&opened, &Progress::Remark { text });
        }
        Ok(opened)
    }

    /// Without the lease our result does not count: another orchestrator drives the run.
    fn confirmed(&self, decided: Result<DriveEnd, Failure>) -> Result<DriveEnd, Failure> {
        match self.workspace.store.lease(&self.run) {
            Ok(Some(held)) if held.fence == self.lease.fence => decided,
            Ok(_) => Err(self.lost()),
            Err(_) => decided,
        }
    }

    fn lost(&self) -> Failure {
        let (run, held) = (
            &self.run,
            self.workspace.store.lease(&self.run).ok().flatten(),
        );
        let other = lease_holder::driver(held.as_ref());
        let other = other.map_or_else(String::new, |other| format!(" ({other})"));
        Failure::refused(format!("another gatewright{other} drives {run} now"))
            .hint(format!("`gatewright status {run}` shows its progress"))
    }

    /// The current run, after its time limits were judged.
    fn look(&mut self) -> Result<OpenRun, Failure> {
        let opened = self.workspace.read(&self.run)?;
        let opened = transact::prepare(self.workspace, opened)?;
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            Ok(Request::from(Happening::Engine(EngineEvent::TimePassed)))
        };
        let decided = transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options {
                by: &Who::Engine,
                key: None,
            },
            &mut make,
        )?;
        Ok(decided.opened)
    }

    /// Any of our threads may notice a changed view, so the report is read from the journal.
    fn tell_notes(&mut self, opened: &OpenRun) -> Result<(), Failure> {
        let version = opened.stored.version;
        let after = std::mem::replace(&mut self.noted, version);
        if after == 0 || after >= version {
            return Ok(());
        }
        let entries = self
            .workspace
            .store
            .journal(&self.run, after + 1, version - after)?;
        for text in notes::of(self.workspace, &self.run, &entries)? {
            self.tell(opened, &Progress::Remark { text });
        }
        Ok(())
    }

    fn tell_move(&mut self, opened: &OpenRun) -> Result<(), Failure> {
        let stage = opened.run().position.stage.clone();
        if let Some(from) = self.reported_stage.replace(stage.clone())
            && from != stage
        {
            let spent = self.stays.spent(self.workspace, opened)?;
            let to = stage;
            self.tell(opened, &Progress::Moved { from, to, spent });
        }
        Ok(())
    }

    /// Has the check that runs been judged, and its end is not reported yet? A person who skips the stage
    /// is not kept waiting for it.
    fn has_checked(&self, opened: &OpenRun) -> Result<bool, Failure> {
        let left = self
            .checking
            .as_ref()
            .filter(|stage| **stage != opened.run().position.stage);
        match left {
            Some(stage) if self.pool.has(Member::Check) => {
                let recent = RecentJournal::of(self.workspace, opened)?;
                Ok(recent.checked(stage).is_some())
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Does one thing that is due, or waits a moment.
    fn step(&mut self, opened: OpenRun) -> Result<Option<DriveEnd>, Failure> {
        // Reports the end of a worker or of a check before the move that it caused and before the
        // next worker starts.
        if self.pool.has_ended(opened.run()) || self.has_checked(&opened)? {
            self.listen(TICK)?;
            return Ok(None);
        }
        self.tell_notes(&opened)?;
        self.tell_move(&opened)?;
        if self.needs_turn(&opened)? && !self.has_turn(&opened)? {
            self.listen(PERSON_POLL_INTERVAL)?;
            return Ok(None);
        }
        let opened = self.wake(opened)?;
        let recent = RecentJournal::of(self.workspace, &opened)?;
        let due = due::due(&opened, self.starter, recent.has_worked(&opened))?;
        if !matches!(due, Due::Workers(_) | Due::Nothing) {
            self.bid.withdraw();
        }
        match due {
            Due::Over(status) => return Ok(Some(DriveEnd::Over(status))),
            Due::Person(why) => return self.person(opened, why),
            Due::Finish => {
                let stage = &opened.run().position.stage;
                let why = format!("an agent has worked in {stage}: is it done?");
                return self.person(opened, why);
            }
            Due::Check if !self.pool.has(Member::Check) => self.check(&opened)?,
            Due::Workers(choices) => {
                if let Some(left) = self.begin(opened, &recent, choices)? {
                    return Ok(Some(left));
                }
            }
            Due::Nothing => return self.rest_or_listen(),
            Due::Check => {}
        }
        self.listen(TICK)?;
        Ok(None)
    }

    /// Handles the reports of the pool.
    fn listen(&mut self, patience: Duration) -> Result<(), Failure> {
        let mut report = self.pool.wait(patience);
        if report.is_none() {
            let opened = self.workspace.read(&self.run)?;
            self.watcher.tick(&progress_context(
                &opened,
                &self.pool,
                self.begun,
                &self.driven,
            ));
            self.grant_wish()?;
        }
        while let Some(PoolReport { who, what }) = report {
            match (who, what) {
                (_, PoolEvent::Ended(Err(failure))) => return Err(failure),
                (Member::Dispatch(dispatch), PoolEvent::Update(update)) => {
                    let what = progress_of(dispatch, update);
                    let opened = self.workspace.read(&self.run)?;
                    self.tell(&opened, &what);
                }
                (Member::Dispatch(dispatch), PoolEvent::Ended(Ok(()))) => {
                    let opened = self.workspace.read(&self.run)?;
                    let recent = RecentJournal::of(self.workspace, &opened)?;
                    if let Some((result, is_fault)) = recent.judged(dispatch) {
                        if is_fault {
                            self.versions.distrust(&self.workspace.state);
                        }
                        let what = Progress::WorkerEnded {
                            dispatch,
                            result,
                            is_fault,
                        };
                        self.tell(&opened, &what);
                    }
                }
                (Member::Check, PoolEvent::Ended(Ok(()))) => {
                    let opened = self.workspace.read(&self.run)?;
                    let recent = RecentJournal::of(self.workspace, &opened)?;
                    let stage = self.checking.take();
                    let checked = stage.and_then(|it| Some((recent.checked(&it)?, it)));
                    if let Some(((verdict, tail), stage)) = checked {
                        let what = Progress::CheckEnded {
                            stage,
                            verdict,
                            tail,
                        };
                        self.tell(&opened, &what);
                    }
                }
                (Member::Check, PoolEvent::Update(WorkerUpdate::Void(text))) => {
                    let opened = self.workspace.read(&self.run)?;
                    self.tell(&opened, &Progress::Remark { text });
                }
                (Member::Check, PoolEvent::Update(_)) => {}
            }
            report = self.pool.wait(Duration::ZERO);
        }
        Ok(())
    }

    fn tell(&mut self, opened: &OpenRun, what: &Progress) {
        let at = progress_context(opened, &self.pool, self.begun, &self.driven);
        self.watcher.tell(&at, what);
    }

    fn shared(&self) -> Shared {
        Shared {
            context: self.workspace.context.shared(),
            run: self.run.clone(),
            fence: self.lease.fence,
            stop: Arc::clone(&self.stop),
            spending: Arc::clone(&self.spending),
            bid: Arc::clone(&self.bid),
        }
    }

    fn check(&mut self, opened: &OpenRun) -> Result<(), Failure> {
        let stage = opened.run().position.stage.clone();
        self.checking = Some(stage.clone());
        self.tell(opened, &Progress::CheckBegan { stage });
        let (shared, key) = (self.shared(), ids::key()?);
        let watch = CheckWatch {
            stop: Arc::clone(&self.stop),
            call: recovery::check_call(&self.workspace.state, &self.run),
        };
        self.pool.begin(Member::Check, None, move |tell| {
            let context = shared.context.to_context();
            let mut workspace = Workspace::for_writing(&context)?;
            workspace.fence = Some(shared.fence);
            let opened = workspace.read(&shared.run)?;
            workspace.check_lease(&shared.run)?;
            match run_check::check(&mut workspace, opened, &key, &watch) {
                // The stop ended its commands; the next orchestrator runs them again.
                Err(_) if shared.stop.load(Ordering::Relaxed) => Ok(()),
                Err(failure) => Err(failure),
                Ok(decided) => {
                    if let Reply::Refuse(refusal) = decided.reply {
                        tell(WorkerUpdate::Void(refusal.reason));
                    }
                    Ok(())
                }
            }
        })
    }
}

/// What a worker reports, as an event of the run.
fn progress_of(dispatch: DispatchId, update: WorkerUpdate) -> Progress {
    match update {
        WorkerUpdate::Acted(action) => Progress::WorkerActed { dispatch, action },
        WorkerUpdate::Said(text) => Progress::WorkerSaid { dispatch, text },
        WorkerUpdate::Refused(tool) => Progress::WorkerRefused { dispatch, tool },
        WorkerUpdate::Used(usage) => Progress::WorkerUsed { dispatch, usage },
        WorkerUpdate::SentBack(reason) => Progress::WorkerSentBack { dispatch, reason },
        WorkerUpdate::Void(text) => Progress::Remark { text },
    }
}

fn progress_context<'a>(
    opened: &'a OpenRun,
    pool: &'a Pool,
    begun: Instant,
    driven: &DrivenTime,
) -> ProgressContext<'a> {
    ProgressContext {
        opened,
        at_work: &pool.at_work,
        elapsed: begun.elapsed(),
        driven_ms: driven.unreported_ms(),
        now: clock::now(),
    }
}
