//! The last round of a review that the run has left: who reviewed in it, with which verdict, and what they left.

use engine::{Happened, Hash, Outcome, Panel, Passage, ReviewWork, Reviewer, Run, Turn};

/// What a reviewer said in that round.
pub(super) struct RoundReview<'a> {
    pub reviewer: &'a Reviewer,
    pub verdict: Outcome,
    /// Absent if the run has no copy of it.
    pub content: Option<Hash>,
}

/// Those who reviewed in the last round. Who objects comes first.
pub(super) fn reviews<'a>(
    run: &Run,
    work: &'a ReviewWork,
    passage: &Passage,
) -> Vec<RoundReview<'a>> {
    let panel = run.panels.get(&passage.stage);
    let review = |(place, reviewer): (u32, &'a Reviewer)| {
        let told = last_work(passage, reviewer);
        let verdict = match panel {
            Some(panel) => verdict(panel, work, place, told.map(|(outcome, _)| outcome)),
            // The way out of the review has reset it: what is remembered of its visit counts.
            None => told.map(|(outcome, _)| outcome.clone()),
        };
        Some(RoundReview {
            reviewer,
            verdict: verdict?,
            content: content(run, work, reviewer, told.map(|(_, left)| left)),
        })
    };
    let mut reviews: Vec<_> = (0..).zip(&work.panel).filter_map(review).collect();
    reviews.sort_by_key(|review| review.verdict == Outcome::Approved);
    reviews
}

/// The verdict of the reviewer at this place of the panel. What the passage remembers is bounded, and ends
/// where a question interrupted the round, so the panel says who has reviewed.
fn verdict(
    panel: &Panel,
    work: &ReviewWork,
    place: u32,
    told: Option<&Outcome>,
) -> Option<Outcome> {
    if panel.approvals.contains_key(&place) {
        return Some(Outcome::Approved);
    }
    let objects = match panel.turn {
        Turn::Reviewing { reviewer } if reviewer == place => {
            let asks = Outcome::NeedsClarification;
            return (told == Some(&asks)).then_some(asks);
        }
        Turn::Reviewing { reviewer } => place < reviewer,
        Turn::Fixing { reviewer } => place <= reviewer,
        // After the findings of a final reviewer nobody else reviews in the round.
        Turn::Spent => {
            let before = (0..place).zip(&work.panel);
            let mut findings = before.filter(|(it, _)| !panel.approvals.contains_key(it));
            !findings.any(|(_, earlier)| earlier.last_word)
        }
    };
    objects.then_some(Outcome::NeedsChanges)
}

/// The reviewer's latest work in this visit: its verdict, and the artifact with it.
fn last_work<'p>(passage: &'p Passage, reviewer: &Reviewer) -> Option<(&'p Outcome, Hash)> {
    passage.happened.iter().rev().find_map(|it| match it {
        Happened::Worked {
            agent,
            outcome,
            left,
            ..
        } if *agent == reviewer.agent => Some((outcome, *left.get(&reviewer.leaves)?)),
        Happened::Worked { .. }
        | Happened::Failed { .. }
        | Happened::Checked { .. }
        | Happened::Routed(_)
        | Happened::Answered { .. }
        | Happened::Skipped { .. }
        | Happened::Continued { .. }
        | Happened::Reset { .. }
        | Happened::Restored { .. } => None,
    })
}

/// The latest copy, which a person may have edited since. Where several reviewers leave the same artifact,
/// only that of the reviewer's own work is known to be its.
fn content(run: &Run, work: &ReviewWork, reviewer: &Reviewer, left: Option<Hash>) -> Option<Hash> {
    let same = work.panel.iter().filter(|it| it.leaves == reviewer.leaves);
    if same.count() > 1 {
        return left;
    }
    let captured = run.artifacts.get(&reviewer.leaves);
    captured.map(|captured| captured.content)
}
