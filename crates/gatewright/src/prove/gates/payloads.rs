//! Input that no host sends, and a host that does not listen.

use hosts::Event;
use hosts::hook::LARGEST_INPUT;
use runtime::failure::Failure;

use super::super::exchange::Expected;
use super::super::scene::Manner;
use super::super::wire::Pen;
use super::sessions::OTHER;
use super::{Bench, Column, Gate};

pub fn payloads(mut bench: Bench<'_>) -> Result<Gate, Failure> {
    let own = bench.fresh()?.pen.session.clone();
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
        unreadable(&mut bench, &own, what, &text)?;
    }
    let what = "without a session id: nothing happens";
    bench.case(Column::Fault, what, |scene| {
        let bytes = b"{\"hook_event_name\":\"Stop\"}".to_vec();
        let sent = Pen::raw(Event::Stop, "without a session", bytes);
        scene.stays(|scene| {
            let answered = scene.hook_as(Manner::NoFolder, sent, Expected::Silence);
            answered.map(drop)
        })
    })?;
    let what = "stdout is closed: the exit code stays the same";
    bench.case(Column::Fault, what, |scene| {
        let stranger = scene.worker("somebody-else", None);
        let sent = scene.pen.agent(&stranger);
        scene.stays(|scene| {
            let answered = scene.hook_as(Manner::Unheard, sent, Expected::Answer);
            answered.map(drop)
        })
    })?;
    Ok(bench.gate("payloads", "malformed input"))
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
    let told = format!("the same in a session without a run: {what}");
    bench.case(Column::Pass, told, |scene| {
        let answered = scene.hook_as(Manner::In(OTHER), sent(OTHER), Expected::Silence);
        answered.map(drop)
    })
}
