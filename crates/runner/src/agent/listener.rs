//! Reads the output of a worker, and records its conversation id as soon as it prints one.

use engine::{CallId, DispatchId, Happening, Usage, Who, WorkEvent};
use evidence::check::Tail;
use hosts::agent_process::AgentOutput;
use runtime::claim;
use runtime::failure::Failure;
use runtime::transact::{self, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use super::choice::Runner;
use super::conversation;
use super::process::{Continue, OutputReader, ProcessEnd};
use super::record::Record;

/// The most that a script may print: more than any artifact may have, and small enough for memory.
const MOST_PRINTED: usize = 16 * 1024 * 1024;

pub struct OutputListener<'l, 'd> {
    pub workspace: &'l mut Workspace<'d>,
    pub opened: &'l OpenRun,
    pub dispatch: DispatchId,
    pub call: CallId,
    pub runner: Runner,
    /// The id that its conversation must have.
    pub expected: Option<String>,
    pub record: &'l mut Record,
    pub updates: &'l mut dyn FnMut(WorkerUpdate),
    pub is_known: bool,
    pub unguarded: bool,
    pub agent_output: AgentOutput,
}

/// What a worker reports while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerUpdate {
    /// Its last action, in its program's words.
    Acted(String),
    Used(Usage),
    /// It tried to finish and the engine sent it back, with the reason.
    SentBack(String),
    /// Why the result does not count.
    Void(String),
}

/// Everything known about one process after its end.
pub struct ProcessReport {
    /// `None` if it could not start.
    pub ended: Option<ProcessEnd>,
    pub expected: Option<String>,
    pub agent_output: AgentOutput,
    /// The last line on its stderr, or why it could not start.
    pub last_error_line: String,
    /// It used a tool before any of its hooks called us.
    pub unguarded: bool,
}

impl ProcessReport {
    /// Did this process get a stop signal and end the worker?
    pub fn was_stopped(&self) -> bool {
        self.ended == Some(ProcessEnd::Stopped)
    }
}

impl OutputListener<'_, '_> {
    pub fn finish(self, ran: Result<(ProcessEnd, Tail), String>) -> ProcessReport {
        let secrets = self.workspace.context.environment.secrets();
        let (ended, last_error_line) = match ran {
            Ok((ended, tail)) => (Some(ended), last_line(&tail.text(secrets))),
            Err(reason) => (None, reason),
        };
        let mut agent_output = self.agent_output;
        if let (Runner::Program(program), Some(ProcessEnd::Exit(code))) = (self.runner, ended) {
            program.exited(code, &last_error_line, &mut agent_output);
        }
        ProcessReport {
            ended,
            expected: self.expected,
            agent_output,
            last_error_line,
            unguarded: self.unguarded,
        }
    }

    fn send_changes(&mut self, used: Usage, doing: Option<String>) {
        if self.agent_output.usage != used {
            (self.updates)(WorkerUpdate::Used(self.agent_output.usage));
        }
        if self.agent_output.activity != doing
            && let Some(doing) = &self.agent_output.activity
        {
            (self.updates)(WorkerUpdate::Acted(doing.clone()));
        }
    }

    /// Has a hook of this work called us? Without hooks nothing judges its tools.
    fn has_hook_arrived(&self) -> bool {
        claim::file_beside(&self.workspace.state, &self.call, "arrived").exists()
    }

    /// Records the exact id, so that this conversation can be resumed later.
    fn began(&mut self) -> Result<Continue, Failure> {
        let (Runner::Program(program), Some(id)) =
            (self.runner, &self.agent_output.conversation_id)
        else {
            return Ok(Continue::Yes);
        };
        if self
            .expected
            .as_ref()
            .is_some_and(|expected| expected != id)
        {
            return Ok(Continue::No);
        }
        let Some(worker) = conversation::worker(program, id).filter(|_| !self.is_known) else {
            return Ok(Continue::Yes);
        };
        self.is_known = true;
        self.record.conversation = Some(id.clone());
        self.keep()?;
        let opened = self.workspace.read(&self.opened.run().id)?;
        let call = self.call.clone();
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            let (call, worker) = (call.clone(), worker.clone());
            Ok(Request::from(Happening::Work(WorkEvent::Launched {
                call,
                worker,
            })))
        };
        transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options {
                by: &Who::Engine,
                key: None,
            },
            &mut make,
        )?;
        Ok(Continue::Yes)
    }

    /// Fails if another process has taken the run over.
    pub fn is_still_ours(&self) -> Result<(), Failure> {
        self.workspace.check_lease(&self.record.run)
    }

    fn keep(&self) -> Result<(), Failure> {
        self.is_still_ours()?;
        self.record.write(&self.workspace.state, &self.call)
    }

    /// A script's reply is everything that it prints.
    fn printed(&mut self, line: &[u8]) {
        let printed = self.agent_output.reply.get_or_insert_default();
        if printed.len() + line.len() <= MOST_PRINTED {
            printed.push_str(&String::from_utf8_lossy(line));
            printed.push('\n');
        }
    }
}

impl OutputReader for OutputListener<'_, '_> {
    fn started(&mut self, id: u32) -> Result<(), Failure> {
        self.record.process = evidence::process::find(id);
        self.keep()
    }

    fn line(&mut self, line: &[u8]) -> Result<Continue, Failure> {
        match self.runner {
            Runner::Command | Runner::StandIn => {
                self.printed(line);
                Ok(Continue::Yes)
            }
            Runner::Program(program) => {
                let (used, doing) = (self.agent_output.usage, self.agent_output.activity.clone());
                program.read_line(line, &mut self.agent_output);
                self.send_changes(used, doing);
                if self.agent_output.used_a_tool && !self.has_hook_arrived() {
                    self.unguarded = true;
                    return Ok(Continue::No);
                }
                self.began()
            }
        }
    }

    fn is_still_needed(&mut self) -> Result<bool, Failure> {
        let Some(stored) = self.workspace.store.run(&self.opened.run().id)? else {
            return Ok(false);
        };
        let (run, pipeline) = (&stored.run, &self.opened.pipeline);
        let open = run.dispatches.get(&self.dispatch);
        let is_due = open.is_some_and(|open| open.visit == run.position.visit);
        Ok(is_due && !engine::is_over(pipeline, run))
    }
}

fn last_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).rev();
    let last = lines.find(|line| !line.is_empty()).unwrap_or_default();
    last.chars().take(300).collect()
}
