//! What each kind of payload means for the run, and what is said to it.

use engine::{
    Actor, AgentName, Asker, BypassAttempt, CallId, CommandName, Ending, Fault, Happening, Reply,
    SessionEvent, StepId, ToolEvent, Usage, WorkEvent, WorkRef, WorkerId,
};
use hosts::tool_names;
use hosts::{Answer, Ended, Event, Payload, Program, Verdict, What};

use super::guarded::{Guarded, was_abandoned};
use super::{agent_began, answer, arrival, command, protected_paths, question, skill};
use runtime::failure::Failure;
use runtime::transact::Request;

pub fn answer(
    guarded: &mut Guarded<'_, '_>,
    event: Event,
    payload: &Payload,
) -> Result<Answer, Failure> {
    match &payload.what {
        // A session that is enrolled goes on: after a break, a compaction, or in another process.
        What::SessionStarted { .. } => arrival::attach(guarded, None),
        What::SessionEnded { cleared } => ended(guarded, *cleared),
        What::PromptSubmitted => prompted(guarded),
        // The host tells of a command twice: as the prompt that it is, and when it is expanded.
        What::CommandTyped { name, arguments } if event == Event::UserPromptExpansion => {
            command::typed(guarded, name, arguments)
        }
        What::CommandTyped { name, .. } if is_command(guarded, name) => Ok(Answer::nothing()),
        What::CommandTyped { .. } => prompted(guarded),
        What::StopRequested { background_work } => stop(guarded, *background_work),
        What::ConfigChanged { file } => arrival::config_changed(guarded, file.as_deref()),
        What::TurnFailed { reason } => {
            let message = format!("the session's turn ended by an error: {reason}");
            guarded.tell(Happening::Session(SessionEvent::Remarked { message }))?;
            Ok(Answer::nothing())
        }
        What::TodosMarked { done } => todos(guarded, event, done),
        What::QuestionAnswered { answers } => question::answered(guarded, answers),
        What::Ignored => Ok(Answer::nothing()),
        what => agents(guarded, payload, what),
    }
}

/// The host's list is a tool like any other, and says besides what is done.
fn todos(guarded: &mut Guarded<'_, '_>, event: Event, done: &[String]) -> Result<Answer, Failure> {
    if event == Event::PreToolUse {
        let asked = tool(guarded, "TodoWrite", &None, None)?;
        if let Verdict::Refuse(_) = asked.verdict {
            return Ok(asked);
        }
    }
    let done = done.to_vec();
    said(
        guarded,
        Happening::Session(SessionEvent::TodosMarked { done }),
    )
}

/// What a command of the pipeline comes to is told when it is expanded.
fn is_command(guarded: &Guarded<'_, '_>, name: &CommandName) -> bool {
    let definition = guarded.opened.pipeline.definition();
    definition.commands.contains_key(name)
}

/// What agents ask for and do.
fn agents(
    guarded: &mut Guarded<'_, '_>,
    payload: &Payload,
    what: &What,
) -> Result<Answer, Failure> {
    match what {
        What::AgentRequested {
            agent: Err(name),
            actor,
            ..
        } => tool(
            guarded,
            "Agent",
            actor,
            Some(BypassAttempt::NoName(name.clone())),
        ),
        What::AgentRequested {
            agent: Ok(agent),
            step,
            call,
            actor,
            ..
        } => {
            let (step, call) = (step.as_ref(), call.as_ref());
            request(guarded, requested(agent, step, call, actor))
        }
        What::SkillRequested { skill, call, actor } => match skill::forked(guarded, skill) {
            Some(agent) => request(guarded, requested(&agent, None, call.as_ref(), actor)),
            None => tool(guarded, "Skill", actor, None),
        },
        What::WorkflowRequested { actor } => {
            tool(guarded, "Workflow", actor, Some(BypassAttempt::Workflow))
        }
        What::MessageRequested { to, call, actor } => message(guarded, to, call, actor),
        What::ToolRequested { .. } => touching(guarded, payload, what),
        What::ToolUsed { tool, actor } if tool_names::may_write(tool) => {
            let worker = actor.clone();
            said(guarded, Happening::Tool(ToolEvent::Used { worker }))
        }
        what => progress(guarded, what),
    }
}

/// A message is a tool like any other, and may begin work besides.
fn message(
    guarded: &mut Guarded<'_, '_>,
    to: &str,
    call: &Option<CallId>,
    actor: &Option<Actor>,
) -> Result<Answer, Failure> {
    let key = guarded.key.take();
    let asked = tool(guarded, "SendMessage", actor, None);
    guarded.key = key;
    let asked = asked?;
    let to = WorkerId::parse(to.trim()).ok();
    match (to.filter(|to| to.as_str() != "main"), &asked.verdict) {
        (Some(to), Verdict::Allow | Verdict::Nothing) => {
            let call = call.clone();
            let worker = asker(actor);
            said(
                guarded,
                Happening::Work(WorkEvent::MessageRequested { to, call, worker }),
            )
        }
        _ => Ok(asked),
    }
}

fn requested(
    agent: &AgentName,
    step: Option<&StepId>,
    call: Option<&CallId>,
    actor: &Option<Actor>,
) -> Happening {
    Happening::Work(WorkEvent::Requested {
        agent: agent.clone(),
        step: step.cloned(),
        call: call.cloned(),
        worker: asker(actor),
    })
}

fn asker(actor: &Option<Actor>) -> Option<Asker> {
    actor.clone().map(|actor| Asker {
        actor,
        tools: Program::DEFAULT.agent_tools(),
    })
}

/// A tool call, with what it would touch. That is looked at anew whenever the run has changed.
fn touching(
    guarded: &mut Guarded<'_, '_>,
    payload: &Payload,
    what: &What,
) -> Result<Answer, Failure> {
    let What::ToolRequested {
        tool,
        actor,
        paths,
        command,
    } = what
    else {
        return Ok(Answer::nothing());
    };
    let by = guarded.session_itself();
    let decided = guarded.tell_by(&by, &mut |workspace, opened, _| {
        let looked = protected_paths::look(workspace, opened, payload, paths, command.as_deref());
        Ok(Request::from(Happening::Tool(ToolEvent::Requested {
            tool: tool.clone(),
            worker: actor.clone(),
            protected_paths: looked.protected_paths,
            bypass: looked.bypass,
        })))
    })?;
    Ok(answer::of(&decided))
}

/// What is seen of agents at work.
fn progress(guarded: &mut Guarded<'_, '_>, what: &What) -> Result<Answer, Failure> {
    match what {
        What::AgentBegan { actor } => agent_began::answer_to(guarded, actor),
        What::AgentLaunched { call, worker } => {
            let (call, worker) = (call.clone(), worker.clone());
            said(
                guarded,
                Happening::Work(WorkEvent::Launched { call, worker }),
            )
        }
        What::AgentStopping { actor, reply } => {
            let ending = Ending::Stopping { worked: false };
            let work = host_work(&None, &Some(actor.id.clone()));
            let decided = over(guarded, work, ending, Usage::default(), reply.as_ref())?;
            Ok(match &decided.reply {
                Reply::Hold(refusal) => answer::sent_back(&decided.opened, &actor.id, refusal),
                // The worker has ended, well or not; its session is told what that came to.
                _ => Answer::nothing(),
            })
        }
        // Shells end, too.
        What::AgentNotified { call, worker, .. } if !is_known(guarded, call, worker) => {
            Ok(Answer::nothing())
        }
        What::AgentReturned {
            call,
            worker,
            reply,
            tool_uses,
            tokens,
        }
        | What::AgentNotified {
            call,
            worker,
            reply,
            tool_uses,
            tokens,
        } => {
            let worked = tool_uses.is_some_and(|uses| uses > 0);
            let (work, ending) = (host_work(call, worker), Ending::Finished { worked });
            let decided = over(guarded, work, ending, usage(*tokens), reply.as_ref())?;
            answer::standing(guarded.workspace, &decided)
        }
        What::AgentFailed {
            call,
            worker,
            reason,
        } => {
            let ending = Ending::Fault {
                fault: Fault::Crashed,
                reason: reason.clone(),
            };
            let work = host_work(call, worker);
            let decided = over(guarded, work, ending, Usage::default(), None)?;
            answer::standing(guarded.workspace, &decided)
        }
        _ => Ok(Answer::nothing()),
    }
}

/// Has the run heard of this call or worker?
fn is_known(guarded: &Guarded<'_, '_>, call: &Option<CallId>, worker: &Option<WorkerId>) -> bool {
    let run = guarded.opened.run();
    let knows = |worker: &WorkerId| run.workers.contains_key(worker);
    let called = run
        .dispatches
        .values()
        .any(|open| call.is_some() && open.call == *call);
    called || worker.as_ref().is_some_and(knows)
}

fn host_work(call: &Option<CallId>, worker: &Option<WorkerId>) -> WorkRef {
    WorkRef::Host {
        call: call.clone(),
        worker: worker.clone(),
    }
}

fn usage(tokens: Option<u64>) -> Usage {
    Usage {
        tokens: tokens.unwrap_or(0),
        ..Usage::default()
    }
}

fn over(
    guarded: &mut Guarded<'_, '_>,
    work: WorkRef,
    ending: Ending,
    usage: Usage,
    reply: Option<&String>,
) -> Result<runtime::transact::Decided, Failure> {
    let deed = || Request {
        reply: reply.cloned(),
        ..Request::from(Happening::Work(WorkEvent::Ended {
            work: work.clone(),
            ending: ending.clone(),
            usage,
        }))
    };
    guarded.tell_deed(&deed)
}

fn said(guarded: &mut Guarded<'_, '_>, what: Happening) -> Result<Answer, Failure> {
    Ok(answer::of(&guarded.tell(what)?))
}

/// A request for an agent is also the moment at which the session's own work is over.
fn request(guarded: &mut Guarded<'_, '_>, what: Happening) -> Result<Answer, Failure> {
    let missing = guarded.settle_session_work()?;
    let answered = said(guarded, what)?;
    Ok(match (missing, answered.verdict) {
        (Some(missing), Verdict::Refuse(_)) => Answer {
            verdict: Verdict::Refuse(missing),
            ..answered
        },
        (_, verdict) => Answer {
            verdict,
            ..answered
        },
    })
}

fn tool(
    guarded: &mut Guarded<'_, '_>,
    tool: &str,
    actor: &Option<Actor>,
    bypass: Option<BypassAttempt>,
) -> Result<Answer, Failure> {
    said(
        guarded,
        Happening::Tool(ToolEvent::Requested {
            tool: tool.to_owned(),
            worker: actor.clone(),
            protected_paths: Vec::new(),
            bypass,
        }),
    )
}

/// A conversation that is cleared has an heir in the same process, who goes on with its workers.
fn ended(guarded: &mut Guarded<'_, '_>, ended: Ended) -> Result<Answer, Failure> {
    let session = guarded.session.clone();
    guarded.tell(match ended {
        Ended::Over => Happening::Session(SessionEvent::Ended { session }),
        Ended::Cleared => Happening::Session(SessionEvent::Remarked {
            message: format!("session {session} was cleared"),
        }),
    })?;
    Ok(Answer::nothing())
}

fn prompted(guarded: &mut Guarded<'_, '_>) -> Result<Answer, Failure> {
    let decided = guarded.tell(Happening::Session(SessionEvent::PromptSubmitted))?;
    Ok(answer::prompt(&decided))
}

fn stop(guarded: &mut Guarded<'_, '_>, background_work: bool) -> Result<Answer, Failure> {
    let missing = match background_work {
        true => None,
        false => guarded.settle_session_work()?,
    };
    let decided = guarded.tell(Happening::Session(SessionEvent::StopRequested {
        background_work,
    }))?;
    if was_abandoned(&decided) {
        let run = &decided.opened.run().id;
        return Ok(Answer {
            notice: Some(format!(
                "gatewright: the session stopped before run {run} was done; it waits for you: type \
                 `gatewright next {run}`"
            )),
            ..Answer::nothing()
        });
    }
    let answered = answer::of(&decided);
    Ok(match (missing, answered.verdict) {
        (Some(missing), Verdict::GoOn(_)) => Answer {
            verdict: Verdict::GoOn(missing),
            ..answered
        },
        (_, verdict) => Answer {
            verdict,
            ..answered
        },
    })
}
