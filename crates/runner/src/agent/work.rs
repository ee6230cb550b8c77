//! One dispatch from start to end: start the process, listen, send back, judge.

mod judging;
mod prompt;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{Seek as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::{
    CutReason, Dispatch, DispatchId, Duty, Happening, Reply, RunnerName, Service, Usage, WorkEvent,
};
use evidence::hold::Hold;
use hosts::UsageScope;
use hosts::agent_process::{AgentOutput, Conversation, ReportedEnd, StartOptions};
use runtime::claim::Claim;
use runtime::failure::Failure;
use runtime::transact::Decided;
use runtime::watchdog::{CALL_VARIABLE, START_VARIABLE};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, current_exe, ids, known_limits, work_change};

use super::allowance;
use super::choice::Runner;
use super::conversation;
use super::hooks::HooksOfWorker;
use super::listener::{Counting, OutputListener, ProcessReport, Unsaid, WorkerUpdate};
use super::meter::Meter;
use super::process::{self, ProcessLimits, ProcessSpec};
use super::rates;
use super::reset_clock;
use super::spawn_spec::SpawnSpec;
use super::verdict;
use crate::fleet_caps::FleetCapWatch;
use crate::report::report;
use crate::spending::Spending;
use crate::surroundings::{Surroundings, git_trace};
use runtime::work_record::{self, Record};
use runtime::worker_log::{LogHead, WorkerLog};

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
    /// What all workers of the run use together, if their turns end with the budget.
    pub spending: Option<Arc<Spending>>,
    /// What the worker finds when it starts from the beginning.
    pub found: FoundFiles,
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

/// What is in the folder of a worker that starts from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundFiles {
    /// Nothing of an earlier start of this work.
    New,
    /// Whatever an earlier start of this work left.
    OfEarlierStart,
}

pub trait Delivery {
    /// Is there nothing that could be looked at or delivered?
    fn is_lost(&self) -> bool;

    /// Invariant: idempotent.
    fn deliver(
        &mut self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        dispatch: DispatchId,
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
    ProcessEnd(work_record::Ended),
}

/// What became of the work.
pub enum Finish {
    Judged(Box<Decided>),
    /// This process was stopped: the work is still open.
    Open,
}

/// One turn of the agent: one process, and the conversation that it works in.
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

impl Work<'_, '_> {
    /// Runs the worker until the engine accepts its end. A worker whose artifacts are missing is
    /// sent back into the same conversation, as often as the engine says.
    pub fn run(mut self, opened: OpenRun, from: StartFrom) -> Result<Finish, Failure> {
        let deadline = Instant::now() + self.spec.time;
        self.workspace
            .step_folder
            .clone_from(&self.record.step_folder);
        work_change::begin(self.workspace, &opened, &self.dispatch);
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
            work_change::keep(self.workspace, &opened, &self.dispatch);
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
                    work_change::end(self.workspace, &self.record.run, self.dispatch.id);
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
    ) -> Result<Option<work_record::Ended>, Failure> {
        self.record.ended = None;
        self.keep()?;
        meter.look_up_rate(&self.workspace.state);
        if let Some(spending) = self.setup.spending.as_deref()
            && allowance::ends_own_turn(self.spec.runner)
        {
            let used = (self.dispatch.id, meter.total());
            let most = allowance::most_cents(self.workspace, opened, spending, used)?;
            meter.allow(most);
        }
        if meter.most_cents() == Some(0) {
            let why = allowance::nothing_left(&self.workspace.state)?;
            self.cut_short(opened, meter.total(), why)?;
            return Ok(None);
        }
        let mut report = self.listen(opened, turn, prompt, deadline, meter)?;
        if matches!(turn, Turn::Interrupted { .. }) && verdict::is_gone(&report) {
            let anew = self.begin_anew(meter)?;
            report = self.listen(opened, &anew, prompt, deadline, meter)?;
        }
        self.count(opened, meter, &report)?;
        self.remark(opened, &report)?;
        if let Some(why) = self.cut_reason(&report)? {
            self.cut_short(opened, meter.total(), why)?;
            return Ok(None);
        }
        if self.setup.on_stop == OnStop::LeaveOpen
            && let Some(failure) = verdict::outside(self.spec.runner, &report)
        {
            return Err(failure);
        }
        let secrets = self.workspace.context.environment.secrets();
        let reply = report.agent_output.reply.as_deref();
        let ended = work_record::Ended {
            ending: verdict::ending(self.spec.runner, &report),
            usage: meter.total(),
            reply: reply.map(|reply| evidence::redact_document(reply, secrets)),
        };
        self.record.ended = Some(ended.clone());
        self.keep()?;
        Ok(Some(ended))
    }

    /// Programs store a conversation only after its first message. A worker that ended earlier
    /// starts a new one, in the same attempt.
    fn begin_anew(&mut self, meter: &mut Meter) -> Result<Turn, Failure> {
        self.record.conversation = None;
        self.record.restarts += 1;
        self.keep()?;
        meter.continues(Usage::default());
        Ok(Turn::New { id: ids::uuid()? })
    }

    fn keep(&self) -> Result<(), Failure> {
        self.workspace.check_lease(&self.record.run)?;
        self.record.write(&self.workspace.state, self.claim.call())
    }

    fn first_turn(&mut self, opened: &OpenRun, from: &StartFrom) -> Result<(Turn, Meter), Failure> {
        let Runner::Program(program) = self.spec.runner else {
            let meter = Meter::new(UsageScope::Process, self.record.used, None);
            return Ok((Turn::New { id: String::new() }, meter));
        };
        let service = Some(self.service()?);
        let mut meter = Meter::new(program.usage_scope(), self.record.used, service);
        let earlier = match from {
            StartFrom::Conversation(id) => Some(id.clone()),
            StartFrom::Beginning | StartFrom::ProcessEnd(_) => {
                conversation::earlier(opened, &self.dispatch, program)
            }
        };
        let turn = match earlier {
            Some(id) => {
                meter.continues(conversation::used_before(
                    self.workspace,
                    opened,
                    program,
                    &id,
                )?);
                match from {
                    StartFrom::Conversation(_) => Turn::Interrupted { id },
                    StartFrom::Beginning | StartFrom::ProcessEnd(_) => Turn::GoesOn { id },
                }
            }
            None => Turn::New { id: ids::uuid()? },
        };
        Ok((turn, meter))
    }

    fn listen(
        &mut self,
        opened: &OpenRun,
        turn: &Turn,
        prompt: &str,
        deadline: Instant,
        meter: &mut Meter,
    ) -> Result<ProcessReport, Failure> {
        let (arguments, expected) = self.command_line(turn, meter.most_cents());
        let started = ids::key()?;
        let variables = self.variables(started.as_str());
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
        let (log, call) = (self.log(), self.claim.call());
        let hooks = HooksOfWorker::begin(self.workspace, opened, &self.dispatch, call)?;
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
            over_budget: false,
            capped: None,
            fleet_cap: None,
            fleet_caps: FleetCapWatch::default(),
            meter,
            spending: self.setup.spending.as_deref(),
            counting: Counting::default(),
            unsaid: Unsaid::default(),
            agent_output: AgentOutput::default(),
            log,
            hooks,
        };
        // Writing the record takes time, in which another process may have taken the run.
        listener.is_still_ours()?;
        let ran = process::run(process_spec, &limits, &mut listener)?;
        listener.hear_hooks()?;
        Ok(listener.finish(ran))
    }

    /// The environment of this start, with the marks by which its processes are found.
    fn variables(&self, started: &str) -> BTreeMap<OsString, OsString> {
        let mut variables = self.spec.variables.clone();
        variables.insert(CALL_VARIABLE.into(), self.claim.call().as_str().into());
        variables.insert(START_VARIABLE.into(), started.into());
        let trace = Surroundings::trace(self.workspace, self.claim.call());
        let traced = git_trace::variables(&trace).into_iter();
        variables.extend(traced.map(|(name, value)| (name.into(), value.to_owned())));
        if let Duty::Step { step } = &self.dispatch.duty {
            variables.insert("GATEWRIGHT_STEP".into(), step.as_str().into());
        }
        variables
    }

    fn log(&self) -> WorkerLog {
        let head = LogHead {
            run: self.record.run.clone(),
            dispatch: self.dispatch.id,
            agent: self.dispatch.agent.clone(),
            runner: self.spec.runner.word().to_owned(),
            folder: self.spec.folder.display().to_string(),
        };
        let secrets = self.workspace.context.environment.secrets();
        WorkerLog::open(&self.workspace.state, head, secrets)
    }

    /// The arguments, and the required conversation id if it is known in advance.
    fn command_line(&self, turn: &Turn, most_cents: Option<u64>) -> (Vec<String>, Option<String>) {
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
            most_cents,
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

    /// Counts a process that has ended, and what its turns cost.
    fn count(
        &mut self,
        opened: &OpenRun,
        meter: &mut Meter,
        report: &ProcessReport,
    ) -> Result<(), Failure> {
        meter.look_up_rate(&self.workspace.state);
        meter.add(&report.agent_output);
        self.record.used = meter.total();
        self.record.note_spending(&self.workspace.state)?;
        allowance::release(self.workspace, &self.record, self.setup.spending.as_deref());
        if matches!(self.spec.runner, Runner::Program(_)) {
            let (state, service) = (&self.workspace.state, self.service()?);
            rates::note(state, &service, &report.agent_output, meter.most_cents());
            if report
                .agent_output
                .end
                .as_ref()
                .is_some_and(ReportedEnd::is_done)
            {
                known_limits::forget(state, &opened.stored.project, &service);
            }
        }
        Ok(())
    }

    /// The program and the model that do this work.
    fn service(&self) -> Result<Service, Failure> {
        let runner = RunnerName::parse(self.spec.runner.word());
        Ok(Service {
            runner: runner.map_err(|problem| Failure::bug(problem.to_string()))?,
            model: self.spec.model.clone(),
        })
    }

    /// Why the process ended before the work did, if the next orchestrator may go on with it.
    fn cut_reason(&self, report: &ProcessReport) -> Result<Option<CutReason>, Failure> {
        if self.setup.on_stop != OnStop::LeaveOpen {
            return Ok(None);
        }
        // Nobody takes the run until the cap of the fleet allows it, so it needs no limit of its own.
        if report.was_stopped() || report.fleet_cap.is_some() {
            return Ok(Some(CutReason::Stopped));
        }
        if let Some(cap) = &report.capped {
            return Ok(Some(allowance::capped(cap.clone())));
        }
        if verdict::has_passed_budget(report) {
            return allowance::nothing_left(&self.workspace.state).map(Some);
        }
        if report.over_budget {
            return Ok(Some(CutReason::OverBudget));
        }
        let Some(limit) = verdict::limit(report) else {
            return Ok(None);
        };
        let named = limit.resets.as_ref();
        let zone = self.spec.variables.get(OsStr::new("TZ"));
        let zone = zone.map(OsString::as_os_str);
        Ok(Some(CutReason::Limited {
            service: self.service()?,
            until: named.and_then(|resets| reset_clock::moment(resets, clock::now(), zone)),
            reason: views::line(&limit.reason),
        }))
    }

    /// Reports what was used; the work stays open, and its conversation and its folder stay.
    fn cut_short(&mut self, opened: &OpenRun, usage: Usage, why: CutReason) -> Result<(), Failure> {
        let event = WorkEvent::CutShort {
            dispatch: self.dispatch.id,
            usage,
            why: why.clone(),
        };
        let opened = self.workspace.read(&opened.run().id)?;
        let opened = report(self.workspace, opened, &Happening::Work(event))?.opened;
        if let Some(spending) = &self.setup.spending {
            spending.settled(self.dispatch.id);
        }
        if let CutReason::Limited { service, .. } = &why
            && let Some(limit) = opened.run().limit(service, clock::now())
        {
            let text = format!("{} '{}' rests", self.dispatch.id, self.dispatch.agent);
            let text = format!("{text} {}", views::limit_words(limit));
            (self.setup.updates)(WorkerUpdate::Void(text));
        }
        (self.record.used, self.record.noted) = (Usage::default(), Usage::default());
        self.keep()
    }
}

fn unheld(cause: std::io::Error) -> Failure {
    Failure::environment(format!("cannot hold the agent's process ({cause})"))
}

/// What a worker reads whose end the engine did not accept.
fn sent_back(reason: &str) -> String {
    format!("You are not done: {reason}. Do what is missing, then finish again.\n")
}
