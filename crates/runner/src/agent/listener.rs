//! Whoever listens to a worker: reads its output, and tells the run who it is as soon as it says so.

use engine::{CallId, Dispatch, DispatchId, Happening, Usage, Who, WorkEvent};
use evidence::check::Tail;
use hosts::agent_process::AgentOutput;
use runtime::claim;
use runtime::failure::Failure;
use runtime::transact::{self, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use super::choice::Runner;
use super::conversation;
use super::process::{Ended, Go, Reader};
use super::record::Record;

/// What a script may print: more than any artifact may have, and less than would harm us.
const MOST_PRINTED: usize = 16 * 1024 * 1024;

pub struct Listener<'l, 'd> {
    workspace: &'l mut Workspace<'d>,
    opened: &'l OpenRun,
    dispatch: DispatchId,
    call: CallId,
    runner: Runner,
    /// The id that its conversation must have.
    expected: Option<String>,
    record: &'l mut Record,
    tell: &'l mut dyn FnMut(Told),
    is_known: bool,
    unguarded: bool,
    agent_output: AgentOutput,
}

/// What is heard of a worker while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// The last thing that it did, in its program's words.
    Acted(String),
    Used(Usage),
    /// It wanted to end, and was sent back.
    SentBack(String),
    /// Why what was done does not count.
    Void(String),
}

/// All that was heard of one process.
pub struct Heard {
    /// `None`: it could not be started.
    pub ended: Option<Ended>,
    pub expected: Option<String>,
    pub agent_output: AgentOutput,
    /// What it said last on its standard error output, or why it could not be started.
    pub last_words: String,
    /// It used a tool before any of its hooks had called us.
    pub unguarded: bool,
}

impl Heard {
    /// Were we stopped, and it with us?
    pub fn was_stopped(&self) -> bool {
        self.ended == Some(Ended::Stopped)
    }
}

impl<'l, 'd> Listener<'l, 'd> {
    pub fn new(
        workspace: &'l mut Workspace<'d>,
        opened: &'l OpenRun,
        (dispatch, call): (&Dispatch, &CallId),
        (runner, expected): (Runner, Option<String>),
        (record, tell): (&'l mut Record, &'l mut dyn FnMut(Told)),
    ) -> Self {
        Self {
            workspace,
            opened,
            dispatch: dispatch.id,
            call: call.clone(),
            runner,
            expected,
            record,
            tell,
            is_known: false,
            unguarded: false,
            agent_output: AgentOutput::default(),
        }
    }

    pub fn heard(self, ran: Result<(Ended, Tail), String>) -> Heard {
        let secrets = &self.workspace.context.environment.secrets;
        let (ended, last_words) = match ran {
            Ok((ended, tail)) => (Some(ended), last_line(&tail.text(secrets))),
            Err(reason) => (None, reason),
        };
        let mut agent_output = self.agent_output;
        if let (Runner::Program(program), Some(Ended::Exit(code))) = (self.runner, ended) {
            program.exited(code, &last_words, &mut agent_output);
        }
        Heard {
            ended,
            expected: self.expected,
            agent_output,
            last_words,
            unguarded: self.unguarded,
        }
    }

    fn tell_news(&mut self, (used, doing): (Usage, Option<String>)) {
        if self.agent_output.usage != used {
            (self.tell)(Told::Used(self.agent_output.usage));
        }
        if self.agent_output.activity != doing
            && let Some(doing) = &self.agent_output.activity
        {
            (self.tell)(Told::Acted(doing.clone()));
        }
    }

    /// Has a hook of this work called us? Without one nobody judges its tools.
    fn has_arrived(&self) -> bool {
        claim::beside(&self.workspace.state, &self.call, "arrived").exists()
    }

    /// The exact id is recorded, so that exactly this conversation can go on later.
    fn began(&mut self) -> Result<Go, Failure> {
        let (Runner::Program(program), Some(id)) =
            (self.runner, &self.agent_output.conversation_id)
        else {
            return Ok(Go::On);
        };
        if self
            .expected
            .as_ref()
            .is_some_and(|expected| expected != id)
        {
            return Ok(Go::No);
        }
        let Some(worker) = conversation::worker(program, id).filter(|_| !self.is_known) else {
            return Ok(Go::On);
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
        Ok(Go::On)
    }

    /// Has nobody else taken the run over?
    pub fn is_still_ours(&self) -> Result<(), Failure> {
        self.workspace.still_ours(&self.record.run)
    }

    fn keep(&self) -> Result<(), Failure> {
        self.is_still_ours()?;
        self.record.write(&self.workspace.state, &self.call)
    }

    /// A script's last message is all that it prints.
    fn printed(&mut self, line: &[u8]) {
        let printed = self.agent_output.reply.get_or_insert_default();
        if printed.len() + line.len() <= MOST_PRINTED {
            printed.push_str(&String::from_utf8_lossy(line));
            printed.push('\n');
        }
    }
}

impl Reader for Listener<'_, '_> {
    fn started(&mut self, id: u32) -> Result<(), Failure> {
        self.record.process = evidence::process::find(id);
        self.keep()
    }

    fn line(&mut self, line: &[u8]) -> Result<Go, Failure> {
        match self.runner {
            Runner::Command | Runner::StandIn => {
                self.printed(line);
                Ok(Go::On)
            }
            Runner::Program(program) => {
                let before = (self.agent_output.usage, self.agent_output.activity.clone());
                program.read_line(line, &mut self.agent_output);
                self.tell_news(before);
                if self.agent_output.used_a_tool && !self.has_arrived() {
                    self.unguarded = true;
                    return Ok(Go::No);
                }
                self.began()
            }
        }
    }

    fn is_wanted(&mut self) -> Result<bool, Failure> {
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
