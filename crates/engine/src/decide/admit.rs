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
use crate::run::Dispatch;

pub(super) fn request(draft: &mut Draft<'_>, agent: &AgentName, step: Option<&StepId>) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let what = format!("begin '{agent}'");
    let assignment = match assign(draft.pipeline, &draft.run, agent, step) {
        Ok(assignment) => assignment,
        Err(obstacle) => return draft.refuse(obstacle.rule, &what, obstacle.reason),
    };
    if let Some(spent) = overspent(draft) {
        draft.record(
            Rule::BudgetSpent,
            Fact::OverBudget {
                what: spent.clone(),
            },
        );
        return draft.refuse(
            Rule::BudgetSpent,
            &what,
            format!("the budget is used up: {spent}"),
        );
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
    let captured = draft.run.artifacts.iter();
    before.extend(captured.map(|(artifact, now)| (artifact.clone(), now.content)));
    // Nobody saw the tree before this work.
    let found = Found {
        artifacts: before,
        tree: None,
    };
    admit(draft, agent, assignment, found)
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

/// What of the budget is used up, if anything is. A person's grant gives the whole amount again.
fn overspent(draft: &Draft<'_>) -> Option<String> {
    let budget = &draft.pipeline.definition().budget;
    let run = &draft.run;
    let shares = u64::from(run.grants) + 1;
    let limit = |limit: &Option<Amount>| {
        limit
            .as_ref()
            .and_then(|limit| amount(limit, run))
            .map(|limit| u64::from(limit) * shares)
    };
    let spent = |used: u64, limit: Option<u64>, unit: &str| {
        limit
            .filter(|limit| used >= *limit)
            .map(|limit| format!("{used} of {limit} {unit}"))
    };
    let elapsed = draft.at.since(run.started_at).0;
    spent(run.used.turns, limit(&budget.turns), "turns")
        .or_else(|| spent(run.used.tokens, limit(&budget.tokens), "tokens"))
        .or_else(|| spent(run.used.cost_cents, limit(&budget.cost_cents), "cents"))
        .or_else(|| spent(elapsed, budget.time.map(|time| time.0 * shares), "seconds"))
}
