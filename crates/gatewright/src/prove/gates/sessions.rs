//! Sessions that have nothing to do with the run, and whoever only says to be the host.

use engine::{Begins, BindingState, Rule};
use runtime::failure::Failure;

use super::super::exchange::Expected;
use super::super::scene::{Manner, Scene};
use super::super::trouble::{Tried, insist};
use super::super::wire::{Background, Pen};
use super::super::work::Verdict;
use super::{Bench, Column, Gate};

/// A session that holds no run.
pub const OTHER: &str = "00000000-another";

pub fn sessions(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    others(&mut bench)?;
    bench.case(
        Column::Pass,
        "the session continues after a break",
        |scene| {
            scene.stays(|scene| {
                scene.hook(scene.pen.session_start("resume"), Expected::Pass)?;
                scene.hook(scene.pen.session_start("compact"), Expected::Pass)?;
                is_held(scene)
            })
        },
    )?;
    let what = "another session reports an end: the run does not move";
    bench.case(Column::Fault, what, |scene| {
        told_of_an_end(scene, Manner::In(OTHER))
    })?;
    let what = "the session's shell reports an end: the run does not move";
    bench.case(Column::Fault, what, |scene| {
        told_of_an_end(scene, Manner::Forged)
    })?;
    Ok(bench.gate("sessions", "sessions that do not hold the run"))
}

/// A session that begins beside the one that holds the run.
fn others(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let begins = bench.fresh()?.pipeline.definition().begins;
    let what = "another session starts: the run stays with its own session";
    bench.case(Column::Refusal, what, |scene| {
        let sent = other(scene).session_start("startup");
        // Where every session has a run of its own, the other one gets one.
        let expected = match begins {
            Begins::Session => Expected::Pass,
            Begins::Command => Expected::Told(Rule::HeldElsewhere),
        };
        scene.hook_as(Manner::In(OTHER), sent, expected)?;
        is_held(scene)
    })?;
    if begins == Begins::Session {
        return Ok(());
    }
    let what = "a session without a run is not guarded";
    bench.case(Column::Pass, what, |scene| {
        let pen = other(scene);
        let worker = scene.worker("Explore", None);
        for sent in [pen.agent(&worker), pen.stop(Background::Nobody)] {
            scene.hook_as(Manner::In(OTHER), sent, Expected::Silence)?;
        }
        Ok(())
    })
}

/// Work is done, and its end is told by somebody who is not the session's host.
fn told_of_an_end(scene: &mut Scene, manner: Manner<'_>) -> Tried<()> {
    let Some(agent) = scene.in_turn()? else {
        return Ok(());
    };
    let mut worker = scene.begins(&agent, None)?;
    let done = scene.does(&mut worker, &Verdict::Well)?;
    let pen = match manner {
        Manner::In(_) => other(scene),
        Manner::Usual | Manner::NoFolder | Manner::Unheard | Manner::Forged => scene.pen.clone(),
    };
    scene.stays(|scene| {
        let reply = done.reply.as_deref();
        let stops = pen.agent_stops(&worker, reply);
        scene.hook_as(manner, stops, Expected::Silence)?;
        let returned = pen.agent_returned(&worker, reply, done.tool_uses);
        scene.hook_as(manner, returned, Expected::Silence).map(drop)
    })
}

fn other(scene: &Scene) -> Pen {
    Pen {
        session: OTHER.to_owned(),
        ..scene.pen.clone()
    }
}

fn is_held(scene: &Scene) -> Tried<()> {
    let binding = scene.now()?.session;
    let held = binding.is_some_and(|binding| {
        binding.session.as_str() == scene.pen.session && binding.state == BindingState::Active
    });
    insist(held, || "the session has lost its run".to_owned())
}
