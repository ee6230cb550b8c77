//! Workers in a scenario: they start, work in the invented world, and end.

use engine::{
    Actor, AgentName, Decision, Dispatch, Driver, Duty, Ending, Event, Evidence, Fault, Happening,
    Needs, Outcome, Reply, SESSION, StepId, Usage, Who, WorkEvent, WorkRef, WorkerId,
};

use super::player::{Played, Player, parsed, person};
use super::runner::is_run_elsewhere;
use super::step::{Begins, By, How, Left, Subject};
use super::work_result::{WorkResult, unplayable};

impl Player<'_> {
    pub(super) fn begin(&mut self, by: &By, subject: &Subject) -> Played<Decision> {
        let (agent, step) = self.worker(subject)?;
        let who = self.who(by, self.starter(&agent));
        let asked = self.plainly(who.clone(), requested(agent.clone(), step))?;
        if asked.reply == Reply::Allow && who.session().is_some() && self.has_begun_a_step() {
            self.seen_to_begin(who, agent)?;
        }
        Ok(asked)
    }

    fn has_begun_a_step(&self) -> bool {
        let newest = self
            .run
            .as_ref()
            .and_then(|run| run.dispatches.values().last());
        newest.is_some_and(|newest| matches!(newest.duty, Duty::Step { .. }))
    }

    /// The second of two steps of one agent is admitted after the host has reported the start of
    /// the first, and its worker.
    fn seen_to_begin(&mut self, who: Who, agent: AgentName) -> Played<()> {
        let number = self.run.as_ref().map_or(0, |run| run.last_dispatch.0);
        let id = parsed(WorkerId::parse(&format!("worker-{number}")))?;
        let worker = Actor { id, agent };
        self.plainly(who, Happening::Work(WorkEvent::Began { worker }))?;
        Ok(())
    }

    pub(super) fn work(
        &mut self,
        by: &By,
        subject: &Subject,
        begins: Begins,
        how: &How,
        usage: Usage,
    ) -> Played<Decision> {
        let (agent, step) = self.worker(subject)?;
        let is_open = self.open_work(by, &agent, step.as_ref()).is_some();
        let begin = match begins {
            Begins::Not => false,
            Begins::First => true,
            Begins::IfIdle => !is_open,
        };
        if begin && self.driver == Driver::ByHand {
            return self.report(by, subject, how, usage);
        }
        // The main session always exists: its work is admitted when it is done.
        if begin && agent.as_str() != SESSION {
            self.lay_old(&agent, step.as_ref(), by, how)?;
            let decision = self.begin(by, subject)?;
            if !matches!(decision.reply, Reply::Allow | Reply::Inject(_)) {
                return Ok(decision);
            }
        }
        self.end(by, agent, step, how, usage)
    }

    fn end(
        &mut self,
        by: &By,
        agent: AgentName,
        step: Option<StepId>,
        how: &How,
        usage: Usage,
    ) -> Played<Decision> {
        let open = self.open_work(by, &agent, step.as_ref()).cloned();
        let is_session = agent.as_str() == SESSION;
        let starter = self.starter(&agent);
        let what = Happening::Work(WorkEvent::Ended {
            work: WorkRef::Agent { agent, step },
            ending: ending(how),
            usage,
        });
        let event = Event {
            at: self.world.now,
            by: self.who(by, starter),
            what,
        };
        let evidence = if open.is_some() || is_session {
            self.left(&event, open.as_ref(), how)?
        } else {
            Evidence::default()
        };
        self.happen(event.by, event.what, evidence)
    }

    pub(super) fn report(
        &mut self,
        by: &By,
        subject: &Subject,
        how: &How,
        usage: Usage,
    ) -> Played<Decision> {
        let (agent, step) = self.worker(subject)?;
        let said = match how {
            How::Outcome(outcome) => Some(outcome.clone()),
            How::Fault(
                fault @ (Fault::Crashed
                | Fault::Timeout
                | Fault::Strayed
                | Fault::Conflict
                | Fault::Limited),
            ) => Some(parsed(Outcome::parse(fault.word()))?),
            How::Well | How::Adds(_) | How::Fault(_) | How::Says(_) | How::Leaves { .. } => None,
        };
        let what = Happening::Work(WorkEvent::Reported {
            agent: Some(agent),
            step,
            said,
            usage,
        });
        let event = Event {
            at: self.world.now,
            by: self.who(by, person()),
            what,
        };
        let evidence = match self.driver {
            Driver::ByHand => self.left(&event, None, how)?,
            Driver::Guarded | Driver::Headless => Evidence::default(),
        };
        self.happen(event.by, event.what, evidence)
    }

    /// Does the work in the world, and reads the evidence.
    fn left(&mut self, event: &Event, open: Option<&Dispatch>, how: &How) -> Played<Evidence> {
        let run = self.running()?;
        let needs = engine::needs(self.pipeline, run, event);
        let is_idle = open.is_none() && needs == Needs::default();
        match WorkResult::new(self.pipeline, run, open, how).filter(|_| !is_idle) {
            Some(leaving) => leaving.leave(&mut self.world, &needs),
            None => Ok(Evidence::default()),
        }
    }

    /// `leaves an old artifact` needs an existing file.
    fn lay_old(
        &mut self,
        agent: &AgentName,
        step: Option<&StepId>,
        by: &By,
        how: &How,
    ) -> Played<()> {
        let How::Leaves {
            state: Left::Old, ..
        } = how
        else {
            return Ok(());
        };
        let what = requested(agent.clone(), step.cloned());
        let event = Event {
            at: self.world.now,
            by: self.who(by, self.starter(agent)),
            what,
        };
        let needs = engine::needs(self.pipeline, self.running()?, &event);
        needs
            .artifacts
            .iter()
            .for_each(|need| self.world.litter(need));
        Ok(())
    }

    /// Who starts this agent and reports its end: the host, or our side if the host cannot.
    fn starter(&self, agent: &AgentName) -> Who {
        let run = self.run.as_ref();
        let elsewhere = run.is_some_and(|run| is_run_elsewhere(self.pipeline, run, agent));
        if elsewhere && self.driver == Driver::Guarded {
            Who::Engine
        } else {
            self.host()
        }
    }

    fn open_work(&self, by: &By, agent: &AgentName, step: Option<&StepId>) -> Option<&Dispatch> {
        let session = self.who(by, self.starter(agent)).session().cloned();
        self.run.as_ref()?.dispatches.values().find(|open| {
            let its_step = open.duty.step();
            open.agent == *agent
                && open.session == session
                && step.is_none_or(|step| its_step == Some(step))
        })
    }

    /// The agent and the step of a subject. A step belongs to the agent in the plan.
    fn worker(&self, subject: &Subject) -> Played<(AgentName, Option<StepId>)> {
        match subject {
            Subject::Agent(agent) => Ok((agent.clone(), None)),
            Subject::AgentWithStep(agent, step) => Ok((agent.clone(), Some(step.clone()))),
            Subject::Step(id) => {
                let run = self.running()?;
                let graph = run.graphs.get(&run.position.stage);
                let members = graph.into_iter().flat_map(|graph| &graph.members);
                let planned = members
                    .map(|member| &member.step)
                    .chain(&self.world.plan.steps);
                match planned.into_iter().find(|step| step.id == *id) {
                    Some(step) => Ok((step.agent.clone(), Some(id.clone()))),
                    None => unplayable(
                        format!("no step `{id}` is planned here"),
                        format!("say who works: `AGENT with step {id} …`"),
                    ),
                }
            }
        }
    }
}

/// How the host reports an end. What is missing shows in the artifacts.
fn ending(how: &How) -> Ending {
    match how {
        How::Fault(fault @ (Fault::Crashed | Fault::Timeout)) => Ending::Fault {
            fault: *fault,
            reason: String::from("the scenario says so"),
        },
        How::Fault(Fault::Hollow) => Ending::Finished { worked: false },
        How::Well
        | How::Outcome(_)
        | How::Adds(_)
        | How::Fault(_)
        | How::Says(_)
        | How::Leaves { .. } => Ending::Finished { worked: true },
    }
}

fn requested(agent: engine::AgentName, step: Option<engine::StepId>) -> Happening {
    Happening::Work(WorkEvent::Requested {
        agent,
        step,
        model: None,
        call: None,
        worker: None,
        service: None,
    })
}
