//! Tools: who may use them, and what they may not touch.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::moving::listed;
use super::{Draft, Verdict, binding, judge_work};
use crate::assign::canonical_name;
use crate::decision::Reply;
use crate::duty::leaves_of;
use crate::entry::Fact;
use crate::event::{Actor, BypassAttempt, ProtectedPath};
use crate::names::{ArtifactName, DispatchId, StepId};
use crate::rule::Rule;
use crate::run::{Dispatch, Duty, Standing};
use crate::stage::{OpenWork, Stage, Work, Worker};
use crate::status::is_over;

pub(super) fn requested(
    draft: &mut Draft<'_>,
    tool: &str,
    worker: Option<&Actor>,
    paths: &[ProtectedPath],
    bypass: Option<&BypassAttempt>,
) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let what = format!("use '{tool}'");
    if is_released(draft) {
        return if is_ours(draft) {
            draft.refuse(Rule::RunIsOver, &what, String::from(OVER))
        } else {
            free()
        };
    }
    let dispatch = match worker.map(|worker| at_work(draft, worker)) {
        Some(Err(_))
            if worker
                .is_some_and(|worker| draft.pipeline.definition().is_helper(&worker.agent)) =>
        {
            None
        }
        Some(Err(reason)) => return draft.refuse(Rule::Unadmitted, &what, reason),
        Some(Ok(dispatch)) => Some(dispatch),
        None => None,
    };
    if let Some((rule, reason)) = bypass.and_then(|bypass| bypassing(draft, dispatch, bypass)) {
        return draft.refuse(rule, &what, reason);
    }
    if let Some((rule, reason)) = changing(draft, dispatch, paths) {
        return draft.refuse(rule, &what, reason);
    }
    if let Some(reason) = denied(draft, dispatch, tool) {
        return draft.refuse(Rule::ToolDenied, &what, reason);
    }
    if let Some(dispatch) = dispatch {
        seen_at_work(draft, dispatch);
    }
    free()
}

/// The first tool call of a worker proves that it works.
pub(super) fn seen_at_work(draft: &mut Draft<'_>, dispatch: DispatchId) {
    let open = draft.run.dispatches.get(&dispatch);
    if open.is_some_and(|open| !open.worked) {
        draft.record(Rule::ToolFree, Fact::Worked { dispatch });
    }
}

const OVER: &str = "the run is over: end your turn";

/// Did Gatewright start the acting worker itself? Such a worker has no other work.
fn is_ours(draft: &Draft<'_>) -> bool {
    draft.by.session().is_none()
}

/// A run that is over guards nothing, unless it can start again.
fn is_released(draft: &Draft<'_>) -> bool {
    let begins_again = draft.run.standing == Standing::Going
        && draft.stage().is_some_and(|stage| !stage.after().is_empty());
    is_over(draft.pipeline, &draft.run) && !begins_again
}

fn free() -> Verdict {
    Verdict {
        rule: Rule::ToolFree,
        reply: Reply::Allow,
    }
}

/// The open work of this worker. Its start may not have been reported; a worker that Gatewright
/// started is bound by its call, never by its name.
pub(super) fn at_work(draft: &mut Draft<'_>, actor: &Actor) -> Result<DispatchId, String> {
    if draft.run.work_of(&actor.id).is_none() && !is_ours(draft) {
        binding::tie(draft, actor);
    }
    let open = draft.run.work_of(&actor.id);
    open.map(|open| open.id)
        .ok_or_else(|| format!("{}: end your turn", binding::not_admitted(actor)))
}

fn bypassing(
    draft: &Draft<'_>,
    dispatch: Option<DispatchId>,
    bypass: &BypassAttempt,
) -> Option<(Rule, String)> {
    Some(match bypass {
        BypassAttempt::Workflow => (
            Rule::BypassAttempt,
            String::from(
                "a script would start agents without admission: call each with the agent tool",
            ),
        ),
        BypassAttempt::AgentProgram(program) => (
            Rule::BypassAttempt,
            format!("'{program}' would work outside this run: use the agent tool"),
        ),
        BypassAttempt::HelperWrites(tool) => (
            Rule::Helper,
            format!("a helper only reads: it cannot use '{tool}'"),
        ),
        BypassAttempt::HookCall => (
            Rule::OwnFiles,
            String::from("only the host of a session may call hooks"),
        ),
        BypassAttempt::PersonsCommand(command) => (
            Rule::PersonOnly,
            format!("`{command}` is for a person, not for an agent: ask them"),
        ),
        BypassAttempt::NoName(name) => (
            Rule::AgentOutOfTurn,
            format!("{name:?} is not the name of an agent"),
        ),
        BypassAttempt::OwnAgent(agent) if draft.pipeline.definition().is_helper(agent) => {
            return None;
        }
        BypassAttempt::OwnAgent(agent) => {
            let (stage, work) = open_stage(draft, dispatch)?;
            let agent = canonical_name(draft.pipeline, &draft.run, agent);
            if draft
                .pipeline
                .definition()
                .lists(&work.allow, agent.as_str())
            {
                return None;
            }
            let reason = format!("'{agent}' may not work in {}", stage.name);
            (Rule::AgentOutOfTurn, reason)
        }
    })
}

/// The stage of this work, where it is an open one: it says who may work in it.
fn open_stage<'a>(
    draft: &Draft<'a>,
    dispatch: Option<DispatchId>,
) -> Option<(&'a Stage, &'a OpenWork)> {
    let open = draft.run.dispatches.get(&dispatch?)?;
    let stage = draft.pipeline.stage(&open.stage)?;
    Some((stage, stage.work.as_open()?))
}

fn changing(
    draft: &Draft<'_>,
    dispatch: Option<DispatchId>,
    paths: &[ProtectedPath],
) -> Option<(Rule, String)> {
    paths.iter().find_map(|path| match path {
        ProtectedPath::State => Some(own("the state of runs")),
        ProtectedPath::Settings => Some(own("the settings with the hooks")),
        ProtectedPath::Definition => Some(own("the pipeline")),
        ProtectedPath::Program => Some(own("the program that guards this run")),
        ProtectedPath::Stop => Some(own("the file whose removal stops the run")),
        ProtectedPath::Artifact { artifact, step } => {
            foreign(draft, dispatch, artifact, step.as_ref())
        }
    })
}

fn own(what: &str) -> (Rule, String) {
    let reason = format!("{what} cannot be changed from inside a run: leave it to the person");
    (Rule::OwnFiles, reason)
}

/// Only the agent that leaves an artifact may write it, while it works.
fn foreign(
    draft: &Draft<'_>,
    dispatch: Option<DispatchId>,
    artifact: &ArtifactName,
    step: Option<&StepId>,
) -> Option<(Rule, String)> {
    let open = dispatch.and_then(|id| draft.run.dispatches.get(&id));
    let mine = match open {
        Some(open) => leaves(draft, open, artifact, step),
        None => session_leaves(draft, artifact),
    };
    let reason = || {
        format!(
            "only the agent that leaves the artifact `{artifact}` may write it, during its work"
        )
    };
    (!mine).then(|| (Rule::ArtifactOwner, reason()))
}

fn leaves(
    draft: &Draft<'_>,
    open: &Dispatch,
    artifact: &ArtifactName,
    step: Option<&StepId>,
) -> bool {
    let own_step = match (&open.duty, step) {
        (Duty::Step { step: own }, Some(step)) => own == step,
        _ => true,
    };
    // The next attempt may be at it when its stage was left meanwhile.
    let in_turn = open.visit == draft.run.position.visit;
    in_turn && own_step && leaves_of(draft.pipeline, open).all().contains(&artifact)
}

fn session_leaves(draft: &Draft<'_>, artifact: &ArtifactName) -> bool {
    match draft.stage().map(|stage| &stage.work) {
        Some(Work::Agent(work)) if work.worker == Worker::Session => {
            work.leaves.all().contains(&artifact)
        }
        _ => false,
    }
}

/// Why a worker may not use a tool that has several names.
pub(super) fn denied_any(
    draft: &Draft<'_>,
    dispatch: DispatchId,
    tools: &[&str],
) -> Option<String> {
    let mut tools = tools.iter();
    tools.find_map(|tool| denied(draft, Some(dispatch), tool))
}

fn denied(draft: &Draft<'_>, dispatch: Option<DispatchId>, tool: &str) -> Option<String> {
    let open = dispatch.and_then(|id| draft.run.dispatches.get(&id));
    let stage = match open {
        Some(open) => draft.pipeline.stage(&open.stage),
        None => draft.stage(),
    }?;
    let denies = stage.tools_deny.iter().any(|pattern| pattern.covers(tool));
    denies.then(|| format!("{} forbids the tool '{tool}'", stage.name))
}

/// A tool has worked: did it change what the stage may not change? The worker learns it at once,
/// and its end is judged anyway, so nothing is recorded.
pub(super) fn used(draft: &mut Draft<'_>, worker: Option<&Actor>) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let open = worker.and_then(|worker| draft.run.work_of(&worker.id));
    let strayed = open.and_then(|open| {
        let strayed = judge_work::strayed(draft, open)?;
        Some(strayed.for_worker(&draft.run, open))
    });
    match strayed {
        Some(reason) => Verdict {
            rule: Rule::Strayed,
            reply: Reply::Refuse(draft.refusal(Rule::Strayed, reason)),
        },
        None => Verdict::done(Rule::ToolFree),
    }
}

/// The host's own list marks these as done. Refuses if one is a step that is not done.
pub(super) fn ahead(draft: &Draft<'_>, done: &[String]) -> Option<String> {
    let graph = draft.run.graphs.get(&draft.run.position.stage)?;
    let open: Vec<&str> = graph
        .members
        .iter()
        .filter(|member| member.state != crate::run::MemberState::Done)
        .map(|member| member.step.id.as_str())
        .filter(|id| done.iter().any(|text| names_step(text, id)))
        .collect();
    match open.as_slice() {
        [] => None,
        open => Some(format!(
            "{} not done in this run: the work decides, not the list",
            match open.len() {
                1 => format!("step {} is", listed(open.iter().copied())),
                _ => format!("steps {} are", listed(open.iter().copied())),
            }
        )),
    }
}

/// A line of a list names its step first: `ID: title`.
fn names_step(text: &str, id: &str) -> bool {
    let first = text.trim_start().split([':', ' ']).next();
    first == Some(id)
}
