//! Sessions: who holds the run, what is injected, and whether a session may stop.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Draft, Verdict, guard, task, work_end};
use crate::decision::Reply;
use crate::entry::Fact;
use crate::event::Ending;
use crate::evidence::ProcessState;
use crate::names::{DispatchId, SessionId, WorkerId};
use crate::needs::sole_work;
use crate::outcome::Fault;
use crate::rule::Rule;
use crate::run::{BindingState, Process, Standing, Status, Unguarded};
use crate::stage::StopRule;
use crate::status::{is_unused, status};
use crate::usage::Usage;

/// How often a session is held back without progress before the run waits for a person. It stays
/// under the cap at which hosts override a stop hook.
const MOST_HOLDS: u32 = 3;

/// A session that comes, and the process in which it does.
pub(super) struct Arrival<'a> {
    pub session: &'a SessionId,
    pub process: Option<Process>,
    pub heir_of: Option<&'a SessionId>,
    pub unverified_host: Option<&'a str>,
}

/// A session attaches to its run again, or takes over a run whose session is gone. Nothing is reset.
pub(super) fn started(draft: &mut Draft<'_>, arrival: &Arrival<'_>) -> Verdict {
    let Arrival {
        session,
        process,
        heir_of,
        unverified_host,
    } = *arrival;
    if let Some(holder) = &draft.run.session
        && holder.state == BindingState::Active
        && holder.session != *session
    {
        let inherits = heir_of == Some(&holder.session);
        let gone = draft.evidence.holder == Some(ProcessState::Gone);
        if !inherits && !gone {
            let reason = format!("session {} holds the run", holder.session);
            return Verdict {
                rule: Rule::HeldElsewhere,
                reply: Reply::Refuse(draft.refusal(Rule::HeldElsewhere, reason)),
            };
        }
        // An heir has the workers of the conversation that was cleared; a session that takes over has not.
        if !inherits {
            let before = holder.session.clone();
            leave_run(draft, &before);
        }
    }
    let holder = draft.run.session.as_ref();
    let own =
        holder.filter(|holder| holder.session == *session && holder.state == BindingState::Active);
    let before = own.map(|own| own.process);
    if before.is_none_or(|before| process.is_some() && before != process) {
        // Another process of the same session: the workers of the earlier one ended with it.
        if before != Some(None) {
            drop_all(draft, session);
        }
        draft.record(
            Rule::Attach,
            Fact::Attached {
                session: session.clone(),
                process,
            },
        );
        mark(draft, unverified_host);
    }
    inject(draft, Rule::Attach)
}

/// Marks the run if it is not certain that a host sees what its session does.
///
/// Invariant: the mark goes with the entry that binds the session, so that no crash comes between.
pub(super) fn mark(draft: &mut Draft<'_>, unverified_host: Option<&str>) {
    if let Some(what) = unverified_host {
        unevaluated(draft, what);
    }
}

fn leave_run(draft: &mut Draft<'_>, session: &SessionId) {
    draft.record(
        Rule::Attach,
        Fact::Detached {
            session: session.clone(),
        },
    );
    drop_all(draft, session);
}

pub(super) fn ended(draft: &mut Draft<'_>, session: &SessionId) -> Verdict {
    match &draft.run.session {
        Some(holder) if holder.session == *session && holder.state == BindingState::Active => {
            leave_run(draft, session);
            Verdict::done(Rule::Attach)
        }
        Some(_) | None => Verdict::done(Rule::NotBound),
    }
}

/// A run that began with its session, and did nothing, ends with it: nobody would ever end it.
pub(super) fn left_unused(draft: &mut Draft<'_>) -> Verdict {
    if !is_unused(draft.pipeline, &draft.run) {
        return Verdict::done(Rule::Quiet);
    }
    let reason = String::from("its session ended without any work");
    draft.record(Rule::Unused, Fact::Cancelled { reason });
    Verdict::done(Rule::Unused)
}

/// The workers of a session end with it. That is not a failure, so it costs no attempt.
fn drop_all(draft: &mut Draft<'_>, session: &SessionId) {
    let open = draft.run.dispatches.values();
    let theirs = open.filter(|open| open.session.as_ref() == Some(session));
    for dispatch in theirs.map(|open| open.id).collect::<Vec<_>>() {
        draft.drop_work(dispatch, Rule::SessionOver);
    }
}

/// The run leaves its machine, and the session and the workers stay there.
pub(super) fn stay_behind(draft: &mut Draft<'_>) {
    let open: Vec<DispatchId> = draft.run.dispatches.keys().copied().collect();
    for dispatch in open {
        draft.drop_work(dispatch, Rule::SessionOver);
    }
    let active = draft.run.session.as_ref();
    let active = active.filter(|binding| binding.state == BindingState::Active);
    if let Some(session) = active.map(|binding| binding.session.clone()) {
        draft.record(Rule::SessionOver, Fact::Detached { session });
    }
}

/// The person wanted it to stop, so it has not failed either.
pub(super) fn interrupted(draft: &mut Draft<'_>, worker: &WorkerId) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    if let Some(open) = draft.run.work_of(worker).map(|open| open.id) {
        draft.drop_work(open, Rule::WorkerInterrupted);
    }
    Verdict::done(Rule::WorkerInterrupted)
}

pub(super) fn prompted(draft: &mut Draft<'_>, text: &str) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    drop_unbegun_work(draft);
    // A person who speaks to a session that was let go has it at work again.
    if draft.run.standing == Standing::Abandoned {
        let budget_again = false;
        draft.record(
            Rule::Continue,
            Fact::Continued {
                budget_again,
                words: None,
            },
        );
    }
    task::given(draft, text);
    inject(draft, Rule::Inject)
}

/// The person sends a message: work that was requested before and never started is dropped.
fn drop_unbegun_work(draft: &mut Draft<'_>) {
    let session = draft.by.session().cloned();
    let open = draft.run.dispatches.values();
    let unbegun = open.filter(|open| {
        session.is_some() && open.session == session && open.worker.is_none() && !open.worked
    });
    for dispatch in unbegun.map(|open| open.id).collect::<Vec<_>>() {
        draft.drop_work(dispatch, Rule::NeverBegan);
    }
}

fn inject(draft: &Draft<'_>, rule: Rule) -> Verdict {
    let text = draft.stage().and_then(|stage| stage.inject.clone());
    Verdict {
        rule,
        reply: text.map_or(Reply::Done, Reply::Inject),
    }
}

pub(super) fn todos(draft: &mut Draft<'_>, done: &[String]) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    match guard::ahead(draft, done) {
        Some(reason) => draft.refuse(Rule::TodoAhead, "mark a step as done", reason),
        None => Verdict::done(Rule::ToolFree),
    }
}

pub(super) fn unhooked(draft: &mut Draft<'_>, how: &str) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let reason = format!("{how}; this session continues with the previous settings");
    draft.refuse(Rule::HooksStay, "remove the hooks", reason)
}

pub(super) fn remarked(draft: &mut Draft<'_>, message: &str) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let message = message.to_string();
    draft.record(Rule::Remarked, Fact::Noted { message });
    Verdict::done(Rule::Remarked)
}

/// It is reported late, so the reporting session may no longer hold the run.
pub(super) fn unevaluated(draft: &mut Draft<'_>, what: &str) -> Verdict {
    let what = what.to_string();
    draft.record(Rule::Unevaluated, Fact::Unevaluated { what });
    Verdict::done(Rule::Unevaluated)
}

/// Nothing came of it, so the run is not marked. It is reported late, too.
pub(super) fn refused_unjudged(draft: &mut Draft<'_>, what: &str) -> Verdict {
    let (what, reason) = (what.to_string(), String::from("nobody could judge it"));
    draft.record(Rule::Undecided, Fact::Refused { what, reason });
    Verdict::done(Rule::Undecided)
}

/// It is found late, so the reporting session may no longer hold the run.
pub(super) fn unguarded(draft: &mut Draft<'_>, found: &Unguarded) -> Verdict {
    draft.record(Rule::Unguarded, Fact::Unguarded(found.clone()));
    Verdict::done(Rule::Unguarded)
}

pub(super) fn stop(draft: &mut Draft<'_>, background_work: bool) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    if !background_work {
        close_unseen_work(draft);
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

/// A session that stops and has nothing running in the background has no workers any more: work
/// that is still open ended unseen. What has left all that it must is done; the rest is tried again.
fn close_unseen_work(draft: &mut Draft<'_>) {
    let session = draft.by.session().cloned();
    let sole = sole_work(&draft.run, &draft.by).map(|open| open.id);
    if let Some(id) = sole.filter(|id| work_end::has_left_all(draft, *id)) {
        let ending = Ending::Finished { worked: false };
        work_end::conclude(draft, id, &ending, Usage::default());
        return;
    }
    let open = draft.run.dispatches.values();
    let unseen = open.filter(|open| session.is_some() && open.session == session);
    for id in unseen.map(|open| open.id).collect::<Vec<_>>() {
        let ending = Ending::Fault {
            fault: Fault::Crashed,
            reason: String::from("no hook reported its end"),
        };
        work_end::conclude(draft, id, &ending, Usage::default());
    }
}

pub(super) fn taken_up(draft: &mut Draft<'_>) -> Verdict {
    if draft.run.standing != Standing::Queued {
        let reason = "the run is not queued".to_string();
        return draft.refuse(Rule::TakeUp, &String::from("pick up the run"), reason);
    }
    if draft.run.is_unplaced() {
        let reason = "the run's worktree is not made yet".to_string();
        return draft.refuse(Rule::TakeUp, &String::from("pick up the run"), reason);
    }
    draft.record(Rule::TakeUp, Fact::TakenUp);
    Verdict::done(Rule::TakeUp)
}
