//! A simulation: a run in the sandbox, a simulated host, and the exchanges so far.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use engine::{Pipeline, Run, RunId, SessionId, Step};
use hosts::{DEFAULT_SESSION_HOST as HOST, Event};
use runtime::context::Context;
use runtime::enrolment;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use super::case_error::{CaseOutcome, broken};
use super::exchange::{Exchange, Expected, mismatch};
use super::hook_commands::HookCommands;
use super::hook_process::{self, HookOutput, OutputReader, ProcessEnd};
use super::host_reaction::{HostReaction, host_reaction};
use super::payloads::{HookPayload, PayloadWriter};
use super::sandbox::{Sandbox, SandboxCopy};

/// After this many timeouts the hook is not called again.
const MOST_UNANSWERED: u32 = 2;

pub(super) struct Simulation {
    pub sandbox: Sandbox,
    pub hook_commands: HookCommands,
    pub pipeline: Pipeline,
    /// The name of the pipeline for `start`.
    pub word: String,
    /// The context of our own commands in the sandbox.
    pub context: Context,
    pub payloads: PayloadWriter,
    variables: BTreeMap<OsString, OsString>,
    /// The run, once it has started.
    pub run: Option<RunId>,
    /// The steps of plans in this simulation.
    pub plan: Vec<Step>,
    /// A command that the next work adds, and that nobody has approved.
    pub added: Option<String>,
    /// The exchanges since the case began.
    pub exchanges: Vec<Exchange>,
    /// The run as last read. Cleared when something may have changed it.
    seen: RefCell<Option<OpenRun>>,
    numbers: u32,
    unanswered: u32,
    /// The snapshot at which every route starts.
    first: Option<Snapshot>,
}

/// Who calls the hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CalledBy<'a> {
    /// The host of the simulated session.
    Host,
    /// The host of this session.
    HostOfSession(&'a str),
    /// A host that does not name its session.
    HostWithoutSession,
    /// A host that has closed our output.
    HostThatIgnoresOutput,
    /// The shell of the simulated session. Such a call is forged.
    Shell,
}

/// A state to which the simulation can return.
#[derive(Clone)]
pub(super) struct Snapshot {
    kept: SandboxCopy,
    run: Option<RunId>,
    plan: Vec<Step>,
}

impl Simulation {
    pub(super) fn new(
        folder: Sandbox,
        hook_commands: HookCommands,
        pipeline: Pipeline,
        word: String,
        context: &Context,
    ) -> Self {
        let state = folder.state_home().join("gatewright");
        let payloads = PayloadWriter {
            session: "00000000-prove-guards".to_owned(),
            project: folder.project(),
            prompt: 0,
        };
        Self {
            context: context.relocated(folder.project(), state),
            variables: variables(context, &folder),
            sandbox: folder,
            hook_commands,
            pipeline,
            word,
            payloads,
            run: None,
            plan: Vec::new(),
            added: None,
            exchanges: Vec::new(),
            numbers: 0,
            unanswered: 0,
            first: None,
            seen: RefCell::new(None),
        }
    }

    /// Makes the current state the start of every route.
    pub(super) fn set_start(&mut self) -> Result<(), Failure> {
        self.first = Some(self.snapshot()?);
        Ok(())
    }

    /// Returns to the start.
    pub(super) fn fresh(&mut self) -> Result<(), Failure> {
        let plan = std::mem::take(&mut self.plan);
        if let Some(first) = self.first.clone() {
            self.restore(&first)?;
        }
        self.plan = plan;
        Ok(())
    }

    /// A number that was not used before.
    pub(super) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    pub(super) fn snapshot(&mut self) -> Result<Snapshot, Failure> {
        Ok(Snapshot {
            kept: self.sandbox.snapshot()?,
            run: self.run.clone(),
            plan: self.plan.clone(),
        })
    }

    pub(super) fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        self.run = snapshot.run.clone();
        self.plan = snapshot.plan.clone();
        self.forget();
        self.sandbox.restore(&snapshot.kept)
    }

    /// Something may have changed the run.
    pub(super) fn forget(&self) {
        self.seen.replace(None);
    }

    /// Calls the hook as the host would, and requires the answer.
    pub(super) fn hook(
        &mut self,
        payload: HookPayload,
        expected: Expected,
    ) -> CaseOutcome<HostReaction> {
        self.hook_as(CalledBy::Host, payload, expected)
    }

    /// The same for another caller.
    pub(super) fn hook_as(
        &mut self,
        called_by: CalledBy<'_>,
        payload: HookPayload,
        expected: Expected,
    ) -> CaseOutcome<HostReaction> {
        let output = self.ask(called_by, &payload);
        let reaction = host_reaction(payload.event, &output);
        let is_met = expected.is_met(&reaction);
        let failed = format!("{}: {}", payload.what, mismatch(expected, &reaction));
        self.exchanges.push(Exchange {
            payload,
            expected,
            output,
            reaction: reaction.clone(),
        });
        if is_met { Ok(reaction) } else { broken(failed) }
    }

    fn ask(&mut self, called_by: CalledBy<'_>, payload: &HookPayload) -> HookOutput {
        self.forget();
        let line = match self.hook_commands.at(payload.event) {
            Ok(line) if self.unanswered < MOST_UNANSWERED => line,
            Ok(_) => {
                return not_asked("not called, because an earlier call got no answer".to_owned());
            }
            Err(reason) => return not_asked(reason),
        };
        let mut variables = self.variables.clone();
        let session = match called_by {
            CalledBy::Host | CalledBy::HostThatIgnoresOutput | CalledBy::Shell => {
                Some(self.payloads.session.as_str())
            }
            CalledBy::HostOfSession(session) => Some(session),
            CalledBy::HostWithoutSession => None,
        };
        if let Some(session) = session {
            variables.insert(HOST.variables.session.into(), session.into());
        }
        if payload.event == Event::SessionStart {
            let file = self.sandbox.home().join("env");
            variables.insert(HOST.variables.env_file.into(), file.into());
        }
        let (command, reader) = match called_by {
            CalledBy::Shell => (hook_process::by_shell(&line), OutputReader::Open),
            CalledBy::HostThatIgnoresOutput => (hook_process::command(&line), OutputReader::Closed),
            CalledBy::Host | CalledBy::HostOfSession(_) | CalledBy::HostWithoutSession => {
                (hook_process::command(&line), OutputReader::Open)
            }
        };
        let folder = self.sandbox.project();
        let output = hook_process::run(command, &folder, &variables, &payload.bytes, reader);
        if output.ended == ProcessEnd::TimedOut {
            self.unanswered += 1;
        }
        output
    }

    /// Runs one of our own commands, as an agent of the session would.
    pub(super) fn command(&self, arguments: &[&str]) -> HookOutput {
        self.forget();
        let mut command = std::process::Command::new(self.hook_commands.program());
        command.args(arguments);
        let mut variables = self.variables.clone();
        variables.insert(
            HOST.variables.session.into(),
            self.payloads.session.clone().into(),
        );
        hook_process::run(
            command,
            &self.sandbox.project(),
            &variables,
            b"",
            OutputReader::Open,
        )
    }

    /// The run that the simulated session holds.
    pub(super) fn enrolled(&self) -> Result<Option<RunId>, Failure> {
        let state = self.context.state()?;
        let session = SessionId::parse(&self.payloads.session)
            .map_err(|problem| Failure::bug(format!("a session of ours has no id ({problem})")))?;
        let enrolled = enrolment::of_session(&state, &session)
            .map_err(Failure::file("read from", state.folder()))?;
        Ok(enrolled.map(|enrolled| enrolled.run))
    }

    /// The run as it is stored now.
    pub(super) fn opened(&self) -> CaseOutcome<OpenRun> {
        let Some(run) = &self.run else {
            return broken("no run has started");
        };
        if let Some(seen) = &*self.seen.borrow() {
            return Ok(seen.clone());
        }
        let mut workspace = Workspace::for_reading(&self.context)?;
        let opened = workspace.read(run)?;
        self.seen.replace(Some(opened.clone()));
        Ok(opened)
    }

    pub(super) fn now(&self) -> CaseOutcome<Run> {
        Ok(self.opened()?.run().clone())
    }

    /// A path in the project of the sandbox.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.project().join(name)
    }

    /// Replaces the check commands in the store of the sandbox by a stand-in. The run stays pinned to its
    /// bytes.
    pub(super) fn replace_checks(&self, commands: &[Vec<String>]) -> CaseOutcome<()> {
        let hash = self.now()?.definition;
        let mut definition = self.pipeline.definition().clone();
        for stage in &mut definition.stages {
            if let engine::Work::Check(check) = &mut stage.work
                && matches!(check.commands, engine::Commands::Fixed(_))
            {
                check.commands = engine::Commands::Fixed(commands.to_vec());
            }
        }
        let mut workspace = Workspace::for_writing(&self.context)?;
        let replaced = workspace.store.put_compiled(hash, &definition);
        self.forget();
        Ok(replaced.map_err(Failure::from)?)
    }
}

fn not_asked(reason: String) -> HookOutput {
    HookOutput {
        ended: ProcessEnd::NotStarted(reason),
        stdout: Vec::new(),
        stderr: Vec::new(),
    }
}

/// The environment that the host gives to its hooks, without anything of the caller's.
fn variables(context: &Context, folder: &Sandbox) -> BTreeMap<OsString, OsString> {
    let search = context.environment.search_path.clone().unwrap_or_default();
    let process = std::process::id().to_string();
    let marks = HOST.variables.marks.iter();
    let marks = marks.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let own = [
        ("PATH".into(), search),
        ("HOME".into(), folder.home().into()),
        ("XDG_STATE_HOME".into(), folder.state_home().into()),
        (
            HOST.places.folder_variable.into(),
            folder.home().join(HOST.places.folder).into(),
        ),
        ("LANG".into(), "C.UTF-8".into()),
        ("TERM".into(), "dumb".into()),
        (HOST.variables.process.into(), process.into()),
        (HOST.variables.project.into(), folder.project().into()),
    ];
    own.into_iter().chain(marks).collect()
}
