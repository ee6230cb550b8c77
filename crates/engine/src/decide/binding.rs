//! Binds the calls and workers that a host numbers to the dispatches that were admitted.

use alloc::format;
use alloc::string::String;

use super::{Draft, Verdict, admit, guard};
use crate::assign::canonical_name;
use crate::decision::Reply;
use crate::entry::Fact;
use crate::event::{Actor, Asker};
use crate::names::{CallId, DispatchId, WorkerId};
use crate::rule::Rule;
use crate::run::Run;

/// An agent started. It gets the oldest open work of its name without a worker.
pub(super) fn began(draft: &mut Draft<'_>, actor: &Actor) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    if is_admitted(&draft.run, &actor.id) || tie(draft, actor) {
        return Verdict::done(Rule::Began);
    }
    if goes_on(draft, actor) {
        return Verdict::done(Rule::Began);
    }
    if draft.pipeline.definition().is_helper(&actor.agent) {
        return Verdict::done(Rule::Helper);
    }
    let reason = not_admitted(actor);
    draft.refuse(
        Rule::Unadmitted,
        &format!("start '{}'", actor.agent),
        reason,
    )
}

fn is_admitted(run: &Run, worker: &WorkerId) -> bool {
    run.work_of(worker).is_some()
}

/// Why an agent that was not admitted may not do this.
pub(super) fn not_admitted(actor: &Actor) -> String {
    format!("'{}' was not admitted to this run", actor.agent)
}

/// Binds the worker to the oldest open work of its agent that has no worker yet. A known worker starts
/// again by a message, not by a call.
pub(super) fn tie(draft: &mut Draft<'_>, actor: &Actor) -> bool {
    if draft.run.workers.contains_key(&actor.id) {
        return false;
    }
    let session = draft.by.session();
    let agent = canonical_name(draft.pipeline, &draft.run, &actor.agent);
    let open = draft.run.dispatches.values().find(|open| {
        open.worker.is_none()
            && open.session.as_ref() == session
            && open.agent.is_same(agent.as_str())
    });
    match open.map(|open| open.id) {
        Some(dispatch) => {
            record(draft, dispatch, &actor.id);
            true
        }
        None => false,
    }
}

fn record(draft: &mut Draft<'_>, dispatch: DispatchId, worker: &WorkerId) {
    let worker = worker.clone();
    draft.record(Rule::Began, Fact::Began { dispatch, worker });
}

/// A worker whose work is over starts again, because a message reached it too late: it is admitted as
/// if it had been called now.
fn goes_on(draft: &mut Draft<'_>, actor: &Actor) -> bool {
    let Some(known) = draft.run.workers.get(&actor.id) else {
        return false;
    };
    let agent = known.agent.clone();
    let mut trial = draft.trial();
    let request = admit::Request {
        agent: &agent,
        step: None,
        model: None,
        call: None,
        resumed: Some(&actor.id),
        service: None,
    };
    match admit::requested(&mut trial, &request, None).reply {
        Reply::Allow => {
            draft.adopt(trial);
            true
        }
        Reply::Refuse(_) | Reply::Hold(_) | Reply::Inject(_) | Reply::Done => false,
    }
}

/// The host reported which worker a call started: this binding is certain. It replaces a guess, and
/// swaps two crossed guesses.
pub(super) fn launched(draft: &mut Draft<'_>, call: &CallId, worker: &WorkerId) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let mut open = draft.run.dispatches.values();
    let named = open.find(|open| open.call.as_ref() == Some(call));
    if let Some(named) = named.filter(|named| named.worker.as_ref() != Some(worker)) {
        let (dispatch, guessed) = (named.id, named.worker.clone());
        let other = draft.run.work_of(worker).map(|open| open.id);
        record(draft, dispatch, worker);
        if let (Some(other), Some(guessed)) = (other, guessed) {
            record(draft, other, &guessed);
        }
    }
    Verdict::done(Rule::Began)
}

/// A message continues a worker. One whose work is over is admitted again.
pub(super) fn written_to(
    draft: &mut Draft<'_>,
    to: &WorkerId,
    call: Option<&CallId>,
    writer: Option<&Asker>,
) -> Verdict {
    if let Err(verdict) = draft.bound() {
        return verdict;
    }
    let what = format!("write to '{to}'");
    if let Some(Err(reason)) = writer.map(|writer| guard::at_work(draft, &writer.actor)) {
        return draft.refuse(Rule::Unadmitted, &what, reason);
    }
    if is_admitted(&draft.run, to) {
        return Verdict {
            rule: Rule::MessageFree,
            reply: Reply::Allow,
        };
    }
    let Some(known) = draft.run.workers.get(to) else {
        let reason = format!("this run has no worker '{to}'");
        return draft.refuse(Rule::Unadmitted, &what, reason);
    };
    let agent = known.agent.clone();
    let request = admit::Request {
        agent: &agent,
        step: None,
        model: None,
        call,
        resumed: Some(to),
        service: None,
    };
    admit::requested(draft, &request, writer)
}
