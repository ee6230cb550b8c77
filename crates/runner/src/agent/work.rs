//! One dispatch from start to end: start the process, listen, send back, judge.

use std::io::{Seek as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::{
    Dispatch, Duty, Ending, Event, Fact, Fault, Happening, Reply, SessionEvent, Usage, Who,
    WorkEvent, WorkRef, WorkResult,
};
use evidence::hold::Hold;
use hosts::UsageScope;
use hosts::agent_process::{AgentOutput, Conversation, StartOptions};
use runtime::briefing;
use runtime::claim::Claim;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::watchdog::{CALL_VARIABLE, START_VARIABLE};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, current_exe, ids};

use super::choice::Runner;
use super::conversation;
use super::listener::{OutputListener, ProcessReport, WorkerUpdate};
use super::process::{self, ProcessLimits, ProcessSpec};
use super::record::{self, Record};
use super::spawn_spec::SpawnSpec;
use super::verdict;
use crate::surroundings::{Surroundings, git_trace};

/// One dispatch, with everything that is needed to do it.
pub struct Work<'w, 'd> {
    pub workspace: &'w mut Workspace<'d>,
    pub spec: &'w SpawnSpec,
    pub claim: &'w Claim,
    pub dispatch: Dispatch,
    pub setup: WorkSetup<'w>,
    pub record: Record,
}

/// How the work is embedded in its caller.
pub struct WorkSetup<'w> {
    /// Set when this process must stop.
    pub stop: Arc<AtomicBool>,
    /// What happens to the work then.
    pub on_stop: OnStop,
    pub updates: &'w mut dyn FnMut(WorkerUpdate),
    /// Brings changes from the worker's own worktree to the run's worktree.
    pub delivery: Option<&'w mut dyn Delivery>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStop {
    /// The work counts as crashed.
    Crash,
    /// The work stays open; the next orchestrator continues it.
    LeaveOpen,
}

pub trait Delivery {
    /// Invariant: idempotent.
    fn deliver(
        &mut self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
    ) -> Result<Delivered, Failure>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    Done,
    /// Others changed these files, too.
    Conflict(Vec<String>),
    /// This process was asked to stop before the delivery.
    Stopped,
}

/// Where to continue the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFrom {
    Beginning,
    /// The process is gone; its conversation still exists.
    Conversation(String),
    /// The process has ended and is not judged yet.
    ProcessEnd(record::Ended),
}

/// The result.
pub enum Finish {
    Judged(Box<Decided>),
    /// This process was stopped: the work is still open.
    Open,
}

/// The conversation that a process works in.
enum Turn {
    New {
        id: String,
    },
    GoesOn {
        id: String,
    },
    /// Resumes a conversation that was interrupted when an orchestrator died.
    Interrupted {
        id: String,
    },
}

/// Usage over all processes of this work.
struct Meter {
    used: Usage,
    /// What its conversation had used before, if the program counts that again.
    before: Usage,
}

impl Work<'_, '_> {
    /// Runs the worker until the engine accepts its end. A worker whose artifacts are missing is
    /// sent back into the same conversation, as often as the engine says.
    pub fn run(mut self, opened: OpenRun, from: StartFrom) -> Result<Finish, Failure> {
        let deadline = Instant::now() + self.spec.time;
        self.workspace
            .step_folder
            .clone_from(&self.record.step_folder);
        let (mut turn, mut meter) = self.first_turn(&opened, &from)?;
        let mut prompt = self.prompt(&opened, &from)?;
        let mut opened = opened;
        let mut ended = match from {
            StartFrom::ProcessEnd(ended) => Some(ended),
            StartFrom::Beginning | StartFrom::Conversation(_) => None,
        };
        loop {
            let ended = match ended.take() {
                Some(ended) => ended,
                None => match self.work(&opened, &turn, &prompt, deadline, &mut meter)? {
                    Some(ended) => ended,
                    None => return Ok(Finish::Open),
                },
            };
            let Some(decided) = self.judge(opened, ended)? else {
                return Ok(Finish::Open);
            };
            match (&decided.reply, self.record.conversation.clone()) {
                (Reply::Hold(refusal), Some(id)) => {
                    (self.setup.updates)(WorkerUpdate::SentBack(refusal.reason.clone()));
                    prompt = sent_back(&refusal.reason);
                    turn = Turn::GoesOn { id };
                    opened = decided.opened;
                }
                (Reply::Hold(_), None)
                | (Reply::Allow | Reply::Refuse(_) | Reply::Inject(_) | Reply::Done, _) => {
                    return Ok(Finish::Judged(Box::new(decided)));
                }
            }
        }
    }

    /// Runs one process to its end; `None` if we were stopped and the work stays open.
    fn work(
        &mut self,
        opened: &OpenRun,
        turn: &Turn,
        prompt: &str,
        deadline: Instant,
        meter: &mut Meter,
    ) -> Result<Option<record::Ended>, Failure> {
        self.record.ended = None;
        self.keep()?;
        let mut report = self.listen(opened, turn, prompt, deadline)?;
        if matches!(turn, Turn::Interrupted { .. }) && verdict::is_gone(&report) {
            let anew = self.begin_anew(meter)?;
            report = self.listen(opened, &anew, prompt, deadline)?;
        }
        self.count(meter, &report);
        self.note_refused_tools(opened, &report)?;
        if report.was_stopped() && self.setup.on_stop == OnStop::LeaveOpen {
            return Ok(None);
        }
        if self.setup.on_stop == OnStop::LeaveOpen
            && let Some(failure) = verdict::outside(self.spec.runner, &report)
        {
            return Err(failure);
        }
        let secrets = self.workspace.context.environment.secrets();
        let reply = report.agent_output.reply.as_deref();
        let ended = record::Ended {
            ending: verdict::ending(self.spec.runner, &report),
            usage: meter.used,
            reply: reply.map(|reply| evidence::redact_document(reply, secrets)),
        };
        self.record.ended = Some(ended.clone());
        self.keep()?;
        Ok(Some(ended))
    }

    /// A program may refuse tools to its own agent. The person hears that, and not only what is missing then.
    fn note_refused_tools(
        &mut self,
        opened: &OpenRun,
        report: &ProcessReport,
    ) -> Result<(), Failure> {
        let Some(tools) = report.agent_output.refused_tools() else {
            return Ok(());
        };
        let (program, dispatch) = (self.spec.runner.word(), &self.dispatch);
        let message = format!(
            "{program} did not allow {} '{}' to use {tools}: see its permission settings",
            dispatch.id, dispatch.agent
        );
        (self.setup.updates)(WorkerUpdate::Void(message.clone()));
        let opened = self.workspace.read(&opened.run().id)?;
        let remarked = Happening::Session(SessionEvent::Remarked { message });
        transact::try_once(self.workspace, opened, &Who::Engine, remarked).map(drop)
    }

    /// Programs store a conversation only after its first message. A worker that ended earlier
    /// starts a new one, in the same attempt.
    fn begin_anew(&mut self, meter: &mut Meter) -> Result<Turn, Failure> {
        self.record.conversation = None;
        self.record.restarts += 1;
        self.keep()?;
        meter.before = Usage::default();
        Ok(Turn::New { id: ids::uuid()? })
    }

    fn keep(&self) -> Result<(), Failure> {
        self.workspace.check_lease(&self.record.run)?;
        self.record.write(&self.workspace.state, self.claim.call())
    }

    /// Reports the end to the engine; `None` if we were stopped before the delivery. Work from a
    /// worktree of its own is checked there, and delivered before it counts.
    fn judge(&mut self, opened: OpenRun, ended: record::Ended) -> Result<Option<Decided>, Failure> {
        let record::Ended {
            mut ending,
            usage,
            reply,
        } = ended;
        let opened = self.workspace.read(&opened.run().id)?;
        let opened = self.compare_surroundings(opened)?;
        if self.would_count(&opened, &ending, usage, reply.as_deref())?
            && let Some(delivery) = &mut self.setup.delivery
        {
            self.workspace.check_lease(&self.record.run)?;
            match delivery.deliver(self.workspace, &opened)? {
                Delivered::Done => {}
                Delivered::Conflict(paths) => ending = conflict(&paths),
                Delivered::Stopped => return Ok(None),
            }
        }
        self.tell_end(opened, ending, usage, reply).map(Some)
    }

    /// The worker is over: what it moved or changed around it is found, and put back where that is due.
    fn compare_surroundings(&mut self, opened: OpenRun) -> Result<OpenRun, Failure> {
        match Surroundings::of(self.workspace, &opened)? {
            Some(surroundings) => surroundings.compare(self.workspace, opened),
            None => Ok(opened),
        }
    }

    /// Would the engine accept this end as it is?
    fn would_count(
        &self,
        opened: &OpenRun,
        ending: &Ending,
        usage: Usage,
        reply: Option<&str>,
    ) -> Result<bool, Failure> {
        if self.setup.delivery.is_none() {
            return Ok(false);
        }
        let event = Event {
            at: clock::now(),
            by: Who::Engine,
            what: self.end(ending.clone(), usage),
        };
        let needs = engine::needs(&opened.pipeline, opened.run(), &event);
        let looked = self
            .workspace
            .look(opened, &needs, &Default::default(), reply)?;
        let decision = engine::decide(&opened.pipeline, opened.run(), &event, &looked.evidence);
        Ok(decision.entries.iter().any(|entry| {
            matches!(
                &entry.fact,
                Fact::Ended {
                    result: WorkResult::Outcome(_),
                    ..
                }
            )
        }))
    }

    fn end(&self, ending: Ending, usage: Usage) -> Happening {
        Happening::Work(WorkEvent::Ended {
            work: WorkRef::Dispatch(self.dispatch.id),
            ending,
            usage,
        })
    }

    fn first_turn(&mut self, opened: &OpenRun, from: &StartFrom) -> Result<(Turn, Meter), Failure> {
        let mut meter = Meter {
            used: Usage::default(),
            before: Usage::default(),
        };
        let Runner::Program(program) = self.spec.runner else {
            return Ok((Turn::New { id: String::new() }, meter));
        };
        let earlier = match from {
            StartFrom::Conversation(id) => Some(id.clone()),
            StartFrom::Beginning | StartFrom::ProcessEnd(_) => {
                conversation::earlier(opened, &self.dispatch, program)
            }
        };
        let turn = match earlier {
            Some(id) => {
                meter.before = conversation::used_before(self.workspace, opened, program, &id)?;
                match from {
                    StartFrom::Conversation(_) => Turn::Interrupted { id },
                    StartFrom::Beginning | StartFrom::ProcessEnd(_) => Turn::GoesOn { id },
                }
            }
            None => Turn::New { id: ids::uuid()? },
        };
        Ok((turn, meter))
    }

    /// The briefing, then the definition's own text.
    fn prompt(&self, opened: &OpenRun, from: &StartFrom) -> Result<String, Failure> {
        let briefing = briefing::text(self.workspace, opened, &self.dispatch)?;
        let briefing = match from {
            StartFrom::Conversation(_) => format!("{INTERRUPTED}\n\n{briefing}"),
            StartFrom::Beginning | StartFrom::ProcessEnd(_) => briefing,
        };
        let advice = self.spec.advice.map(|advice| format!("\n\n{advice}"));
        let briefing = format!("{briefing}{}", advice.unwrap_or_default());
        Ok(match &self.spec.prompt {
            Some(own) => format!("{briefing}\n\n{own}"),
            None => format!("{briefing}\n"),
        })
    }

    fn listen(
        &mut self,
        opened: &OpenRun,
        turn: &Turn,
        prompt: &str,
        deadline: Instant,
    ) -> Result<ProcessReport, Failure> {
        let (arguments, expected) = self.command_line(turn);
        let mut variables = self.spec.variables.clone();
        let started = ids::key()?;
        variables.insert(CALL_VARIABLE.into(), self.claim.call().as_str().into());
        variables.insert(START_VARIABLE.into(), started.as_str().into());
        let trace = Surroundings::trace(self.workspace, self.claim.call());
        let traced = git_trace::variables(&trace).into_iter();
        variables.extend(traced.map(|(name, value)| (name.into(), value.to_owned())));
        if let Duty::Step { step } = &self.dispatch.duty {
            variables.insert("GATEWRIGHT_STEP".into(), step.as_str().into());
        }
        let folder = tempfile::tempdir().map_err(unheld)?;
        let process_spec = ProcessSpec {
            program: &self.spec.program,
            arguments: &arguments,
            variables: &variables,
            folder: &self.spec.folder,
            input: self.input(prompt)?,
            start: started.as_str(),
            hold: Hold {
                holder: current_exe::program().map_err(unheld)?,
                report: folder.path().join("report"),
            },
        };
        let limits = ProcessLimits {
            deadline,
            silence: self.spec.silence,
            stop: &self.setup.stop,
        };
        let mut listener = OutputListener {
            workspace: self.workspace,
            opened,
            dispatch: self.dispatch.id,
            call: self.claim.call().clone(),
            runner: self.spec.runner,
            expected,
            record: &mut self.record,
            updates: self.setup.updates,
            is_known: false,
            unguarded: false,
            agent_output: AgentOutput::default(),
        };
        // Writing the record takes time, in which another process may have taken the run.
        listener.is_still_ours()?;
        let ran = process::run(process_spec, &limits, &mut listener)?;
        Ok(listener.finish(ran))
    }

    /// The arguments, and the required conversation id if it is known in advance.
    fn command_line(&self, turn: &Turn) -> (Vec<String>, Option<String>) {
        let Runner::Program(program) = self.spec.runner else {
            return (Vec::new(), None);
        };
        let (conversation, expected) = match turn {
            Turn::New { id } if program.takes_an_id() => (Conversation::New(id), Some(id.clone())),
            Turn::New { id } => (Conversation::New(id), None),
            Turn::GoesOn { id } | Turn::Interrupted { id } => {
                (Conversation::Resume(id), Some(id.clone()))
            }
        };
        let start = StartOptions {
            conversation,
            model: self.spec.model.as_deref(),
            file_access: self.spec.file_access(self.dispatch.reach),
            denied: &self.spec.denied,
        };
        let guards = self.spec.guard_setup.arguments.iter().cloned();
        let arguments = guards.chain(program.arguments(&start)).collect();
        (arguments, expected)
    }

    /// An unnamed file, because a pipe would block on long prompts.
    fn input(&self, prompt: &str) -> Result<std::fs::File, Failure> {
        let folder = self.workspace.state.folder();
        let written = tempfile::tempfile_in(folder).and_then(|mut file| {
            file.write_all(prompt.as_bytes())?;
            file.rewind()?;
            Ok(file)
        });
        written.map_err(Failure::file("write to", folder))
    }

    fn count(&self, meter: &mut Meter, report: &ProcessReport) {
        let used = report.agent_output.usage;
        let Runner::Program(program) = self.spec.runner else {
            return;
        };
        let usage_scope = program.usage_scope();
        let Meter { used: sum, before } = meter;
        sum.turns += used.turns;
        sum.tokens = counted(usage_scope, sum.tokens, used.tokens, before.tokens);
        sum.cost_cents = counted(
            usage_scope,
            sum.cost_cents,
            used.cost_cents,
            before.cost_cents,
        );
    }

    fn tell_end(
        &mut self,
        opened: OpenRun,
        ending: Ending,
        usage: Usage,
        reply: Option<String>,
    ) -> Result<Decided, Failure> {
        let what = self.end(ending, usage);
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            Ok(Request {
                reply: reply.clone(),
                ..Request::from(what.clone())
            })
        };
        transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options {
                by: &Who::Engine,
                key: None,
            },
            &mut make,
        )
    }
}

fn unheld(cause: std::io::Error) -> Failure {
    Failure::environment(format!("cannot hold the agent's process ({cause})"))
}

/// The total usage after a process reported `now`.
fn counted(usage_scope: UsageScope, sum: u64, now: u64, before: u64) -> u64 {
    match usage_scope {
        UsageScope::Process => sum.saturating_add(now),
        // The program reported nothing, so nothing is known to be added.
        UsageScope::Conversation if now == 0 => sum,
        UsageScope::Conversation => now.saturating_sub(before),
    }
}

/// The prompt prefix for a worker whose process died with its orchestrator.
const INTERRUPTED: &str = "You were interrupted in the middle of this work. Check what is there \
                           already, then continue and finish it.";

fn sent_back(reason: &str) -> String {
    format!("You are not done: {reason}. Do what is missing, then finish again.\n")
}

fn conflict(paths: &[String]) -> Ending {
    let paths: Vec<String> = paths.iter().map(|path| views::line(path)).collect();
    Ending::Fault {
        fault: Fault::Conflict,
        reason: format!("others changed the same lines of {}", paths.join(", ")),
    }
}
