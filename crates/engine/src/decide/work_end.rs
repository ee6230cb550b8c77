//! Ends of work: matched to a dispatch, judged by the artifacts, and only then a move.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::judge_work::{Judged, judge, shares_tree, some_of, strayed};
use super::moving::{Exit, leave, listed, take};
use super::{Draft, Verdict, admit, graph, panel};
use crate::assign::assign;
use crate::decision::Reply;
use crate::duty::leaves_of;
use crate::entry::{Fact, WorkResult};
use crate::event::{Ending, WorkRef};
use crate::leaves::verdict;
use crate::limits::amount;
use crate::names::{AgentName, DispatchId, StepId};
use crate::needs::open_work;
use crate::outcome::{Fault, Outcome};
use crate::rule::Rule;
use crate::run::{Dispatch, Driver, Duty, Gate, Run, Standing, TreeAccess};
use crate::stage::{Retry, Stage, Way, Work, Worker};
use crate::status::is_over;
use crate::usage::Usage;

/// How often a fault is retried by default.
pub(super) const DEFAULT_RETRIES: u32 = 2;

/// The worker did not cause it, so it is retried more often, after longer waits.
const LIMITED_RETRIES: u32 = 6;

/// How often a worker without its artifacts is sent back before the attempt fails.
const MOST_SENT_BACK: u32 = 2;

/// An agent ended.
pub(super) fn ended(
    draft: &mut Draft<'_>,
    work: &WorkRef,
    ending: &Ending,
    usage: Usage,
) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    if let Some(open) = open_work(&draft.run, &draft.by, work).map(|open| open.id) {
        return conclude(draft, open, ending, usage);
    }
    if let WorkRef::Agent { agent, .. } = work
        && agent.is_session()
        && let Some(verdict) = session_ended(draft, agent, ending, usage)
    {
        return verdict;
    }
    if told_before(&draft.run, work) {
        return Verdict::done(Rule::Again);
    }
    let message = match work {
        WorkRef::Dispatch(id) => format!("{id} ended but was not open"),
        WorkRef::Agent { agent, .. } => format!("'{agent}' ended without a dispatch"),
        WorkRef::Host { .. } => String::from("an agent that was not admitted ended"),
    };
    draft.record(Rule::Unmatched, Fact::Noted { message });
    Verdict::done(Rule::Unmatched)
}

/// Hosts report an end by several hooks. The first one counted.
fn told_before(run: &Run, work: &WorkRef) -> bool {
    let WorkRef::Host { call, worker } = work else {
        return false;
    };
    let by_worker = worker
        .as_ref()
        .is_some_and(|worker| run.workers.contains_key(worker));
    let by_call = || {
        let mut known = run.workers.values();
        call.is_some() && known.any(|known| known.call == *call)
    };
    by_worker || by_call()
}

/// The main session is always there: its work is admitted when it is done. A session that only
/// pauses has not failed when it is not.
fn session_ended(
    draft: &mut Draft<'_>,
    agent: &AgentName,
    ending: &Ending,
    usage: Usage,
) -> Option<Verdict> {
    let assignment = assign(draft.pipeline, &draft.run, agent, None).ok()?;
    let mut trial = draft.trial();
    let id = admit::admit_done(&mut trial, agent, assignment);
    let judged = trial
        .run
        .dispatches
        .get(&id)
        .map(|open| judge(&trial, open, ending))?;
    if let (Ending::Stopping { .. }, WorkResult::Fault { reason, .. }) = (ending, judged.result) {
        return Some(Verdict {
            rule: judged.rule,
            reply: Reply::Refuse(draft.refusal(judged.rule, reason)),
        });
    }
    draft.adopt(trial);
    Some(conclude(draft, id, ending, usage))
}

/// A person reports the end of work that nobody witnessed.
pub(super) fn reported(
    draft: &mut Draft<'_>,
    agent: Option<&AgentName>,
    step: Option<&StepId>,
    said: Option<&Outcome>,
    usage: Usage,
) -> Verdict {
    let named = agent.cloned().or_else(|| expected(draft));
    let what = match &named {
        Some(agent) => format!("report the work of '{agent}'"),
        None => String::from("report work"),
    };
    if let Err(verdict) = draft.person(&what) {
        return verdict;
    }
    if draft.run.driver != Driver::ByHand {
        let reason = String::from(
            "gatewright sees the agents of this run: their own end counts, not a report",
        );
        return draft.refuse(Rule::NotByHand, &what, reason);
    }
    let Some(agent) = named else {
        let reason = String::from("the report names no agent: type --agent AGENT");
        return draft.refuse(Rule::AgentOutOfTurn, &what, reason);
    };
    let assignment = match assign(draft.pipeline, &draft.run, &agent, step) {
        Ok(assignment) => assignment,
        Err(obstacle) => return draft.refuse(obstacle.rule, &what, obstacle.reason),
    };
    if let Err(verdict) = admit::within_budget(draft, &what) {
        return verdict;
    }
    let told = verdict(draft.pipeline.definition(), &assignment.leaves).is_some();
    let ending = match said {
        None | Some(Outcome::Done) => Ending::Finished { worked: true },
        Some(Outcome::Fault(fault)) => Ending::Fault {
            fault: *fault,
            reason: String::from("reported by hand"),
        },
        Some(_) if told => Ending::Finished { worked: true },
        Some(word) => {
            let reason =
                format!("'{word}' is not an outcome of this work: it is done, or it failed");
            return draft.refuse(Rule::OutcomeUnknown, &what, reason);
        }
    };
    let mut trial = draft.trial();
    let id = admit::admit_done(&mut trial, &agent, assignment);
    let judged = trial
        .run
        .dispatches
        .get(&id)
        .map(|open| judge(&trial, open, &ending));
    if let Some(refused) = judged.and_then(|judged| unfit(draft, &what, &ending, said, &judged)) {
        return refused;
    }
    draft.adopt(trial);
    conclude(draft, id, &ending, usage)
}

/// A person's report without the artifact costs no attempt: it is refused and can be repeated.
fn unfit(
    draft: &mut Draft<'_>,
    what: &str,
    ending: &Ending,
    said: Option<&Outcome>,
    judged: &Judged,
) -> Option<Verdict> {
    match (ending, &judged.result, said) {
        (Ending::Finished { .. }, WorkResult::Fault { reason, .. }, _) => {
            let mut refused = draft.refuse(judged.rule, what, reason.clone());
            if let Reply::Refuse(refusal) = &mut refused.reply {
                refusal.artifact.clone_from(&judged.artifact);
            }
            Some(refused)
        }
        (Ending::Finished { .. }, WorkResult::Outcome(outcome), Some(said))
            if outcome != said && *said != Outcome::Done =>
        {
            let reason = format!("the report says '{said}', but the artifact says '{outcome}'");
            Some(draft.refuse(Rule::OutcomeUnknown, what, reason))
        }
        _ => None,
    }
}

/// The agent that can have worked here, if there is only one.
fn expected(draft: &Draft<'_>) -> Option<AgentName> {
    let stage = draft.stage()?;
    match &stage.work {
        Work::Agent(work) => match &work.worker {
            Worker::Session => Some(AgentName::session()),
            Worker::Agent(agent) => Some(agent.clone()),
        },
        Work::Review(work) => panel::expected(&draft.run, stage, work),
        Work::Steps(_) => graph::expected(&draft.run, stage),
        Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => None,
    }
}

/// Are all artifacts of this work complete, so that it counts although its end was not reported?
pub(super) fn has_left_all(draft: &Draft<'_>, id: DispatchId) -> bool {
    let Some(open) = draft.run.dispatches.get(&id) else {
        return false;
    };
    let judged = judge(draft, open, &Ending::Finished { worked: false });
    matches!(judged.result, WorkResult::Outcome(_)) && !judged.captured.is_empty()
}

/// Judges the work of an open dispatch and applies the result.
pub(super) fn conclude(
    draft: &mut Draft<'_>,
    id: DispatchId,
    ending: &Ending,
    usage: Usage,
) -> Verdict {
    let Some(dispatch) = draft.run.dispatches.get(&id).cloned() else {
        return Verdict::done(Rule::Unmatched);
    };
    if is_late(draft, &dispatch) {
        draft.record(
            Rule::Late,
            Fact::Ended {
                dispatch: id,
                result: WorkResult::Late,
                usage,
            },
        );
        return Verdict::done(Rule::Late);
    }
    let judged = unseen(
        draft,
        &dispatch,
        failed_by_own_word(draft, &dispatch, judge(draft, &dispatch, ending)),
    );
    let strict = draft.leniency().is_none();
    if let Some(reason) = sent_back(draft, &dispatch, ending, &judged).filter(|_| strict) {
        let fact = Fact::SentBack {
            dispatch: id,
            reason: reason.clone(),
        };
        draft.record(Rule::SentBack, fact);
        return Verdict {
            rule: judged.rule,
            reply: Reply::Hold(draft.refusal(judged.rule, reason)),
        };
    }
    capture(draft, &dispatch, &judged);
    let result = judged.result.clone();
    draft.record(
        judged.rule,
        Fact::Ended {
            dispatch: id,
            result,
            usage,
        },
    );
    match judged.result {
        WorkResult::Outcome(outcome) => advance(draft, &dispatch, &outcome),
        WorkResult::Fault { fault, reason } => fail(draft, &dispatch, judged.rule, fault, reason),
        WorkResult::Late | WorkResult::Dropped => Verdict::done(Rule::Late),
    }
}

/// Why a worker that tries to finish must continue: an artifact is missing or not valid. It has not
/// failed yet.
fn sent_back(
    draft: &Draft<'_>,
    dispatch: &Dispatch,
    ending: &Ending,
    judged: &Judged,
) -> Option<String> {
    let WorkResult::Fault { fault, reason } = &judged.result else {
        return None;
    };
    let mendable = match fault {
        Fault::Missing => true,
        Fault::Strayed => judged.rule != Rule::StaleGate && !may_be_a_person_s_edit(&draft.run),
        Fault::Crashed | Fault::Hollow | Fault::Timeout | Fault::Conflict | Fault::Limited => false,
    };
    let stopping = matches!(ending, Ending::Stopping { .. });
    if !(stopping && mendable && dispatch.sent_back < MOST_SENT_BACK) {
        return None;
    }
    let strayed = strayed(draft, dispatch).filter(|_| judged.rule == Rule::Strayed);
    let to_worker = strayed.map(|it| it.for_worker(&draft.run, dispatch));
    Some(to_worker.unwrap_or_else(|| reason.clone()))
}

/// In the tree of a person, while the orchestrator works, nobody can tell. So the person is asked, and no worker is sent
/// back to undo it.
fn may_be_a_person_s_edit(run: &Run) -> bool {
    run.driver == Driver::Headless && shares_tree(run)
}

/// A step, a fix or an open agent has no edge of its own for `failed`: what says so has failed, for the
/// reason that it gives.
fn failed_by_own_word(draft: &Draft<'_>, dispatch: &Dispatch, judged: Judged) -> Judged {
    let says_failed = judged.result == WorkResult::Outcome(Outcome::Failed);
    let has_no_such_way = match dispatch.duty {
        Duty::Step { .. } | Duty::Fix { .. } | Duty::Open => true,
        Duty::Work | Duty::Review { .. } => false,
    };
    if !(says_failed && has_no_such_way) {
        return judged;
    }
    Judged {
        rule: Rule::WorkFault,
        result: WorkResult::Fault {
            fault: Fault::Crashed,
            reason: own_reason(draft, dispatch),
        },
        ..judged
    }
}

/// What the worker gave as the reason in its artifact, if the definition names a field for it.
fn own_reason(draft: &Draft<'_>, dispatch: &Dispatch) -> String {
    let says = format!("'{}' says that it failed", dispatch.agent);
    let leaves = leaves_of(draft.pipeline, dispatch);
    let artifact = verdict(draft.pipeline.definition(), &leaves).map(|(artifact, _)| artifact);
    match artifact.and_then(|artifact| draft.evidence.reasons.get(&artifact)) {
        Some(reason) => format!("{says}: {reason}"),
        None => says,
    }
}

/// A verdict is valid for the tree that the reviewer saw: if the tree changed during the review, the
/// verdict does not count. In a place of its own only the reviewer can have changed it, and must undo it: nobody
/// approves their own change. In the tree of a person it may be their edit, which is reviewed.
fn unseen(draft: &Draft<'_>, dispatch: &Dispatch, judged: Judged) -> Judged {
    let judges_tree = draft.stage().is_some_and(Stage::reviews_tree);
    let reviewed = matches!(dispatch.duty, Duty::Review { .. }) && judges_tree;
    let changed = dispatch.tree.is_some() && dispatch.tree != draft.tree;
    let counts = matches!(judged.result, WorkResult::Outcome(_));
    if !(counts && reviewed && changed) {
        return judged;
    }
    let paths = draft.evidence.changed.as_deref().unwrap_or_default();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let paths = some_of(&paths);
    let (rule, reason) = if shares_tree(&draft.run) {
        let which = paths.map_or_else(String::new, |paths| format!(", which are {paths}"));
        let reason = format!("files changed during the review{which}: review them again");
        (Rule::StaleGate, reason)
    } else {
        let what = paths.unwrap_or_else(|| String::from("files"));
        let reason =
            format!("a reviewer may not change {what}: undo the changes, and review again");
        (Rule::Strayed, reason)
    };
    let fault = Fault::Strayed;
    Judged {
        rule,
        result: WorkResult::Fault { fault, reason },
        ..judged
    }
}

/// The run has left the stage, or is over: the work is recorded without effect.
pub(super) fn is_late(draft: &Draft<'_>, dispatch: &Dispatch) -> bool {
    let ends = draft
        .stage()
        .is_some_and(|stage| matches!(stage.work, Work::End(_)));
    let restarts = ends && draft.run.standing == Standing::Going;
    dispatch.visit != draft.run.position.visit || (is_over(draft.pipeline, &draft.run) && !restarts)
}

fn capture(draft: &mut Draft<'_>, dispatch: &Dispatch, judged: &Judged) {
    for message in &judged.warnings {
        draft.record(
            Rule::ArtifactMissing,
            Fact::Warned {
                message: message.clone(),
            },
        );
    }
    let step = dispatch.duty.step().cloned();
    for (artifact, content) in &judged.captured {
        let fact = Fact::Captured {
            artifact: artifact.clone(),
            content: *content,
            dispatch: Some(dispatch.id),
            step: step.clone(),
            commands: draft
                .evidence
                .commands
                .get(artifact)
                .cloned()
                .unwrap_or_default(),
        };
        draft.record(judged.rule, fact);
    }
}

fn advance(draft: &mut Draft<'_>, dispatch: &Dispatch, outcome: &Outcome) -> Verdict {
    match &dispatch.duty {
        Duty::Work => {
            verdict_on_tree(draft, dispatch, outcome);
            leave(draft, outcome);
        }
        Duty::Open => after(draft, &dispatch.agent),
        Duty::Review { reviewer } => return panel::reviewed(draft, *reviewer, outcome),
        Duty::Fix { reviewer } => panel::fixed(draft, *reviewer),
        Duty::Step { .. } => graph::join(draft),
    }
    Verdict::done(Rule::OutcomeChecked)
}

/// Work that may change nothing and passes is a gate: it is valid for the tree that it checked.
fn verdict_on_tree(draft: &mut Draft<'_>, dispatch: &Dispatch, outcome: &Outcome) {
    let stage = draft.pipeline.stage(&dispatch.stage);
    let passes = stage.is_some_and(|stage| stage.passes(&Way::Outcome(outcome)));
    if let (TreeAccess::ReadsOnly, Some(tree), true) = (dispatch.reach, draft.tree, passes) {
        let fact = Fact::GatePassed {
            stage: dispatch.stage.clone(),
            gate: Gate::Tree(tree),
        };
        draft.record(Rule::OutcomeChecked, fact);
    }
}

/// An agent of an open stage has ended well; without an `after` the run does not move.
fn after(draft: &mut Draft<'_>, agent: &AgentName) {
    let definition = draft.pipeline.definition();
    let edges = draft.stage().map(Stage::after).unwrap_or_default();
    let taken = edges
        .iter()
        .find(|after| definition.covers(&after.agent, agent.as_str()));
    if let Some(after) = taken {
        take(draft, Exit::After(agent), &after.edge);
    }
}

fn fail(
    draft: &mut Draft<'_>,
    dispatch: &Dispatch,
    rule: Rule,
    fault: Fault,
    reason: String,
) -> Verdict {
    match &dispatch.duty {
        Duty::Open => {}
        Duty::Step { step } => graph::step_failed(draft, step, fault, &reason),
        Duty::Work | Duty::Review { .. } | Duty::Fix { .. } => {
            stage_fault(draft, rule, fault, &reason);
        }
    }
    Verdict {
        rule,
        reply: Reply::Refuse(draft.refusal(rule, reason)),
    }
}

/// A fault is retried with its reason, then goes where `on` says, then to a person.
pub(super) fn stage_fault(draft: &mut Draft<'_>, rule: Rule, fault: Fault, reason: &str) {
    let Some(stage) = draft.stage() else { return };
    let outcome = Outcome::Fault(fault);
    let handled = stage.on.get(&outcome);
    let retries = if may_be_a_persons(draft, rule) {
        0
    } else {
        retries(draft, stage, fault, handled.is_some())
    };
    if draft.run.position.retries < retries {
        let stage = stage.name.clone();
        draft.record(
            rule,
            Fact::Retried {
                stage,
                fault,
                reason: reason.to_string(),
            },
        );
    } else if let Some(edge) = handled {
        take(draft, Exit::Outcome(&outcome), edge);
    } else {
        draft.record(
            rule,
            Fact::Stuck {
                fault,
                reason: reason.to_string(),
            },
        );
    }
}

/// May a person have made the change for which a worker is blamed? Then the run asks the person, and asks no
/// worker to undo it. In a guarded run the person is there, and sees what their session does.
fn may_be_a_persons(draft: &Draft<'_>, rule: Rule) -> bool {
    rule == Rule::Strayed && draft.run.driver == Driver::Headless && shares_tree(&draft.run)
}

/// How often a fault is retried here.
pub(super) fn retries(draft: &Draft<'_>, stage: &Stage, fault: Fault, handled: bool) -> u32 {
    match &stage.retry {
        // A limit is not a fault of the stage, so its `retry` does not count.
        _ if fault == Fault::Limited && handled => 0,
        _ if fault == Fault::Limited => LIMITED_RETRIES,
        Some(Retry { max, .. }) => amount(max, &draft.run).unwrap_or(DEFAULT_RETRIES),
        None if handled => 0,
        None => DEFAULT_RETRIES,
    }
}

/// The words of a closed set, for a sentence.
pub(super) fn words<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> String {
    listed(outcomes.into_iter().map(Outcome::as_str))
}
