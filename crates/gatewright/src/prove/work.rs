//! Agents at work, from the call to the end, as the host tells of them.

use engine::{AgentName, Outcome, StageName, StepId, Writes};
use serde_json::{Value, json};

use super::exchange::Expected;
use super::scene::Scene;
use super::trouble::{Tried, broken};
use super::wire::Worker;

/// What a worker has done before it ends.
pub struct Done {
    /// What it says last, if anything.
    pub reply: Option<String>,
    pub tool_uses: u64,
}

/// What a piece of work is to end with.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// With the only good outcome that there is.
    Well,
    Outcome(Outcome),
    /// With this word, whatever the pipeline makes of it.
    Word(String),
}

impl Scene {
    /// Names a worker that the host has not begun yet.
    pub fn worker(&mut self, agent: &str, step: Option<&StepId>) -> Worker {
        let number = self.number();
        Worker {
            agent: agent.to_owned(),
            call: format!("toolu_prove_{number}"),
            id: format!("aprove{number}"),
            step: step.cloned(),
            dispatch: None,
            has_worked: false,
        }
    }

    /// Asks for an agent, and begins it when the hook does not object.
    pub fn begins(&mut self, agent: &AgentName, step: Option<&StepId>) -> Tried<Worker> {
        if self.is_elsewhere(agent)? {
            return self.begins_elsewhere(agent, step);
        }
        let worker = self.worker(agent.as_str(), step);
        self.hook(self.pen.agent(&worker), Expected::Pass)?;
        self.hook(self.pen.agent_began(&worker), Expected::Pass)?;
        Ok(worker)
    }

    /// The worker uses a tool that its stage lets it use; nothing, where that is none.
    pub fn uses_a_tool(&mut self, worker: &mut Worker) -> Tried<u64> {
        if worker.dispatch.is_some() {
            worker.has_worked = true;
            return Ok(1);
        }
        let Some(tool) = self.free_tool()? else {
            return Ok(0);
        };
        let input = self.input_of(tool);
        self.hook(self.pen.tool(Some(worker), tool, &input), Expected::Pass)?;
        Ok(1)
    }

    /// A tool that the present stage does not forbid.
    pub fn free_tool(&self) -> Tried<Option<&'static str>> {
        for tool in ["Read", "Grep", "Bash", "Write"] {
            if !self.denies(tool)? {
                return Ok(Some(tool));
            }
        }
        Ok(None)
    }

    /// Does the present stage forbid this tool?
    pub fn denies(&self, tool: &str) -> Tried<bool> {
        let run = self.now()?;
        let stage = self.pipeline.stage(&run.position.stage);
        Ok(stage.is_some_and(|stage| stage.tools_deny.iter().any(|pattern| pattern.covers(tool))))
    }

    /// The input of a tool that harms nobody.
    pub fn input_of(&self, tool: &str) -> Value {
        match tool {
            "Bash" => json!({ "command": "ls" }),
            "Grep" => json!({ "pattern": "x" }),
            _ => json!({ "file_path": self.path("made-up.txt").to_string_lossy() }),
        }
    }

    /// The worker does its work: it changes what it may change, and leaves what it must leave.
    pub fn does(&mut self, worker: &mut Worker, verdict: &Verdict) -> Tried<Done> {
        let changed = self.change()?;
        let left = self.leave(Some(&*worker), verdict)?;
        let tool_uses = match left.tool_uses {
            0 => self.uses_a_tool(worker)?,
            some => some,
        };
        let is_watched = worker.dispatch.is_none() && self.is_restricted();
        if let Some(path) = changed.filter(|_| is_watched) {
            let input = json!({ "file_path": path });
            let used = self.pen.tool_used(Some(worker), "Write", &input);
            self.hook(used, Expected::Pass)?;
        }
        Ok(Done {
            reply: Some(left.reply),
            tool_uses,
        })
    }

    /// May the present stage change only some files?
    fn is_restricted(&self) -> bool {
        let stage = self.now().map(|run| run.position.stage);
        let stage = stage.ok().and_then(|stage| self.pipeline.stage(&stage));
        stage.is_some_and(|stage| matches!(stage.writes, Writes::Only(_)))
    }

    /// The worker wants to end.
    pub fn stops(&mut self, worker: &Worker, reply: Option<&str>, expected: Expected) -> Tried<()> {
        match worker.dispatch {
            Some(dispatch) => self.stops_elsewhere(worker, dispatch, reply, expected),
            None => self
                .hook(self.pen.agent_stops(worker, reply), expected)
                .map(drop),
        }
    }

    /// The worker ends, and the host tells it twice, as it does.
    pub fn ends(&mut self, worker: &Worker, done: &Done) -> Tried<()> {
        self.stops(worker, done.reply.as_deref(), Expected::Pass)?;
        self.returns(worker, done)
    }

    /// The host tells that a worker has ended.
    pub fn returns(&mut self, worker: &Worker, done: &Done) -> Tried<()> {
        if worker.dispatch.is_some() {
            return Ok(());
        }
        let reply = done.reply.as_deref();
        let returned = self.pen.agent_returned(worker, reply, done.tool_uses);
        self.hook(returned, Expected::Answer).map(drop)
    }

    pub fn crashes(&mut self, worker: &Worker) -> Tried<()> {
        match worker.dispatch {
            Some(dispatch) => self.crashes_elsewhere(worker, dispatch),
            None => self
                .hook(self.pen.agent_failed(worker), Expected::Answer)
                .map(drop),
        }
    }

    /// Insists that the run is where this says.
    pub fn is_in(&self, stage: &StageName) -> Tried<()> {
        let now = self.now()?.position.stage;
        if now == *stage {
            Ok(())
        } else {
            broken(format!("the run is in {now}, and should be in {stage}"))
        }
    }
}
