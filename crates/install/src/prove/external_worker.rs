//! Workers that another program than the host runs. Their events go to the engine as `gatewright step`
//! sends them; no program starts.

use engine::{
    AgentName, DispatchId, Ending, Fault, Happening, Reply, Rule, StepId, Usage, Who, WorkEvent,
    WorkRef,
};
use hosts::Event;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};

use super::case_error::{CaseOutcome, broken};
use super::exchange::{Exchange, Expected, mismatch};
use super::hook_process::{HookOutput, ProcessEnd};
use super::host_reaction::HostReaction;
use super::payloads::{HookPayload, SimulatedWorker};
use super::simulation::Simulation;

impl Simulation {
    /// Does another program than the host do the current work of this agent?
    pub(super) fn is_external(&self, agent: &AgentName) -> CaseOutcome<bool> {
        let run = self.now()?;
        Ok(scenario::is_run_elsewhere(&self.pipeline, &run, agent))
    }

    /// Starts such a worker.
    pub(super) fn start_external(
        &mut self,
        agent: &AgentName,
        step: Option<&StepId>,
    ) -> CaseOutcome<SimulatedWorker> {
        let mut worker = self.worker(agent.as_str(), step);
        let what = Happening::Work(WorkEvent::Requested {
            agent: agent.clone(),
            step: step.cloned(),
            model: None,
            call: None,
            worker: None,
            service: None,
        });
        let decided = self.submit(&Who::Engine, what, None)?;
        self.record(&worker, "begins", Expected::Pass, as_reaction(&decided))?;
        worker.dispatch = Some(decided.opened.run().last_dispatch);
        Ok(worker)
    }

    /// Ends such a worker. The engine may send it back.
    pub(super) fn stop_external(
        &mut self,
        worker: &SimulatedWorker,
        dispatch: DispatchId,
        reply: Option<&str>,
        expected: Expected,
    ) -> CaseOutcome<()> {
        let ending = Ending::Stopping {
            worked: worker.has_worked,
        };
        let decided = self.ended(dispatch, ending, reply)?;
        self.record(worker, "ends", expected, as_reaction(&decided))
    }

    pub(super) fn crash_external(
        &mut self,
        worker: &SimulatedWorker,
        dispatch: DispatchId,
    ) -> CaseOutcome<()> {
        let ending = Ending::Fault {
            fault: Fault::Crashed,
            reason: "it was made to".to_owned(),
        };
        let decided = self.ended(dispatch, ending, None)?;
        self.record(worker, "crashes", Expected::Answer, as_reaction(&decided))
    }

    fn ended(
        &self,
        dispatch: DispatchId,
        ending: Ending,
        reply: Option<&str>,
    ) -> CaseOutcome<Decided> {
        let what = Happening::Work(WorkEvent::Ended {
            work: WorkRef::Dispatch(dispatch),
            ending,
            usage: Usage::default(),
        });
        self.submit(&Who::Engine, what, reply)
    }

    /// Submits an event that no hook sees.
    pub(super) fn submit(
        &self,
        by: &Who,
        what: Happening,
        reply: Option<&str>,
    ) -> CaseOutcome<Decided> {
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
        worker: &SimulatedWorker,
        does: &str,
        expected: Expected,
        reaction: HostReaction,
    ) -> CaseOutcome<()> {
        let payload = HookPayload {
            event: Event::Other,
            what: format!("'{}' of another program {does}", worker.agent),
            bytes: Vec::new(),
        };
        let failed = format!("{}: {}", payload.what, mismatch(expected, &reaction));
        let is_met = expected.is_met(&reaction);
        let output = HookOutput {
            ended: ProcessEnd::Code(0),
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        self.exchanges.push(Exchange {
            payload,
            expected,
            output,
            reaction,
        });
        if is_met { Ok(()) } else { broken(failed) }
    }

    /// The session must not start such an agent itself: it would be another agent under the same name.
    pub(super) fn refuse_external_in_session(&mut self, agent: &AgentName) -> CaseOutcome<()> {
        let worker = self.worker(agent.as_str(), None);
        self.refused(self.payloads.agent(&worker), &[Rule::AgentOutOfTurn])
    }
}

/// The reaction that the same reply would cause in the host.
fn as_reaction(decided: &Decided) -> HostReaction {
    let (pipeline, run) = (&decided.opened.pipeline, decided.opened.run());
    match &decided.reply {
        Reply::Hold(refusal) => HostReaction::Continue(views::refusal_in(pipeline, run, refusal)),
        // Failed work is over, so its worker gets no answer.
        Reply::Refuse(_) if decided.entries.iter().any(|(_, entry)| ends(entry)) => {
            HostReaction::Silence
        }
        Reply::Refuse(refusal) => HostReaction::Refusal(views::refusal_in(pipeline, run, refusal)),
        Reply::Allow | Reply::Inject(_) | Reply::Done => HostReaction::Silence,
    }
}

fn ends(entry: &engine::Entry) -> bool {
    matches!(entry.fact, engine::Fact::Ended { .. })
}
