//! Requests: may this agent begin?

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use super::{Draft, Verdict};
use crate::amount::amount;
use crate::assign::{Assignment, assign};
use crate::decision::Reply;
use crate::definition::Amount;
use crate::entry::Fact;
use crate::event::Who;
use crate::names::{AgentName, ArtifactName, DispatchId, Hash, StepId};
use crate::rule::Rule;
use crate::run::{Dispatch, Duty, Run};
use crate::status::is_over;

pub(super) fn request(draft: &mut Draft<'_>, agent: &AgentName, step: Option<&StepId>) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let what = format!("begin '{agent}'");
    let assignment = match assign(draft.pipeline, &draft.run, agent, step) {
        Ok(assignment) => assignment,
        Err(obstacle) => return draft.refuse(obstacle.rule, &what, obstacle.reason),
    };
    if let Err(verdict) = within_budget(draft, &what) {
        return verdict;
    }
    let found = Found {
        artifacts: lying_there(draft),
        tree: draft.tree,
    };
    admit(draft, agent, assignment, found);
    Verdict {
        rule: Rule::AgentInTurn,
        reply: Reply::Allow,
    }
}

/// What was there before a piece of work.
struct Found {
    artifacts: BTreeMap<ArtifactName, Hash>,
    tree: Option<Hash>,
}

/// What lies at the artifacts' paths before the work.
fn lying_there(draft: &Draft<'_>) -> BTreeMap<ArtifactName, Hash> {
    let seen = draft.evidence.artifacts.iter();
    seen.filter_map(|(artifact, seen)| Some((artifact.clone(), seen.content()?)))
        .collect()
}

/// Work that is admitted only when it is done: what lay there when the run began and what the run has
/// captured since is old, the rest is new.
pub(super) fn admit_done(
    draft: &mut Draft<'_>,
    agent: &AgentName,
    assignment: Assignment,
) -> DispatchId {
    let mut before = draft.run.before.clone();
    match &assignment.duty {
        // Steps have files of their own, which may hold the same.
        Duty::Step { step } => before.extend(left_before(&draft.run, step)),
        Duty::Work | Duty::Open | Duty::Review { .. } | Duty::Fix { .. } => {
            let captured = draft.run.artifacts.iter();
            before.extend(captured.map(|(artifact, now)| (artifact.clone(), now.content)));
        }
    }
    // Nobody saw the tree before this work.
    let found = Found {
        artifacts: before,
        tree: None,
    };
    admit(draft, agent, assignment, found)
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

/// Invariant: a dispatch is in the journal before its worker begins.
fn admit(
    draft: &mut Draft<'_>,
    agent: &AgentName,
    assignment: Assignment,
    found: Found,
) -> DispatchId {
    let id = DispatchId(draft.run.last_dispatch.0 + 1);
    let session = match &draft.by {
        Who::Session(session) => Some(session.clone()),
        Who::Person(_) | Who::Unattended(_) | Who::Engine => None,
    };
    let dispatch = Dispatch {
        id,
        duty: assignment.duty,
        agent: agent.clone(),
        stage: draft.run.position.stage.clone(),
        visit: draft.run.position.visit,
        attempt: draft.run.position.retries + 1,
        session,
        started_at: draft.at,
        conversation: assignment.conversation,
        reach: assignment.reach,
        tree: found.tree,
        before: found.artifacts,
    };
    draft.record(
        Rule::AgentInTurn,
        Fact::Admitted {
            dispatch: Box::new(dispatch),
        },
    );
    id
}

/// What of the budget is used up since it was last granted, if anything is.
fn overspent(draft: &Draft<'_>) -> Option<String> {
    let budget = &draft.pipeline.definition().budget;
    let (run, from) = (&draft.run, draft.run.granted);
    let limit = |limit: &Option<Amount>| {
        let limit = limit.as_ref().and_then(|limit| amount(limit, run));
        limit.map(u64::from)
    };
    let spent = |used: u64, before: u64, limit: Option<u64>, unit: &str| {
        let used = used.saturating_sub(before);
        limit
            .filter(|limit| used >= *limit)
            .map(|limit| format!("{used} of {limit} {unit}"))
    };
    let (used, before) = (run.used, from.used);
    let elapsed = draft.at.since(from.at).0;
    spent(used.turns, before.turns, limit(&budget.turns), "turns")
        .or_else(|| spent(used.tokens, before.tokens, limit(&budget.tokens), "tokens"))
        .or_else(|| {
            let cents = limit(&budget.cost_cents);
            spent(used.cost_cents, before.cost_cents, cents, "cents")
        })
        .or_else(|| spent(elapsed, 0, budget.time.map(|time| time.0), "seconds"))
}

/// No work begins when the budget is used up: the run waits for a person.
pub(super) fn within_budget(draft: &mut Draft<'_>, what: &str) -> Result<(), Verdict> {
    let Some(spent) = overspent(draft) else {
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
