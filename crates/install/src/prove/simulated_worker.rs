//! Simulated workers, from the request to the end.

use engine::{AgentName, Next, Outcome, StageName, StepId, Writes};
use serde_json::{Value, json};

use super::case_error::{CaseOutcome, broken};
use super::exchange::Expected;
use super::payloads::SimulatedWorker;
use super::simulation::Simulation;

/// What a worker has done before its end.
pub(super) struct WorkDone {
    /// Its last message, if any.
    pub reply: Option<String>,
    pub tool_uses: u64,
}

/// The result with which simulated work ends.
#[derive(Clone, Debug)]
pub(super) enum WantedResult {
    /// The outcome `done`, else the first one.
    Success,
    Outcome(Outcome),
    /// This outcome word, whether the pipeline knows it or not.
    Word(String),
}

impl Simulation {
    /// A worker that the host has not started yet.
    pub(super) fn worker(&mut self, agent: &str, step: Option<&StepId>) -> SimulatedWorker {
        let number = self.number();
        SimulatedWorker {
            agent: agent.to_owned(),
            call: format!("toolu_prove_{number}"),
            id: format!("aprove{number}"),
            step: step.cloned(),
            model: self.model_of(agent),
            dispatch: None,
            has_worked: false,
        }
    }

    /// The model with which this agent works now, if the definition names one.
    fn model_of(&self, agent: &str) -> Option<String> {
        let run = self.now().ok()?;
        let stage = self.pipeline.stage(&run.position.stage)?;
        let next = engine::next(&self.pipeline, &run);
        let due = next.iter().find_map(|next| match next {
            Next::Agent {
                agent: due, duty, ..
            } if due.as_str() == agent => views::worker_settings(stage, duty),
            _ => None,
        });
        due?.model.clone()
    }

    /// Requests an agent, and starts it if the hook does not object.
    pub(super) fn begins(
        &mut self,
        agent: &AgentName,
        step: Option<&StepId>,
    ) -> CaseOutcome<SimulatedWorker> {
        if self.is_external(agent)? {
            return self.start_external(agent, step);
        }
        let worker = self.worker(agent.as_str(), step);
        self.hook(self.payloads.agent(&worker), Expected::Pass)?;
        self.hook(self.payloads.agent_began(&worker), Expected::Pass)?;
        Ok(worker)
    }

    /// The worker uses a tool that its stage allows, if there is one. Returns the number of calls.
    pub(super) fn uses_a_tool(&mut self, worker: &mut SimulatedWorker) -> CaseOutcome<u64> {
        if worker.dispatch.is_some() {
            worker.has_worked = true;
            return Ok(1);
        }
        let Some(tool) = self.free_tool()? else {
            return Ok(0);
        };
        let input = self.input_of(tool);
        self.hook(
            self.payloads.tool(Some(worker), tool, &input),
            Expected::Pass,
        )?;
        Ok(1)
    }

    /// A tool that the current stage does not forbid.
    pub(super) fn free_tool(&self) -> CaseOutcome<Option<&'static str>> {
        for tool in ["Read", "Grep", "Bash", "Write"] {
            if !self.denies(tool)? {
                return Ok(Some(tool));
            }
        }
        Ok(None)
    }

    /// Does the current stage forbid this tool?
    pub(super) fn denies(&self, tool: &str) -> CaseOutcome<bool> {
        let run = self.now()?;
        let stage = self.pipeline.stage(&run.position.stage);
        Ok(stage.is_some_and(|stage| stage.tools_deny.iter().any(|pattern| pattern.covers(tool))))
    }

    /// A harmless input for a tool.
    pub(super) fn input_of(&self, tool: &str) -> Value {
        match tool {
            "Bash" => json!({ "command": "ls" }),
            "Grep" => json!({ "pattern": "x" }),
            _ => json!({ "file_path": self.path("made-up.txt").to_string_lossy() }),
        }
    }

    /// The worker changes what it may change, and writes the artifacts that it must leave.
    pub(super) fn does(
        &mut self,
        worker: &mut SimulatedWorker,
        verdict: &WantedResult,
    ) -> CaseOutcome<WorkDone> {
        let changed = self.change()?;
        let left = self.leave(Some(&*worker), verdict)?;
        let tool_uses = match left.tool_uses {
            0 => self.uses_a_tool(worker)?,
            some => some,
        };
        let is_watched = worker.dispatch.is_none() && self.is_restricted();
        if let Some(path) = changed.filter(|_| is_watched) {
            let input = json!({ "file_path": path });
            let used = self.payloads.tool_used(Some(worker), "Write", &input);
            self.hook(used, Expected::Pass)?;
        }
        Ok(WorkDone {
            reply: Some(left.reply),
            tool_uses,
        })
    }

    /// May the current stage change only some files?
    fn is_restricted(&self) -> bool {
        let stage = self.now().map(|run| run.position.stage);
        let stage = stage.ok().and_then(|stage| self.pipeline.stage(&stage));
        stage.is_some_and(|stage| matches!(stage.writes, Writes::Only(_)))
    }

    /// The worker tries to stop.
    pub(super) fn stops(
        &mut self,
        worker: &SimulatedWorker,
        reply: Option<&str>,
        expected: Expected,
    ) -> CaseOutcome<()> {
        match worker.dispatch {
            Some(dispatch) => self.stop_external(worker, dispatch, reply, expected),
            None => self
                .hook(self.payloads.agent_stops(worker, reply), expected)
                .map(drop),
        }
    }

    /// The worker ends. Like the real host, this reports the end twice.
    pub(super) fn ends(&mut self, worker: &SimulatedWorker, done: &WorkDone) -> CaseOutcome<()> {
        self.stops(worker, done.reply.as_deref(), Expected::Pass)?;
        self.returns(worker, done)
    }

    /// The host reports that a worker has ended.
    pub(super) fn returns(&mut self, worker: &SimulatedWorker, done: &WorkDone) -> CaseOutcome<()> {
        if worker.dispatch.is_some() {
            return Ok(());
        }
        let reply = done.reply.as_deref();
        let returned = self.payloads.agent_returned(worker, reply, done.tool_uses);
        self.hook(returned, Expected::Answer).map(drop)
    }

    pub(super) fn crashes(&mut self, worker: &SimulatedWorker) -> CaseOutcome<()> {
        match worker.dispatch {
            Some(dispatch) => self.crash_external(worker, dispatch),
            None => self
                .hook(self.payloads.agent_failed(worker), Expected::Answer)
                .map(drop),
        }
    }

    /// Requires that the run is in this stage.
    pub(super) fn must_be_in(&self, stage: &StageName) -> CaseOutcome<()> {
        let now = self.now()?.position.stage;
        if now == *stage {
            Ok(())
        } else {
            broken(format!("the run is in {now}, and should be in {stage}"))
        }
    }
}
