//! Work that rests: its service asks to wait, it passed the budget, or an orchestrator was stopped. It goes
//! on in the same attempt, with its own service or a fallback.

use engine::{
    Dispatch, EngineEvent, Happening, InFlight, Reply, ServiceLimit, Standing, Time, Usage,
    WorkEvent,
};
use runtime::caps::{self, CapReached};
use runtime::clock;
use runtime::failure::Failure;
use runtime::known_limits;
use runtime::workspace::OpenRun;
use views::facts::RestCause;

use super::{Orchestrator, TICK};
use crate::agent::choice::{self, Choice};
use crate::drive_options::{DriveEnd, WhenLimited};
use crate::fleet_caps;
use crate::pool::Member;
use crate::progress::Progress;
use crate::recovery::{self, RecoveryAction};
use crate::report::report;

/// Why nothing may start, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceRest {
    pub(super) until: Time,
    pub(super) why: String,
    pub(super) cause: RestCause,
}

impl ServiceRest {
    pub(super) fn limited(limit: &ServiceLimit) -> Self {
        Self {
            until: limit.until,
            why: views::limit_reason(limit),
            cause: RestCause::Service,
        }
    }

    fn capped(until: Time, why: String) -> Self {
        let cause = RestCause::Cap;
        Self { until, why, cause }
    }
}

impl Orchestrator<'_, '_> {
    /// Goes on with rested work whose service works again.
    pub(super) fn wake(&mut self, mut opened: OpenRun) -> Result<OpenRun, Failure> {
        let rests = opened.run().standing == Standing::Going && !self.resting(&opened).is_empty();
        if !rests || self.is_in_flight(&opened) || self.cap_reached(&opened)?.is_some() {
            return Ok(opened);
        }
        for dispatch in self.resting(&opened) {
            let choice = choice::of_dispatch(&opened.pipeline, &dispatch, self.starter)?;
            let Some(choice) = choice else { continue };
            opened = self.heed_known_limits(opened, &choice)?;
            let now = clock::now();
            if let Ok(way) = choice.available(self.starter, opened.run(), now)? {
                opened = self.wake_one(opened, &dispatch, &way)?;
            }
        }
        Ok(opened)
    }

    /// What another run of the project knows to be limited is passed over for a fallback, and that is recorded.
    pub(super) fn heed_known_limits(
        &mut self,
        mut opened: OpenRun,
        choice: &Choice,
    ) -> Result<OpenRun, Failure> {
        let now = clock::now();
        let known = known_limits::of(&self.workspace.state, &opened.stored.project, now);
        for limit in choice.passed_over(self.starter, opened.run(), &known, now)? {
            let (service, words) = (&limit.service, views::limit_words(&limit));
            let text = format!("another run found that {service} is limited {words}");
            self.tell(&opened, &Progress::Remark { text });
            let known = Happening::Engine(EngineEvent::LimitKnown(limit));
            opened = report(self.workspace, opened, &known)?.opened;
        }
        Ok(opened)
    }

    /// The open work of this visit that rests and that nobody here works on.
    fn resting(&self, opened: &OpenRun) -> Vec<Dispatch> {
        let run = opened.run();
        let open = run.dispatches.values();
        let rests = open.filter(|open| {
            let here = open.visit == run.position.visit && open.paused_at.is_some();
            here && !self.pool.has(Member::Dispatch(open.id))
        });
        rests.cloned().collect()
    }

    fn wake_one(
        &mut self,
        opened: OpenRun,
        dispatch: &Dispatch,
        way: &Choice,
    ) -> Result<OpenRun, Failure> {
        let in_own_folder = way.step.is_some() && crate::step_folder::is_parallel(&opened);
        if !in_own_folder && !self.pool.is_idle() {
            return Ok(opened);
        }
        let Some(slot) = self.slot_of(&opened, way.runner.word())? else {
            return Ok(opened);
        };
        let Some(call) = dispatch.call.clone() else {
            return Ok(opened);
        };
        let service = way.service()?;
        let is_fallback = dispatch.service.as_ref().is_some_and(|own| *own != service);
        let went_on = Happening::Work(WorkEvent::WentOn {
            dispatch: dispatch.id,
            service: service.clone(),
        });
        let decided = report(self.workspace, opened, &went_on)?;
        if matches!(decided.reply, Reply::Refuse(_)) {
            return Ok(decided.opened);
        }
        let opened = decided.opened;
        let (id, agent) = (dispatch.id, &dispatch.agent);
        let fallback = if is_fallback { "the fallback " } else { "" };
        let text = format!("{id} '{agent}' continues with {fallback}{service}");
        self.tell(&opened, &Progress::Remark { text });
        let mut work = recovery::of_dispatch(self.workspace, &opened, dispatch);
        if let Some(record) = &mut work.record
            && record.runner != way.runner.word()
        {
            // A conversation belongs to its program. The files are there.
            record.conversation = None;
            way.runner.word().clone_into(&mut record.runner);
        }
        // Its folder stays, also where it has no conversation to go on with.
        work.action = RecoveryAction::GoOn;
        self.restart(&opened, &work, way, &call, slot)?;
        Ok(opened)
    }

    /// Nothing is due. If nobody works before a service works again, the run rests.
    pub(super) fn rest_or_listen(&mut self) -> Result<Option<DriveEnd>, Failure> {
        let opened = self.workspace.read(&self.run)?;
        if self.resting(&opened).is_empty() {
            self.bid.withdraw();
        }
        let limit = match self.limit(&opened)? {
            None if !self.resting(&opened).is_empty() => self.cap_reached(&opened)?.flatten(),
            limit => limit,
        };
        let limit = limit.filter(|_| self.pool.is_idle());
        let left = match limit {
            Some(limit) => self.rest_for(&opened, Some(limit))?,
            None => None,
        };
        if left.is_none() {
            self.listen(TICK)?;
        }
        Ok(left)
    }

    /// Says once until when the run rests, and leaves it if others may be driven meanwhile.
    pub(super) fn rest_for(
        &mut self,
        opened: &OpenRun,
        rest: Option<ServiceRest>,
    ) -> Result<Option<DriveEnd>, Failure> {
        let Some(rest) = rest.filter(|_| self.pool.is_idle()) else {
            return Ok(None);
        };
        self.note_rest(opened, &rest);
        let ServiceRest { until, why, .. } = rest;
        if self.pausing.replace(until) != Some(until) {
            let why = why.clone();
            self.tell(opened, &Progress::Pausing { until, why });
        }
        Ok(match self.when_limited {
            WhenLimited::Leave => Some(DriveEnd::Limited { until, why }),
            WhenLimited::Stay => None,
        })
    }

    /// Do those at work use up the budget? Then nothing new starts until it is known what they used.
    pub(super) fn is_in_flight(&self, opened: &OpenRun) -> bool {
        let more = InFlight {
            usage: self.spending.in_flight(),
            driven_ms: 0,
        };
        let (pipeline, run) = (&opened.pipeline, opened.run());
        more.usage != Usage::default()
            && engine::overspent_with(pipeline, run, clock::now(), more).is_some()
    }

    /// Has a cap for all runs been used up? Then nothing new starts: until a day has passed, or until a
    /// person has raised it.
    #[expect(clippy::option_option, reason = "a cap may be reached without an end")]
    pub(super) fn cap_reached(
        &mut self,
        opened: &OpenRun,
    ) -> Result<Option<Option<ServiceRest>>, Failure> {
        let Some(cap) = caps::reached(&self.workspace.state, clock::now())? else {
            let cap = fleet_caps::reached(self.workspace, &opened.stored)?;
            return Ok(cap.map(|(until, what)| Some(ServiceRest::capped(until, what))));
        };
        let CapReached { what, until } = cap;
        if until.is_none() && self.pool.is_idle() {
            let capped = Happening::Engine(EngineEvent::Capped { what: what.clone() });
            report(self.workspace, opened.clone(), &capped)?;
        }
        Ok(Some(until.map(|until| ServiceRest::capped(until, what))))
    }

    /// The limit that ends first of those that rested work waits for.
    fn limit(&self, opened: &OpenRun) -> Result<Option<ServiceRest>, Failure> {
        let now = clock::now();
        let mut soonest: Option<ServiceLimit> = None;
        for dispatch in self.resting(opened) {
            let choice = choice::of_dispatch(&opened.pipeline, &dispatch, self.starter)?;
            let Some(choice) = choice else { continue };
            let Err(limit) = choice.available(self.starter, opened.run(), now)? else {
                return Ok(None);
            };
            let is_sooner = soonest
                .as_ref()
                .is_none_or(|known| limit.until < known.until);
            soonest = if is_sooner { Some(limit) } else { soonest };
        }
        Ok(soonest.as_ref().map(ServiceRest::limited))
    }
}
