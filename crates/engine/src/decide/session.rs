//! Sessions: who holds the run, what is injected, and whether a session may stop.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Draft, Verdict};
use crate::decision::Reply;
use crate::entry::{Fact, WorkResult};
use crate::names::SessionId;
use crate::rule::Rule;
use crate::run::{BindingState, Standing, Status, Usage};
use crate::stage::StopRule;
use crate::status::status;

/// How often a session is held back without progress before the run waits for a person. It stays
/// under the cap at which hosts override a stop hook.
const MOST_HOLDS: u32 = 3;

/// A session takes a run up again, or takes over one whose session has ended. Nothing is reset.
pub(super) fn started(draft: &mut Draft<'_>, session: &SessionId) -> Verdict {
    match &draft.run.session {
        Some(holder) if holder.state == BindingState::Active && holder.session != *session => {
            let reason = format!("the run is held by session {}", holder.session);
            Verdict {
                rule: Rule::HeldElsewhere,
                reply: Reply::Refuse(draft.refusal(Rule::HeldElsewhere, reason)),
            }
        }
        Some(holder) if holder.state == BindingState::Active => inject(draft, Rule::Attach),
        Some(_) | None => {
            draft.record(
                Rule::Attach,
                Fact::Attached {
                    session: session.clone(),
                },
            );
            inject(draft, Rule::Attach)
        }
    }
}

pub(super) fn ended(draft: &mut Draft<'_>, session: &SessionId) -> Verdict {
    match &draft.run.session {
        Some(holder) if holder.session == *session && holder.state == BindingState::Active => {
            draft.record(
                Rule::Attach,
                Fact::Detached {
                    session: session.clone(),
                },
            );
            drop_work(draft, session);
            Verdict::done(Rule::Attach)
        }
        Some(_) | None => Verdict::done(Rule::NotBound),
    }
}

/// The workers of a session end with it. Nobody failed, so no attempt is spent.
fn drop_work(draft: &mut Draft<'_>, session: &SessionId) {
    let open = draft.run.dispatches.values();
    let theirs = open.filter(|open| open.session.as_ref() == Some(session));
    for dispatch in theirs.map(|open| open.id).collect::<Vec<_>>() {
        let fact = Fact::Ended {
            dispatch,
            result: WorkResult::Dropped,
            usage: Usage::default(),
        };
        draft.record(Rule::SessionOver, fact);
    }
}

pub(super) fn prompted(draft: &mut Draft<'_>) -> Verdict {
    match draft.bound() {
        Ok(()) => inject(draft, Rule::Inject),
        Err(verdict) => verdict,
    }
}

fn inject(draft: &Draft<'_>, rule: Rule) -> Verdict {
    let text = draft.stage().and_then(|stage| stage.inject.clone());
    Verdict {
        rule,
        reply: text.map_or(Reply::Done, Reply::Inject),
    }
}

pub(super) fn tool(draft: &mut Draft<'_>, tool: &str) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let denied = draft
        .stage()
        .is_some_and(|stage| stage.tools_deny.iter().any(|pattern| pattern.covers(tool)));
    if denied {
        let reason = format!("{} forbids the tool '{tool}'", draft.run.position.stage);
        return draft.refuse(Rule::ToolDenied, &format!("use '{tool}'"), reason);
    }
    Verdict {
        rule: Rule::ToolFree,
        reply: Reply::Allow,
    }
}

pub(super) fn stop(draft: &mut Draft<'_>, background_work: bool) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let holds = draft
        .stage()
        .is_some_and(|stage| stage.stop == StopRule::Hold);
    let running = status(draft.pipeline, &draft.run) == Status::Running;
    if !holds || !running || background_work {
        return Verdict {
            rule: Rule::StopFree,
            reply: Reply::Allow,
        };
    }
    if draft.run.holds >= MOST_HOLDS {
        draft.record(Rule::StopAbandoned, Fact::Abandoned);
        return Verdict {
            rule: Rule::StopAbandoned,
            reply: Reply::Allow,
        };
    }
    draft.record(
        Rule::StopHeld,
        Fact::Held {
            holds: draft.run.holds + 1,
        },
    );
    let reason = format!("the work of {} is not done", draft.run.position.stage);
    let refusal = draft.refusal(Rule::StopHeld, reason);
    Verdict {
        rule: Rule::StopHeld,
        reply: Reply::Hold(refusal),
    }
}

pub(super) fn taken_up(draft: &mut Draft<'_>) -> Verdict {
    if draft.run.standing != Standing::Queued {
        let reason = "the run is not queued".to_string();
        return draft.refuse(Rule::TakeUp, &String::from("take up the run"), reason);
    }
    draft.record(Rule::TakeUp, Fact::TakenUp);
    Verdict::done(Rule::TakeUp)
}
