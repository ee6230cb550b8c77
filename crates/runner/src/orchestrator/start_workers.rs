//! Admits and starts due workers, and continues what a dead orchestrator left.

use engine::{CallId, Dispatch, Happening, Refusal, Reply, Status, Time, Who, WorkEvent};
use runtime::claim::Claim;
use runtime::clock;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::watchdog::kill_call;
use runtime::workspace::{OpenRun, Workspace};

use super::resting::ServiceRest;
use super::{Orchestrator, TICK};
use crate::agent::choice::{self, Choice};
use crate::agent::listener::WorkerUpdate;
use crate::agent::spawn_spec::{self, SpawnOverrides, SpawnSpec};
use crate::agent::work::{FoundFiles, StartFrom};
use crate::drive_options::DriveEnd;
use crate::pool::Member;
use crate::progress::{Progress, Worker};
use crate::recent_journal::RecentJournal;
use crate::recovery::{self, InterruptedWork, RecoveryAction};
use crate::slots::Slot;
use crate::stale_files;
use crate::step_folder::{StepAttempt, StepFolder, StepLocation};
use crate::surroundings::{Place, Surroundings};
use crate::wait_note::WaitNote;
use crate::worker_task::WorkerTask;
use runtime::work_record::Record;

impl Orchestrator<'_, '_> {
    /// Starts due workers, up to the limit of parallel workers.
    pub(super) fn begin(
        &mut self,
        opened: OpenRun,
        recent: &RecentJournal,
        due: Vec<Choice>,
    ) -> Result<Option<DriveEnd>, Failure> {
        let now = clock::now();
        let mut opened = opened;
        let mut pause: Option<(Time, String)> = None;
        let mut limit: Option<ServiceRest> = None;
        if let Some(cap) = self.cap_reached(&opened)? {
            return self.rest_for(&opened, cap);
        }
        if self.is_in_flight(&opened) {
            return Ok(None);
        }
        for choice in due {
            match recent.pause(&opened, &choice) {
                Some((until, why)) if until > now => {
                    pause = match pause {
                        Some(earlier) if earlier.0 <= until => Some(earlier),
                        Some(_) | None => Some((until, why)),
                    };
                }
                Some(_) | None => {
                    opened = self.heed_known_limits(opened, &choice)?;
                    match choice.available(self.starter, opened.run(), now)? {
                        Ok(way) => match self.start(opened, &way)? {
                            Some(now) => opened = now,
                            None => return Ok(None),
                        },
                        Err(found) => {
                            let found = ServiceRest::limited(&found);
                            limit = match limit {
                                Some(earlier) if earlier.until <= found.until => Some(earlier),
                                Some(_) | None => Some(found),
                            };
                        }
                    }
                }
            }
        }
        let is_unpaused = pause.is_none();
        if let Some((until, why)) = pause.filter(|_| self.pool.is_idle())
            && self.pausing.replace(until) != Some(until)
        {
            self.note_wait(WaitNote::Pause {
                until,
                why: why.clone(),
            });
            self.tell(&opened, &Progress::Pausing { until, why });
        }
        match limit.filter(|_| is_unpaused && self.pool.is_idle()) {
            Some(limit) => self.rest_for(&opened, Some(limit)),
            None => Ok(None),
        }
    }

    /// The run afterwards; nothing where seconds have passed, and somebody must look again at what is due.
    ///
    /// Invariant: what cannot start costs no attempt, so everything is prepared before it is
    /// admitted.
    fn start(&mut self, opened: OpenRun, choice: &Choice) -> Result<Option<OpenRun>, Failure> {
        if self.has_enough(&opened) {
            return Ok(Some(opened));
        }
        let runner = choice.runner.word();
        let Some(slot) = self.slot_of(&opened, runner)? else {
            self.wait_for_slot_of(&opened, runner);
            return Ok(Some(opened));
        };
        if self.has_asked_version(&opened, choice)? {
            // The next look takes the slot again.
            let names = self.limits.names(runner);
            self.bid.place(names, opened.run().last_dispatch.0 > 0);
            return Ok(None);
        }
        let claim = Claim::new(&self.workspace.state)?;
        let step_folder = self.new_step_folder(&opened, choice, &claim)?;
        // Without its own worktree a worker shares the run's worktree, so it must be alone.
        if step_folder.is_none() && !self.pool.is_idle() {
            return Ok(Some(opened));
        }
        let surroundings = Surroundings::of(self.workspace, &opened)?;
        let ready = self.spawn_spec(&opened, choice, &claim, step_folder.as_deref());
        let admitted = ready.and_then(|spec| {
            if let Some(surroundings) = &surroundings {
                let place = place(step_folder.as_deref());
                surroundings.begin(claim.call(), place)?;
            }
            let admitted = self.admit(opened, choice, claim.call())?;
            let dispatch = admitted.opened.run().work_of_call(claim.call()).cloned();
            Ok((spec, dispatch, admitted))
        });
        let (spec, dispatch, admitted) = match admitted {
            Ok((spec, Some(dispatch), admitted)) => (spec, dispatch, admitted),
            not_begun => {
                step_folder.map_or(Ok(()), |mut step_folder| step_folder.clear())?;
                surroundings.map_or(Ok(()), |it| it.end(claim.call()))?;
                return not_begun.and_then(|(_, _, admitted)| self.turned_down(admitted).map(Some));
            }
        };
        let task = WorkerTask {
            record: Record::new(&self.run, &dispatch, runner),
            claim,
            dispatch,
            spec,
            from: StartFrom::Beginning,
            found: FoundFiles::New,
            step_folder,
            slot,
            slot_names: self.limits.names(runner),
        };
        self.hand_over(&admitted.opened, choice, task)?;
        Ok(Some(admitted.opened))
    }

    fn spawn_spec(
        &self,
        opened: &OpenRun,
        choice: &Choice,
        claim: &Claim,
        step_folder: Option<&StepFolder>,
    ) -> Result<SpawnSpec, Failure> {
        let overrides = SpawnOverrides {
            stand_in: self.settings.stand_in.as_deref(),
            step_folder: step_folder.map(StepFolder::folder),
        };
        spawn_spec::prepare(self.workspace, opened, choice, claim, overrides)
    }

    fn new_step_folder(
        &self,
        opened: &OpenRun,
        choice: &Choice,
        claim: &Claim,
    ) -> Result<Option<Box<StepFolder>>, Failure> {
        let Some(step) = &choice.step else {
            StepFolder::remove_spares(self.workspace, opened)?;
            return Ok(None);
        };
        let attempt = StepAttempt {
            step,
            call: claim.call(),
            restarts: 0,
        };
        self.step_folder(opened, attempt)
    }

    fn step_folder(
        &self,
        opened: &OpenRun,
        attempt: StepAttempt<'_>,
    ) -> Result<Option<Box<StepFolder>>, Failure> {
        let (queue, stop) = (&self.merge_queue, &self.stop);
        let location = StepFolder::create(self.workspace, opened, attempt, queue, stop)?;
        Ok(match location {
            StepLocation::Shared => None,
            StepLocation::Own(step_folder) => Some(step_folder),
        })
    }

    /// Has the stage as many workers as it allows?
    fn has_enough(&self, opened: &OpenRun) -> bool {
        let run = opened.run();
        let stage = opened.pipeline.stage(&run.position.stage);
        let most = match stage.map(|stage| &stage.work) {
            Some(engine::Work::Steps(work)) => engine::parallel_limit(run, work),
            Some(
                engine::Work::Agent(_)
                | engine::Work::Open(_)
                | engine::Work::Check(_)
                | engine::Work::Ask(_)
                | engine::Work::Review(_)
                | engine::Work::Route(_)
                | engine::Work::End(_),
            )
            | None => 1,
        };
        let open = run.dispatches.values();
        // Work that rests for its service leaves its place to others.
        let at_work =
            |open: &&Dispatch| open.visit == run.position.visit && open.paused_at.is_none();
        let open = open.filter(at_work).count();
        u32::try_from(open).unwrap_or(u32::MAX) >= most
    }

    fn admit(
        &mut self,
        opened: OpenRun,
        choice: &Choice,
        call: &CallId,
    ) -> Result<Decided, Failure> {
        let what = Happening::Work(WorkEvent::Requested {
            agent: choice.agent.clone(),
            step: choice.step.clone(),
            model: None,
            call: Some(call.clone()),
            worker: None,
            service: Some(choice.service()?),
        });
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| Ok(Request::from(what.clone()));
        transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options {
                by: &Who::Engine,
                key: None,
            },
            &mut make,
        )
    }

    /// The engine did not admit it: the run moved, waits, or has used up its budget.
    fn turned_down(&mut self, decided: Decided) -> Result<OpenRun, Failure> {
        if let Reply::Refuse(Refusal { reason, .. }) = &decided.reply {
            let text = reason.clone();
            self.tell(&decided.opened, &Progress::Remark { text });
        }
        // Another process may have changed the run; if nothing changes, we must not retry for ever.
        let status = engine::status(&decided.opened.pipeline, decided.opened.run());
        if let Reply::Refuse(refusal) = &decided.reply
            && status == Status::Running
            && self.pool.is_idle()
        {
            return Err(Failure::refused(views::refusal(refusal))
                .hint(format!("type `gatewright why {}`", self.run)));
        }
        Ok(decided.opened)
    }

    /// Starts a thread for the task.
    fn hand_over(
        &mut self,
        opened: &OpenRun,
        choice: &Choice,
        mut task: WorkerTask,
    ) -> Result<(), Failure> {
        self.end_wait();
        let dispatch = &task.dispatch;
        if let Some(step_folder) = &mut task.step_folder {
            step_folder.enter(dispatch.id);
            task.record.step_folder = Some(step_folder.folder_text()?);
        }
        let worker = Worker {
            dispatch: dispatch.id,
            agent: dispatch.agent.clone(),
            step: dispatch.duty.step().cloned(),
            runner: choice.runner.word().to_owned(),
            model: choice.settings.model.clone(),
            attempt: views::attempt(opened.run(), dispatch),
        };
        let is_over = matches!(task.from, StartFrom::ProcessEnd(_));
        let (who, shared) = (Member::Dispatch(dispatch.id), self.shared());
        let run = move |tell: &mut dyn FnMut(WorkerUpdate)| task.run(&shared, tell);
        self.pool.begin(who, Some(worker.clone()), run)?;
        self.bid.withdraw();
        let what = if is_over {
            let (id, agent) = (worker.dispatch, worker.agent);
            let text = format!("{id} '{agent}' had ended: its work is judged now");
            Progress::Remark { text }
        } else {
            Progress::WorkerBegan { worker }
        };
        self.tell(opened, &what);
        Ok(())
    }

    /// Kills the processes that a dead orchestrator left, and continues their work.
    pub(super) fn take_over(&mut self, mut opened: OpenRun) -> Result<(), Failure> {
        kill_call(&recovery::check_call(&self.workspace.state, &self.run));
        let all = recovery::interrupted(self.workspace, &opened);
        all.iter().for_each(InterruptedWork::kill_processes);
        opened = self.compare_surroundings(opened)?;
        stale_files::remove(self.workspace, &opened)?;
        for work in all {
            // Rested work goes on when its service works again.
            let rests = work.dispatch.paused_at.is_some() && work.action.goes_on();
            if !rests {
                opened = self.go_on(opened, &work)?;
            }
        }
        Ok(())
    }

    /// Nobody works: what the last workers left behind is compared once more.
    pub(super) fn compare_surroundings(&mut self, opened: OpenRun) -> Result<OpenRun, Failure> {
        let Some(surroundings) = Surroundings::of(self.workspace, &opened)? else {
            return Ok(opened);
        };
        let opened = surroundings.compare_at_rest(self.workspace, opened)?;
        surroundings.end_all()?;
        Ok(opened)
    }

    fn go_on(&mut self, opened: OpenRun, work: &InterruptedWork) -> Result<OpenRun, Failure> {
        let (id, agent) = (work.dispatch.id, &work.dispatch.agent);
        let text = format!(
            "'{agent}' ({id}) was interrupted: {}",
            work.action.description()
        );
        self.tell(&opened, &Progress::Remark { text });
        let choice = choice::of_dispatch(&opened.pipeline, &work.dispatch, self.starter)?;
        let (Some(choice), Some(call)) = (choice, &work.dispatch.call) else {
            return work.close(self.workspace, opened);
        };
        match work.action {
            RecoveryAction::Late | RecoveryAction::GiveUp => {
                let restarts = work.record.as_ref().map_or(0, |record| record.restarts);
                self.abandon(&opened, &choice, call, restarts)?;
                work.close(self.workspace, opened)
            }
            RecoveryAction::Judge | RecoveryAction::GoOn | RecoveryAction::BeginAnew => {
                let slot = self.wait_for_slot(&opened, &choice)?;
                self.restart(&opened, work, &choice, call, slot)?;
                Ok(opened)
            }
        }
    }

    /// Starts a thread for interrupted work, in the same attempt.
    pub(super) fn restart(
        &mut self,
        opened: &OpenRun,
        work: &InterruptedWork,
        choice: &Choice,
        call: &CallId,
        slot: Slot,
    ) -> Result<(), Failure> {
        if self.has_asked_version(opened, choice)? && !self.is_still_open(work)? {
            return Ok(());
        }
        let claim = Claim::take_over(&self.workspace.state, call)?;
        let new = || Record::new(&self.run, &work.dispatch, choice.runner.word());
        let mut record = work.record.clone().unwrap_or_else(new);
        let begins_anew = work.action == RecoveryAction::BeginAnew
            || self.has_lost_worktree(opened, choice, call, record.restarts)?;
        if begins_anew {
            self.abandon(opened, choice, call, record.restarts)?;
            record.restarts += 1;
            record.conversation = None;
            record.ended = None;
        }
        let step_folder = match &choice.step {
            Some(step) => {
                let attempt = StepAttempt {
                    step,
                    call,
                    restarts: record.restarts,
                };
                self.step_folder(opened, attempt)?
            }
            None => None,
        };
        if let Some(surroundings) = Surroundings::of(self.workspace, opened)? {
            let place = place(step_folder.as_deref());
            surroundings.begin(claim.call(), place)?;
        }
        let task = WorkerTask {
            spec: self.spawn_spec(opened, choice, &claim, step_folder.as_deref())?,
            claim,
            dispatch: work.dispatch.clone(),
            record,
            from: if begins_anew {
                StartFrom::Beginning
            } else {
                work.start_from()
            },
            found: found_again(step_folder.as_deref()),
            step_folder,
            slot,
            slot_names: self.limits.names(choice.runner.word()),
        };
        self.hand_over(opened, choice, task)
    }

    /// Seconds have passed: may this work still go on here?
    fn is_still_open(&mut self, work: &InterruptedWork) -> Result<bool, Failure> {
        let opened = self.workspace.read(&self.run)?;
        let is_open = opened.run().dispatches.contains_key(&work.dispatch.id);
        Ok(is_open && !self.is_stopped())
    }

    fn has_lost_worktree(
        &self,
        opened: &OpenRun,
        choice: &Choice,
        call: &CallId,
        restarts: u32,
    ) -> Result<bool, Failure> {
        let Some(step) = &choice.step else {
            return Ok(false);
        };
        let attempt = StepAttempt {
            step,
            call,
            restarts,
        };
        StepFolder::is_lost(self.workspace, opened, attempt)
    }

    /// Keeps the changes of an interrupted step under a ref and removes its worktree.
    fn abandon(
        &self,
        opened: &OpenRun,
        choice: &Choice,
        call: &CallId,
        restarts: u32,
    ) -> Result<(), Failure> {
        let Some(step) = &choice.step else {
            return Ok(());
        };
        let attempt = StepAttempt {
            step,
            call,
            restarts,
        };
        StepFolder::abandon(self.workspace, opened, attempt)
    }

    /// Waits for a free slot: work that has started continues.
    fn wait_for_slot(&self, opened: &OpenRun, choice: &Choice) -> Result<Slot, Failure> {
        loop {
            match self.slot_of(opened, choice.runner.word())? {
                Some(slot) => return Ok(slot),
                None if self.is_stopped() => return Ok(Slot::default()),
                None => std::thread::sleep(TICK),
            }
        }
    }
}

/// What work finds that starts once more.
fn found_again(step_folder: Option<&StepFolder>) -> FoundFiles {
    match place(step_folder) {
        Place::NewWorktree { .. } => FoundFiles::New,
        Place::OldWorktree { .. } | Place::Project => FoundFiles::OfEarlierStart,
    }
}

fn place(step_folder: Option<&StepFolder>) -> Place<'_> {
    step_folder.map_or(Place::Project, StepFolder::surroundings_place)
}
