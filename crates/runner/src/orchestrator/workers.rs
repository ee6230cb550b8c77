//! Workers: who may begin is admitted and started, and what another orchestrator left goes on.

use engine::{CallId, Happening, Refusal, Reply, Status, StepId, Time, Who, WorkEvent};
use runtime::claim::Claim;
use runtime::clock;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::watchdog::end_marked;
use runtime::workspace::{OpenRun, Workspace};

use super::{Orchestrator, TICK};
use crate::agent::choice::{self, Choice};
use crate::agent::listener::Told;
use crate::agent::record::Record;
use crate::agent::spawn_spec::{self, SpawnSpec, Special};
use crate::agent::work::From;
use crate::job::Job;
use crate::leftovers;
use crate::pool::Member;
use crate::progress::{Progress, Worker};
use crate::recent_journal::RecentJournal;
use crate::recovery::{self, How, Left};
use crate::slots::Slot;
use crate::step_folder::{StepFolder, Where};

impl Orchestrator<'_, '_> {
    /// Starts those who may begin, as many as may work at once.
    pub(super) fn begin(
        &mut self,
        opened: OpenRun,
        recent: &RecentJournal,
        due: Vec<Choice>,
    ) -> Result<(), Failure> {
        let now = clock::now();
        let mut opened = opened;
        let mut pause: Option<(Time, String)> = None;
        for choice in due {
            match recent.pause(&opened, &choice) {
                Some((until, why)) if until > now => {
                    pause = match pause {
                        Some(earlier) if earlier.0 <= until => Some(earlier),
                        Some(_) | None => Some((until, why)),
                    };
                }
                Some(_) | None => opened = self.start(opened, &choice)?,
            }
        }
        if let Some((until, why)) = pause.filter(|_| self.pool.is_idle())
            && self.pausing.replace(until) != Some(until)
        {
            self.tell(&opened, &Progress::Pausing { until, why });
        }
        Ok(())
    }

    /// Invariant: what cannot be started costs no attempt, so all is made ready before it is admitted.
    fn start(&mut self, opened: OpenRun, choice: &Choice) -> Result<OpenRun, Failure> {
        if self.has_enough(&opened) {
            return Ok(opened);
        }
        let runner = choice.runner.word();
        let Some(slot) = self.limits.take(&self.workspace.state, runner)? else {
            return Ok(opened);
        };
        let claim = Claim::new(&self.workspace.state)?;
        let step_folder = match &choice.step {
            Some(step) => self.step_folder(&opened, (step, claim.call(), 0))?,
            None => None,
        };
        // Without a folder of its own a worker works where all others do, and so alone.
        if step_folder.is_none() && !self.pool.is_idle() {
            return Ok(opened);
        }
        let ready = self.order(&opened, choice, (&claim, step_folder.as_deref()));
        let admitted = ready.and_then(|order| {
            let admitted = self.admit(opened, choice, claim.call())?;
            let dispatch = admitted.opened.run().work_of_call(claim.call()).cloned();
            Ok((order, dispatch, admitted))
        });
        let (order, dispatch, admitted) = match admitted {
            Ok((order, Some(dispatch), admitted)) => (order, dispatch, admitted),
            not_begun => {
                step_folder.map_or(Ok(()), |step_folder| step_folder.clear())?;
                return not_begun.and_then(|(_, _, admitted)| self.turned_down(admitted));
            }
        };
        let job = Job {
            record: Record::new(&self.run, &dispatch, runner),
            claim,
            dispatch,
            order,
            from: From::TheBeginning,
            step_folder,
            slot,
        };
        self.hand_over(&admitted.opened, choice, job)?;
        Ok(admitted.opened)
    }

    fn order(
        &mut self,
        opened: &OpenRun,
        choice: &Choice,
        (claim, step_folder): (&Claim, Option<&StepFolder>),
    ) -> Result<SpawnSpec, Failure> {
        let special = Special {
            stand_in: self.settings.stand_in.as_deref(),
            step_folder: step_folder.map(StepFolder::folder),
        };
        let order = spawn_spec::prepare(self.workspace, opened, choice, (claim, special))?;
        if let Some(text) = self.versions.look_at(&order)? {
            transact::remark(self.workspace, opened.clone(), None, &text)?;
            self.tell(opened, &Progress::Remark { text });
        }
        Ok(order)
    }

    fn step_folder(
        &self,
        opened: &OpenRun,
        of: (&StepId, &CallId, u32),
    ) -> Result<Option<Box<StepFolder>>, Failure> {
        let with = (&self.queue, &self.stop);
        Ok(match StepFolder::make(self.workspace, opened, of, with)? {
            Where::Together => None,
            Where::Apart(step_folder) => Some(step_folder),
        })
    }

    /// Are as many at work as the stage allows?
    fn has_enough(&self, opened: &OpenRun) -> bool {
        let run = opened.run();
        let stage = opened.pipeline.stage(&run.position.stage);
        let most = match stage.map(|stage| &stage.work) {
            Some(engine::Work::Steps(work)) => engine::parallel_limit(run, work),
            _ => 1,
        };
        let open = run.dispatches.values();
        let open = open.filter(|open| open.visit == run.position.visit).count();
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
            call: Some(call.clone()),
            worker: None,
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

    /// The engine did not admit it: the run has moved, or waits now, or its budget is used up.
    fn turned_down(&mut self, decided: Decided) -> Result<OpenRun, Failure> {
        if let Reply::Refuse(Refusal { reason, .. }) = &decided.reply {
            let text = reason.clone();
            self.tell(&decided.opened, &Progress::Remark { text });
        }
        // Somebody else may have been quicker; if nothing changes, we must not try for ever.
        let status = engine::status(&decided.opened.pipeline, decided.opened.run());
        match (&decided.reply, status) {
            (Reply::Refuse(refusal), Status::Running) if self.pool.is_idle() => {
                Err(Failure::no(views::refusal(refusal))
                    .hint(format!("`gatewright why {}` tells more", self.run)))
            }
            _ => Ok(decided.opened),
        }
    }

    /// A thread goes on with it.
    fn hand_over(
        &mut self,
        opened: &OpenRun,
        choice: &Choice,
        mut job: Job,
    ) -> Result<(), Failure> {
        let dispatch = &job.dispatch;
        if let Some(step_folder) = &job.step_folder {
            step_folder.enter(dispatch.id);
            job.record.step_folder = Some(step_folder.folder_text()?);
        }
        let worker = Worker {
            dispatch: dispatch.id,
            agent: dispatch.agent.clone(),
            step: dispatch.duty.step().cloned(),
            runner: choice.runner.word().to_owned(),
            model: choice.settings.model.clone(),
            attempt: dispatch.attempt,
        };
        let (who, shared) = (Member::Dispatch(dispatch.id), self.shared());
        let work = move |tell: &mut dyn FnMut(Told)| job.work(&shared, tell);
        self.pool.begin(who, Some(worker.clone()), work)?;
        self.tell(opened, &Progress::WorkerBegan { worker });
        Ok(())
    }

    /// Ends what is left of an orchestrator that was killed, and goes on with its work.
    pub(super) fn take_over(&mut self, mut opened: OpenRun) -> Result<(), Failure> {
        end_marked(&recovery::check_call(&self.workspace.state, &self.run));
        let all = recovery::left(self.workspace, &opened);
        all.iter().for_each(Left::end);
        leftovers::clear(self.workspace, &opened)?;
        for left in all {
            opened = self.go_on(opened, &left)?;
        }
        Ok(())
    }

    fn go_on(&mut self, opened: OpenRun, left: &Left) -> Result<OpenRun, Failure> {
        let (id, agent) = (left.dispatch.id, &left.dispatch.agent);
        let text = format!("'{agent}' ({id}) was interrupted: {}", left.how.told());
        self.tell(&opened, &Progress::Remark { text });
        let choice = choice::of_dispatch(&opened.pipeline, &left.dispatch, self.starter)?;
        let (Some(choice), Some(call)) = (choice, &left.dispatch.call) else {
            return left.close(self.workspace, opened);
        };
        match left.how {
            How::Late | How::GiveUp => {
                if let Some(step) = &choice.step {
                    let restarts = left.record.as_ref().map_or(0, |record| record.restarts);
                    StepFolder::abandon(self.workspace, &opened, (step, call, restarts))?;
                }
                left.close(self.workspace, opened)
            }
            How::Judge | How::GoOn | How::BeginAnew => {
                let claim = Claim::take_over(&self.workspace.state, call)?;
                let mut record = left.record.clone().unwrap_or_else(|| {
                    Record::new(&self.run, &left.dispatch, choice.runner.word())
                });
                if left.how == How::BeginAnew {
                    if let Some(step) = &choice.step {
                        let of = (step, call, record.restarts);
                        StepFolder::abandon(self.workspace, &opened, of)?;
                    }
                    record.restarts += 1;
                    record.conversation = None;
                }
                let slot = self.wait_for_slot(&choice)?;
                let step_folder = match &choice.step {
                    Some(step) => self.step_folder(&opened, (step, call, record.restarts))?,
                    None => None,
                };
                let job = Job {
                    order: self.order(&opened, &choice, (&claim, step_folder.as_deref()))?,
                    claim,
                    dispatch: left.dispatch.clone(),
                    record,
                    from: left.from(),
                    step_folder,
                    slot,
                };
                self.hand_over(&opened, &choice, job)?;
                Ok(opened)
            }
        }
    }

    /// Work that has begun goes on, as soon as there is a place for it.
    fn wait_for_slot(&self, choice: &Choice) -> Result<Slot, Failure> {
        loop {
            let slot = self
                .limits
                .take(&self.workspace.state, choice.runner.word())?;
            match slot {
                Some(slot) => return Ok(slot),
                None if self.is_stopped() => return Ok(Slot::default()),
                None => std::thread::sleep(TICK),
            }
        }
    }
}
