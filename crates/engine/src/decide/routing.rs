//! Routes: the engine chooses the way from evidence, and looks again before each gate and the end.

use alloc::boxed::Box;

use super::moving::leave;
use super::{Draft, Verdict};
use crate::change::{Miss, Routed};
use crate::entry::Fact;
use crate::names::StageName;
use crate::routing::{choose, kept, outgrown};
use crate::rule::Rule;
use crate::run::Standing;
use crate::status::is_completed;

/// The run is at a route, and its evidence was looked at.
pub(super) fn reached(draft: &mut Draft<'_>, stage: &StageName, visit: u32) -> Verdict {
    let here = draft.run.position.stage == *stage && draft.run.position.visit == visit;
    let going = draft.run.standing == Standing::Going;
    let Some(route) = draft.stage().filter(|_| here && going) else {
        return Verdict::done(Rule::Quiet);
    };
    let Some(routed) = choose(&draft.run, route, draft.evidence.change.as_ref()) else {
        return Verdict::done(Rule::Quiet);
    };
    let rule = if is_unseen(&routed) {
        Rule::RouteUnseen
    } else {
        Rule::Routed
    };
    let outcome = routed.outcome.clone();
    draft.record(rule, Fact::Routed(Box::new(routed)));
    leave(draft, &outcome);
    Verdict::done(rule)
}

pub(super) fn is_unseen(routed: &Routed) -> bool {
    let mut unmet = routed.unmet.iter();
    unmet.any(|unmet| matches!(unmet.because, Miss::Unseen { .. }))
}

/// The longer way, if the run is about to be judged or to end by a rule that no longer holds.
pub(super) fn longer_way(draft: &mut Draft<'_>, to: &StageName) -> Option<Routed> {
    let is_gate = draft
        .pipeline
        .stage(to)
        .is_some_and(|stage| stage.is_gate());
    if draft.run.routes.is_empty() || !(is_gate || is_completed(draft.pipeline, to)) {
        return None;
    }
    let change = draft.evidence.change.as_ref();
    match outgrown(draft.pipeline, &draft.run, change) {
        // It is going there anyway.
        Some(routed) if routed.longer == *to => None,
        Some(routed) => Some(routed),
        None => {
            for routed in kept(draft.pipeline, &draft.run, change) {
                draft.record(Rule::RouteKept, Fact::Routed(Box::new(routed)));
            }
            None
        }
    }
}
