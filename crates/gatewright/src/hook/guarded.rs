//! The path of one event in a session that holds a run.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::time::Duration;

use engine::{
    BindingState, BypassAttempt, Fact, Happening, Rule, SessionEvent, SessionId, Who, WorkEvent,
};
use hosts::bypass_detection;
use hosts::{Answer, Event, Payload, Program, Stake, Verdict, What};
use store::{Backend as _, Key};

use super::input::Input;
use super::{answer, arrival, event, protected_paths, skill, spool};
use runtime::caller::host::{self, HookCaller};
use runtime::context::Context;
use runtime::enrolment::{self, Enrolled};
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::state::State;
use runtime::transact::{self, Decided, MakeRequest, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};

/// How long a hook waits for the store. The host's own limit is longer, and what comes after it is
/// an allow.
pub const PATIENCE: Duration = Duration::from_secs(4);

/// A session at its hook, with the run that it holds.
pub struct Guarded<'d, 'c> {
    pub workspace: &'d mut Workspace<'c>,
    pub session: SessionId,
    pub opened: OpenRun,
    pub key: Option<Key>,
    /// What the person at the session should hear of the run's views.
    pub notices: Vec<String>,
}

/// The folder in which the session works: as the host tells it, else as the payload does.
pub fn folder(input: &Input, payload: &Payload) -> PathBuf {
    let told = input.project.clone();
    let folder = told.or_else(|| payload.cwd.clone().map(Into::into));
    folder.unwrap_or_default()
}

/// The answer to this payload; none where the session holds no run any more. A failure means that
/// nobody could decide.
pub fn answer(
    event: Event,
    payload: &Payload,
    input: &Input,
    context: &Context,
) -> Result<Option<Answer>, Failure> {
    if payload.what == What::Ignored {
        return Ok(Some(Answer::nothing()));
    }
    let state = context.state()?;
    let session = input.session.clone().ok_or_else(no_session)?;
    let enrolled = enrolment::of_session(&state, &session)
        .map_err(Failure::file("read from", state.folder()))?;
    let Some(enrolled) = enrolled else {
        return Ok(None);
    };
    see(&state, event);
    let opened = open(context, &enrolled);
    let (mut workspace, opened) = match opened {
        Ok(Some(opened)) => opened,
        // The file names a run that never began, or that is gone.
        Ok(None) => return Ok(None),
        Err(failure) => {
            spool::keep(&state, event, &session, &spool::word(&payload.what));
            return Err(failure);
        }
    };
    if is_released(&opened) {
        return Ok(None);
    }
    let key = key(input.host, event, &session, payload);
    let mut guarded = Guarded {
        workspace: &mut workspace,
        session,
        opened,
        key,
        notices: Vec::new(),
    };
    if let Some(answer) = unbound(&mut guarded, &enrolled, event, &payload.what)? {
        return Ok(Some(answer));
    }
    spool::drain(&mut guarded)?;
    let answered = event::answer(&mut guarded, event, payload);
    if answered.is_err() {
        spool::keep(&state, event, &guarded.session, &spool::word(&payload.what));
    }
    let notices = std::mem::take(&mut guarded.notices);
    workspace.leave();
    answered.map(|answer| Some(noticed(answer, &notices)))
}

/// Folder what the host is told, the person sees what was noticed.
fn noticed(answer: Answer, notices: &[String]) -> Answer {
    let lines = notices.iter().map(|line| format!("gatewright: {line}"));
    let lines: Vec<String> = answer.notice.iter().cloned().chain(lines).collect();
    Answer {
        notice: (!lines.is_empty()).then(|| lines.join("\n")),
        ..answer
    }
}

/// Sees to it that the session holds the run in the process that calls, and answers whoever is not
/// its host.
fn unbound(
    guarded: &mut Guarded<'_, '_>,
    enrolled: &Enrolled,
    event: Event,
    what: &What,
) -> Result<Option<Answer>, Failure> {
    let caller = enrolled.process.map(|holder| host::caller(&holder));
    let comes_or_goes = matches!(
        what,
        What::SessionStarted { .. } | What::SessionEnded { .. }
    );
    match caller {
        Some(HookCaller::Stranger) => return stranger(guarded, event).map(Some),
        Some(HookCaller::Successor(process)) if !comes_or_goes => {
            arrival::bind(guarded, Some(process), None)?;
        }
        Some(HookCaller::Host | HookCaller::Successor(_)) | None => {}
    }
    let binding = guarded.opened.run().session.as_ref();
    let let_go = binding.is_some_and(|binding| {
        binding.session == guarded.session && binding.state == BindingState::Ended
    });
    if let_go && !comes_or_goes {
        arrival::bind(guarded, enrolled.process, None)?;
    }
    Ok(None)
}

/// A call that did not come from the host moves nothing and lets nothing through.
fn stranger(guarded: &mut Guarded<'_, '_>, event: Event) -> Result<Answer, Failure> {
    let message = format!(
        "a call of {} did not come from the session's host",
        event.word()
    );
    guarded.tell(Happening::Session(SessionEvent::Remarked { message }))?;
    let reason = "GW-R02 refused: another process holds this session; go on there, or end it";
    Ok(match event {
        Event::PreToolUse => Answer {
            verdict: Verdict::Refuse(reason.to_owned()),
            ..Answer::nothing()
        },
        // The person at the other process is told.
        Event::SessionStart | Event::UserPromptSubmit | Event::UserPromptExpansion => Answer {
            notice: Some(format!("gatewright: {reason}")),
            ..Answer::nothing()
        },
        _ => Answer::nothing(),
    })
}

fn no_session() -> Failure {
    Failure::outside("the host did not say which session this is")
}

fn open<'c>(
    context: &'c Context,
    enrolled: &Enrolled,
) -> Result<Option<(Workspace<'c>, OpenRun)>, Failure> {
    let mut workspace = Workspace::for_writing(context)?;
    workspace.store.set_writer_timeout(PATIENCE);
    let Some(stored) = workspace.store.run(&enrolled.run)? else {
        return Ok(None);
    };
    let opened = workspace.opened(stored)?;
    Ok(Some((workspace, opened)))
}

/// A run that is over and cannot begin again guards nothing any more.
pub fn is_released(opened: &OpenRun) -> bool {
    let run = opened.run();
    let stage = opened.pipeline.stage(&run.position.stage);
    let restarts = stage.is_some_and(|stage| !stage.after().is_empty());
    let cancelled = matches!(run.standing, engine::Standing::Cancelled { .. });
    engine::is_over(&opened.pipeline, run) && (!restarts || cancelled)
}

/// Leaves a sign of life of this kind of event, which `doctor` reads. Nothing depends on it.
pub fn see(state: &State, event: Event) {
    let folder = state.folder().join("seen");
    let path = folder.join(event.word());
    let touched = fs::File::create(&path);
    let made = || fs::DirBuilder::new().mode(0o700).create(&folder);
    if touched.is_err() && made().is_ok() {
        let _ = fs::File::create(&path);
    }
}

/// A call that is told twice is one call. Events without a number of their own are told apart by
/// what the run knows.
fn key(host: Program, event: Event, session: &SessionId, payload: &Payload) -> Option<Key> {
    let call = match &payload.what {
        What::AgentRequested { call, .. }
        | What::SkillRequested { call, .. }
        | What::MessageRequested { call, .. } => call.as_ref()?.to_string(),
        What::CommandTyped { name, .. } => format!("{name} {}", payload.prompt.as_ref()?),
        _ => return None,
    };
    let short: String = session.as_str().chars().take(36).collect();
    Key::parse(&format!("{} {} {short} {call}", host.word(), event.word())).ok()
}

/// What is at stake when nobody can decide: a pure look at the payload, without any store.
pub fn stake(payload: &Payload, environment: &Environment) -> Stake {
    match &payload.what {
        What::ConfigChanged { .. } => Stake::Gate,
        _ if starts_an_agent(payload, environment) => Stake::Gate,
        What::ToolRequested { paths, command, .. }
            if protected_paths::is_protected(environment, payload, paths, command.as_deref()) =>
        {
            Stake::Gate
        }
        _ => Stake::Ordinary,
    }
}

/// Would this call start an agent, as far as it says so?
pub fn starts_an_agent(payload: &Payload, environment: &Environment) -> bool {
    match &payload.what {
        What::AgentRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. } => true,
        What::SkillRequested { skill, .. } => !skill::begins_nobody(environment, skill),
        What::ToolRequested { command, .. } => {
            let bypass = command.as_deref().and_then(bypass_detection::in_command);
            matches!(
                bypass,
                Some(BypassAttempt::AgentProgram(_) | BypassAttempt::TooLong)
            )
        }
        _ => false,
    }
}

impl Guarded<'_, '_> {
    /// Who acts in most events: the session itself.
    pub fn session_itself(&self) -> Who {
        Who::Session(self.session.clone())
    }

    /// A person, seen through the session.
    pub fn person(&self) -> Who {
        Who::Through(self.session.clone())
    }

    pub fn tell(&mut self, what: Happening) -> Result<Decided, Failure> {
        let by = self.session_itself();
        self.tell_by(&by, &mut |_, _, _| Ok(Request::from(what.clone())))
    }

    pub fn tell_deed(&mut self, deed: &dyn Fn() -> Request) -> Result<Decided, Failure> {
        let by = self.session_itself();
        self.tell_by(&by, &mut |_, _, _| Ok(deed()))
    }

    pub fn tell_by(&mut self, by: &Who, make: &mut MakeRequest<'_>) -> Result<Decided, Failure> {
        let opened = self.opened.clone();
        let decided = transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options {
                by,
                key: self.key.as_ref(),
            },
            make,
        )?;
        self.opened = decided.opened.clone();
        self.notices.extend(decided.notices.iter().cloned());
        Ok(decided)
    }

    /// The main session's own work is judged whenever it turns to something else. What is still
    /// missing is the answer.
    pub fn settle_session_work(&mut self) -> Result<Option<String>, Failure> {
        if !engine::session_works(&self.opened.pipeline, self.opened.run()) {
            return Ok(None);
        }
        let Ok(agent) = engine::AgentName::parse(engine::SESSION) else {
            return Ok(None);
        };
        let key = self.key.take();
        let decided = self.tell(Happening::Work(WorkEvent::Ended {
            work: engine::WorkRef::Agent { agent, step: None },
            ending: engine::Ending::Stopping { worked: true },
            usage: engine::Usage::default(),
        }));
        self.key = key;
        Ok(answer::objection(&decided?))
    }
}

/// Did this stop the run from waiting for its session?
pub fn was_abandoned(decided: &Decided) -> bool {
    decided.rule == Rule::StopAbandoned
        && decided
            .entries
            .iter()
            .any(|(_, entry)| entry.fact == Fact::Abandoned)
}
