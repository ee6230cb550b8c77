//! Stages in which an agent or the session itself works: what it leaves decides.

use engine::{AgentName, Fault, Rule, Stage};
use runtime::failure::Failure;

use super::super::exchange::Expected;
use super::super::trouble::{insist, not_shown};
use super::super::wire::Background;
use super::super::work::{Done, Verdict};
use super::stages::not_done;
use super::{Bench, Column, There};

/// By which rules a worker is sent back.
pub const UNFIT: &[Rule] = &[
    Rule::ArtifactMissing,
    Rule::OutcomeUnknown,
    Rule::ArtifactOld,
];

/// A verdict that looks like an approval to whoever looks for the word.
pub const NO_VERDICT: &str = "NOT APPROVED";

pub fn agent(bench: &mut Bench<'_>, stage: &Stage, there: &There<'_>) -> Result<(), Failure> {
    onward(bench, there)?;
    let Ok(Some(agent)) = bench.fresh()?.in_turn() else {
        return Ok(());
    };
    match bench.fresh()?.is_elsewhere(&agent) {
        Ok(true) => played(bench, &agent)?,
        Ok(false) if matches!(stage.work, engine::Work::Agent(_)) => twice(bench, &agent)?,
        Ok(false) | Err(_) => {}
    }
    endings(bench, stage, &agent)
}

/// The work is done, and the run goes where the pipeline says.
pub fn onward(bench: &mut Bench<'_>, there: &There<'_>) -> Result<(), Failure> {
    let legs = there
        .route
        .as_ref()
        .and_then(|route| there.routes.onward(route));
    let to = legs
        .as_ref()
        .and_then(|legs| legs.last())
        .map(|leg| &leg.stage);
    let what = match to {
        Some(to) => format!("the work is done: moves to {to}"),
        None => "the work is done".to_owned(),
    };
    bench.case(Column::Pass, what, |scene| match &legs {
        Some(legs) => legs.iter().try_for_each(|leg| scene.play(leg)),
        None => not_shown("no path that can be simulated leads on"),
    })
}

/// The session plays an agent that another program is to run.
pub fn played(bench: &mut Bench<'_>, agent: &AgentName) -> Result<(), Failure> {
    let what = format!("the session starts '{agent}' itself, which another program must run");
    bench.case(Column::Refusal, what, |scene| {
        scene.stays(|scene| scene.is_not_played(agent))
    })
}

fn twice(bench: &mut Bench<'_>, agent: &AgentName) -> Result<(), Failure> {
    let what = format!("'{agent}' is requested while it works");
    bench.case(Column::Refusal, what, |scene| {
        scene.begins(agent, None)?;
        let second = scene.worker(agent.as_str(), None);
        let rules = &[Rule::AgentBusy, Rule::StillBeginning];
        scene
            .hook(scene.pen.agent(&second), Expected::Refusal(rules))
            .map(drop)
    })
}

/// How the work of an agent must not end.
pub fn endings(bench: &mut Bench<'_>, stage: &Stage, agent: &AgentName) -> Result<(), Failure> {
    let Ok(run) = bench.fresh()?.now() else {
        return Ok(());
    };
    let leaves = bench.scene.leaves_of(&run, agent.as_str());
    let has_verdict = bench.scene.verdict_of(&leaves).is_some();
    if has_verdict {
        let what = format!("'{agent}' reports the verdict \"{NO_VERDICT}\"");
        bench.case(Column::Refusal, what, |scene| {
            let mut worker = scene.begins(agent, None)?;
            let done = scene.does(&mut worker, &Verdict::Word(NO_VERDICT.to_owned()))?;
            scene.stays(|scene| scene.stops(&worker, done.reply.as_deref(), Expected::GoOn(UNFIT)))
        })?;
    }
    if bench.scene.has_file(&run, &leaves) {
        let what = format!("'{agent}' leaves the old file");
        bench.case(Column::Refusal, what, |scene| {
            scene.litter(&leaves)?;
            let mut worker = scene.begins(agent, None)?;
            scene.uses_a_tool(&mut worker)?;
            scene.stays(|scene| scene.stops(&worker, Some("Done."), Expected::GoOn(UNFIT)))
        })?;
    }
    if bench.scene.must_leave(&run, &leaves) {
        missing(bench, stage, agent)
    } else {
        hollow(bench, stage, agent)
    }
}

/// It is sent back twice, and then its attempt is spent.
fn missing(bench: &mut Bench<'_>, stage: &Stage, agent: &AgentName) -> Result<(), Failure> {
    let what = format!("'{agent}' leaves nothing: sent back twice, then missing");
    bench.case(Column::Fault, what, |scene| {
        let mut worker = scene.begins(agent, None)?;
        let tool_uses = scene.uses_a_tool(&mut worker)?;
        let visit = scene.now()?.position.visit;
        if tool_uses > 0 {
            for _ in 0..2 {
                scene.stops(&worker, None, Expected::GoOn(UNFIT))?;
            }
        }
        scene.stops(&worker, None, Expected::Pass)?;
        let reply = None;
        scene.returns(&worker, &Done { reply, tool_uses })?;
        not_done(scene, stage, Fault::Missing, visit)
    })
}

fn hollow(bench: &mut Bench<'_>, stage: &Stage, agent: &AgentName) -> Result<(), Failure> {
    let what = format!("'{agent}' ends without doing anything: hollow");
    bench.case(Column::Fault, what, |scene| {
        let worker = scene.begins(agent, None)?;
        let visit = scene.now()?.position.visit;
        scene.stops(&worker, Some("Done."), Expected::Pass)?;
        let reply = Some("Done.".to_owned());
        scene.returns(
            &worker,
            &Done {
                reply,
                tool_uses: 0,
            },
        )?;
        not_done(scene, stage, Fault::Hollow, visit)
    })
}

/// The session's own work: judged when it stops or turns to something else.
pub fn session(bench: &mut Bench<'_>, stage: &Stage, there: &There<'_>) -> Result<(), Failure> {
    onward(bench, there)?;
    let Ok(run) = bench.fresh()?.now() else {
        return Ok(());
    };
    let leaves = bench.scene.leaves_of(&run, engine::SESSION);
    if !bench.scene.must_leave(&run, &leaves) {
        return Ok(());
    }
    bench.case(
        Column::Fault,
        "the session stops and has left nothing",
        |scene| {
            scene.stays(|scene| {
                scene.hook(scene.pen.stop(Background::Nobody), Expected::Answer)?;
                insist(scene.now()?.position.stage == stage.name, || {
                    "the run moved on".to_owned()
                })
            })
        },
    )
}
