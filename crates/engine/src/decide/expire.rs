//! Time: limits are judged at the next event, since nothing runs between two events.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::moving::{Exit, take};
use super::{Draft, Verdict, work_end};
use crate::decision::Reply;
use crate::entry::Fact;
use crate::event::{Ending, Happening, PersonEvent, SessionEvent, Who, WorkEvent};
use crate::names::DispatchId;
use crate::outcome::{Fault, Outcome};
use crate::rule::Rule;
use crate::run::Standing;
use crate::stage::Work;
use crate::status::{is_over, is_stale};
use crate::usage::Usage;

/// A question that nobody has answered in time ends with this.
const TIMEOUT: Outcome = Outcome::Fault(Fault::Timeout);

/// Settles what is overdue. Returns the verdict if the event can no longer be judged.
pub(super) fn overdue(draft: &mut Draft<'_>, what: &Happening) -> Option<Verdict> {
    if is_over(draft.pipeline, &draft.run) || draft.run.standing == Standing::Queued {
        return None;
    }
    // Work that is seen to end is life, and its end must not be lost.
    let lives = matches!(
        what,
        Happening::Work(WorkEvent::Ended { .. } | WorkEvent::CutShort { .. })
    );
    if !lives && is_stale(draft.pipeline, &draft.run, draft.at) {
        return stale(draft, what);
    }
    let by = core::mem::replace(&mut draft.by, Who::Engine);
    expire_work(draft);
    expire_question(draft);
    draft.by = by;
    None
}

/// A run past its time to live asks before it continues; a person answers.
fn stale(draft: &mut Draft<'_>, what: &Happening) -> Option<Verdict> {
    if draft.run.standing != Standing::Stale {
        draft.record(Rule::WentStale, Fact::WentStale);
    }
    if is_judged_when_stale(what) {
        return None;
    }
    if let Err(verdict) = draft.bound() {
        return Some(verdict);
    }
    let reason = String::from("nothing happened for longer than the pipeline allows");
    let refusal = draft.refusal(Rule::WentStale, reason);
    Some(Verdict {
        rule: Rule::WentStale,
        reply: Reply::Refuse(refusal),
    })
}

/// A person decides about a stale run, and sessions come and go.
fn is_judged_when_stale(what: &Happening) -> bool {
    match what {
        Happening::Work(_) | Happening::Tool(_) | Happening::Engine(_) => false,
        Happening::Session(event) => match event {
            SessionEvent::Started { .. }
            | SessionEvent::Ended { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Unguarded(_) => true,
            SessionEvent::PromptSubmitted { .. }
            | SessionEvent::TodosMarked { .. }
            | SessionEvent::HooksRemoved { .. }
            | SessionEvent::Remarked { .. }
            | SessionEvent::Unevaluated { .. }
            | SessionEvent::RefusedUnjudged { .. } => false,
        },
        Happening::Person(event) => match event {
            PersonEvent::Answered(_)
            | PersonEvent::CancelAsked { .. }
            | PersonEvent::ResetAsked { .. }
            | PersonEvent::CheckpointAsked { .. }
            | PersonEvent::AdoptAsked { .. }
            | PersonEvent::RestoreAsked { .. } => true,
            PersonEvent::FinishAsked
            | PersonEvent::SkipAsked { .. }
            | PersonEvent::RetryAsked
            | PersonEvent::EditsTaken
            | PersonEvent::Vouched { .. }
            | PersonEvent::BypassAsked { .. } => false,
        },
    }
}

fn expire_work(draft: &mut Draft<'_>) {
    let late: Vec<DispatchId> = draft
        .run
        .dispatches
        .values()
        .filter(|open| {
            let limit = draft
                .pipeline
                .stage(&open.stage)
                .and_then(|stage| stage.timeout);
            let works = open.paused_at.is_none();
            works && limit.is_some_and(|limit| draft.at.since(open.started_at) > limit)
        })
        .map(|open| open.id)
        .collect();
    for id in late {
        let reason = format!("{id} took longer than its time limit");
        let ending = Ending::Fault {
            fault: Fault::Timeout,
            reason,
        };
        work_end::conclude(draft, id, &ending, Usage::default());
    }
}

fn expire_question(draft: &mut Draft<'_>) {
    let Some(stage) = draft.stage() else { return };
    let waited = draft.at.since(draft.run.position.entered_at);
    let asks = matches!(stage.work, Work::Ask(_)) && draft.run.standing == Standing::Going;
    if asks
        && stage.timeout.is_some_and(|limit| waited > limit)
        && let Some(edge) = stage.on.get(&TIMEOUT)
    {
        take(draft, Exit::Outcome(&TIMEOUT), edge);
    }
}
