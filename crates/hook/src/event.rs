//! What each kind of payload means for the run, and the answer to it.

use engine::{
    Actor, AgentName, Asker, BypassAttempt, CallId, CommandName, Ending, Fault, Happening, Reply,
    SessionEvent, StepId, ToolEvent, Usage, WorkEvent, WorkRef, WorkerId,
};
use hosts::tool_names;
use hosts::{Answer, Event, Message, Program, SessionEnd, Verdict, What};
use runtime::failure::Failure;
use runtime::transact::{Decided, Options, Request};
use runtime::tree_looks;
use runtime::workspace::OpenRun;
use store::Key;

use super::agent_message::ToAgent;
use super::call::HookCall;
use super::guarded_session::{Guarded, was_abandoned};
use super::{
    agent_began, agent_file, agent_message, answer, attach, command, config_change, other_pipeline,
    protected_paths, question, skill, told_text, worker_record,
};

/// Every payload has its one line here.
pub(super) fn answer(
    guarded: &mut Guarded<'_, '_>,
    call: &HookCall<'_>,
) -> Result<Answer, Failure> {
    let (key, what) = (call.key.as_ref(), &call.payload.what);
    match what {
        // A session that is enrolled goes on: after a break, a compaction, or in another process.
        What::SessionStarted { .. } => attach::attach(guarded, None),
        What::SessionEnded { how } => session_ended(guarded, *how),
        What::PromptSubmitted { text } => prompted(guarded, key, text),
        What::CommandTyped { name, arguments } => command_typed(guarded, call, name, arguments),
        What::StopRequested { background_work } => stop(guarded, *background_work),
        What::TurnFailed { reason } => turn_failed(guarded, reason),
        What::ConfigChanged { file } => config_change::answer_to(guarded, file.as_deref()),
        What::TodosMarked { done } => todos(guarded, call, done),
        What::QuestionAnswered { answers } => question::answered(guarded, call, answers),
        What::AgentRequested {
            agent: Err(name),
            actor,
            ..
        } => {
            let bypass = BypassAttempt::NoName(name.to_owned());
            tool(guarded, key, what, actor, Some(bypass))
        }
        What::AgentRequested {
            agent: Ok(agent),
            step,
            model,
            call,
            actor,
        } => {
            let model = agent_file::model(guarded, agent, model.as_deref());
            let asked = requested(agent, step, Some(&model), call, actor);
            request(guarded, key, asked)
        }
        What::SkillRequested { skill, call, actor } => match skill::forked(guarded, skill) {
            Some(agent) => request(guarded, key, requested(&agent, &None, None, call, actor)),
            None => tool(guarded, key, what, actor, None),
        },
        What::WorkflowRequested { actor } => {
            tool(guarded, key, what, actor, Some(BypassAttempt::Workflow))
        }
        What::MessageRequested {
            message,
            call,
            actor,
        } => {
            let asked = tool(guarded, None, what, actor, None)?;
            let to = agent_message::to(message, call, asker(actor));
            messaged(guarded, key, message, to, asked)
        }
        What::ToolRequested {
            tool,
            actor,
            paths,
            command,
        } => changing(guarded, call, tool, actor, paths, command.as_deref()),
        What::ToolUsed { tool, actor } => {
            if tool_names::is_shell(tool) {
                guarded.look_at_processes()?;
            }
            if tool_names::may_write(tool) {
                used(guarded, key, actor.clone())
            } else {
                Ok(Answer::nothing())
            }
        }
        What::AgentBegan { actor } => {
            worker_record::enter_checkout(guarded, call.payload, &actor.id);
            agent_began::answer_to(guarded, actor)
        }
        What::AgentLaunched { call, worker } => {
            let (call, worker) = (call.clone(), worker.clone());
            let launched = Happening::Work(WorkEvent::Launched { call, worker });
            submitted(guarded, key, launched)
        }
        What::AgentStopping { actor, .. } if helps(&guarded.opened, actor) => Ok(Answer::nothing()),
        What::AgentStopping { actor, reply } => {
            worker_record::enter_checkout(guarded, call.payload, &actor.id);
            stopping(guarded, actor, reply.as_deref())
        }
        // A helper had no dispatch that could end.
        What::AgentReturned { call, worker, .. } | What::AgentFailed { call, worker, .. }
            if has_helpers(guarded) && !is_known(guarded, call, worker) =>
        {
            Ok(Answer::nothing())
        }
        What::AgentReturned {
            call,
            worker,
            reply,
            tool_uses,
            tokens,
        } => {
            let ended = EndedWork::finished(call, worker, reply, *tool_uses, *tokens);
            work_ended(guarded, &ended)
        }
        // The host also notifies of shells that ended.
        What::AgentNotified { call, worker, .. } if !is_known(guarded, call, worker) => {
            Ok(Answer::nothing())
        }
        What::AgentNotified {
            call,
            worker,
            reply,
            tool_uses,
            tokens,
        } => {
            let ended = EndedWork::finished(call, worker, reply, *tool_uses, *tokens);
            work_ended(guarded, &ended)
        }
        What::AgentFailed {
            call,
            worker,
            reason,
        } => work_ended(guarded, &EndedWork::failed(call, worker, reason)),
        What::Ignored => Ok(Answer::nothing()),
    }
}

/// The host reports a command twice: as the prompt that it is, and when it is expanded. A command of
/// the pipeline is judged when it is expanded. One of another pipeline is not this run's task.
fn command_typed(
    guarded: &mut Guarded<'_, '_>,
    call: &HookCall<'_>,
    name: &CommandName,
    arguments: &str,
) -> Result<Answer, Failure> {
    let key = call.key.as_ref();
    let definition = guarded.opened.pipeline.definition();
    let is_ours = definition.commands.contains_key(name);
    match (call.event == Event::UserPromptExpansion, is_ours) {
        (true, _) => command::typed(guarded, call, name, arguments),
        (false, true) => Ok(Answer::nothing()),
        (false, false) if other_pipeline::owns(guarded, name) => prompted(guarded, key, ""),
        (false, false) => prompted(guarded, key, format!("/{name} {arguments}").trim()),
    }
}

/// The host's list is a tool like any other, and says besides what is done.
fn todos(
    guarded: &mut Guarded<'_, '_>,
    call: &HookCall<'_>,
    done: &[String],
) -> Result<Answer, Failure> {
    if call.event == Event::PreToolUse {
        let asked = tool(guarded, None, &call.payload.what, &None, None)?;
        if let Verdict::Refuse(_) = asked.verdict {
            return Ok(asked);
        }
    }
    let done = done.to_vec();
    let marked = Happening::Session(SessionEvent::TodosMarked { done });
    submitted(guarded, None, marked)
}

fn requested(
    agent: &AgentName,
    step: &Option<StepId>,
    model: Option<&str>,
    call: &Option<CallId>,
    actor: &Option<Actor>,
) -> Happening {
    Happening::Work(WorkEvent::Requested {
        agent: agent.clone(),
        step: step.clone(),
        model: model.map(str::to_owned),
        call: call.clone(),
        worker: asker(actor),
        service: None,
    })
}

fn asker(actor: &Option<Actor>) -> Option<Asker> {
    actor.clone().map(|actor| Asker {
        actor,
        tools: Program::DEFAULT.agent_tools(),
    })
}

/// A message is a tool like any other. One to an agent begins work besides.
fn messaged(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    message: &Message,
    to: Option<ToAgent>,
    asked: Answer,
) -> Result<Answer, Failure> {
    match (to, &asked.verdict) {
        (Some(to), Verdict::Allow | Verdict::Nothing) => {
            agent_message::answer(guarded, key, message, to)
        }
        (_, Verdict::Allow | Verdict::Nothing | Verdict::Refuse(_) | Verdict::GoOn(_)) => Ok(asked),
    }
}

/// A tool call, with what it would change. The hook looks again whenever the run has changed.
fn changing(
    guarded: &mut Guarded<'_, '_>,
    call: &HookCall<'_>,
    tool: &str,
    actor: &Option<Actor>,
    paths: &[String],
    command: Option<&str>,
) -> Result<Answer, Failure> {
    let options = Options {
        by: &guarded.session_itself(),
        key: call.key.as_ref(),
    };
    let decided = guarded.submit_with(options, &mut |workspace, opened, _| {
        let looked = protected_paths::look(workspace, opened, call.payload, paths, command);
        Ok(Request::from(Happening::Tool(ToolEvent::Requested {
            tool: tool.to_owned(),
            worker: actor.clone(),
            protected_paths: looked.protected_paths,
            bypass: looked.bypass.or_else(|| {
                let helper = actor.as_ref().filter(|actor| helps(opened, actor));
                let writes = helper.is_some() && !paths.is_empty();
                writes.then(|| BypassAttempt::HelperWrites(tool.to_owned()))
            }),
        })))
    })?;
    Ok(answer::of(&decided))
}

/// Is this one of the pipeline's helpers, which does no work of the run itself?
fn helps(opened: &OpenRun, actor: &Actor) -> bool {
    let is_helper = opened.pipeline.definition().is_helper(&actor.agent);
    is_helper && opened.run().work_of(&actor.id).is_none()
}

fn has_helpers(guarded: &Guarded<'_, '_>) -> bool {
    !guarded.opened.pipeline.definition().helpers.is_empty()
}

/// Does the run know this call or worker?
fn is_known(guarded: &Guarded<'_, '_>, call: &Option<CallId>, worker: &Option<WorkerId>) -> bool {
    let run = guarded.opened.run();
    let knows = |worker: &WorkerId| run.workers.contains_key(worker);
    run.knows_call(call.as_ref()) || worker.as_ref().is_some_and(knows)
}

/// A piece of work that is over, as the host reports it.
struct EndedWork<'a> {
    work: WorkRef,
    ending: Ending,
    usage: Usage,
    /// What the agent said last.
    reply: Option<&'a str>,
}

impl<'a> EndedWork<'a> {
    fn finished(
        call: &Option<CallId>,
        worker: &Option<WorkerId>,
        reply: &'a Option<String>,
        tool_uses: Option<u64>,
        tokens: Option<u64>,
    ) -> Self {
        let worked = tool_uses.is_some_and(|uses| uses > 0);
        Self {
            work: host_work(call, worker),
            ending: Ending::Finished { worked },
            usage: Usage {
                tokens: tokens.unwrap_or(0),
                ..Usage::default()
            },
            reply: reply.as_deref(),
        }
    }

    fn failed(call: &Option<CallId>, worker: &Option<WorkerId>, reason: &str) -> Self {
        Self {
            work: host_work(call, worker),
            ending: Ending::Fault {
                fault: Fault::Crashed,
                reason: reason.to_owned(),
            },
            usage: Usage::default(),
            reply: None,
        }
    }

    fn request(&self) -> Request {
        Request {
            reply: self.reply.map(str::to_owned),
            ..Request::from(Happening::Work(WorkEvent::Ended {
                work: self.work.clone(),
                ending: self.ending.clone(),
                usage: self.usage,
            }))
        }
    }

    fn submit(&self, guarded: &mut Guarded<'_, '_>) -> Result<Decided, Failure> {
        let options = Options {
            by: &guarded.session_itself(),
            key: None,
        };
        guarded.submit_with(options, &mut |_, _, _| Ok(self.request()))
    }
}

/// An agent has ended, and its session learns where the run stands.
fn work_ended(guarded: &mut Guarded<'_, '_>, ended: &EndedWork<'_>) -> Result<Answer, Failure> {
    let decided = ended.submit(guarded)?;
    answer::standing(guarded.workspace, &decided)
}

/// An agent tries to end. Gatewright may send it back.
fn stopping(
    guarded: &mut Guarded<'_, '_>,
    actor: &Actor,
    reply: Option<&str>,
) -> Result<Answer, Failure> {
    let stopping = EndedWork {
        work: host_work(&None, &Some(actor.id.clone())),
        ending: Ending::Stopping { worked: false },
        usage: Usage::default(),
        reply,
    };
    let decided = stopping.submit(guarded)?;
    Ok(match &decided.reply {
        Reply::Hold(refusal) => answer::sent_back(&decided.opened, &actor.id, refusal),
        // The agent has ended, well or not; the next hook says to its session what that came to.
        Reply::Allow | Reply::Refuse(_) | Reply::Inject(_) | Reply::Done => Answer::nothing(),
    })
}

fn host_work(call: &Option<CallId>, worker: &Option<WorkerId>) -> WorkRef {
    WorkRef::Host {
        call: call.clone(),
        worker: worker.clone(),
    }
}

/// A tool was used: did it change what the stage may not change? Its worker learns it early, unless that
/// would take it too much time. Its end is judged in any case.
fn used(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    worker: Option<Actor>,
) -> Result<Answer, Failure> {
    let state = guarded.workspace.state.clone();
    let run = guarded.opened.run().id.clone();
    let what = Happening::Tool(ToolEvent::Used { worker });
    let looked = tree_looks::if_due(&state, &run, || submitted(guarded, key, what));
    looked.unwrap_or_else(|| Ok(Answer::nothing()))
}

fn submitted(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    what: Happening,
) -> Result<Answer, Failure> {
    Ok(answer::of(&guarded.submit_once(key, what)?))
}

/// A request for an agent is also the moment at which the session's own work is over.
fn request(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    what: Happening,
) -> Result<Answer, Failure> {
    let missing = guarded.settle_session_work()?;
    let answered = submitted(guarded, key, what)?;
    Ok(match (missing, &answered.verdict) {
        (Some(missing), Verdict::Refuse(_)) => Answer {
            verdict: Verdict::Refuse(missing),
            ..answered
        },
        (_, Verdict::Nothing | Verdict::Allow | Verdict::Refuse(_) | Verdict::GoOn(_)) => answered,
    })
}

fn tool(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    what: &What,
    actor: &Option<Actor>,
    bypass: Option<BypassAttempt>,
) -> Result<Answer, Failure> {
    let requested = Happening::Tool(ToolEvent::Requested {
        tool: tool_names::requested(what).to_owned(),
        worker: actor.clone(),
        protected_paths: Vec::new(),
        bypass,
    });
    submitted(guarded, key, requested)
}

/// A conversation that is cleared has an heir in the same process, which goes on with its agents.
fn session_ended(guarded: &mut Guarded<'_, '_>, ended: SessionEnd) -> Result<Answer, Failure> {
    let session = guarded.session.clone();
    let decided = guarded.submit(match ended {
        SessionEnd::Over | SessionEnd::Left => Happening::Session(SessionEvent::Ended { session }),
        SessionEnd::Cleared => Happening::Session(SessionEvent::Remarked {
            message: format!("session {session} was cleared"),
        }),
    })?;
    Ok(Answer {
        // Who left at the prompt has read it in the conversation.
        notice: answer::turn_ended(&decided.opened).filter(|_| ended == SessionEnd::Over),
        ..Answer::nothing()
    })
}

fn turn_failed(guarded: &mut Guarded<'_, '_>, reason: &str) -> Result<Answer, Failure> {
    let message = format!("the session's turn ended with an error: {reason}");
    guarded.submit(Happening::Session(SessionEvent::Remarked { message }))?;
    Ok(Answer::nothing())
}

fn prompted(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    text: &str,
) -> Result<Answer, Failure> {
    let text = text.to_owned();
    let submitted = Happening::Session(SessionEvent::PromptSubmitted { text });
    let decided = guarded.submit_once(key, submitted)?;
    let had_text = told_text::note(&guarded.workspace.state, &guarded.session, &decided);
    Ok(answer::prompt(&decided, had_text))
}

fn stop(guarded: &mut Guarded<'_, '_>, background_work: bool) -> Result<Answer, Failure> {
    let missing = if background_work {
        None
    } else {
        guarded.settle_session_work()?
    };
    let decided = guarded.submit(Happening::Session(SessionEvent::StopRequested {
        background_work,
    }))?;
    if was_abandoned(&decided) {
        let run = &decided.opened.run().id;
        return Ok(Answer::for_person(format!(
            "gatewright: the session stopped before run {run} was done; it waits for you: type \
             `gatewright next {run}`, or let the session continue with your next prompt"
        )));
    }
    let goes_on_later = background_work && !decided.opened.run().dispatches.is_empty();
    let ended = answer::turn_ended(&decided.opened);
    let answered = match answer::of(&decided) {
        held @ Answer {
            verdict: Verdict::Refuse(_) | Verdict::GoOn(_),
            ..
        } => held,
        passed => Answer {
            notice: ended.filter(|_| !goes_on_later),
            ..passed
        },
    };
    Ok(match (missing, &answered.verdict) {
        (Some(missing), Verdict::GoOn(_)) => Answer {
            verdict: Verdict::GoOn(missing),
            ..answered
        },
        (_, Verdict::Nothing | Verdict::Allow | Verdict::Refuse(_) | Verdict::GoOn(_)) => answered,
    })
}
