//! Workers of other programs: they are told of as `gatewright step` tells of them, and no program is
//! started.

use engine::{
    AgentName, DispatchId, Ending, Fault, Happening, Reply, Rule, StepId, Usage, Who, WorkEvent,
    WorkRef,
};
use hosts::Event;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};

use super::exchange::{Exchange, Expected, mismatch};
use super::heard::Heard;
use super::process::{Ended, Got};
use super::scene::Scene;
use super::trouble::{Tried, broken};
use super::wire::{Sent, Worker};

impl Scene {
    /// Is this agent's present work done by another program than the host?
    pub fn is_elsewhere(&self, agent: &AgentName) -> Tried<bool> {
        let run = self.now()?;
        Ok(scenario::is_run_elsewhere(&self.pipeline, &run, agent))
    }

    /// Such a worker begins.
    pub fn begins_elsewhere(&mut self, agent: &AgentName, step: Option<&StepId>) -> Tried<Worker> {
        let mut worker = self.worker(agent.as_str(), step);
        let what = Happening::Work(WorkEvent::Requested {
            agent: agent.clone(),
            step: step.cloned(),
            call: None,
            worker: None,
        });
        let decided = self.told(&Who::Engine, what, None)?;
        self.record(&worker, "begins", Expected::Pass, as_heard(&decided))?;
        worker.dispatch = Some(decided.opened.run().last_dispatch);
        Ok(worker)
    }

    /// Such a worker ends, and may be sent back.
    pub fn stops_elsewhere(
        &mut self,
        worker: &Worker,
        dispatch: DispatchId,
        reply: Option<&str>,
        expected: Expected,
    ) -> Tried<()> {
        let ending = Ending::Stopping {
            worked: worker.has_worked,
        };
        let decided = self.ended(dispatch, ending, reply)?;
        self.record(worker, "ends", expected, as_heard(&decided))
    }

    pub fn crashes_elsewhere(&mut self, worker: &Worker, dispatch: DispatchId) -> Tried<()> {
        let ending = Ending::Fault {
            fault: Fault::Crashed,
            reason: "it was made to".to_owned(),
        };
        let decided = self.ended(dispatch, ending, None)?;
        self.record(worker, "crashes", Expected::Answer, as_heard(&decided))
    }

    fn ended(&self, dispatch: DispatchId, ending: Ending, reply: Option<&str>) -> Tried<Decided> {
        let what = Happening::Work(WorkEvent::Ended {
            work: WorkRef::Dispatch(dispatch),
            ending,
            usage: Usage::default(),
        });
        self.told(&Who::Engine, what, reply)
    }

    /// Tells the engine something that no hook sees.
    pub fn told(&self, by: &Who, what: Happening, reply: Option<&str>) -> Tried<Decided> {
        let opened = self.opened()?;
        let mut workspace = Workspace::for_writing(&self.context)?;
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            Ok(Request {
                reply: reply.map(str::to_owned),
                ..Request::from(what.clone())
            })
        };
        let decided = transact::transact(
            &mut workspace,
            Target::Seen(Box::new(opened)),
            Options { by, key: None },
            &mut make,
        )?;
        self.forget();
        Ok(decided)
    }

    fn record(
        &mut self,
        worker: &Worker,
        does: &str,
        expected: Expected,
        heard: Heard,
    ) -> Tried<()> {
        let sent = Sent {
            event: Event::Other,
            what: format!("'{}' of another program {does}", worker.agent),
            bytes: Vec::new(),
        };
        let failed = format!("{}: {}", sent.what, mismatch(expected, &heard));
        let is_met = expected.is_met(&heard);
        let got = Got {
            ended: Ended::Code(0),
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        self.exchanges.push(Exchange {
            sent,
            expected,
            got,
            heard,
        });
        if is_met { Ok(()) } else { broken(failed) }
    }

    /// The session calls such a worker itself, which would be somebody else under its name.
    pub fn is_not_played(&mut self, agent: &AgentName) -> Tried<()> {
        let worker = self.worker(agent.as_str(), None);
        self.refused(self.pen.agent(&worker), &[Rule::AgentOutOfTurn])
    }
}

/// What the reply would be to a worker of the host.
fn as_heard(decided: &Decided) -> Heard {
    let (pipeline, run) = (&decided.opened.pipeline, decided.opened.run());
    match &decided.reply {
        Reply::Hold(refusal) => Heard::GoOn(views::refusal_in(pipeline, run, refusal)),
        // Work that has failed is over: its worker is not told.
        Reply::Refuse(_) if decided.entries.iter().any(|(_, entry)| ends(entry)) => Heard::Silence,
        Reply::Refuse(refusal) => Heard::Refusal(views::refusal_in(pipeline, run, refusal)),
        Reply::Allow | Reply::Inject(_) | Reply::Done => Heard::Silence,
    }
}

fn ends(entry: &engine::Entry) -> bool {
    matches!(entry.fact, engine::Fact::Ended { .. })
}
