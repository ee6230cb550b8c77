//! The path of one event in a session that holds a run.

use std::io;

use engine::{BindingState, Happening, RunId, SessionEvent, SessionId};
use hosts::{Answer, Event, Program, What};
use runtime::caller::host::{self, HookCaller};
use runtime::context::Context;
use runtime::enrolment::{Enrolled, RecordState};
use runtime::failure::Failure;
use runtime::state::State;
use runtime::witness::{self, Range};
use runtime::workspace::{OpenRun, Workspace};
use store::{Backend as _, Expected};

use super::call::HookCall;
use super::guarded_session::{Guarded, PATIENCE, is_released};
use super::spool::Fate;
use super::stake::stake;
use super::{attach, event, permission, question, run_end, seen_events, spool, worker_record};

/// What became of a call in a session that is enrolled.
pub(super) enum Judged {
    Answered(Answer),
    /// The session holds no run any more. It may still have to hear how the run ended.
    Free(Option<Answer>),
}

/// The answer to this call. A failure means that nobody could decide.
pub(super) fn answer(
    call: &HookCall<'_>,
    session: &SessionId,
    found: io::Result<(Enrolled, RecordState)>,
    context: &Context,
    host: Program,
) -> Result<Judged, Failure> {
    if call.payload.what == What::Ignored {
        return Ok(Judged::Answered(Answer::nothing()));
    }
    let state = context.state()?;
    let (enrolled, record) = found.map_err(Failure::file("read from", state.folder()))?;
    seen_events::note(&state, call.event);
    // What nobody judged is kept, and the next hook brings it into the journal.
    let kept = |failure: Failure| {
        note(&state, &enrolled.run, call, session);
        let word = spool::word(&call.payload.what);
        let stake = stake(call.payload, &context.environment);
        let fate = Fate::of(&host.undecided(call.event, stake, ""));
        spool::keep(&state, call.event, session, &word, fate);
        failure
    };
    // The file may name a run that never began, or that is gone.
    let Some((mut workspace, opened)) = open(context, &enrolled, call).map_err(kept)? else {
        return Ok(Judged::Free(None));
    };
    if let Some(free) = freed(&state, session, &opened, &call.payload.what) {
        return Ok(free);
    }
    let mut guarded = Guarded {
        workspace: &mut workspace,
        session: session.clone(),
        opened,
        notices: Vec::new(),
    };
    if let Some(answer) = unbound(&mut guarded, call).map_err(kept)? {
        return Ok(Judged::Answered(answer));
    }
    // The host asks on behalf of a person. That changes nothing in the run.
    if call.event == Event::PermissionRequest {
        return Ok(Judged::Answered(permission::answer(&guarded, call.payload)));
    }
    note(&state, &enrolled.run, call, session);
    spool::drain(&mut guarded, record).map_err(kept)?;
    worker_record::end_interrupted(&mut guarded, call.payload).map_err(kept)?;
    worker_record::bind(&mut guarded, call.payload).map_err(kept)?;
    if let Some(processes) = witnesses(&call.payload.what) {
        guarded.reconcile(call.payload, processes).map_err(kept)?;
    }
    let confirmed = question::confirm(&mut guarded, call).map_err(kept)?;
    let answered = event::answer(&mut guarded, call).map_err(kept);
    let Guarded {
        notices, opened, ..
    } = guarded;
    // The process ends now, and to free all this first would cost time.
    std::mem::forget(opened);
    workspace.leave();
    let answered = answered.map(|answer| after(confirmed, answer));
    answered.map(|answer| Judged::Answered(noticed(answer, &notices)))
}

/// Does the run guard the session no more?
fn freed(state: &State, session: &SessionId, opened: &OpenRun, what: &What) -> Option<Judged> {
    if is_anothers(opened, session, what) {
        Some(Judged::Free(None))
    } else if is_released(opened) {
        Some(Judged::Free(run_end::told(state, session, opened, what)))
    } else {
        None
    }
}

/// Notes that a hook has seen this call, so that the other witnesses do not miss it.
fn note(state: &State, run: &RunId, call: &HookCall<'_>, session: &SessionId) {
    if let (Event::PreToolUse, Some(number)) = (call.event, &call.payload.tool_call) {
        let record = call.payload.transcript.as_deref();
        witness::note_call(state, run, session, record, number);
    }
}

/// Is this a moment at which to ask the other witnesses? Something ends, or a person comes. When only an
/// agent ends, the processes that are new do: the end of the turn looks at all again.
fn witnesses(what: &What) -> Option<Range> {
    match what {
        What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. } => Some(Range::All),
        What::AgentStopping { .. }
        | What::AgentReturned { .. }
        | What::AgentNotified { .. }
        | What::AgentFailed { .. } => Some(Range::New),
        What::AgentRequested { .. }
        | What::SkillRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. }
        | What::ToolRequested { .. }
        | What::TodosMarked { .. }
        | What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::AgentBegan { .. }
        | What::ToolUsed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => None,
    }
}

/// The same answer, behind the texts of an earlier one.
fn after(earlier: Option<Answer>, answer: Answer) -> Answer {
    let joined = |first: Option<String>, second: Option<String>| {
        let texts: Vec<String> = first.into_iter().chain(second).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    };
    match earlier {
        Some(earlier) => Answer {
            verdict: answer.verdict,
            context: joined(earlier.context, answer.context),
            notice: joined(earlier.notice, answer.notice),
            message: answer.message,
        },
        None => answer,
    }
}

/// The same answer, and the person sees the notices besides.
fn noticed(answer: Answer, notices: &[String]) -> Answer {
    let lines = notices.iter().map(|line| format!("gatewright: {line}"));
    let lines: Vec<String> = answer.notice.iter().cloned().chain(lines).collect();
    Answer {
        notice: (!lines.is_empty()).then(|| lines.join("\n")),
        ..answer
    }
}

/// Makes sure that the session holds the run in the process that calls. A process that is not the
/// session's host gets its answer here.
///
/// Invariant: the journal says who holds the run. The session's file only says where to look.
fn unbound(guarded: &mut Guarded<'_, '_>, call: &HookCall<'_>) -> Result<Option<Answer>, Failure> {
    let binding = guarded.opened.run().session.clone();
    let binding = binding.filter(|binding| binding.session == guarded.session);
    let holder = binding.as_ref().and_then(|binding| binding.process);
    let comes_or_goes = matches!(
        call.payload.what,
        What::SessionStarted { .. } | What::SessionEnded { .. }
    );
    match holder.map(|holder| host::caller(&holder)) {
        Some(HookCaller::Stranger) => return stranger(guarded, call).map(Some),
        Some(HookCaller::Unknown) => return Err(host::unreadable()),
        // A session that goes on in another process says so when it starts. Where that was not heard,
        // the person's next prompt binds it; nothing else does.
        Some(HookCaller::Successor(process)) if call.event == Event::UserPromptSubmit => {
            attach::bind(guarded, Some(process), None)?;
        }
        Some(HookCaller::Successor(_)) if !comes_or_goes => {
            return stranger(guarded, call).map(Some);
        }
        Some(HookCaller::Host | HookCaller::Successor(_)) | None => {}
    }
    let let_go = binding.is_some_and(|binding| binding.state == BindingState::Ended);
    if let_go && !comes_or_goes {
        attach::bind(guarded, holder, None)?;
    }
    Ok(None)
}

/// A call that did not come from the host moves nothing and lets nothing through.
fn stranger(guarded: &mut Guarded<'_, '_>, call: &HookCall<'_>) -> Result<Answer, Failure> {
    let message = format!(
        "a call of {} did not come from the session's host",
        call.event.word()
    );
    // Without the call's key: the host's own call of that number is still to come, and is judged then.
    guarded.submit(Happening::Session(SessionEvent::Remarked { message }))?;
    let reason = "GW-R02 refused: another process holds this session; continue there, or end it";
    Ok(match call.event {
        Event::PreToolUse => Answer::refuse(reason.to_owned()),
        // The person at the other process sees it.
        Event::SessionStart | Event::UserPromptSubmit | Event::UserPromptExpansion => {
            Answer::for_person(format!("gatewright: {reason}"))
        }
        Event::SessionEnd
        | Event::PermissionRequest
        | Event::PostToolUse
        | Event::PostToolUseFailure
        | Event::SubagentStart
        | Event::SubagentStop
        | Event::Stop
        | Event::StopFailure
        | Event::TaskCompleted
        | Event::ConfigChange
        | Event::PreCompact
        | Event::Other => Answer::nothing(),
    })
}

/// Nearly every call of a tool leaves nothing in the journal.
fn expected(what: &What) -> Expected {
    match what {
        What::ToolRequested { .. } | What::ToolUsed { .. } | What::Ignored => Expected::Look,
        What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
        | What::TodosMarked { .. }
        | What::QuestionAnswered { .. }
        | What::AgentRequested { .. }
        | What::SkillRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. }
        | What::AgentLaunched { .. }
        | What::AgentReturned { .. }
        | What::AgentFailed { .. }
        | What::AgentNotified { .. }
        | What::AgentBegan { .. }
        | What::AgentStopping { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. }
        | What::ConfigChanged { .. } => Expected::Change,
    }
}

fn open<'c>(
    context: &'c Context,
    enrolled: &Enrolled,
    call: &HookCall<'_>,
) -> Result<Option<(Workspace<'c>, OpenRun)>, Failure> {
    let expected = expected(&call.payload.what);
    let (mut workspace, opened) = Workspace::with_run(context, &enrolled.run, expected)?;
    workspace.store.set_writer_timeout(PATIENCE);
    let Some(opened) = opened else {
        return never_began(&workspace, &enrolled.run).map(|()| None);
    };
    Ok(Some((workspace, opened)))
}

/// A run that is not in the store must not have been there: one that has vanished still guards.
fn never_began(workspace: &Workspace<'_>, run: &RunId) -> Result<(), Failure> {
    match workspace.store.verify(run) {
        Err(store::Error::UnknownRun { .. }) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(
            Failure::store(format!("run {run} has vanished from the store"))
                .hint("`gatewright verify` shows what was lost"),
        ),
    }
}

/// Does another session hold the run? Then it guards this one no more than any other run does: the
/// session's file is wrong. A session that starts may take over a run whose session is gone.
fn is_anothers(opened: &OpenRun, session: &SessionId, what: &What) -> bool {
    let holder = opened.run().session.as_ref();
    let is_own = holder.is_some_and(|holder| holder.session == *session);
    !is_own && !matches!(what, What::SessionStarted { .. })
}
