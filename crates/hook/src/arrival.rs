//! Sessions that come: they go on with their run, inherit one, take one over, or begin their own.

use std::path::Path;

use engine::{Act, CommandName, RunId, SessionId, Who};
use hosts::{Answer, Bytes, Event, Payload, Program, SessionSource, What};
use runtime::caller::host;
use runtime::context::Context;
use runtime::definition::DefinitionError;
use runtime::drive_settings::DriveRequest;
use runtime::enrolment::{self, Enrolled, Installed, InstalledPipeline};
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::start_run::{self, Holder, StartRun, Started};
use runtime::state::State;
use runtime::workspace::Workspace;
use runtime::{find_run, ids, shipping, unused_runs};
use store::RunSummary;

use super::attach::attach;
use super::call::HookCall;
use super::command::TypedStart;
use super::guarded_session::{Guarded, PATIENCE, is_released};
use super::input::Input;
use super::known::{Known, SessionAtHook};
use super::promise::{Promise, always};
use super::{command, event, held_run, installation, seen_events};

/// What became of a hook in a session that is not enrolled.
pub(super) enum Arrived {
    /// Nothing is promised here. It is the usual end, and no store was opened.
    Elsewhere,
    Answered(Bytes),
    /// The session is enrolled in the run that it holds: this event is judged there.
    Enrolled(Event, Box<Environment>),
}

/// A session that holds no run, as far as its file says.
pub(super) fn unenrolled(
    named: Option<Event>,
    input: &Input,
    environment: Environment,
    known: &Known,
    caller: &SessionAtHook<'_>,
) -> Arrived {
    let SessionAtHook { state, claims, .. } = caller;
    let concerns = named.is_none_or(may_concern);
    let folder = input.project.as_deref().filter(|_| concerns);
    let plugin_starts = environment.in_plugin && named.is_none_or(|it| it == Event::SessionStart);
    let found = folder.and_then(|it| installation::find(it, state, claims, plugin_starts));
    let Some(found) = found else {
        return Arrived::Elsewhere;
    };
    let (event, payload) = match input.payload(named) {
        Ok(read) => read,
        // A session without a run is as free as any other, unless nobody can see what it should have.
        Err(unreadable) => {
            known.learn(|facts| facts.promised = found.is_always_on && found.installed.is_err());
            return Arrived::Answered(known.undecided(&unreadable.to_string()));
        }
    };
    let context = Context::at(environment, found.root);
    let promise = Promise::of(found.is_always_on, event, &payload, &context);
    known.learn(|facts| {
        facts.event = Some(event);
        facts.promised = promise != Promise::None;
        facts.stake = Some(promise.stake());
    });
    let is_time = held_run::is_time(&payload.what, promise);
    let held = is_time.then(|| held_run::enrol_again(&context, state, caller.session, event));
    let answered = match held.unwrap_or(Ok(false)) {
        Ok(true) => return Arrived::Enrolled(event, Box::new(context.environment)),
        Err(failure) if found.is_always_on => Err(failure),
        Ok(false) | Err(_) => found.installed.and_then(|installed| {
            let arriving = Arriving {
                event,
                payload: &payload,
                installed,
                session: caller.session,
                program: input.host,
                promise,
            };
            arriving.answer(&context, state)
        }),
    };
    let answer = match answered {
        Ok(answer) => {
            answer.iter().for_each(|_| seen_events::note(state, event));
            answer
        }
        Err(failure) => promise.broken(event, &failure),
    };
    let notice = found.notice.filter(|_| event == Event::SessionStart);
    match with_notice(answer, notice) {
        Some(answer) => Arrived::Answered(input.host.write_answer(event, &answer)),
        None => Arrived::Elsewhere,
    }
}

/// The same answer, and the person sees the notice besides.
fn with_notice(answer: Option<Answer>, notice: Option<String>) -> Option<Answer> {
    let Some(notice) = notice else {
        return answer;
    };
    let answer = answer.unwrap_or_else(Answer::nothing);
    let notice = match &answer.notice {
        Some(told) => format!("{told}\n{notice}"),
        None => notice,
    };
    Some(Answer {
        notice: Some(notice),
        ..answer
    })
}

/// Can this event bring a session to a run?
fn may_concern(event: Event) -> bool {
    matches!(
        event,
        Event::SessionStart
            | Event::UserPromptSubmit
            | Event::UserPromptExpansion
            | Event::PreToolUse
    )
}

struct Arriving<'a> {
    event: Event,
    payload: &'a Payload,
    installed: Installed,
    session: &'a SessionId,
    /// The program whose session it is.
    program: Program,
    promise: Promise,
}

impl Arriving<'_> {
    fn answer(&self, context: &Context, state: &State) -> Result<Option<Answer>, Failure> {
        match &self.payload.what {
            What::SessionStarted { source } => self.started(context, state, *source),
            // The host reports a command twice: as the prompt that it is, and when it is expanded.
            What::CommandTyped { name, arguments } if self.event == Event::UserPromptExpansion => {
                match self.starts(name) {
                    Some(pipeline) => {
                        let typed = TypedStart { name, arguments };
                        self.typed(context, pipeline, &typed).map(Some)
                    }
                    None => self.always_on(context),
                }
            }
            What::CommandTyped { .. } => self.always_on(context),
            What::PromptSubmitted { .. }
            | What::AgentRequested { .. }
            | What::SkillRequested { .. }
            | What::WorkflowRequested { .. }
            | What::MessageRequested { .. } => self.always_on(context),
            What::ToolRequested { .. } if self.promise == Promise::Gate => self.always_on(context),
            What::SessionEnded { .. }
            | What::ToolRequested { .. }
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
            | What::Ignored => Ok(None),
        }
    }

    /// The pipeline that this slash command starts.
    fn starts(&self, name: &CommandName) -> Option<&InstalledPipeline> {
        let mut pipelines = self.installed.pipelines.iter();
        pipelines.find(|pipeline| pipeline.commands.get(name) == Some(&Act::Start))
    }

    fn started(
        &self,
        context: &Context,
        state: &State,
        source: SessionSource,
    ) -> Result<Option<Answer>, Failure> {
        let heir = match source {
            SessionSource::Clear => predecessor(context, state)?,
            SessionSource::Startup
            | SessionSource::Resume
            | SessionSource::Compact
            | SessionSource::Fork => None,
        };
        if let Some(before) = heir {
            let taken = self.take_over(context, &before.run, Some(&before.session))?;
            if taken.is_some() {
                return Ok(taken);
            }
        }
        if self.installed.pipelines.is_empty() {
            return Ok(None);
        }
        let vacant = match source {
            SessionSource::Startup | SessionSource::Resume | SessionSource::Clear => {
                self.vacant(context)?
            }
            // A fork is a conversation of its own, and its run stays with the other one.
            SessionSource::Fork | SessionSource::Compact => Vacant::None,
        };
        match vacant {
            Vacant::Run(run) => self.take_over(context, &run, None),
            Vacant::Several(runs) => Ok(Some(several(&runs))),
            Vacant::None => self.always_on(context),
        }
    }

    fn word(&self, context: &Context, pipeline: &InstalledPipeline) -> String {
        word(context, &self.installed, pipeline)
    }

    /// The run of this worktree that has lost its session.
    fn vacant(&self, context: &Context) -> Result<Vacant, Failure> {
        // Where every session has a run of its own, a new one begins with its own.
        if always(&self.installed).is_some() {
            return Ok(Vacant::None);
        }
        let Some(workspace) = Workspace::if_exists(context)? else {
            return Ok(Vacant::None);
        };
        let worktree = workspace.worktree()?;
        let here = |run: &&RunSummary| {
            run.driver == engine::Driver::Guarded
                && run.worktree == worktree
                && find_run::is_active(run)
        };
        let listed = find_run::of_project(&workspace)?;
        let active: Vec<RunId> = listed
            .iter()
            .filter(here)
            .map(|run| run.id.clone())
            .collect();
        Ok(match active.as_slice() {
            [] => Vacant::None,
            [only] => Vacant::Run(only.clone()),
            _ => Vacant::Several(active),
        })
    }

    fn take_over(
        &self,
        context: &Context,
        run: &RunId,
        heir_of: Option<&SessionId>,
    ) -> Result<Option<Answer>, Failure> {
        let mut workspace = Workspace::for_writing(context)?;
        workspace.store.set_writer_timeout(PATIENCE);
        let Some(opened) = workspace.find(run)? else {
            return Ok(None);
        };
        if is_released(&opened) {
            return Ok(None);
        }
        let before = opened.run().session.as_ref().map(|it| it.session.clone());
        let mut guarded = Guarded {
            workspace: &mut workspace,
            session: self.session.clone(),
            opened,
            notices: Vec::new(),
        };
        let answer = attach(&mut guarded, heir_of)?;
        self.succeed(&guarded, before)?;
        Ok(Some(answer))
    }

    /// The session that held the run before is as free as any other.
    fn succeed(&self, guarded: &Guarded<'_, '_>, before: Option<SessionId>) -> Result<(), Failure> {
        let holds = guarded.opened.run().session.as_ref();
        let holds = holds.is_some_and(|holder| holder.session == *self.session);
        match before.filter(|before| holds && before != self.session) {
            Some(before) => enrolment::withdraw(&guarded.workspace.state, &before)
                .map_err(Failure::file("write to", guarded.workspace.state.folder())),
            None => Ok(()),
        }
    }

    /// In an always-on project a session gets a run of its own, and then this event is judged.
    fn always_on(&self, context: &Context) -> Result<Option<Answer>, Failure> {
        let Some(pipeline) = always(&self.installed) else {
            return Ok(None);
        };
        // Nobody has written it yet, or the session was not guarded then.
        let task = String::from("not given yet: the person's next prompt is the task");
        let by = Who::Session(self.session.clone());
        let begun = self.begin(context, pipeline, task, &[], by)?;
        // What earlier sessions left; this one is guarded whether that can be tidied or not.
        if let What::SessionStarted { .. } = self.payload.what
            && let Ok(mut workspace) = Workspace::for_writing(context)
        {
            let _ = unused_runs::close_old(&mut workspace);
        }
        Ok(Some(begun))
    }

    /// A person typed the command that starts this pipeline.
    fn typed(
        &self,
        context: &Context,
        pipeline: &InstalledPipeline,
        typed: &TypedStart<'_>,
    ) -> Result<Answer, Failure> {
        let by = Who::Through(self.session.clone());
        let (params, task) = command::params(context, &self.word(context, pipeline), typed)?;
        self.begin(context, pipeline, task, &params, by)
    }

    fn begin(
        &self,
        context: &Context,
        pipeline: &InstalledPipeline,
        task: String,
        params: &[(engine::ParamName, String)],
        by: Who,
    ) -> Result<Answer, Failure> {
        let mut workspace = Workspace::for_writing(context)?;
        workspace.store.set_writer_timeout(PATIENCE);
        let process = host::named_process(&context.environment)?;
        let starting = StartRun {
            pipeline: self.word(context, pipeline),
            task,
            params: params.to_vec(),
            steps: Vec::new(),
            id: None,
            queued: false,
            patience: PATIENCE,
            by,
            holder: Holder::Session {
                session: self.session.clone(),
                process,
                program: self.program,
            },
            drive: DriveRequest::default(),
        };
        let key = ids::key()?;
        let opened = match start_run::start(&mut workspace, starting, &key) {
            Ok(Started::Run(opened) | Started::Earlier(opened)) => opened,
            Ok(Started::Refused(refusal)) => {
                return Err(Failure::refused(views::refusal(&refusal)));
            }
            Err(DefinitionError::Failed(failure)) => return Err(failure),
            Err(DefinitionError::Rejected { problems, .. }) => {
                let first = problems.into_iter().next().map(|problem| problem.message);
                let message = format!(
                    "pipeline {} is not accepted ({})",
                    pipeline.name,
                    first.unwrap_or_default()
                );
                return Err(Failure::refused(message).hint("`gatewright lint` shows all problems"));
            }
        };
        let mut guarded = Guarded {
            workspace: &mut workspace,
            session: self.session.clone(),
            opened,
            notices: Vec::new(),
        };
        if let What::SessionStarted { .. } = self.payload.what {
            return attach(&mut guarded, None);
        }
        shipping::wake(&guarded.workspace.state);
        if let What::CommandTyped { .. } = self.payload.what {
            Ok(begun(&guarded))
        } else {
            event::answer(&mut guarded, &HookCall::first(self.event, self.payload))
        }
    }
}

/// What a definition is called when it is looked for. A worktree that does not have the file goes by
/// the one of the project's main worktree, beside git's own folder, or in the folder that was installed
/// before it had git.
fn word(context: &Context, installed: &Installed, pipeline: &InstalledPipeline) -> String {
    let Some(file) = &pipeline.file else {
        return pipeline.name.to_string();
    };
    let key = Path::new(&installed.project);
    let main = if key.ends_with(".git") {
        key.parent()
    } else {
        Some(key)
    };
    let main = main.map(|root| root.join(file));
    match main.filter(|main| !context.folder.join(file).exists() && main.exists()) {
        Some(main) => main.to_string_lossy().into_owned(),
        None => file.clone(),
    }
}

enum Vacant {
    None,
    Run(RunId),
    Several(Vec<RunId>),
}

fn several(runs: &[RunId]) -> Answer {
    let named: Vec<&str> = runs.iter().map(RunId::as_str).collect();
    Answer::for_person(format!(
        "gatewright: {} runs are open here ({}); this session holds none of them",
        runs.len(),
        named.join(", ")
    ))
}

/// The session that this process of the host had before.
fn predecessor(context: &Context, state: &State) -> Result<Option<Enrolled>, Failure> {
    let Some(host) = context.environment.host_process else {
        return Ok(None);
    };
    match host::caller_with_id(host)? {
        Some(process) => enrolment::of_process(state, &process)
            .map_err(Failure::file("read from", state.folder())),
        None => Ok(None),
    }
}

fn begun(guarded: &Guarded<'_, '_>) -> Answer {
    let opened = &guarded.opened;
    let standing = views::session_prompt(&opened.pipeline, opened.run());
    Answer::for_model(format!("run {} started\n{standing}", opened.run().id))
}
