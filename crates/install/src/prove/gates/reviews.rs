//! Reviews: a rejection, an unknown verdict, and an approval of other content.

use engine::{Outcome, ReviewWork, Stage, Turn};
use runtime::failure::Failure;

use super::super::case_error::{CaseOutcome, ensure, not_tested};
use super::super::exchange::Expected;
use super::super::sandbox;
use super::super::simulated_worker::WantedResult;
use super::super::simulation::Simulation;
use super::super::work_products::turn;
use super::agents::{endings, onward, played};
use super::{Column, GateTester, StageRoute};

pub(super) fn review(
    tester: &mut GateTester<'_>,
    stage: &Stage,
    work: &ReviewWork,
    stage_route: &StageRoute<'_>,
) -> Result<(), Failure> {
    onward(tester, stage_route)?;
    let Ok(Some(agent)) = tester.fresh()?.next_agent() else {
        return Ok(());
    };
    if let Ok(true) = tester.fresh()?.is_external(&agent) {
        played(tester, &agent)?;
    }
    let what = format!("'{agent}' finds a problem: no approval");
    tester.case(Column::Refusal, what, |simulation| {
        simulation.must_not_move(|simulation| {
            let mut worker = simulation.begins(&agent, None)?;
            let done = simulation.does(&mut worker, &verdict("needs_changes")?)?;
            simulation.ends(&worker, &done)
        })?;
        let turn = turn(&simulation.now()?);
        ensure(matches!(turn, Some(Turn::Fixing { .. })), || {
            "no agent has to fix the finding".to_owned()
        })
    })?;
    endings(tester, stage, &agent)?;
    if work.of.is_some() {
        return Ok(());
    }
    let what = format!("files change while '{agent}' reviews: its approval does not count");
    tester.case(Column::Fault, what, |simulation| {
        let mut worker = simulation.begins(&agent, None)?;
        sandbox::write(&simulation.path("changed-meanwhile.txt"), b"by somebody\n")?;
        simulation.must_not_move(|simulation| {
            let done = simulation.does(&mut worker, &verdict("approved")?)?;
            simulation.stops(&worker, done.reply.as_deref(), Expected::Answer)?;
            unapproved(simulation)
        })
    })
}

fn verdict(word: &str) -> CaseOutcome<WantedResult> {
    match Outcome::parse(word) {
        Ok(outcome) => Ok(WantedResult::Outcome(outcome)),
        Err(_) => not_tested(format!("{word} is not an outcome")),
    }
}

fn unapproved(simulation: &Simulation) -> CaseOutcome<()> {
    let run = simulation.now()?;
    let panel = run.panels.get(&run.position.stage);
    let approved = panel.is_some_and(|panel| !panel.approvals.is_empty());
    ensure(!approved, || "the approval counts".to_owned())
}
