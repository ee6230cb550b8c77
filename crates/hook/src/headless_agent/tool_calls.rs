//! The tool calls of an agent that we started, before and after: its run judges them.

use engine::{
    Actor, Author, BypassAttempt, CallId, Dispatch, EngineEvent, Entry, Fact, Happening, Outside,
    OutsideChange, Reply, Rule, ToolEvent, Who, WorkEvent, WorkerId,
};
use hosts::tool_names;
use hosts::{Answer, Payload, Program, Verdict, What};
use runtime::claim;
use runtime::clock;
use runtime::commit;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::hook_reports::{self, Times};
use runtime::transact::{self, Decided, MakeRequest, Options, Request, Target};
use runtime::tree_looks;
use runtime::work_record::Record;
use runtime::workspace::{OpenRun, Workspace};
use store::Key;

use super::super::call::HookCall;
use super::super::guarded_session::PATIENCE;
use super::super::permission::Owed;
use super::super::{protected_paths, skill};
use super::{HeadlessAgent, denied_tools, refused};

/// A runner ends its agents when it ends. An agent that is still there does nothing more.
const LEFT_BEHIND: &str = "the process that started this work is gone: end your turn";

impl HeadlessAgent {
    /// May it use this tool?
    pub(crate) fn requested(
        &self,
        call: &HookCall<'_>,
        context: &Context,
    ) -> Result<Answer, Failure> {
        let record = self.record()?;
        if claim::is_lost(&self.state, &self.call) {
            return Ok(refused(Rule::Unadmitted, LEFT_BEHIND));
        }
        let mut acting = ActingAgent::open(self, record, call, context)?;
        acting.tie(&self.call)?;
        let decided = acting.request(call)?;
        let answer = answer(&decided);
        if matches!(decided.reply, Reply::Allow | Reply::Done) {
            acting.note_outside(call)?;
        }
        acting.workspace.leave();
        Ok(answer)
    }

    /// The host would ask a person, and nobody is there: folders such as `.claude` are not written to
    /// without one. What this very work must leave there may be written, by its path and by nothing
    /// else; to everything else there is no answer, and the host says no.
    pub(crate) fn permitted(
        &self,
        call: &HookCall<'_>,
        context: &Context,
    ) -> Result<Answer, Failure> {
        if claim::is_lost(&self.state, &self.call) {
            return Ok(Answer::nothing());
        }
        let acting = ActingAgent::open(self, self.record()?, call, context)?;
        let (workspace, opened) = (&acting.workspace, &acting.opened);
        let dispatch = opened.run().work_of_call(&self.call);
        let owed = dispatch.map(|dispatch| Owed::by_worker(opened, dispatch));
        let is_owed = owed.is_some_and(|owed| owed.covers(workspace, opened, call.payload));
        acting.workspace.leave();
        Ok(if is_owed {
            Answer::from(Verdict::Allow)
        } else {
            Answer::nothing()
        })
    }

    /// Did a tool change what the stage may not change? The worker learns it at once.
    pub(crate) fn used(&self, call: &HookCall<'_>, context: &Context) -> Result<Answer, Failure> {
        let What::ToolUsed { tool, .. } = &call.payload.what else {
            return Ok(Answer::nothing());
        };
        if !tool_names::may_write(tool) || claim::is_lost(&self.state, &self.call) {
            return Ok(Answer::nothing());
        }
        let mut acting = ActingAgent::open(self, self.record()?, call, context)?;
        let worker = Some(acting.actor.clone());
        let what = Happening::Tool(ToolEvent::Used { worker });
        let run = acting.opened.run().id.clone();
        let decided = tree_looks::if_due(&self.state, &run, || {
            acting.submit(None, &mut |_, _, _| Ok(Request::from(what.clone())))
        });
        let answer = match decided {
            Some(decided) => answer(&decided?),
            None => Answer::nothing(),
        };
        acting.workspace.leave();
        Ok(answer)
    }
}

/// The agent at its hook, with the run that it works for.
struct ActingAgent<'c> {
    workspace: Workspace<'c>,
    opened: OpenRun,
    record: Record,
    actor: Actor,
    ground: Ground,
}

/// What its calls are judged on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ground {
    /// The run in its store.
    Store,
    /// The copy of a fleet's run, for the work of this call.
    Copy { call: CallId },
}

impl<'c> ActingAgent<'c> {
    fn open(
        agent: &HeadlessAgent,
        record: Record,
        call: &HookCall<'_>,
        context: &'c Context,
    ) -> Result<Self, Failure> {
        let actor = Actor {
            id: id(agent, &record, call).ok_or_else(nameless)?,
            agent: record.agent.clone(),
        };
        let copy = agent.copy().filter(|copy| copy.stored.run.id == record.run);
        let (mut workspace, opened, ground) = match copy {
            Some(copy) => {
                let (workspace, opened) = Workspace::of_copy(context, copy)?;
                let call = agent.call.clone();
                (workspace, opened, Ground::Copy { call })
            }
            None => {
                let mut workspace = Workspace::for_writing(context)?;
                workspace.store.set_writer_timeout(PATIENCE);
                let opened = workspace.read(&record.run)?;
                (workspace, opened, Ground::Store)
            }
        };
        workspace.step_folder.clone_from(&record.step_folder);
        Ok(Self {
            workspace,
            opened,
            record,
            actor,
            ground,
        })
    }

    /// The first hook may come before the program has told who it is. It is tied by its call, and
    /// only if it is the conversation that was begun for it.
    fn tie(&mut self, call: &CallId) -> Result<(), Failure> {
        let Some(dispatch) = self.opened.run().work_of_call(call) else {
            return Ok(());
        };
        let is_tied = dispatch.worker.as_ref() == Some(&self.actor.id);
        if is_tied || !self.is_expected(dispatch) {
            return Ok(());
        }
        let what = Happening::Work(WorkEvent::Launched {
            call: call.clone(),
            worker: self.actor.id.clone(),
        });
        self.submit(None, &mut |_, _, _| Ok(Request::from(what.clone())))?;
        Ok(())
    }

    /// Is this whom the work was given to, as far as that is known?
    fn is_expected(&self, dispatch: &Dispatch) -> bool {
        let (runner, id) = (self.record.runner.as_str(), self.actor.id.as_str());
        let Some(id) = id.strip_prefix(runner).and_then(|id| id.strip_prefix(':')) else {
            return false;
        };
        match &self.record.conversation {
            Some(known) => known == id,
            None => dispatch.worker.is_none() || self.record.restarts > 0,
        }
    }

    /// The hook looks again at what the call would touch whenever the run has changed.
    fn request(&mut self, call: &HookCall<'_>) -> Result<Decided, Failure> {
        let (actor, dispatch) = (self.actor.clone(), self.record.dispatch);
        self.submit(call.key.as_ref(), &mut |workspace, opened, _| {
            let wanted = Wanted::of(workspace, opened, call.payload);
            let open = opened.run().dispatches.get(&dispatch);
            let stage = open.and_then(|open| opened.pipeline.stage(&open.stage));
            let tool = match stage {
                Some(stage) => denied_tools::named(stage, wanted.tool),
                None => wanted.tool.into(),
            };
            let looked = protected_paths::look(
                workspace,
                opened,
                call.payload,
                wanted.paths,
                wanted.command,
            );
            Ok(Request::from(Happening::Tool(ToolEvent::Requested {
                tool: tool.into_owned(),
                worker: Some(actor.clone()),
                protected_paths: looked.protected_paths,
                bypass: wanted.bypass.or(looked.bypass),
            })))
        })
    }

    /// A write outside the project is allowed, and the run records who asked for it.
    fn note_outside(&mut self, call: &HookCall<'_>) -> Result<(), Failure> {
        let What::ToolRequested { tool, paths, .. } = &call.payload.what else {
            return Ok(());
        };
        if paths.is_empty() || !tool_names::may_write(tool) {
            return Ok(());
        }
        let paths = protected_paths::outside(&self.workspace, &self.opened, call.payload, paths);
        if paths.is_empty() {
            return Ok(());
        }
        let change = OutsideChange {
            during: vec![self.record.dispatch],
            author: Author::Worker,
            what: Outside::Elsewhere {
                tool: tool.clone(),
                paths,
            },
        };
        let what = Happening::Engine(EngineEvent::ChangedOutside(change));
        self.submit(None, &mut |_, _, _| Ok(Request::from(what.clone())))?;
        Ok(())
    }

    fn submit(
        &mut self,
        key: Option<&Key>,
        make: &mut MakeRequest<'_>,
    ) -> Result<Decided, Failure> {
        let decided = match &self.ground {
            Ground::Store => transact::transact(
                &mut self.workspace,
                Target::Seen(Box::new(self.opened.clone())),
                Options {
                    by: &Who::Engine,
                    key,
                },
                make,
            )?,
            Ground::Copy { call } => self.judge_copy(&call.clone(), key, make)?,
        };
        self.opened = decided.opened.clone();
        Ok(decided)
    }

    /// Decides here, and leaves the event for the orchestrator, where the decision is worth an entry.
    fn judge_copy(
        &self,
        call: &CallId,
        key: Option<&Key>,
        make: &mut MakeRequest<'_>,
    ) -> Result<Decided, Failure> {
        let request = make(&self.workspace, &self.opened, clock::now())?;
        let decided =
            commit::decide_on_copy(&self.workspace, &self.opened, &Who::Engine, &request)?;
        if decided.entries.is_empty() {
            return Ok(decided);
        }
        let is_sign = |(_, entry): &(u64, Entry)| {
            matches!(entry.fact, Fact::Worked { .. } | Fact::Began { .. })
        };
        let times = if decided.entries.iter().all(is_sign) {
            Times::OnceForWork
        } else {
            Times::Each
        };
        hook_reports::add(&self.workspace.state, call, &request.what, key, times)?;
        Ok(decided)
    }
}

/// A tool call, as the engine judges it.
struct Wanted<'a> {
    tool: &'a str,
    paths: &'a [String],
    command: Option<&'a str>,
    bypass: Option<BypassAttempt>,
}

impl<'a> Wanted<'a> {
    fn of(workspace: &Workspace<'_>, opened: &OpenRun, payload: &'a Payload) -> Self {
        let mut wanted = Wanted {
            tool: tool_names::requested(&payload.what),
            paths: &[],
            command: None,
            bypass: bypass(workspace, opened, &payload.what),
        };
        if let What::ToolRequested { paths, command, .. } = &payload.what {
            (wanted.paths, wanted.command) = (paths, command.as_deref());
        }
        wanted
    }
}

/// The agent that this call would start beside the run.
fn bypass(workspace: &Workspace<'_>, opened: &OpenRun, what: &What) -> Option<BypassAttempt> {
    match what {
        What::AgentRequested { agent, .. } => Some(match agent {
            Ok(agent) => BypassAttempt::OwnAgent(agent.clone()),
            Err(name) => BypassAttempt::NoName(name.clone()),
        }),
        What::SkillRequested { skill, .. } => {
            let own = workspace.step_folder.as_ref();
            let folder = own.map_or(opened.stored.worktree(), String::as_str);
            let environment = &workspace.context.environment;
            let forked = skill::forked_in(folder.as_ref(), environment, skill);
            forked.map(BypassAttempt::OwnAgent)
        }
        What::WorkflowRequested { .. } => Some(BypassAttempt::Workflow),
        What::ToolRequested { .. }
        | What::MessageRequested { .. }
        | What::TodosMarked { .. }
        | What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
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
        | What::Ignored => None,
    }
}

/// Who acts: the conversation, by its program's word for it. A script of the definition has none, and
/// whatever it starts is its work.
fn id(agent: &HeadlessAgent, record: &Record, call: &HookCall<'_>) -> Option<WorkerId> {
    let (program, id) = match Program::parse(&record.runner) {
        Some(_) => {
            let session = call.payload.session.as_ref()?;
            (agent.host.word(), session.as_str())
        }
        None => (record.runner.as_str(), agent.call.as_str()),
    };
    WorkerId::parse(&format!("{program}:{id}")).ok()
}

fn nameless() -> Failure {
    Failure::environment("the host did not say which conversation this is")
}

fn answer(decided: &Decided) -> Answer {
    match &decided.reply {
        Reply::Refuse(refusal) | Reply::Hold(refusal) => refused(refusal.rule, &refusal.reason),
        Reply::Inject(text) => Answer::for_model(text.clone()),
        Reply::Allow | Reply::Done => Answer::nothing(),
    }
}
