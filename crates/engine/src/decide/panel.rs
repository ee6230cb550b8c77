//! Review panels: reviewers judge in order, the owner fixes, and approval means all of one thing.

use alloc::format;
use alloc::string::String;

use super::moving::leave;
use super::work_end::words;
use super::{Draft, Verdict};
use crate::cause::MoveReason;
use crate::decision::Reply;
use crate::entry::Fact;
use crate::limits::round_limit;
use crate::names::{AgentName, Hash, StageName};
use crate::outcome::Outcome;
use crate::rule::Rule;
use crate::run::{Gate, Run, Turn};
use crate::stage::{ReviewWork, Stage, Work};

/// A panel starts, or continues where a person's answer interrupted it.
pub(super) fn enter(draft: &mut Draft<'_>, work: &ReviewWork, along: &MoveReason) {
    let stage = draft.run.position.stage.clone();
    let memory = draft
        .run
        .panels
        .get(&stage)
        .map(|panel| (panel.round, panel.turn));
    let round = match (along, memory) {
        (MoveReason::Interrupted, Some((round, Turn::Spent))) => round + 1,
        (MoveReason::Interrupted, Some((_, Turn::Reviewing { reviewer })))
            if (reviewer as usize) < work.panel.len() =>
        {
            return;
        }
        (MoveReason::Interrupted, Some((_, Turn::Fixing { .. }))) => return,
        _ => 1,
    };
    draft.record(Rule::Reviewed, Fact::RoundStarted { stage, round });
}

/// A finished panel whose approval did not move the run reviews again when a person retries.
pub(super) fn begin_again(draft: &mut Draft<'_>) {
    let Some((stage, work)) = panel_stage(draft) else {
        return;
    };
    let stage = stage.name.clone();
    let is_through = draft.run.panels.get(&stage).is_some_and(|panel| {
        matches!(panel.turn, Turn::Reviewing { reviewer } if reviewer as usize >= work.panel.len())
    });
    if is_through {
        draft.record(Rule::Reviewed, Fact::RoundStarted { stage, round: 1 });
    }
}

/// Who works next.
pub(super) fn expected(run: &Run, stage: &Stage, work: &ReviewWork) -> Option<AgentName> {
    match run.panels.get(&stage.name)?.turn {
        Turn::Reviewing { reviewer } => work.panel.get(reviewer as usize).map(|r| r.agent.clone()),
        Turn::Fixing { .. } => Some(work.owner.clone()),
        Turn::Spent => None,
    }
}

pub(super) fn reviewed(draft: &mut Draft<'_>, reviewer: u32, outcome: &Outcome) -> Verdict {
    let Some((stage, work)) = panel_stage(draft) else {
        return Verdict::done(Rule::Quiet);
    };
    let name = stage.name.clone();
    match outcome {
        Outcome::Approved => match subject(draft, work) {
            Some(subject) => {
                let fact = Fact::ReviewerApproved {
                    stage: name,
                    reviewer,
                    subject,
                };
                draft.record(Rule::Reviewed, fact);
                turn_over(draft, work);
            }
            // Fail closed: without evidence of the subject, an approval does not count.
            None => {
                let message = String::from("gatewright could not read what was approved");
                draft.record(Rule::Reviewed, Fact::Noted { message });
            }
        },
        Outcome::NeedsChanges => draft.record(
            Rule::Fixed,
            Fact::ReviewerFound {
                stage: name,
                reviewer,
            },
        ),
        Outcome::NeedsClarification => leave(draft, outcome),
        Outcome::Done
        | Outcome::Passed
        | Outcome::Failed
        | Outcome::Exceeded
        | Outcome::Answered
        | Outcome::Finish
        | Outcome::Continue
        | Outcome::Otherwise
        | Outcome::Fault(_)
        | Outcome::Custom(_) => {
            let reason = format!("'{outcome}' is not a verdict: {}", words(stage.on.keys()));
            let refusal = draft.refusal(Rule::OutcomeUnknown, reason);
            return Verdict {
                rule: Rule::OutcomeUnknown,
                reply: Reply::Refuse(refusal),
            };
        }
    }
    Verdict::done(Rule::OutcomeChecked)
}

/// What the panel judges: an artifact as captured, or the tree.
fn subject(draft: &Draft<'_>, work: &ReviewWork) -> Option<Hash> {
    match &work.of {
        Some(artifact) => draft
            .run
            .artifacts
            .get(artifact)
            .map(|captured| captured.content),
        None => draft.tree,
    }
}

/// The owner has fixed the findings. Those of a final reviewer restart the round, others continue it.
pub(super) fn fixed(draft: &mut Draft<'_>, reviewer: u32) {
    let Some((stage, work)) = panel_stage(draft) else {
        return;
    };
    draft.record(
        Rule::Fixed,
        Fact::Fixed {
            stage: stage.name.clone(),
            reviewer,
        },
    );
    let last_word = work
        .panel
        .get(reviewer as usize)
        .is_some_and(|member| member.last_word);
    if last_word {
        next_round(draft, work)
    } else {
        turn_over(draft, work)
    }
}

/// After the last reviewer: approved when all have approved one and the same thing.
fn turn_over(draft: &mut Draft<'_>, work: &ReviewWork) {
    let stage = draft.run.position.stage.clone();
    let Some(panel) = draft.run.panels.get(&stage) else {
        return;
    };
    let Turn::Reviewing { reviewer } = panel.turn else {
        return;
    };
    if (reviewer as usize) < work.panel.len() {
        return;
    }
    match agreed(&draft.run, &stage, work) {
        Some(gate) => {
            draft.record(Rule::Reviewed, Fact::GatePassed { stage, gate });
            leave(draft, &Outcome::Approved);
        }
        None => next_round(draft, work),
    }
}

/// What all reviewers have approved, if it is one and the same thing.
pub(super) fn agreed(run: &Run, stage: &StageName, work: &ReviewWork) -> Option<Gate> {
    let approvals = &run.panels.get(stage)?.approvals;
    let subject = *approvals.values().next()?;
    let all = approvals.len() == work.panel.len();
    let one = approvals.values().all(|other| *other == subject);
    (all && one).then(|| match &work.of {
        Some(artifact) => Gate::Artifact {
            artifact: artifact.clone(),
            content: subject,
        },
        None => Gate::Tree(subject),
    })
}

fn next_round(draft: &mut Draft<'_>, work: &ReviewWork) {
    let stage = draft.run.position.stage.clone();
    let round = draft.run.panels.get(&stage).map_or(0, |panel| panel.round);
    if round < round_limit(&draft.run, work) {
        draft.record(
            Rule::Reviewed,
            Fact::RoundStarted {
                stage,
                round: round + 1,
            },
        );
    } else {
        draft.record(Rule::RoundsSpent, Fact::RoundsSpent { stage });
        leave(draft, &Outcome::Exceeded);
    }
}

fn panel_stage<'a>(draft: &Draft<'a>) -> Option<(&'a Stage, &'a ReviewWork)> {
    let stage = draft.stage()?;
    match &stage.work {
        Work::Review(work) => Some((stage, work)),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Steps(_)
        | Work::Route(_)
        | Work::End(_) => None,
    }
}
