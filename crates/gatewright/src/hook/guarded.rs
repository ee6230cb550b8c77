//! The path of one event in a session that holds a run.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{
    BindingState, BypassAttempt, Fact, Happening, Rule, RunId, SessionEvent, SessionId, Who,
    WorkEvent,
};
use hosts::bypass_detection::ShellText;
use hosts::{Answer, Event, Payload, Program, Stake, What};
use runtime::caller::host::{self, HookCaller};
use runtime::context::Context;
use runtime::enrolment::{Enrolled, RecordState};
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::state::State;
use runtime::transact::{self, Decided, MakeRequest, Options, Request, Target};
use runtime::witness::{self, Range};
use runtime::workspace::{OpenRun, Workspace};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};
use store::{Backend as _, Expected, Key};

use super::call::HookCall;
use super::input::Input;
use super::resolve::Resolver;
use super::spool::Fate;
use super::{
    answer, arrival, event, permission, protected_paths, question, run_end, skill, spool,
    worker_record,
};

/// How long a hook waits for the store. The host's own limit is longer, and what comes after it is
/// an allow.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);

/// This moment, as the system has it.
const NOW: Timestamps = {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    Timestamps {
        last_access: now,
        last_modification: now,
    }
};

/// A session at its hook, with the run that it holds.
pub(super) struct Guarded<'d, 'c> {
    pub workspace: &'d mut Workspace<'c>,
    pub session: SessionId,
    pub opened: OpenRun,
    /// What the person at the session should hear of the run's views.
    pub notices: Vec<String>,
}

/// The folder in which the session works: as the host says, else as the payload does.
pub(super) fn folder(input: &Input, payload: &Payload) -> PathBuf {
    let project = input.project.clone();
    let folder = project.or_else(|| payload.cwd.clone().map(Into::into));
    folder.unwrap_or_default()
}

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
    see(&state, call.event);
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
            arrival::bind(guarded, Some(process), None)?;
        }
        Some(HookCaller::Successor(_)) if !comes_or_goes => {
            return stranger(guarded, call).map(Some);
        }
        Some(HookCaller::Host | HookCaller::Successor(_)) | None => {}
    }
    let let_go = binding.is_some_and(|binding| binding.state == BindingState::Ended);
    if let_go && !comes_or_goes {
        arrival::bind(guarded, holder, None)?;
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

/// A run that is over and cannot begin again guards nothing any more.
pub(super) fn is_released(opened: &OpenRun) -> bool {
    let run = opened.run();
    let stage = opened.pipeline.stage(&run.position.stage);
    let restarts = stage.is_some_and(|stage| !stage.after().is_empty());
    let cancelled = matches!(run.standing, engine::Standing::Cancelled { .. });
    engine::is_over(&opened.pipeline, run) && (!restarts || cancelled)
}

/// Does another session hold the run? Then it guards this one no more than any other run does: the
/// session's file is wrong. A session that starts may take over a run whose session is gone.
fn is_anothers(opened: &OpenRun, session: &SessionId, what: &What) -> bool {
    let holder = opened.run().session.as_ref();
    let is_own = holder.is_some_and(|holder| holder.session == *session);
    !is_own && !matches!(what, What::SessionStarted { .. })
}

/// Leaves a sign of life of this kind of event, which `doctor` reads. Nothing depends on it.
pub(super) fn see(state: &State, event: Event) {
    let folder = state.folder().join("seen");
    let path = folder.join(event.word());
    let touched = utimensat(CWD, &path, &NOW, AtFlags::empty());
    if touched.is_err() {
        let _ = fs::DirBuilder::new().mode(0o700).create(&folder);
        let _ = fs::File::create(&path);
    }
}

/// What is at stake when nobody can decide: a pure look at the payload, without any store.
pub(super) fn stake(payload: &Payload, environment: &Environment) -> Stake {
    if starts_an_agent(payload, environment) || changes_the_guard(payload, environment) {
        Stake::Gate
    } else {
        Stake::Ordinary
    }
}

/// Did the settings change, or could this call change a protected file?
fn changes_the_guard(payload: &Payload, environment: &Environment) -> bool {
    if let What::ToolRequested { paths, command, .. } = &payload.what {
        protected_paths::is_protected(environment, payload, paths, command.as_deref())
    } else {
        matches!(payload.what, What::ConfigChanged { .. })
    }
}

/// Would this call start an agent, as far as it says so?
pub(super) fn starts_an_agent(payload: &Payload, environment: &Environment) -> bool {
    match &payload.what {
        What::AgentRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. } => true,
        What::SkillRequested { skill, .. } => !skill::begins_nobody(environment, skill),
        What::ToolRequested { command, .. } => {
            let resolver = Resolver::default();
            let shell = protected_paths::shell(&resolver, payload, environment);
            let bypass = command
                .as_deref()
                .and_then(|command| protected_paths::bypass(&shell, &ShellText::read(command)));
            matches!(bypass, Some(BypassAttempt::AgentProgram(_)))
        }
        What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
        | What::TodosMarked { .. }
        | What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::AgentReturned { .. }
        | What::AgentFailed { .. }
        | What::AgentNotified { .. }
        | What::AgentBegan { .. }
        | What::AgentStopping { .. }
        | What::ToolUsed { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => false,
    }
}

impl Guarded<'_, '_> {
    /// Who acts in most events: the session itself.
    pub(super) fn session_itself(&self) -> Who {
        Who::Session(self.session.clone())
    }

    /// A person, seen through the session.
    pub(super) fn person(&self) -> Who {
        Who::Through(self.session.clone())
    }

    /// Submits what happened, as the session's own act. It counts as often as it is submitted.
    pub(super) fn submit(&mut self, what: Happening) -> Result<Decided, Failure> {
        self.submit_once(None, what)
    }

    /// The same for the request that the host's call is about: with a key it counts once.
    pub(super) fn submit_once(
        &mut self,
        key: Option<&Key>,
        what: Happening,
    ) -> Result<Decided, Failure> {
        let by = &self.session_itself();
        self.submit_with(Options { by, key }, &mut |_, _, _| {
            Ok(Request::from(what.clone()))
        })
    }

    /// The same with a request that depends on the run. It is made anew whenever the run has changed.
    pub(super) fn submit_with(
        &mut self,
        options: Options<'_>,
        make: &mut MakeRequest<'_>,
    ) -> Result<Decided, Failure> {
        let seen = Target::Seen(Box::new(self.opened.clone()));
        let decided = transact::transact(self.workspace, seen, options, make)?;
        self.opened = decided.opened.clone();
        self.notices.extend(decided.notices.iter().cloned());
        Ok(decided)
    }

    /// Asks the other witnesses what no hook saw.
    fn reconcile(&mut self, payload: &Payload, processes: Range) -> Result<(), Failure> {
        if processes == Range::All {
            self.workspace.context.expect_delay();
        }
        let record = payload.transcript.as_deref().map(Path::new);
        let before = self.opened.run().unguarded.len();
        self.opened = witness::reconcile(self.workspace, self.opened.clone(), record, processes)?;
        self.tell_unguarded(before);
        Ok(())
    }

    /// The person hears of what was found now.
    fn tell_unguarded(&mut self, before: usize) {
        let run = self.opened.run();
        let lines = views::UnguardedLine::all(run).into_iter().skip(before);
        let told = lines.map(|line| format!("{}; gatewright status {}", line.text(), run.id));
        self.notices.extend(told);
    }

    /// Looks for agents that a shell has left behind.
    pub(super) fn look_at_processes(&mut self) -> Result<(), Failure> {
        let before = self.opened.run().unguarded.len();
        self.opened = witness::look_at_processes(self.workspace, self.opened.clone())?;
        self.tell_unguarded(before);
        Ok(())
    }

    /// The main session's own work is judged whenever it turns to something else. What is still
    /// missing is the answer.
    pub(super) fn settle_session_work(&mut self) -> Result<Option<String>, Failure> {
        if !engine::session_works(&self.opened.pipeline, self.opened.run()) {
            return Ok(None);
        }
        let Ok(agent) = engine::AgentName::parse(engine::SESSION) else {
            return Ok(None);
        };
        let decided = self.submit(Happening::Work(WorkEvent::Ended {
            work: engine::WorkRef::Agent { agent, step: None },
            ending: engine::Ending::Stopping { worked: true },
            usage: engine::Usage::default(),
        }))?;
        Ok(answer::objection(&decided))
    }
}

/// Did this stop the run from waiting for its session?
pub(super) fn was_abandoned(decided: &Decided) -> bool {
    decided.rule == Rule::StopAbandoned
        && decided
            .entries
            .iter()
            .any(|(_, entry)| entry.fact == Fact::Abandoned)
}
