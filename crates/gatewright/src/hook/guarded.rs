//! The path of one event in a session that holds a run.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::time::Duration;

use engine::{Fact, Happening, Life, Rule, SessionId, Who};
use hosts::claude::{Answer, Event, Stake};
use hosts::{Payload, What};
use store::{Backend as _, Key};

use super::input::Input;
use super::{answer, event, spool, touch};
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Deed, Driven, MakeDeed};
use crate::enrolment::{self, Enrolled};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output;
use crate::state::State;

/// How long a hook waits for the store. The host's own limit is longer, and what comes after it is
/// an allow.
const PATIENCE: Duration = Duration::from_secs(4);

/// A session at its hook, with the run that it holds.
pub struct Guarded<'d, 'c> {
    pub desk: &'d mut Desk<'c>,
    pub session: SessionId,
    pub opened: Opened,
    pub key: Option<Key>,
}

/// The answer to this payload. A failure means that nobody could decide.
pub fn answer(
    event: Event,
    payload: &Payload,
    input: &Input,
    environment: Environment,
) -> Result<Answer, Failure> {
    if payload.what == What::Ignored {
        return Ok(Answer::nothing());
    }
    let folder = input
        .project
        .clone()
        .or_else(|| payload.cwd.clone().map(Into::into));
    let context = Context::at(environment, folder.unwrap_or_default());
    let state = context.state()?;
    let session = input.session.clone().ok_or_else(no_session)?;
    let enrolled = enrolment::of_session(&state, &session)
        .map_err(Failure::file("read from", state.folder()))?;
    let Some(enrolled) = enrolled else {
        return Ok(Answer::nothing());
    };
    see(&state, event);
    let opened = open(&context, &enrolled);
    let (mut desk, opened) = match opened {
        Ok(Some(opened)) => opened,
        // The file names a run that never began, or that is gone.
        Ok(None) => return Ok(Answer::nothing()),
        Err(failure) => {
            spool::keep(&state, event, &session, &spool::word(&payload.what));
            return Err(failure);
        }
    };
    if is_released(&opened) {
        return Ok(Answer::nothing());
    }
    let forged = is_moving(&payload.what) && !is_from_host(&enrolled, &payload.what);
    let key = key(event, &session, payload);
    let mut guarded = Guarded {
        desk: &mut desk,
        session,
        opened,
        key,
    };
    if forged {
        let message = format!(
            "a call of {} did not come from the session's host",
            event.word()
        );
        guarded.tell(Happening::Remarked { message })?;
        return Ok(Answer::nothing());
    }
    spool::drain(&mut guarded)?;
    let answered = event::answer(&mut guarded, event, payload);
    if answered.is_err() {
        spool::keep(&state, event, &guarded.session, &spool::word(&payload.what));
    }
    answered
}

/// Could this move the run? What only asks may be asked by anybody: the answer harms nobody.
fn is_moving(what: &What) -> bool {
    match what {
        What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::CommandTyped { .. }
        | What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::AgentReturned { .. }
        | What::AgentFailed { .. }
        | What::AgentNotified { .. }
        | What::AgentBegan { .. }
        | What::AgentStopping { .. } => true,
        What::PromptSubmitted
        | What::AgentRequested { .. }
        | What::SkillRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. }
        | What::ToolRequested { .. }
        | What::TodosMarked { .. }
        | What::ToolUsed { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => false,
    }
}

/// Hosts start their hooks themselves; between a session's shell and us there is that shell. A
/// session that goes on in another process says so, when its earlier one is gone.
fn is_from_host(enrolled: &Enrolled, what: &What) -> bool {
    let Some(holder) = enrolled.process else {
        return true;
    };
    let parent = rustix::process::getppid().map(|id| id.as_raw_pid().unsigned_abs());
    let comes_anew = matches!(what, What::SessionStarted { .. });
    // A host listens to its hooks; what its shell prints goes into a file. A shell that gives its
    // place to us with `exec` is told from the host by that.
    if output::is_a_file() {
        return false;
    }
    parent == Some(holder.id) || (comes_anew && evidence::process::life(&holder) == Life::Gone)
}

fn no_session() -> Failure {
    Failure::outside("the host did not say which session this is")
}

fn open<'c>(
    context: &'c Context,
    enrolled: &Enrolled,
) -> Result<Option<(Desk<'c>, Opened)>, Failure> {
    let mut desk = Desk::for_writing(context)?;
    desk.store.set_patience(PATIENCE);
    let Some(stored) = desk.store.run(&enrolled.run)? else {
        return Ok(None);
    };
    let opened = desk.opened(stored)?;
    Ok(Some((desk, opened)))
}

/// A run that is over and cannot begin again guards nothing any more.
fn is_released(opened: &Opened) -> bool {
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
fn key(event: Event, session: &SessionId, payload: &Payload) -> Option<Key> {
    let call = match &payload.what {
        What::AgentRequested { call, .. }
        | What::SkillRequested { call, .. }
        | What::MessageRequested { call, .. } => call.as_ref()?.to_string(),
        What::CommandTyped { name, .. } => format!("{name} {}", payload.prompt.as_ref()?),
        _ => return None,
    };
    let short: String = session.as_str().chars().take(36).collect();
    Key::parse(&format!("claude {} {short} {call}", event.word())).ok()
}

/// What is at stake when nobody can decide: a pure look at the payload, without any store.
pub fn stake(payload: &Payload, environment: &Environment) -> Stake {
    match &payload.what {
        What::AgentRequested { .. }
        | What::SkillRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. }
        | What::ConfigChanged { .. } => Stake::Gate,
        What::ToolRequested { paths, command, .. }
            if touch::is_protected(environment, payload, paths, command.as_deref()) =>
        {
            Stake::Gate
        }
        _ => Stake::Ordinary,
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

    pub fn tell(&mut self, what: Happening) -> Result<Driven, Failure> {
        let by = self.session_itself();
        self.tell_by(&by, &mut |_, _, _| Ok(Deed::from(what.clone())))
    }

    pub fn tell_deed(&mut self, deed: &dyn Fn() -> Deed) -> Result<Driven, Failure> {
        let by = self.session_itself();
        self.tell_by(&by, &mut |_, _, _| Ok(deed()))
    }

    pub fn tell_by(&mut self, by: &Who, make: &mut MakeDeed<'_>) -> Result<Driven, Failure> {
        let opened = self.opened.clone();
        let driven = drive::witness(self.desk, opened, (by, self.key.as_ref()), make)?;
        self.opened = driven.opened.clone();
        Ok(driven)
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
        let driven = self.tell(Happening::AgentEnded {
            work: engine::WorkRef::Agent { agent, step: None },
            ending: engine::Ending::Stopping { worked: true },
            usage: engine::Usage::default(),
        });
        self.key = key;
        Ok(answer::objection(&driven?))
    }
}

/// Did this stop the run from waiting for its session?
pub fn was_abandoned(driven: &Driven) -> bool {
    driven.rule == Rule::StopAbandoned
        && driven
            .entries
            .iter()
            .any(|(_, entry)| entry.fact == Fact::Abandoned)
}
