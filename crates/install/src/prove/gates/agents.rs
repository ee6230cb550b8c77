//! Stages in which an agent or the session itself works: its artifacts decide.

use engine::{AgentName, Fault, Rule, Stage};
use runtime::failure::Failure;

use super::super::case_error::{ensure, not_tested};
use super::super::exchange::Expected;
use super::super::payloads::Background;
use super::super::simulated_worker::{WantedResult, WorkDone};
use super::stages::not_done;
use super::{Column, GateTester, StageRoute};

/// The rules that send a worker back.
pub(super) const UNFIT: &[Rule] = &[
    Rule::ArtifactMissing,
    Rule::OutcomeUnknown,
    Rule::ArtifactOld,
];

/// A verdict that a search for the word `APPROVED` would take for an approval.
pub(super) const NO_VERDICT: &str = "NOT APPROVED";

pub(super) fn agent(
    tester: &mut GateTester<'_>,
    stage: &Stage,
    stage_route: &StageRoute<'_>,
) -> Result<(), Failure> {
    onward(tester, stage_route)?;
    let Ok(Some(agent)) = tester.fresh()?.next_agent() else {
        return Ok(());
    };
    match tester.fresh()?.is_external(&agent) {
        Ok(true) => played(tester, &agent)?,
        Ok(false) if matches!(stage.work, engine::Work::Agent(_)) => twice(tester, &agent)?,
        Ok(false) | Err(_) => {}
    }
    endings(tester, stage, &agent)
}

/// The work is done, and the run moves to the next stage.
pub(super) fn onward(
    tester: &mut GateTester<'_>,
    stage_route: &StageRoute<'_>,
) -> Result<(), Failure> {
    let legs = stage_route
        .route
        .as_ref()
        .and_then(|route| stage_route.routes.onward(route));
    let to = legs
        .as_ref()
        .and_then(|legs| legs.last())
        .map(|leg| &leg.stage);
    let what = match to {
        Some(to) => format!("the work is done: moves to {to}"),
        None => "the work is done".to_owned(),
    };
    tester.case(Column::Pass, what, |simulation| match &legs {
        Some(legs) => legs.iter().try_for_each(|leg| simulation.play(leg)),
        None => not_tested("no path that can be simulated leads on"),
    })
}

/// The session starts an agent that another program must run.
pub(super) fn played(tester: &mut GateTester<'_>, agent: &AgentName) -> Result<(), Failure> {
    let what = format!("the session starts '{agent}' itself, which another program must run");
    tester.case(Column::Refusal, what, |simulation| {
        simulation.must_not_move(|simulation| simulation.refuse_external_in_session(agent))
    })
}

fn twice(tester: &mut GateTester<'_>, agent: &AgentName) -> Result<(), Failure> {
    let what = format!("'{agent}' is requested while it works");
    tester.case(Column::Refusal, what, |simulation| {
        simulation.begins(agent, None)?;
        let second = simulation.worker(agent.as_str(), None);
        let rules = &[Rule::AgentBusy, Rule::StillBeginning];
        simulation
            .hook(simulation.payloads.agent(&second), Expected::Refusal(rules))
            .map(drop)
    })
}

/// How the work of an agent must not end.
pub(super) fn endings(
    tester: &mut GateTester<'_>,
    stage: &Stage,
    agent: &AgentName,
) -> Result<(), Failure> {
    let Ok(run) = tester.fresh()?.now() else {
        return Ok(());
    };
    let leaves = tester.simulation.leaves_of(&run, agent.as_str());
    let has_verdict = tester.simulation.verdict_of(&leaves).is_some();
    if has_verdict {
        let what = format!("'{agent}' reports the verdict \"{NO_VERDICT}\"");
        tester.case(Column::Refusal, what, |simulation| {
            let mut worker = simulation.begins(agent, None)?;
            let done = simulation.does(&mut worker, &WantedResult::Word(NO_VERDICT.to_owned()))?;
            simulation.must_not_move(|simulation| {
                simulation.stops(&worker, done.reply.as_deref(), Expected::Continue(UNFIT))
            })
        })?;
    }
    if tester.simulation.has_file(&run, &leaves) {
        let what = format!("'{agent}' leaves the old file");
        tester.case(Column::Refusal, what, |simulation| {
            simulation.write_old_artifacts(&leaves)?;
            let mut worker = simulation.begins(agent, None)?;
            simulation.uses_a_tool(&mut worker)?;
            simulation.must_not_move(|simulation| {
                simulation.stops(&worker, Some("Done."), Expected::Continue(UNFIT))
            })
        })?;
    }
    if tester.simulation.must_leave(&run, &leaves) {
        missing(tester, stage, agent)
    } else {
        hollow(tester, stage, agent)
    }
}

/// The worker is sent back twice, and then its attempt is used up.
fn missing(tester: &mut GateTester<'_>, stage: &Stage, agent: &AgentName) -> Result<(), Failure> {
    let what = format!("'{agent}' leaves nothing: sent back twice, then missing");
    tester.case(Column::Fault, what, |simulation| {
        let mut worker = simulation.begins(agent, None)?;
        let tool_uses = simulation.uses_a_tool(&mut worker)?;
        let visit = simulation.now()?.position.visit;
        if tool_uses > 0 {
            for _ in 0..2 {
                simulation.stops(&worker, None, Expected::Continue(UNFIT))?;
            }
        }
        simulation.stops(&worker, None, Expected::Pass)?;
        let reply = None;
        simulation.returns(&worker, &WorkDone { reply, tool_uses })?;
        not_done(simulation, stage, Fault::Missing, visit)
    })
}

fn hollow(tester: &mut GateTester<'_>, stage: &Stage, agent: &AgentName) -> Result<(), Failure> {
    let what = format!("'{agent}' ends without doing anything: hollow");
    tester.case(Column::Fault, what, |simulation| {
        let worker = simulation.begins(agent, None)?;
        let visit = simulation.now()?.position.visit;
        simulation.stops(&worker, Some("Done."), Expected::Pass)?;
        let reply = Some("Done.".to_owned());
        simulation.returns(
            &worker,
            &WorkDone {
                reply,
                tool_uses: 0,
            },
        )?;
        not_done(simulation, stage, Fault::Hollow, visit)
    })
}

/// The session's own work: judged when it stops or turns to something else.
pub(super) fn session(
    tester: &mut GateTester<'_>,
    stage: &Stage,
    stage_route: &StageRoute<'_>,
) -> Result<(), Failure> {
    onward(tester, stage_route)?;
    let Ok(run) = tester.fresh()?.now() else {
        return Ok(());
    };
    let leaves = tester.simulation.leaves_of(&run, engine::SESSION);
    if !tester.simulation.must_leave(&run, &leaves) {
        return Ok(());
    }
    tester.case(
        Column::Fault,
        "the session stops and has left nothing",
        |simulation| {
            simulation.must_not_move(|simulation| {
                simulation.hook(
                    simulation.payloads.stop(Background::Nobody),
                    Expected::Answer,
                )?;
                ensure(simulation.now()?.position.stage == stage.name, || {
                    "the run moved on".to_owned()
                })
            })
        },
    )
}
