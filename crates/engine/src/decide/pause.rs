//! Work whose process ended early: it stays open, rests while its service asks to wait, and goes on.

use alloc::boxed::Box;
use alloc::format;

use super::work_end::{conclude, is_late};
use super::{Draft, Verdict, admit};
use crate::backoff::limit_backoff;
use crate::budget::overspent;
use crate::entry::Fact;
use crate::event::{CutReason, Ending, Who};
use crate::names::{DispatchId, Time};
use crate::outcome::{Fault, Outcome};
use crate::rule::Rule;
use crate::run::{Service, ServiceLimit, Standing};
use crate::status::is_over;
use crate::usage::Usage;

/// The process of open work ended before the work did.
pub(super) fn cut_short(
    draft: &mut Draft<'_>,
    id: DispatchId,
    usage: Usage,
    why: &CutReason,
) -> Verdict {
    if let Some(refused) = not_the_engine(draft, "pause work") {
        return refused;
    }
    let Some(dispatch) = draft.run.dispatches.get(&id).cloned() else {
        return Verdict::done(Rule::Unmatched);
    };
    if is_late(draft, &dispatch) {
        let crashed = fault(Fault::Crashed, "its process was ended");
        return conclude(draft, id, &crashed, usage);
    }
    if let CutReason::Limited { reason, .. } = why
        && handles_limits(draft)
    {
        return conclude(draft, id, &fault(Fault::Limited, reason), usage);
    }
    let fact = Fact::CutShort {
        dispatch: id,
        usage,
    };
    draft.record(Rule::CutShort, fact);
    match why {
        CutReason::Stopped => {}
        CutReason::OverBudget => over_budget(draft),
        CutReason::Capped { what } => drop(capped(draft, what)),
        CutReason::Limited {
            service,
            until,
            reason,
        } => {
            let limit = limit(draft, service, *until, reason);
            draft.record(Rule::LimitReached, Fact::Limited(Box::new(limit)));
        }
    }
    Verdict::done(Rule::CutShort)
}

fn fault(fault: Fault, reason: &str) -> Ending {
    Ending::Fault {
        fault,
        reason: reason.into(),
    }
}

/// Does the stage say itself where a limit leads?
fn handles_limits(draft: &Draft<'_>) -> bool {
    let limited = Outcome::Fault(Fault::Limited);
    let stage = draft.stage();
    stage.is_some_and(|stage| stage.on.contains_key(&limited))
}

fn over_budget(draft: &mut Draft<'_>) {
    let going = draft.run.standing == Standing::Going;
    let spent = overspent(draft.pipeline, &draft.run, draft.at);
    if let Some(what) = spent.filter(|_| going) {
        draft.record(Rule::BudgetSpent, Fact::OverBudget { what });
    }
}

/// Until the named time, but not shorter each time: a service that names a moment and then asks again
/// is asked less and less often.
fn limit(draft: &Draft<'_>, service: &Service, named: Option<Time>, reason: &str) -> ServiceLimit {
    let known = draft.run.limits.iter();
    let times = known
        .filter(|limit| limit.service == *service)
        .map(|limit| limit.times)
        .max()
        .unwrap_or(0);
    let backoff = limit_backoff(named.is_some(), times);
    let earliest = Time(draft.at.0.saturating_add(backoff.0.saturating_mul(1000)));
    ServiceLimit {
        service: service.clone(),
        until: named.map_or(earliest, |named| named.max(earliest)),
        reason: reason.into(),
        named: named.is_some(),
        times: times.saturating_add(1),
    }
}

/// Another run has met this limit: this one does not ask the service before, either.
pub(super) fn limit_known(draft: &mut Draft<'_>, limit: &ServiceLimit) -> Verdict {
    let is_new = draft.run.limit(&limit.service, draft.at).is_none();
    if is_new && limit.until > draft.at && !is_over(draft.pipeline, &draft.run) {
        draft.record(Rule::LimitReached, Fact::Limited(Box::new(limit.clone())));
    }
    Verdict::done(Rule::LimitReached)
}

/// Somebody works on rested work again.
pub(super) fn went_on(draft: &mut Draft<'_>, id: DispatchId, service: &Service) -> Verdict {
    let what = format!("continue {id}");
    if let Some(refused) = not_the_engine(draft, &what) {
        return refused;
    }
    let open = draft.run.dispatches.get(&id);
    let rests = open.is_some_and(|open| open.paused_at.is_some());
    if !rests || is_over(draft.pipeline, &draft.run) {
        return Verdict::done(Rule::Quiet);
    }
    if draft.run.standing != Standing::Going {
        let reason = "the run waits for a person".into();
        return draft.refuse(Rule::RunWaits, &what, reason);
    }
    if let Some(limit) = draft.run.limit(service, draft.at) {
        let reason = format!("{service} asks to wait: {}", limit.reason);
        return draft.refuse(Rule::LimitReached, &what, reason);
    }
    if let Err(verdict) = admit::within_budget(draft, &what) {
        return verdict;
    }
    let fact = Fact::WentOn {
        dispatch: id,
        service: service.clone(),
    };
    draft.record(Rule::WentOn, fact);
    Verdict::done(Rule::WentOn)
}

/// The run was driven for a while. Only a limit on its time asks for that.
pub(super) fn driven(draft: &mut Draft<'_>, ms: u64) -> Verdict {
    let limited = draft.pipeline.definition().budget.time.is_some();
    if limited && ms > 0 && !is_over(draft.pipeline, &draft.run) {
        draft.record(Rule::Driven, Fact::Driven { ms });
    }
    Verdict::done(Rule::Driven)
}

/// A cap for all runs is used up: the run waits for a person, as with its own budget.
pub(super) fn capped(draft: &mut Draft<'_>, what: &str) -> Verdict {
    if draft.run.standing == Standing::Going && !is_over(draft.pipeline, &draft.run) {
        let what = what.into();
        draft.record(Rule::BudgetSpent, Fact::OverBudget { what });
    }
    Verdict::done(Rule::BudgetSpent)
}

/// Only Gatewright knows when a process ended that it started.
fn not_the_engine(draft: &mut Draft<'_>, what: &str) -> Option<Verdict> {
    let reason = "only gatewright can say this of work that it started".into();
    (draft.by != Who::Engine).then(|| draft.refuse(Rule::Unmatched, what, reason))
}
