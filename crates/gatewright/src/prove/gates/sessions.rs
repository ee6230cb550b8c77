//! Sessions that have nothing to do with the run, and input that no host sends.

use engine::{BindingState, Rule};
use hosts::claude::{Event, LARGEST_INPUT};

use super::super::exchange::Expected;
use super::super::scene::{Manner, Scene};
use super::super::trouble::{Tried, insist};
use super::super::wire::{Background, Pen};
use super::super::work::Verdict;
use super::{Bench, Column, Gate};
use crate::failure::Failure;

/// A session that holds no run.
const OTHER: &str = "00000000-another";

pub fn sessions(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let always_on = bench.fresh()?.pipeline.definition().begins == engine::Begins::Session;
    bench.case(
        Column::Refusal,
        "another session begins: the run stays with its own",
        |scene| {
            let sent = other(scene).session_start("startup");
            // Where every session has a run of its own, the other one gets one.
            let expected = match always_on {
                true => Expected::Pass,
                false => Expected::Told(Rule::HeldElsewhere),
            };
            scene.hook_as(Manner::In(OTHER), sent, expected)?;
            is_held(scene)
        },
    )?;
    bench.case(Column::Pass, "the session goes on after a break", |scene| {
        scene.stays(|scene| {
            scene.hook(scene.pen.session_start("resume"), Expected::Pass)?;
            scene.hook(scene.pen.session_start("compact"), Expected::Pass)?;
            is_held(scene)
        })
    })?;
    if !always_on {
        bench.case(
            Column::Pass,
            "a session without a run is left alone",
            |scene| {
                let pen = other(scene);
                let worker = scene.worker("Explore", None);
                for sent in [pen.agent(&worker), pen.stop(Background::Nobody)] {
                    scene.hook_as(Manner::In(OTHER), sent, Expected::Silence)?;
                }
                Ok(())
            },
        )?;
    }
    bench.case(
        Column::Fault,
        "another session tells of an end: nothing moves",
        |scene| {
            let Some(agent) = scene.in_turn()? else {
                return Ok(());
            };
            let worker = scene.begins(&agent, None)?;
            scene.stays(|scene| {
                let sent = other(scene).agent_stops(&worker, Some("Done."));
                scene
                    .hook_as(Manner::In(OTHER), sent, Expected::Silence)
                    .map(drop)
            })
        },
    )?;
    let what = "the session's shell tells of an end itself: nothing moves";
    bench.case(Column::Fault, what, |scene| {
        let Some(agent) = scene.in_turn()? else {
            return Ok(());
        };
        let worker = scene.begins(&agent, None)?;
        let done = scene.does(&worker, &Verdict::Well)?;
        scene.stays(|scene| {
            let sent = scene.pen.agent_stops(&worker, done.reply.as_deref());
            scene.hook_as(Manner::Forged, sent, Expected::Silence)?;
            let returned = scene.pen.agent_returned(&worker, done.reply.as_deref(), 1);
            scene
                .hook_as(Manner::Forged, returned, Expected::Silence)
                .map(drop)
        })
    })?;
    Ok(bench.gate("sessions", "sessions that do not hold the run"))
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

pub fn payloads(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let own = bench.fresh()?.pen.session.clone();
    let cut = format!("{{\"session_id\":\"{own}\",\"hook_event_name\":\"PreToolUse\",\"tool_na");
    let filling = "x".repeat(LARGEST_INPUT);
    let long = format!("{{\"session_id\":\"{own}\",\"x\":\"{filling}\"}}");
    for (what, bytes) in [
        ("with nothing on its input", String::new()),
        ("with something that is no JSON", "?!".to_owned()),
        ("with JSON that is cut off", cut),
        ("with more than anybody reads", long),
    ] {
        unreadable(&mut bench, &own, what, &bytes)?;
    }
    let what = "nobody says which session it is: nothing is done";
    bench.case(Column::Fault, what, |scene| {
        let bytes = b"{\"hook_event_name\":\"Stop\"}".to_vec();
        let sent = Pen::raw(Event::Stop, "without a session", bytes);
        scene.stays(|scene| {
            let answered = scene.hook_as(Manner::Nowhere, sent, Expected::Silence);
            answered.map(drop)
        })
    })?;
    let what = "nobody listens to the answer: it ends as ever";
    bench.case(Column::Fault, what, |scene| {
        let stranger = scene.worker("somebody-else", None);
        let sent = scene.pen.agent(&stranger);
        scene.stays(|scene| {
            let answered = scene.hook_as(Manner::Unheard, sent, Expected::Answer);
            answered.map(drop)
        })
    })?;
    Ok(bench.gate("payloads", "input that no host sends"))
}

/// Refused where a run is held, and nobody's business elsewhere.
fn unreadable(bench: &mut Bench<'_>, own: &str, what: &str, text: &str) -> Result<(), Failure> {
    let sent = |session: &str| {
        // The session's id at the beginning of what is cut off is read as well.
        let bytes = text.replace(own, session).into_bytes();
        Pen::raw(Event::PreToolUse, what, bytes)
    };
    bench.case(Column::Refusal, format!("a call {what}"), |scene| {
        scene.stays(|scene| scene.hook(sent(own), Expected::Refusal(&[])).map(drop))
    })?;
    bench.case(
        Column::Pass,
        format!("the same elsewhere: {what}"),
        |scene| {
            let sent = sent(OTHER);
            let answered = scene.hook_as(Manner::In(OTHER), sent, Expected::Silence);
            answered.map(drop)
        },
    )
}
