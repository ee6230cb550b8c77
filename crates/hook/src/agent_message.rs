//! A message to an agent that has ended: it goes on, and its briefing goes with the message.
//!
//! The host starts no new worker for a message, so no hook at its start could brief it. It takes the
//! text from the hook before the call instead.

use engine::{Asker, CallId, Fact, Happening, WorkEvent, WorkerId};
use hosts::{Answer, Message, Verdict};
use runtime::briefing;
use runtime::failure::Failure;
use runtime::transact::Decided;
use store::Key;

use super::answer;
use super::guarded_session::Guarded;

/// The work that a message begins. A message is a tool like any other; one to an agent begins work
/// besides.
pub(super) struct ToAgent {
    worker: WorkerId,
    call: Option<CallId>,
    asker: Option<Asker>,
}

/// The agent that this message goes to, unless it goes to the session itself.
pub(super) fn to(
    message: &Message,
    call: &Option<CallId>,
    asker: Option<Asker>,
) -> Option<ToAgent> {
    let worker = WorkerId::parse(message.to.trim()).ok();
    let worker = worker.filter(|worker| worker.as_str() != "main")?;
    let call = call.clone();
    Some(ToAgent {
        worker,
        call,
        asker,
    })
}

pub(super) fn answer(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    message: &Message,
    to: ToAgent,
) -> Result<Answer, Failure> {
    let decided = guarded.submit_once(
        key,
        Happening::Work(WorkEvent::MessageRequested {
            to: to.worker.clone(),
            call: to.call,
            worker: to.asker,
        }),
    )?;
    let answered = answer::of(&decided);
    match answered.verdict {
        Verdict::Allow | Verdict::Nothing => Ok(Answer {
            message: briefed(guarded, &decided, &to.worker, message)?,
            ..answered
        }),
        Verdict::Refuse(_) | Verdict::GoOn(_) => Ok(answered),
    }
}

/// The message with the briefing of the work that it begins. An agent that is at work already has had
/// its briefing.
fn briefed(
    guarded: &Guarded<'_, '_>,
    decided: &Decided,
    worker: &WorkerId,
    message: &Message,
) -> Result<Option<Message>, Failure> {
    let mut facts = decided.entries.iter().map(|(_, entry)| &entry.fact);
    let begins = facts.any(|fact| matches!(fact, Fact::Admitted { .. }));
    let dispatch = decided.opened.run().work_of(worker).filter(|_| begins);
    let (Some(dispatch), Some(text)) = (dispatch, &message.text) else {
        return Ok(None);
    };
    let briefing = briefing::text(guarded.workspace, &decided.opened, dispatch)?;
    Ok(Some(Message {
        text: Some(format!("{text}\n\n{briefing}")),
        ..message.clone()
    }))
}
