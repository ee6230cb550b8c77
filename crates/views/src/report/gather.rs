//! Reads what a report shows from a run and the facts of its journal.

use std::collections::BTreeMap;

use engine::{
    AgentName, Claim, Driver, Mode, Pipeline, Proof, Run, Seconds, StageName, Status, Usage,
};

use super::{AgentTotal, JournalIntegrity, Promise, PromiseState, ReportView, RunVerdict, Tone};
use crate::facts::{Attempt, GateState, Remark};
use crate::safe::Untrusted;
use crate::status::{JournalFacts, StatusView, status_words};
use crate::time::span;
use crate::words;

pub(super) fn report(
    pipeline: &Pipeline,
    run: &Run,
    mut status: StatusView,
    journal: JournalFacts,
) -> ReportView {
    status.know_journal(&journal);
    ReportView {
        verdict: verdict(&status, &journal),
        promises: promises(pipeline, run, &status),
        agents: agents(&journal),
        integrity: JournalIntegrity::NotVerified,
        changes: BTreeMap::new(),
        figures: Vec::new(),
        status,
        journal,
    }
}

fn verdict(status: &StatusView, journal: &JournalFacts) -> RunVerdict {
    let (_, title) = status_words(&status.status);
    let is_marked = is_marked(status);
    let tone = match status.status {
        Status::Failed | Status::Cancelled => Tone::Bad,
        Status::Completed if is_marked => Tone::Marked,
        Status::Completed => Tone::Good,
        Status::Queued | Status::Running | Status::Waiting(_) if is_marked => Tone::Marked,
        Status::Queued | Status::Running | Status::Waiting(_) => Tone::Open,
    };
    RunVerdict {
        tone,
        title,
        facts: verdict_facts(status, journal),
    }
}

/// Was something promised and not kept, or not seen?
fn is_marked(status: &StatusView) -> bool {
    !status.overrides.is_empty()
        || status.bypass.is_some()
        || status.unjudged > 0
        || !status.unguarded.is_empty()
        || status.driver == Driver::ByHand
        || status.rehearsal
        || status.mode == Mode::Advisory
}

fn verdict_facts(status: &StatusView, journal: &JournalFacts) -> Vec<String> {
    let gates = |wanted: fn(GateState) -> bool| {
        let found = journal.gates.iter().filter(|gate| wanted(gate.state));
        found.count() as u64
    };
    let passed = gates(|state| state == GateState::Holds || state.is_stale());
    let failed = gates(|state| state == GateState::Failed);
    let counted = |number: u64, noun: &str| (number > 0).then(|| words::count(number, noun));
    let facts = [
        Some(format!("took {}", span(status.took()))),
        counted(passed, "gate").map(|gates| format!("{gates} passed")),
        counted(failed, "gate").map(|gates| format!("{gates} not passed")),
        counted(status.overrides.len() as u64, "override"),
        counted(status.unguarded.len() as u64, "unguarded part"),
        (status.unjudged > 0).then(|| crate::status::unjudged_words(status.unjudged)),
        counted(journal.refused, "refusal"),
        (status.driver == Driver::ByHand).then(|| "by hand, unwitnessed".to_owned()),
        (status.rehearsal).then(|| words::REHEARSAL.to_owned()),
        (status.mode == Mode::Advisory).then(|| "advisory, not enforced".to_owned()),
        Some(words::usage(&status.used)).filter(|used| !used.is_empty()),
    ];
    facts.into_iter().flatten().collect()
}

fn promises(pipeline: &Pipeline, run: &Run, status: &StatusView) -> Vec<Promise> {
    let proofs = pipeline.definition().proofs.iter();
    proofs
        .map(|proof| Promise {
            name: Untrusted::new(&proof.name),
            claim: Untrusted::new(claim(&proof.claim)),
            state: promise_state(proof, run, status),
        })
        .collect()
}

fn promise_state(proof: &Proof, run: &Run, status: &StatusView) -> PromiseState {
    let weakened = |why| PromiseState::Weakened { why };
    let skipped = |stage: &StageName| run.overrides.iter().any(|it| it.stage == *stage);
    let is_skipped = match &proof.claim {
        Claim::Passes { through, .. } => through.iter().any(skipped),
        Claim::Admits { .. } => !run.overrides.is_empty(),
    };
    if is_skipped {
        weakened("a person skipped a stage")
    } else if status.mode == Mode::Advisory {
        weakened("the pipeline is advisory: nothing was enforced")
    } else if status.driver == Driver::ByHand {
        weakened("nobody saw the agents work")
    } else if !status.unguarded.is_empty() || status.unjudged > 0 {
        weakened("not everything was guarded")
    } else {
        PromiseState::Kept
    }
}

fn claim(claim: &Claim) -> String {
    let listed = |stages: &[StageName]| {
        let names: Vec<&str> = stages.iter().map(StageName::as_str).collect();
        names.join(", ")
    };
    match claim {
        Claim::Passes {
            after: None,
            before,
            through,
        } => format!(
            "no way leads to {before} except through {}",
            listed(through)
        ),
        Claim::Passes {
            after: Some(after),
            before,
            through,
        } => format!(
            "after {after}, no way leads to {before} except through {}",
            listed(through)
        ),
        Claim::Admits { agents, only_after } => {
            format!("{agents} may work only after {only_after} has ended well")
        }
    }
}

fn agents(journal: &JournalFacts) -> Vec<AgentTotal> {
    let mut totals: BTreeMap<AgentName, AgentTotal> = BTreeMap::new();
    // Many short pieces of work are a time, too, so parts of a second are added up.
    let mut times: BTreeMap<AgentName, u64> = BTreeMap::new();
    let visits = journal.visits.iter();
    for attempt in visits.flat_map(|visit| &visit.attempts) {
        let total = totals
            .entry(attempt.agent.clone())
            .or_insert_with(|| AgentTotal {
                agent: attempt.agent.clone(),
                attempts: 0,
                time: Seconds(0),
                usage: Usage::default(),
            });
        total.attempts += 1;
        let time = times.entry(attempt.agent.clone()).or_default();
        let end = attempt.end.as_ref();
        *time += end.map_or(0, |end| end.at.0.saturating_sub(attempt.started_at.0));
        total.time = Seconds(*time / 1_000);
        total.usage = total.usage.and(attempt.usage);
    }
    totals.into_values().collect()
}

/// How long a piece of work took that is over.
pub(super) fn worked(attempt: &Attempt) -> Seconds {
    let end = attempt.end.as_ref();
    end.map_or(Seconds(0), |end| end.at.since(attempt.started_at))
}

/// A remark's place: `entry 12, 14:31:07`.
pub(super) fn place(remark: &Remark) -> String {
    let at = crate::time::rfc3339(remark.at);
    format!("{}, {at}, entry {}", remark.by.line(), remark.number)
}
