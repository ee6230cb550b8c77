//! Requests: may this agent start?

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use super::{Draft, Verdict, guard, task};
use crate::assign::{Assignment, assign, canonical_name};
use crate::budget::overspent;
use crate::decision::Reply;
use crate::duty::settings;
use crate::entry::Fact;
use crate::event::Asker;
use crate::names::{AgentName, ArtifactName, CallId, DispatchId, Hash, StepId, Time, WorkerId};
use crate::rule::Rule;
use crate::run::{Dispatch, Driver, Duty, Run, Service};
use crate::stage::Leaves;
use crate::status::is_over;

/// A request for a piece of work.
pub(super) struct Request<'a> {
    pub agent: &'a AgentName,
    pub step: Option<&'a StepId>,
    /// The model that the call names.
    pub model: Option<&'a str>,
    pub call: Option<&'a CallId>,
    /// The worker whose conversation continues.
    pub resumed: Option<&'a WorkerId>,
    /// What will work on it, if Gatewright starts it.
    pub service: Option<&'a Service>,
}

pub(super) fn requested(
    draft: &mut Draft<'_>,
    request: &Request<'_>,
    asker: Option<&Asker>,
) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let agent = canonical_name(draft.pipeline, &draft.run, request.agent);
    let what = format!("start '{agent}'");
    let asking = match asker.map(|asker| guard::at_work(draft, &asker.actor)) {
        Some(Err(reason)) => return draft.refuse(Rule::Unadmitted, &what, reason),
        Some(Ok(asking)) => Some(asking),
        None => None,
    };
    // The session calls agents because the stage is there for it; a worker may be denied that.
    let tools = asker.map(|asker| asker.tools).unwrap_or_default();
    let denied = asking.and_then(|asking| guard::denied_any(draft, asking, tools));
    if let Some(reason) = denied {
        return draft.refuse(Rule::ToolDenied, &what, reason);
    }
    if draft.run.knows_call(request.call) {
        // The host asks again about a call that was admitted.
        return allowed();
    }
    // Where there is no session, a worker does what it would have done.
    let headless = draft.run.driver == Driver::Headless;
    if agent.is_session() && !headless {
        let reason = String::from("the session itself is not an agent that can be called");
        return draft.refuse(Rule::AgentOutOfTurn, &what, reason);
    }
    let assignment = match assign(draft.pipeline, &draft.run, &agent, request.step) {
        Ok(assignment) => assignment,
        Err(_) if draft.pipeline.definition().is_helper(request.agent) => return helps(),
        Err(obstacle) => return draft.refuse(obstacle.rule, &what, obstacle.reason),
    };
    if let Some((rule, reason)) = unfit(draft, &agent, &assignment, request) {
        return draft.refuse(rule, &what, reason);
    }
    if let Err(verdict) = within_budget(draft, &what) {
        return verdict;
    }
    if let Some(asking) = asking {
        guard::seen_at_work(draft, asking);
    }
    let before_work = WorkBefore {
        artifacts: contents_before(draft),
        tree: strayed_from(&draft.run, &assignment.duty).or(draft.tree),
        call: request.call.cloned(),
        worker: request.resumed.cloned(),
        service: request.service.cloned(),
        since: draft.at,
    };
    let leaves = assignment.leaves.clone();
    task::begin_next(draft);
    let id = admit(draft, &agent, assignment, before_work);
    note_altered(draft, id, &leaves);
    allowed()
}

/// A helper has no dispatch: its tool calls are judged as the session's own.
fn helps() -> Verdict {
    Verdict {
        rule: Rule::Helper,
        reply: Reply::Allow,
    }
}

fn allowed() -> Verdict {
    Verdict {
        rule: Rule::AgentInTurn,
        reply: Reply::Allow,
    }
}

/// Why this call may not do the work, although it is the agent's turn.
fn unfit(
    draft: &Draft<'_>,
    agent: &AgentName,
    assignment: &Assignment,
    request: &Request<'_>,
) -> Option<(Rule, String)> {
    let elsewhere = run_elsewhere(draft, agent, assignment);
    let elsewhere = elsewhere.map(|reason| (Rule::AgentOutOfTurn, reason));
    elsewhere
        .or_else(|| {
            Some((
                Rule::OtherModel,
                other_model(draft, agent, assignment, request.model)?,
            ))
        })
        .or_else(|| {
            let reason = still_beginning(draft, agent, assignment, request)?;
            Some((Rule::StillBeginning, reason))
        })
}

/// A session can start only agents of its host. It would imitate an agent of another program.
fn run_elsewhere(draft: &Draft<'_>, agent: &AgentName, assignment: &Assignment) -> Option<String> {
    draft.by.session()?;
    let settings = settings(draft.stage()?, &assignment.duty)?;
    let runner = settings.runner.as_ref()?;
    (!draft.run.session_starts(Some(runner)))
        .then(|| format!("{runner} runs '{agent}', not the session: run `gatewright step`"))
}

/// A call with another model than the definition names would have another reviewer judge. Where a call names
/// none, the host takes that of the agent's file, or the session's: the hook says which.
fn other_model(
    draft: &Draft<'_>,
    agent: &AgentName,
    assignment: &Assignment,
    named: Option<&str>,
) -> Option<String> {
    draft.by.session()?;
    let settings = settings(draft.stage()?, &assignment.duty)?;
    let (wanted, named) = (settings.model.as_deref()?, named?);
    (!is_same_model(wanted, named)).then(|| {
        format!("'{agent}' works with the model \"{wanted}\" here: call it with model \"{wanted}\"")
    })
}

/// Hosts name a model by a short word, and a definition may give its whole name.
fn is_same_model(wanted: &str, named: &str) -> bool {
    let mut parts = wanted.split(['-', '.', ':', '/', '[']);
    wanted.eq_ignore_ascii_case(named) || parts.any(|part| part.eq_ignore_ascii_case(named))
}

/// Hosts report that an agent starts, but not which call started it. While one is still starting, the
/// same agent is not admitted for other work, unless each call names its step.
fn still_beginning(
    draft: &Draft<'_>,
    agent: &AgentName,
    assignment: &Assignment,
    request: &Request<'_>,
) -> Option<String> {
    let session = draft.by.session().filter(|_| request.resumed.is_none())?;
    let is_named_step = request.step.is_some();
    let other = draft.run.dispatches.values().find(|open| {
        let here = open.visit == draft.run.position.visit;
        let both_steps = here && is_named_step && open.duty.step().is_some();
        open.session.as_ref() == Some(session)
            && open.worker.is_none()
            && open.agent.is_same(agent.as_str())
            && (open.duty != assignment.duty || !here)
            && !both_steps
    })?;
    let hint = match assignment.duty.step() {
        Some(step) => format!("begin its prompt with `step: {step}`, or call it again"),
        None => String::from("call it again for this"),
    };
    Some(format!(
        "'{agent}' is still starting {}: {hint} when it has started",
        other.id
    ))
}

/// Notes that a file was changed after it was captured: the worker gets the captured content. The
/// worker's own artifacts are excluded, since an earlier attempt may have left them half done.
fn note_altered(draft: &mut Draft<'_>, id: DispatchId, leaves: &Leaves) {
    for input in &draft.evidence.altered {
        let step = input.step.as_ref();
        if step.is_none() && leaves.all().contains(&&input.artifact) {
            continue;
        }
        let step = step.map(|step| format!(" of step {step}"));
        let message = format!(
            "the file of the artifact `{}`{} does not have the captured content (it was changed, or is not there): {id} gets \
             the captured content",
            input.artifact,
            step.unwrap_or_default()
        );
        draft.record(Rule::InputAltered, Fact::Noted { message });
    }
}

/// What was there before a piece of work.
struct WorkBefore {
    artifacts: BTreeMap<ArtifactName, Hash>,
    tree: Option<Hash>,
    call: Option<CallId>,
    worker: Option<WorkerId>,
    service: Option<Service>,
    since: Time,
}

/// The tree before an earlier attempt at this duty strayed: its changes must still be undone.
fn strayed_from(run: &Run, duty: &Duty) -> Option<Hash> {
    match duty {
        Duty::Step { step } => {
            let graph = run.graphs.get(&run.position.stage)?;
            let member = graph.members.iter().find(|member| member.step.id == *step);
            member?.strayed_from
        }
        Duty::Work | Duty::Open | Duty::Fix { .. } | Duty::Review { .. } => {
            run.position.strayed_from
        }
    }
}

/// The files at the artifacts' paths before the work.
fn contents_before(draft: &Draft<'_>) -> BTreeMap<ArtifactName, Hash> {
    let seen = draft.evidence.artifacts.iter();
    seen.filter_map(|(artifact, seen)| Some((artifact.clone(), seen.content()?)))
        .collect()
}

/// Work that is admitted only when it is done. The only work of a stage started with it. Files from before
/// the run and files that the run has captured since are old, the rest is new.
pub(super) fn admit_done(
    draft: &mut Draft<'_>,
    agent: &AgentName,
    assignment: Assignment,
) -> DispatchId {
    let mut before = draft.run.before.clone();
    let since = match &assignment.duty {
        Duty::Work => draft.run.position.entered_at,
        // Others may have worked here before.
        Duty::Open | Duty::Review { .. } | Duty::Fix { .. } | Duty::Step { .. } => draft.at,
    };
    match &assignment.duty {
        // Steps have files of their own, which may hold the same.
        Duty::Step { step } => before.extend(left_before(&draft.run, step)),
        Duty::Work | Duty::Open | Duty::Review { .. } | Duty::Fix { .. } => {
            let captured = draft.run.artifacts.iter();
            before.extend(captured.map(|(artifact, now)| (artifact.clone(), now.content)));
        }
    }
    // Nobody saw the tree before this work.
    let before_work = WorkBefore {
        artifacts: before,
        tree: None,
        call: None,
        worker: None,
        service: None,
        since,
    };
    admit(draft, agent, assignment, before_work)
}

/// What this step has left in an earlier attempt.
fn left_before(run: &Run, step: &StepId) -> BTreeMap<ArtifactName, Hash> {
    let graph = run.graphs.get(&run.position.stage);
    let members = graph
        .map(|graph| graph.members.as_slice())
        .unwrap_or_default();
    let member = members.iter().find(|member| member.step.id == *step);
    member.map(|member| member.left.clone()).unwrap_or_default()
}

/// Invariant: a dispatch is in the journal before its worker starts.
fn admit(
    draft: &mut Draft<'_>,
    agent: &AgentName,
    assignment: Assignment,
    before_work: WorkBefore,
) -> DispatchId {
    let id = DispatchId(draft.run.last_dispatch.0 + 1);
    let session = draft.by.session().cloned();
    let dispatch = Dispatch {
        id,
        duty: assignment.duty,
        agent: agent.clone(),
        stage: draft.run.position.stage.clone(),
        visit: draft.run.position.visit,
        attempt: draft.run.position.retries + 1,
        session,
        call: before_work.call,
        worker: before_work.worker,
        worked: false,
        sent_back: 0,
        started_at: before_work.since,
        paused_at: None,
        service: before_work.service,
        conversation: assignment.conversation,
        reach: assignment.reach,
        tree: before_work.tree,
        before: before_work.artifacts,
    };
    draft.record(
        Rule::AgentInTurn,
        Fact::Admitted {
            dispatch: Box::new(dispatch),
        },
    );
    id
}

/// No work starts when the budget is used up: the run waits for a person.
pub(super) fn within_budget(draft: &mut Draft<'_>, what: &str) -> Result<(), Verdict> {
    let Some(spent) = overspent(draft.pipeline, &draft.run, draft.at) else {
        return Ok(());
    };
    if !is_over(draft.pipeline, &draft.run) {
        draft.record(
            Rule::BudgetSpent,
            Fact::OverBudget {
                what: spent.clone(),
            },
        );
    }
    Err(draft.refuse(
        Rule::BudgetSpent,
        what,
        format!("the budget is used up: {spent}"),
    ))
}
