//! The record of a worker that we started, stored next to its claim. The next orchestrator needs it
//! to settle the work if this process dies.

use std::fs;
use std::path::PathBuf;

use crate::caps;
use crate::claim;
use crate::clock;
use crate::failure::Failure;
use crate::state::{self, State};
use engine::{AgentName, CallId, Dispatch, DispatchId, Ending, Fault, Process, RunId, Usage};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub run: RunId,
    pub dispatch: DispatchId,
    pub agent: AgentName,
    /// The runner's name.
    pub runner: String,
    /// The leader of its process group, after the start.
    pub process: Option<Process>,
    /// The exact id of its conversation, after it printed one.
    pub conversation: Option<String>,
    /// The worktree in which it works, if it has one of its own.
    pub step_folder: Option<String>,
    /// How often this work was restarted after an orchestrator died.
    pub restarts: u32,
    /// What it has used and the journal does not have.
    pub used: Usage,
    /// What of it is counted among all that this machine uses.
    pub noted: Usage,
    /// How its process ended, until the engine has judged it.
    pub ended: Option<Ended>,
}

/// Everything that the judgement needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub ending: Ending,
    pub usage: Usage,
    pub reply: Option<String>,
}

impl Record {
    /// The record of admitted work that has not started.
    pub fn new(run: &RunId, dispatch: &Dispatch, runner: &str) -> Self {
        Self {
            run: run.clone(),
            dispatch: dispatch.id,
            agent: dispatch.agent.clone(),
            runner: runner.to_owned(),
            process: None,
            conversation: None,
            step_folder: None,
            restarts: 0,
            used: Usage::default(),
            noted: Usage::default(),
            ended: None,
        }
    }

    /// Counts what was used since the last time among all that this machine uses.
    pub fn note_spending(&mut self, state: &State) -> Result<(), Failure> {
        let before = std::mem::replace(&mut self.noted, self.used);
        caps::note(state, clock::now(), before, self.used)
    }

    /// Invariant: the file is durable when this returns.
    pub fn write(&self, state: &State, call: &CallId) -> Result<(), Failure> {
        let path = path(state, call);
        state::write_durably(&path, &self.json().to_string())
            .map_err(Failure::file("write to", &path))
    }

    /// The stored record; `None` if there is none or it is unreadable.
    pub fn read(state: &State, call: &CallId) -> Option<Self> {
        let text = fs::read_to_string(path(state, call)).ok()?;
        Self::parse(&serde_json::from_str(&text).ok()?)
    }

    fn json(&self) -> Value {
        json!({
            "run": self.run.as_str(),
            "dispatch": self.dispatch.to_string(),
            "agent": self.agent.as_str(),
            "runner": self.runner,
            "process": self.process.map(|process| {
                json!({ "id": process.id, "started": process.started })
            }),
            "conversation": self.conversation,
            "workplace": self.step_folder,
            "restarts": self.restarts,
            "used": usage_json(self.used),
            "ended": self.ended.as_ref().map(Ended::json),
        })
    }

    fn parse(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str();
        Some(Self {
            run: RunId::parse(text("run")?).ok()?,
            dispatch: parse_dispatch(text("dispatch")?)?,
            agent: AgentName::parse(text("agent")?).ok()?,
            runner: text("runner")?.to_owned(),
            process: parse_process(&value["process"]),
            conversation: text("conversation").map(str::to_owned),
            step_folder: text("workplace").map(str::to_owned),
            restarts: u32::try_from(value["restarts"].as_u64()?).ok()?,
            used: parse_usage(&value["used"]).unwrap_or_default(),
            noted: parse_usage(&value["used"]).unwrap_or_default(),
            ended: Ended::parse(&value["ended"]),
        })
    }
}

impl Ended {
    fn json(&self) -> Value {
        let ending = match &self.ending {
            Ending::Stopping { worked } => json!({ "stopping": worked }),
            Ending::Finished { worked } => json!({ "finished": worked }),
            Ending::Fault { fault, reason } => json!({ "fault": fault.word(), "reason": reason }),
        };
        json!({
            "ending": ending,
            "usage": usage_json(self.usage),
            "reply": self.reply,
        })
    }

    fn parse(value: &Value) -> Option<Self> {
        Some(Self {
            ending: parse_ending(&value["ending"])?,
            usage: parse_usage(&value["usage"])?,
            reply: value["reply"].as_str().map(str::to_owned),
        })
    }
}

fn usage_json(usage: Usage) -> Value {
    let Usage {
        turns,
        tokens,
        cost_cents,
        estimated_cents,
    } = usage;
    json!({
        "turns": turns, "tokens": tokens, "cost_cents": cost_cents, "estimated_cents": estimated_cents,
    })
}

fn parse_usage(value: &Value) -> Option<Usage> {
    let number = |name: &str| value[name].as_u64();
    Some(Usage {
        turns: number("turns")?,
        tokens: number("tokens")?,
        cost_cents: number("cost_cents")?,
        estimated_cents: number("estimated_cents"),
    })
}

fn parse_ending(value: &Value) -> Option<Ending> {
    if let Some(worked) = value["stopping"].as_bool() {
        return Some(Ending::Stopping { worked });
    }
    if let Some(worked) = value["finished"].as_bool() {
        return Some(Ending::Finished { worked });
    }
    Some(Ending::Fault {
        fault: Fault::parse(value["fault"].as_str()?)?,
        reason: value["reason"].as_str()?.to_owned(),
    })
}

fn parse_process(value: &Value) -> Option<Process> {
    Some(Process {
        id: u32::try_from(value["id"].as_u64()?).ok()?,
        started: value["started"].as_u64()?,
    })
}

fn parse_dispatch(text: &str) -> Option<DispatchId> {
    let number = text.strip_prefix('d')?.parse().ok()?;
    Some(DispatchId(number))
}

fn path(state: &State, call: &CallId) -> PathBuf {
    claim::file_beside(state, call, "json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let call = CallId::parse("step-1").unwrap();
        let mut record = Record {
            run: RunId::parse("r-1").unwrap(),
            dispatch: DispatchId(3),
            agent: AgentName::parse("writer").unwrap(),
            runner: "codex".to_owned(),
            process: None,
            conversation: None,
            step_folder: None,
            restarts: 0,
            used: Usage::default(),
            noted: Usage::default(),
            ended: None,
        };
        let usage = Usage {
            turns: 1,
            tokens: 2,
            cost_cents: 3,
            estimated_cents: Some(2),
        };
        let fault = Ending::Fault {
            fault: Fault::Limited,
            reason: "later".to_owned(),
        };
        let endings = [
            Ending::Stopping { worked: true },
            Ending::Finished { worked: false },
            fault,
        ];
        assert_eq!(Record::read(&state, &call), None);
        record.write(&state, &call).unwrap();
        assert_eq!(Record::read(&state, &call), Some(record.clone()));
        record.process = Some(Process { id: 7, started: 9 });
        record.conversation = Some("c".to_owned());
        record.step_folder = Some("/w".to_owned());
        record.restarts = 2;
        (record.used, record.noted) = (usage, usage);
        for ending in endings {
            record.ended = Some(Ended {
                ending,
                usage,
                reply: Some("said".to_owned()),
            });
            record.write(&state, &call).unwrap();
            assert_eq!(Record::read(&state, &call), Some(record.clone()));
        }
    }

    #[test]
    fn what_is_no_record_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let call = CallId::parse("step-1").unwrap();
        for text in ["", "{}", "[1]", "{\"run\":\"r-1\",\"dispatch\":\"7\"}"] {
            state::write_durably(&path(&state, &call), text).unwrap();
            assert_eq!(Record::read(&state, &call), None, "{text}");
        }
    }
}
