//! The scene: a run in the copy, the host that is played around it, and what was said so far.

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

use super::exchange::{Exchange, Expected, mismatch};
use super::folder::{Folder, Kept};
use super::heard::{Heard, heard};
use super::lines::Lines;
use super::process::{self, Ended, Got, Listener};
use super::trouble::{Tried, broken};
use super::wire::{Pen, Sent};

/// After so many hooks that did not answer in time none is asked any more.
const MOST_UNANSWERED: u32 = 2;

pub struct Scene {
    pub folder: Folder,
    pub lines: Lines,
    pub pipeline: Pipeline,
    /// What the pipeline is called when it is started.
    pub word: String,
    /// The copy as our own commands see it.
    pub context: Context,
    pub pen: Pen,
    variables: BTreeMap<OsString, OsString>,
    /// The run that is played, once it has begun.
    pub run: Option<RunId>,
    /// The steps that plans of this scene hold.
    pub plan: Vec<Step>,
    /// A command that the next work brings along, which nobody has approved.
    pub added: Option<String>,
    /// Everything that was said since the case began.
    pub exchanges: Vec<Exchange>,
    /// The run as it was read last, until something may have changed it.
    seen: RefCell<Option<OpenRun>>,
    numbers: u32,
    unanswered: u32,
    /// Before anything happened.
    first: Option<Moment>,
}

/// How the hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner<'a> {
    /// By the host, in the session that is played.
    Usual,
    /// By the host, in this session.
    In(&'a str),
    /// By a host that does not say in which session.
    NoFolder,
    /// By a host that does not listen.
    Unheard,
    /// By the shell of the session that is played, and not by its host.
    Forged,
}

/// A moment to which the scene can return.
#[derive(Clone)]
pub struct Moment {
    kept: Kept,
    run: Option<RunId>,
    plan: Vec<Step>,
}

impl Scene {
    pub fn new(
        folder: Folder,
        lines: Lines,
        pipeline: Pipeline,
        word: String,
        context: &Context,
    ) -> Self {
        let state = folder.state_home().join("gatewright");
        let pen = Pen {
            session: "00000000-prove-guards".to_owned(),
            project: folder.project(),
            prompt: 0,
        };
        Self {
            context: context.elsewhere(folder.project(), state),
            variables: variables(context, &folder),
            folder,
            lines,
            pipeline,
            word,
            pen,
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

    /// From now on everything begins as it is now.
    pub fn begin_here(&mut self) -> Result<(), Failure> {
        self.first = Some(self.keep()?);
        Ok(())
    }

    /// Back to where everything begins.
    pub fn fresh(&mut self) -> Result<(), Failure> {
        let plan = std::mem::take(&mut self.plan);
        if let Some(first) = self.first.clone() {
            self.restore(&first)?;
        }
        self.plan = plan;
        Ok(())
    }

    /// A number that was not there before.
    pub fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    pub fn keep(&mut self) -> Result<Moment, Failure> {
        Ok(Moment {
            kept: self.folder.keep()?,
            run: self.run.clone(),
            plan: self.plan.clone(),
        })
    }

    pub fn restore(&mut self, moment: &Moment) -> Result<(), Failure> {
        self.run = moment.run.clone();
        self.plan = moment.plan.clone();
        self.forget();
        self.folder.restore(&moment.kept)
    }

    /// Something may have changed the run.
    pub fn forget(&self) {
        self.seen.replace(None);
    }

    /// Asks the hook as the host would, and insists on the answer.
    pub fn hook(&mut self, sent: Sent, expected: Expected) -> Tried<Heard> {
        self.hook_as(Manner::Usual, sent, expected)
    }

    /// The same in another manner.
    pub fn hook_as(&mut self, manner: Manner<'_>, sent: Sent, expected: Expected) -> Tried<Heard> {
        let got = self.ask(manner, &sent);
        let heard = heard(sent.event, &got);
        let is_met = expected.is_met(&heard);
        let failed = format!("{}: {}", sent.what, mismatch(expected, &heard));
        self.exchanges.push(Exchange {
            sent,
            expected,
            got,
            heard: heard.clone(),
        });
        if is_met { Ok(heard) } else { broken(failed) }
    }

    fn ask(&mut self, manner: Manner<'_>, sent: &Sent) -> Got {
        self.forget();
        let line = match self.lines.at(sent.event) {
            Ok(line) if self.unanswered < MOST_UNANSWERED => line,
            Ok(_) => {
                return not_asked("not called, because an earlier call got no answer".to_owned());
            }
            Err(reason) => return not_asked(reason),
        };
        let mut variables = self.variables.clone();
        let session = match manner {
            Manner::Usual | Manner::Unheard | Manner::Forged => Some(self.pen.session.as_str()),
            Manner::In(session) => Some(session),
            Manner::NoFolder => None,
        };
        if let Some(session) = session {
            variables.insert(HOST.variables.session.into(), session.into());
        }
        if sent.event == Event::SessionStart {
            let file = self.folder.home().join("env");
            variables.insert(HOST.variables.env_file.into(), file.into());
        }
        let (command, listener) = match manner {
            Manner::Forged => (process::by_shell(&line), Listener::Here),
            Manner::Unheard => (process::command(&line), Listener::Gone),
            Manner::Usual | Manner::In(_) | Manner::NoFolder => {
                (process::command(&line), Listener::Here)
            }
        };
        let folder = self.folder.project();
        let got = process::run(command, &folder, &variables, &sent.bytes, listener);
        if got.ended == Ended::TimedOut {
            self.unanswered += 1;
        }
        got
    }

    /// Runs one of our own commands, as an agent of the session would.
    pub fn command(&self, arguments: &[&str]) -> Got {
        self.forget();
        let mut command = std::process::Command::new(self.lines.program());
        command.args(arguments);
        let mut variables = self.variables.clone();
        variables.insert(
            HOST.variables.session.into(),
            self.pen.session.clone().into(),
        );
        process::run(
            command,
            &self.folder.project(),
            &variables,
            b"",
            Listener::Here,
        )
    }

    /// The run that the played session holds.
    pub fn enrolled(&self) -> Result<Option<RunId>, Failure> {
        let state = self.context.state()?;
        let session = SessionId::parse(&self.pen.session)
            .map_err(|problem| Failure::bug(format!("a session of ours has no id ({problem})")))?;
        let enrolled = enrolment::of_session(&state, &session)
            .map_err(Failure::file("read from", state.folder()))?;
        Ok(enrolled.map(|enrolled| enrolled.run))
    }

    /// The run as it is stored now.
    pub fn opened(&self) -> Tried<OpenRun> {
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

    pub fn now(&self) -> Tried<Run> {
        Ok(self.opened()?.stored.run)
    }

    /// A path of the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.project().join(name)
    }

    /// In the store of the copy, checks run a stand-in of ours. The run stays pinned to its bytes.
    pub fn replace_checks(&self, commands: &[Vec<String>]) -> Tried<()> {
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

fn not_asked(reason: String) -> Got {
    Got {
        ended: Ended::NotStarted(reason),
        stdout: Vec::new(),
        stderr: Vec::new(),
    }
}

/// What the host gives to its hooks, with nothing of whoever asks for the proof.
fn variables(context: &Context, folder: &Folder) -> BTreeMap<OsString, OsString> {
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
