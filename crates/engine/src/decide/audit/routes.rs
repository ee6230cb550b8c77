//! The audit of routes: each follows from the evidence that its entry names.

use crate::cause::MoveReason;
use crate::change::{Change, Miss, Routed};
use crate::entry::Move;
use crate::pipeline::Pipeline;
use crate::redact::REDACTED;
use crate::routing::{choose, kept, outgrown};
use crate::rule::Rule;
use crate::run::Run;
use crate::status::is_completed;
use crate::transition::resume_at;

/// Do the rules of the pipeline give this on this run?
pub(super) fn follows(pipeline: &Pipeline, run: &Run, rule: Rule, routed: &Routed) -> bool {
    let change = routed.change.as_ref();
    let is_unseen = super::super::routing::is_unseen(routed);
    match rule {
        Rule::Routed | Rule::RouteUnseen => {
            let here = pipeline.stage(&routed.route);
            let here = here.filter(|stage| stage.name == run.position.stage);
            let chosen = here.and_then(|stage| choose(run, stage, change));
            (rule == Rule::RouteUnseen) == is_unseen
                && chosen.is_some_and(|chosen| is_same(&chosen, routed))
        }
        Rule::RouteKept => {
            let mut kept = kept(pipeline, run, change).into_iter();
            is_redacted(routed)
                || (kept.any(|it| it == *routed) && outgrown(pipeline, run, change).is_none())
        }
        Rule::Outgrown => {
            let found = outgrown(pipeline, run, change);
            found.is_some_and(|found| is_same(&found, routed)) || is_redacted(routed)
        }
        _ => false,
    }
}

/// Does the move go the longer way that this route names?
pub(super) fn leads(pipeline: &Pipeline, run: &Run, routed: &Routed, step: &Move) -> bool {
    let to = pipeline.stage(&routed.longer);
    let resume = to.and_then(|to| resume_at(to, &run.position.stage, None));
    step.to == routed.longer
        && step.along == MoveReason::Outgrown(routed.route.clone())
        && step.counted.is_none()
        && step.reset.is_empty()
        && step.resume == resume
}

/// Was the change measured before a run on a shorter way was judged or ended?
pub(super) fn was_looked_at(
    pipeline: &Pipeline,
    run: &Run,
    step: &Move,
    found: Option<&Routed>,
) -> bool {
    let judged = is_completed(pipeline, &step.to)
        || pipeline
            .stage(&step.to)
            .is_some_and(|stage| stage.is_gate());
    let asked = !kept(pipeline, run, None).is_empty();
    let is_longer = run.routes.values().any(|held| held.longer == step.to);
    found.is_some() || !judged || !asked || is_longer
}

/// Texts may have been redacted since: then only the decision is compared.
fn is_same(expected: &Routed, found: &Routed) -> bool {
    expected == found || (is_redacted(found) && expected.route == found.route)
}

fn is_redacted(routed: &Routed) -> bool {
    let paths = match &routed.change {
        Some(Change::Seen { paths, .. }) => paths.as_slice(),
        Some(Change::Unseen { .. }) | None => &[],
    };
    let unmet = routed
        .unmet
        .iter()
        .filter_map(|unmet| match &unmet.because {
            Miss::Outside { path } | Miss::Forbidden { path } => Some(path),
            Miss::Unseen { reason } => Some(reason),
            Miss::Param { .. } | Miss::Verdict { .. } | Miss::Files { .. } | Miss::Lines { .. } => {
                None
            }
        });
    let mut texts = paths.iter().chain(routed.params.values()).chain(unmet);
    texts.any(|text| text.contains(REDACTED))
}
