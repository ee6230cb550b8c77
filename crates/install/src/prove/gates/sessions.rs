//! Sessions that do not hold the run, and callers that only pretend to be the host.

use engine::{Begins, BindingState, Rule};
use runtime::failure::Failure;

use super::super::case_error::{CaseOutcome, ensure};
use super::super::exchange::Expected;
use super::super::payloads::{Background, PayloadWriter};
use super::super::simulated_worker::WantedResult;
use super::super::simulation::{CalledBy, Simulation};
use super::{Column, Gate, GateTester};

/// A session that holds no run.
pub(super) const OTHER: &str = "00000000-another";

pub(super) fn sessions(mut tester: GateTester<'_>) -> Result<Gate, Failure> {
    others(&mut tester)?;
    tester.case(
        Column::Pass,
        "the session continues after a break",
        |simulation| {
            simulation.must_not_move(|simulation| {
                simulation.hook(simulation.payloads.session_start("resume"), Expected::Pass)?;
                simulation.hook(simulation.payloads.session_start("compact"), Expected::Pass)?;
                is_held(simulation)
            })
        },
    )?;
    let what = "another session reports an end: the run does not move";
    tester.case(Column::Fault, what, |simulation| {
        end_reported_by(simulation, CalledBy::HostOfSession(OTHER))
    })?;
    let what = "the session's shell reports an end: the run does not move";
    tester.case(Column::Fault, what, |simulation| {
        end_reported_by(simulation, CalledBy::Shell)
    })?;
    Ok(tester.gate("sessions", "sessions that do not hold the run"))
}

/// A second session starts beside the one that holds the run.
fn others(tester: &mut GateTester<'_>) -> Result<(), Failure> {
    let begins = tester.fresh()?.pipeline.definition().begins;
    let what = "another session starts: the run stays with its own session";
    tester.case(Column::Refusal, what, |simulation| {
        let payload = other(simulation).session_start("startup");
        // If every session has its own run, the other session gets one.
        let expected = match begins {
            Begins::Session => Expected::Pass,
            Begins::Command => Expected::Told(Rule::HeldElsewhere),
        };
        simulation.hook_as(CalledBy::HostOfSession(OTHER), payload, expected)?;
        is_held(simulation)
    })?;
    if begins == Begins::Session {
        return Ok(());
    }
    let what = "a session without a run is not guarded";
    tester.case(Column::Pass, what, |simulation| {
        let payloads = other(simulation);
        let worker = simulation.worker("general-purpose", None);
        for payload in [payloads.agent(&worker), payloads.stop(Background::Nobody)] {
            simulation.hook_as(CalledBy::HostOfSession(OTHER), payload, Expected::Silence)?;
        }
        Ok(())
    })
}

/// Somebody other than the session's host reports the end of work.
fn end_reported_by(simulation: &mut Simulation, called_by: CalledBy<'_>) -> CaseOutcome<()> {
    let Some(agent) = simulation.next_agent()? else {
        return Ok(());
    };
    let mut worker = simulation.begins(&agent, None)?;
    let done = simulation.does(&mut worker, &WantedResult::Success)?;
    let payloads = match called_by {
        CalledBy::HostOfSession(_) => other(simulation),
        CalledBy::Host
        | CalledBy::HostWithoutSession
        | CalledBy::HostThatIgnoresOutput
        | CalledBy::Shell => simulation.payloads.clone(),
    };
    simulation.must_not_move(|simulation| {
        let reply = done.reply.as_deref();
        let stops = payloads.agent_stops(&worker, reply);
        simulation.hook_as(called_by, stops, Expected::Silence)?;
        let returned = payloads.agent_returned(&worker, reply, done.tool_uses);
        simulation
            .hook_as(called_by, returned, Expected::Silence)
            .map(drop)
    })
}

fn other(simulation: &Simulation) -> PayloadWriter {
    PayloadWriter {
        session: OTHER.to_owned(),
        ..simulation.payloads.clone()
    }
}

fn is_held(simulation: &Simulation) -> CaseOutcome<()> {
    let binding = simulation.now()?.session;
    let held = binding.is_some_and(|binding| {
        binding.session.as_str() == simulation.payloads.session
            && binding.state == BindingState::Active
    });
    ensure(held, || "the session has lost its run".to_owned())
}
