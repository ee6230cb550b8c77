//! The orchestrator: one run, decided until it is over, waits for a person, or we are stopped.
//!
//! Every step is one durable transition. What is due is told from the run alone, so a new process finds
//! what the old one would have done next.

mod asking;
mod deciding;
mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{EngineEvent, Fact, Happening, Reply, Rule, RunId, Time, Who};
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::file_lock::PATIENCE;
use runtime::run_check::{self, Watch};
use runtime::transact::{self, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, ids, path_collision};
use store::{Backend as _, Key};

use super::drive_options::{DriveOptions, LeftOff, Patience};
use super::due::{self, Due};
use super::lease::{self, Lease};
use super::pool::{Member, Pool, Report, Shared, What};
use super::progress::{Glance, Progress, Watcher};
use super::recent_journal::RecentJournal;
use super::recovery;
use super::slots::Limits;
use super::step_folder::Queue;
use crate::agent::choice::Starter;
use crate::agent::listener::Told;
use crate::agent::version;

/// How often a picture is drawn again, and signals are looked at.
const TICK: Duration = Duration::from_millis(100);

/// How often a run that waits for a person is looked at.
const GLANCE: Duration = Duration::from_secs(1);

pub struct Orchestrator<'o, 'd> {
    workspace: &'o mut Workspace<'d>,
    run: RunId,
    settings: DriveSettings,
    starter: Starter,
    lease: Lease,
    /// Somebody wants all of us to stop. Other runs may listen to it, too, so it is never set here.
    signal: Arc<AtomicBool>,
    /// This run stops.
    stop: Arc<AtomicBool>,
    patience: Patience,
    limits: Limits,
    /// The order in which what parallel workers did comes back.
    queue: Queue,
    pool: Pool,
    watcher: &'o mut dyn Watcher,
    begun: Instant,
    /// The stage that was told last.
    told: Option<engine::StageName>,
    /// What was told last of a pause, so that it is told once.
    pausing: Option<Time>,
    /// The version of the run at which a person was asked last.
    asked: Option<u64>,
    /// The stage whose commands are run.
    checking: Option<engine::StageName>,
    /// The last entry of which was told what concerns the run's views.
    noted: u64,
    /// The agent programs whose version was looked at.
    versions: version::Asked,
}

impl<'o, 'd> Orchestrator<'o, 'd> {
    /// Takes the run's lease.
    pub fn new(
        workspace: &'o mut Workspace<'d>,
        run: &RunId,
        options: &DriveOptions,
        watcher: &'o mut dyn Watcher,
    ) -> Result<Self, Failure> {
        let settings = DriveSettings::of(&workspace.state, run)?;
        let starter = Starter::of(&settings)?;
        let lease = Lease::take(workspace, run)?;
        workspace.fence = Some(lease.fence);
        Ok(Self {
            workspace,
            run: run.clone(),
            settings,
            starter,
            lease,
            signal: Arc::clone(&options.stop),
            stop: Arc::new(AtomicBool::new(false)),
            patience: options.patience,
            limits: options.limits.clone(),
            queue: Queue::default(),
            pool: Pool::new(),
            watcher,
            begun: Instant::now(),
            told: None,
            pausing: None,
            asked: None,
            checking: None,
            noted: 0,
            versions: version::Asked::default(),
        })
    }

    /// Drives the run. However this ends, no worker of ours is left alive.
    pub fn drive(mut self) -> Result<LeftOff, Failure> {
        let decided = self.drive_on();
        // Whoever is still at work is ended; its work stays open.
        self.stop.store(true, Ordering::Relaxed);
        while !self.pool.is_idle() {
            self.pool.wait(TICK);
        }
        let left = self.confirmed(decided)?;
        let opened = self.workspace.read(&self.run)?;
        let (status, reason) = match &left {
            LeftOff::Over(status) => (status.word(), String::new()),
            LeftOff::Waiting(why) => ("waiting", why.clone()),
            LeftOff::Stopped => ("stopped", String::new()),
        };
        let status = status.to_owned();
        self.tell(&opened, &Progress::Left { status, reason });
        Ok(left)
    }

    fn drive_on(&mut self) -> Result<LeftOff, Failure> {
        let mut opened = self.workspace.read(&self.run)?;
        self.workspace.project_of(&opened)?;
        if opened.run().standing == engine::Standing::Queued {
            opened = self.take_up(opened)?;
        }
        self.note_manner(&opened)?;
        let again = opened.run().last_dispatch.0 > 0;
        self.tell(&opened, &Progress::Driving { again });
        self.take_over(opened)?;
        loop {
            if self.is_stopped() {
                return Ok(LeftOff::Stopped);
            }
            self.is_ours()?;
            let opened = self.look()?;
            if let Some(left) = self.step(opened)? {
                return Ok(left);
            }
        }
    }

    /// Invariant: from the look for other runs to the taking up nobody else begins one.
    fn take_up(&mut self, opened: OpenRun) -> Result<OpenRun, Failure> {
        let _turn = self.workspace.state.wait_to_start(PATIENCE)?;
        let definition = opened.pipeline.definition();
        let worktree = opened.stored.worktree.clone();
        path_collision::refuse(self.workspace, definition, opened.run(), &worktree)?;
        transact::alone(
            self.workspace,
            opened,
            &Who::Engine,
            Happening::Engine(EngineEvent::TakenUp),
        )
    }

    /// What differs from the usual way stands in the history, once.
    fn note_manner(&mut self, opened: &OpenRun) -> Result<(), Failure> {
        let Some(message) = self.settings.told() else {
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

    /// What one that has lost its lease saw or failed at counts for nothing: another one goes on.
    fn confirmed(&self, decided: Result<LeftOff, Failure>) -> Result<LeftOff, Failure> {
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
        let other = lease::driver(held.as_ref());
        let other = other.map_or_else(String::new, |other| format!(" ({other})"));
        Failure::no(format!("another gatewright{other} drives {run} now"))
            .hint(format!("`gatewright status {run}` shows how it goes"))
    }

    /// The run as it is, with its time judged.
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

    /// What somebody did to a view may have been noticed by any of our threads, so it is told from the
    /// journal.
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
        for stored in &entries {
            if let (Rule::ViewChanged, Fact::Noted { message }) =
                (stored.entry.rule, &stored.entry.fact)
            {
                let text = message.clone();
                self.tell(opened, &Progress::Remark { text });
            }
        }
        Ok(())
    }

    fn tell_move(&mut self, opened: &OpenRun) {
        let stage = opened.run().position.stage.clone();
        if let Some(from) = self.told.replace(stage.clone())
            && from != stage
        {
            self.tell(opened, &Progress::Moved { from, to: stage });
        }
    }

    /// Does one thing that is due, or waits a moment.
    fn step(&mut self, opened: OpenRun) -> Result<Option<LeftOff>, Failure> {
        // Whoever has ended is heard before it is told where that led, and before the next one begins.
        if self.pool.has_ended(opened.run()) {
            self.listen(TICK)?;
            return Ok(None);
        }
        self.tell_notes(&opened)?;
        self.tell_move(&opened);
        let recent = RecentJournal::of(self.workspace, &opened)?;
        match due::due(&opened, self.starter, recent.has_worked(&opened))? {
            Due::Over(status) => return Ok(Some(LeftOff::Over(status))),
            Due::Person(why) => return self.person(opened, why),
            Due::Finish => {
                let stage = &opened.run().position.stage;
                let why = format!("an agent has worked in {stage}: is it done?");
                return self.person(opened, why);
            }
            Due::Check if !self.pool.has(Member::Check) => self.check(&opened)?,
            Due::Workers(choices) => self.begin(opened, &recent, choices)?,
            Due::Check | Due::Nothing => {}
        }
        self.listen(TICK)?;
        Ok(None)
    }

    /// Hears what the pool has to say.
    fn listen(&mut self, patience: Duration) -> Result<(), Failure> {
        let mut report = self.pool.wait(patience);
        if report.is_none() {
            let opened = self.workspace.read(&self.run)?;
            self.watcher.tick(&glance(&opened, &self.pool, self.begun));
        }
        while let Some(Report { who, what }) = report {
            match (who, what) {
                (_, What::Over(Err(failure))) => return Err(failure),
                (Member::Dispatch(dispatch), What::Told(told)) => {
                    let what = match told {
                        Told::Acted(action) => Progress::WorkerActed { dispatch, action },
                        Told::Used(usage) => Progress::WorkerUsed { dispatch, usage },
                        Told::SentBack(reason) => Progress::WorkerSentBack { dispatch, reason },
                        Told::Void(text) => Progress::Remark { text },
                    };
                    let opened = self.workspace.read(&self.run)?;
                    self.tell(&opened, &what);
                }
                (Member::Dispatch(dispatch), What::Over(Ok(()))) => {
                    let opened = self.workspace.read(&self.run)?;
                    let recent = RecentJournal::of(self.workspace, &opened)?;
                    if let Some((result, is_fault)) = recent.judged(dispatch) {
                        let what = Progress::WorkerEnded {
                            dispatch,
                            result,
                            is_fault,
                        };
                        self.tell(&opened, &what);
                    }
                }
                (Member::Check, What::Over(Ok(()))) => {
                    let opened = self.workspace.read(&self.run)?;
                    let recent = RecentJournal::of(self.workspace, &opened)?;
                    let stage = self.checking.take();
                    let checked = stage.and_then(|it| Some((recent.checked(&it)?, it)));
                    if let Some(((passed, tail), stage)) = checked {
                        let what = Progress::CheckEnded {
                            stage,
                            passed,
                            tail,
                        };
                        self.tell(&opened, &what);
                    }
                }
                (Member::Check, What::Told(Told::Void(text))) => {
                    let opened = self.workspace.read(&self.run)?;
                    self.tell(&opened, &Progress::Remark { text });
                }
                (Member::Check, What::Told(_)) => {}
            }
            report = self.pool.wait(Duration::ZERO);
        }
        Ok(())
    }

    fn tell(&mut self, opened: &OpenRun, what: &Progress) {
        let at = glance(opened, &self.pool, self.begun);
        self.watcher.tell(&at, what);
    }

    fn shared(&self) -> Shared {
        Shared {
            whereabouts: self.workspace.context.whereabouts(),
            run: self.run.clone(),
            fence: self.lease.fence,
            stop: Arc::clone(&self.stop),
        }
    }

    fn check(&mut self, opened: &OpenRun) -> Result<(), Failure> {
        let stage = opened.run().position.stage.clone();
        self.checking = Some(stage.clone());
        self.tell(opened, &Progress::CheckBegan { stage });
        let (shared, key) = (self.shared(), ids::key()?);
        let watch = Watch {
            stop: Arc::clone(&self.stop),
            call: recovery::check_call(&self.workspace.state, &self.run),
        };
        self.pool.begin(Member::Check, None, move |tell| {
            let context = shared.whereabouts.context();
            let mut workspace = Workspace::for_writing(&context)?;
            workspace.fence = Some(shared.fence);
            let opened = workspace.read(&shared.run)?;
            workspace.still_ours(&shared.run)?;
            match run_check::check(&mut workspace, opened, (&key, &watch)) {
                // Its commands were ended with us, and run again when somebody goes on.
                Err(_) if shared.stop.load(Ordering::Relaxed) => Ok(()),
                Err(failure) => Err(failure),
                Ok(decided) => {
                    if let Reply::Refuse(refusal) = decided.reply {
                        tell(Told::Void(refusal.reason));
                    }
                    Ok(())
                }
            }
        })
    }
}

fn glance<'a>(opened: &'a OpenRun, pool: &'a Pool, begun: Instant) -> Glance<'a> {
    Glance {
        opened,
        at_work: &pool.at_work,
        elapsed: begun.elapsed(),
        now: clock::now(),
    }
}
