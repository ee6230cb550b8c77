//! Reviews: a reviewer's no, a word that is no verdict, and an approval of something else.

use engine::{Outcome, ReviewWork, Stage, Turn};
use runtime::failure::Failure;

use super::super::exchange::Expected;
use super::super::folder;
use super::super::leaving::turn;
use super::super::scene::Scene;
use super::super::trouble::{Tried, insist, not_shown};
use super::super::work::Verdict;
use super::agents::{endings, onward, played};
use super::{Bench, Column, There};

pub fn review(
    bench: &mut Bench<'_>,
    stage: &Stage,
    work: &ReviewWork,
    there: &There<'_>,
) -> Result<(), Failure> {
    onward(bench, there)?;
    let Ok(Some(agent)) = bench.fresh()?.in_turn() else {
        return Ok(());
    };
    if let Ok(true) = bench.fresh()?.is_elsewhere(&agent) {
        played(bench, &agent)?;
    }
    let what = format!("'{agent}' finds a problem: no approval");
    bench.case(Column::Refusal, what, |scene| {
        scene.stays(|scene| {
            let mut worker = scene.begins(&agent, None)?;
            let done = scene.does(&mut worker, &verdict("needs_changes")?)?;
            scene.ends(&worker, &done)
        })?;
        let turn = turn(&scene.now()?);
        insist(matches!(turn, Some(Turn::Fixing { .. })), || {
            "no agent has to fix the finding".to_owned()
        })
    })?;
    endings(bench, stage, &agent)?;
    if work.of.is_some() {
        return Ok(());
    }
    let what = format!("files change while '{agent}' reviews: its approval does not count");
    bench.case(Column::Fault, what, |scene| {
        let mut worker = scene.begins(&agent, None)?;
        folder::write(&scene.path("changed-meanwhile.txt"), b"by somebody\n")?;
        scene.stays(|scene| {
            let done = scene.does(&mut worker, &verdict("approved")?)?;
            scene.stops(&worker, done.reply.as_deref(), Expected::Answer)?;
            unapproved(scene)
        })
    })
}

fn verdict(word: &str) -> Tried<Verdict> {
    match Outcome::parse(word) {
        Ok(outcome) => Ok(Verdict::Outcome(outcome)),
        Err(_) => not_shown(format!("{word} is not an outcome")),
    }
}

fn unapproved(scene: &Scene) -> Tried<()> {
    let run = scene.now()?;
    let panel = run.panels.get(&run.position.stage);
    let approved = panel.is_some_and(|panel| !panel.approvals.is_empty());
    insist(!approved, || "the approval counts".to_owned())
}
