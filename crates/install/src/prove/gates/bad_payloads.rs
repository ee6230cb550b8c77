//! Input that no host sends, and a host that ignores our output.

use hosts::Event;
use hosts::hook::LARGEST_INPUT;
use runtime::failure::Failure;

use super::super::exchange::Expected;
use super::super::payloads::PayloadWriter;
use super::super::simulation::CalledBy;
use super::sessions::OTHER;
use super::{Column, Gate, GateTester};

pub(super) fn bad_payloads(mut tester: GateTester<'_>) -> Result<Gate, Failure> {
    let own = tester.fresh()?.payloads.session.clone();
    let begins = format!("{{\"session_id\":\"{own}\",\"hook_event_name\":\"PreToolUse\"");
    let filling = "x".repeat(LARGEST_INPUT);
    for (what, text) in [
        ("with empty input", String::new()),
        ("with input that is not JSON", "?!".to_owned()),
        ("with truncated JSON", format!("{begins},\"tool_na")),
        (
            "with too much input",
            format!("{begins},\"x\":\"{filling}\"}}"),
        ),
    ] {
        unreadable(&mut tester, &own, what, &text)?;
    }
    let what = "without a session id: nothing happens";
    tester.case(Column::Fault, what, |simulation| {
        let bytes = b"{\"hook_event_name\":\"Stop\"}".to_vec();
        let payload = PayloadWriter::raw(Event::Stop, "without a session", bytes);
        simulation.must_not_move(|simulation| {
            let answered =
                simulation.hook_as(CalledBy::HostWithoutSession, payload, Expected::Silence);
            answered.map(drop)
        })
    })?;
    let what = "stdout is closed: the exit code stays the same";
    tester.case(Column::Fault, what, |simulation| {
        let stranger = simulation.worker("somebody-else", None);
        let payload = simulation.payloads.agent(&stranger);
        simulation.must_not_move(|simulation| {
            let answered =
                simulation.hook_as(CalledBy::HostThatIgnoresOutput, payload, Expected::Answer);
            answered.map(drop)
        })
    })?;
    Ok(tester.gate("payloads", "malformed input"))
}

/// Refused in a session with a run, and ignored elsewhere.
fn unreadable(
    tester: &mut GateTester<'_>,
    own: &str,
    what: &str,
    text: &str,
) -> Result<(), Failure> {
    let payload = |session: &str| {
        // The hook also reads the session's id at the start of a truncated input.
        let bytes = text.replace(own, session).into_bytes();
        PayloadWriter::raw(Event::PreToolUse, what, bytes)
    };
    tester.case(Column::Refusal, format!("a call {what}"), |simulation| {
        simulation.must_not_move(|simulation| {
            simulation
                .hook(payload(own), Expected::Refusal(&[]))
                .map(drop)
        })
    })?;
    let told = format!("the same in a session without a run: {what}");
    tester.case(Column::Pass, told, |simulation| {
        let answered = simulation.hook_as(
            CalledBy::HostOfSession(OTHER),
            payload(OTHER),
            Expected::Silence,
        );
        answered.map(drop)
    })
}
