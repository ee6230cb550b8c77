//! Workers: who may begin is admitted and started, and what another orchestrator left goes on.

use engine::{CallId, Happening, Refusal, Reply, Status, StepId, Time, Who};

use super::{Orchestrator, TICK};
use crate::clock;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Deed, Driven};
use crate::failure::Failure;
use crate::headless::crew::Member;
use crate::headless::job::Job;
use crate::headless::leftovers;
use crate::headless::looking_back::Recent;
use crate::headless::progress::{Progress, Worker};
use crate::headless::recovery::{self, How, Left};
use crate::headless::slots::Slot;
use crate::headless::workplace::{Where, Workplace};
use crate::worker::choice::{self, Choice};
use crate::worker::claim::Claim;
use crate::worker::end_marked;
use crate::worker::listener::Told;
use crate::worker::order::{self, Order, Special};
use crate::worker::record::Record;
use crate::worker::work::From;

impl Orchestrator<'_, '_> {
    /// Starts those who may begin, as many as may work at once.
    pub(super) fn begin(
        &mut self,
        opened: Opened,
        recent: &Recent,
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
        if let Some((until, why)) = pause.filter(|_| self.crew.is_idle())
            && self.pausing.replace(until) != Some(until)
        {
            self.tell(&opened, &Progress::Pausing { until, why });
        }
        Ok(())
    }

    /// Invariant: what cannot be started costs no attempt, so all is made ready before it is admitted.
    fn start(&mut self, opened: Opened, choice: &Choice) -> Result<Opened, Failure> {
        if self.has_enough(&opened) {
            return Ok(opened);
        }
        let runner = choice.runner.word();
        let Some(slot) = self.limits.take(&self.desk.state, runner)? else {
            return Ok(opened);
        };
        let claim = Claim::new(&self.desk.state)?;
        let workplace = match &choice.step {
            Some(step) => self.workplace(&opened, (step, claim.call(), 0))?,
            None => None,
        };
        // Without a folder of its own a worker works where all others do, and so alone.
        if workplace.is_none() && !self.crew.is_idle() {
            return Ok(opened);
        }
        let ready = self.order(&opened, choice, (&claim, workplace.as_deref()));
        let admitted = ready.and_then(|order| {
            let admitted = self.admit(opened, choice, claim.call())?;
            let dispatch = admitted.opened.run().work_of_call(claim.call()).cloned();
            Ok((order, dispatch, admitted))
        });
        let (order, dispatch, admitted) = match admitted {
            Ok((order, Some(dispatch), admitted)) => (order, dispatch, admitted),
            not_begun => {
                workplace.map_or(Ok(()), |workplace| workplace.clear())?;
                return not_begun.and_then(|(_, _, admitted)| self.turned_down(admitted));
            }
        };
        let job = Job {
            record: Record::new(&self.run, &dispatch, runner),
            claim,
            dispatch,
            order,
            from: From::TheBeginning,
            workplace,
            slot,
        };
        self.hand_over(&admitted.opened, choice, job)?;
        Ok(admitted.opened)
    }

    fn order(
        &mut self,
        opened: &Opened,
        choice: &Choice,
        (claim, workplace): (&Claim, Option<&Workplace>),
    ) -> Result<Order, Failure> {
        let special = Special {
            stand_in: self.settings.stand_in.as_deref(),
            workplace: workplace.map(Workplace::folder),
        };
        let order = order::prepare(self.desk, opened, choice, (claim, special))?;
        if let Some(text) = self.versions.look_at(&order)? {
            drive::remark(self.desk, opened.clone(), None, &text)?;
            self.tell(opened, &Progress::Remark { text });
        }
        Ok(order)
    }

    fn workplace(
        &self,
        opened: &Opened,
        of: (&StepId, &CallId, u32),
    ) -> Result<Option<Box<Workplace>>, Failure> {
        let with = (&self.queue, &self.stop);
        Ok(match Workplace::make(self.desk, opened, of, with)? {
            Where::Together => None,
            Where::Apart(workplace) => Some(workplace),
        })
    }

    /// Are as many at work as the stage allows?
    fn has_enough(&self, opened: &Opened) -> bool {
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

    fn admit(&mut self, opened: Opened, choice: &Choice, call: &CallId) -> Result<Driven, Failure> {
        let what = Happening::AgentRequested {
            agent: choice.agent.clone(),
            step: choice.step.clone(),
            call: Some(call.clone()),
            worker: None,
        };
        let mut make = |_: &Desk<'_>, _: &Opened, _| Ok(Deed::from(what.clone()));
        drive::witness(self.desk, opened, (&Who::Engine, None), &mut make)
    }

    /// The engine did not admit it: the run has moved, or waits now, or its budget is used up.
    fn turned_down(&mut self, driven: Driven) -> Result<Opened, Failure> {
        if let Reply::Refuse(Refusal { reason, .. }) = &driven.reply {
            let text = reason.clone();
            self.tell(&driven.opened, &Progress::Remark { text });
        }
        // Somebody else may have been quicker; if nothing changes, we must not try for ever.
        let status = engine::status(&driven.opened.pipeline, driven.opened.run());
        match (&driven.reply, status) {
            (Reply::Refuse(refusal), Status::Running) if self.crew.is_idle() => {
                Err(Failure::no(views::refusal(refusal))
                    .hint(format!("`gatewright why {}` tells more", self.run)))
            }
            _ => Ok(driven.opened),
        }
    }

    /// A thread goes on with it.
    fn hand_over(&mut self, opened: &Opened, choice: &Choice, mut job: Job) -> Result<(), Failure> {
        let dispatch = &job.dispatch;
        if let Some(workplace) = &job.workplace {
            workplace.enter(dispatch.id);
            job.record.workplace = Some(workplace.folder_text()?);
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
        self.crew.begin(who, Some(worker.clone()), work)?;
        self.tell(opened, &Progress::WorkerBegan { worker });
        Ok(())
    }

    /// Ends what is left of an orchestrator that was killed, and goes on with its work.
    pub(super) fn take_over(&mut self, mut opened: Opened) -> Result<(), Failure> {
        end_marked(&recovery::check_call(&self.desk.state, &self.run));
        let all = recovery::left(self.desk, &opened);
        all.iter().for_each(Left::end);
        leftovers::clear(self.desk, &opened)?;
        for left in all {
            opened = self.go_on(opened, &left)?;
        }
        Ok(())
    }

    fn go_on(&mut self, opened: Opened, left: &Left) -> Result<Opened, Failure> {
        let (id, agent) = (left.dispatch.id, &left.dispatch.agent);
        let text = format!("'{agent}' ({id}) was interrupted: {}", left.how.told());
        self.tell(&opened, &Progress::Remark { text });
        let choice = choice::of_dispatch(&opened.pipeline, &left.dispatch, self.starter)?;
        let (Some(choice), Some(call)) = (choice, &left.dispatch.call) else {
            return left.close(self.desk, opened);
        };
        match left.how {
            How::Late | How::GiveUp => {
                if let Some(step) = &choice.step {
                    let restarts = left.record.as_ref().map_or(0, |record| record.restarts);
                    Workplace::abandon(self.desk, &opened, (step, call, restarts))?;
                }
                left.close(self.desk, opened)
            }
            How::Judge | How::GoOn | How::BeginAnew => {
                let claim = Claim::take_over(&self.desk.state, call)?;
                let mut record = left.record.clone().unwrap_or_else(|| {
                    Record::new(&self.run, &left.dispatch, choice.runner.word())
                });
                if left.how == How::BeginAnew {
                    if let Some(step) = &choice.step {
                        let of = (step, call, record.restarts);
                        Workplace::abandon(self.desk, &opened, of)?;
                    }
                    record.restarts += 1;
                    record.conversation = None;
                }
                let slot = self.wait_for_slot(&choice)?;
                let workplace = match &choice.step {
                    Some(step) => self.workplace(&opened, (step, call, record.restarts))?,
                    None => None,
                };
                let job = Job {
                    order: self.order(&opened, &choice, (&claim, workplace.as_deref()))?,
                    claim,
                    dispatch: left.dispatch.clone(),
                    record,
                    from: left.from(),
                    workplace,
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
            let slot = self.limits.take(&self.desk.state, choice.runner.word())?;
            match slot {
                Some(slot) => return Ok(slot),
                None if self.is_stopped() => return Ok(Slot::default()),
                None => std::thread::sleep(TICK),
            }
        }
    }
}
