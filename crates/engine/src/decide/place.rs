//! The worktree of a run that has a branch of its own, and the delivery of its work.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Draft, Verdict};
use crate::entry::{Fact, Placed};
use crate::place::{Delivered, OnMachine, Relocation, RunPlace};
use crate::rule::Rule;
use crate::run::Standing;
use crate::status::is_over;

/// The worktree is there: what lies at the artifacts' paths now is nobody's work of this run.
pub(super) fn made(draft: &mut Draft<'_>, folder: &str, on: Option<&OnMachine>) -> Verdict {
    let what = String::from("make the run's worktree");
    let reason = match &draft.run.place {
        None => "the run has no branch of its own",
        Some(RunPlace {
            folder: Some(_), ..
        }) => "the run has its worktree",
        Some(_) if draft.run.standing != Standing::Queued => "the run has begun",
        Some(_) => {
            let seen = draft.evidence.artifacts.iter();
            let before = seen.filter_map(|(name, seen)| Some((name.clone(), seen.content()?)));
            let placed = Placed {
                folder: String::from(folder),
                on: on.cloned(),
                before: before.collect(),
                base: draft.evidence.base,
            };
            draft.record(Rule::Placed, Fact::Placed(Box::new(placed)));
            return Verdict::done(Rule::Placed);
        }
    };
    draft.refuse(Rule::Placed, &what, String::from(reason))
}

/// What was at work elsewhere is begun anew. That is not its fault, so it costs no attempt.
pub(super) fn relocated(draft: &mut Draft<'_>, to: &Relocation) -> Verdict {
    let what = String::from("move the run to another machine");
    let reason = match &draft.run.place {
        Some(RunPlace {
            folder: Some(_),
            machine: Some(machine),
            ..
        }) if *machine != to.on.machine => {
            draft.record(Rule::Relocated, Fact::Relocated(Box::new(to.clone())));
            for dispatch in draft.run.dispatches.keys().copied().collect::<Vec<_>>() {
                draft.drop_work(dispatch, Rule::Relocated);
            }
            return Verdict::done(Rule::Relocated);
        }
        Some(RunPlace {
            machine: Some(_), ..
        }) => "the run is there already",
        Some(_) | None => "the run is in no fleet",
    };
    draft.refuse(Rule::Relocated, &what, String::from(reason))
}

pub(super) fn delivered(draft: &mut Draft<'_>, delivered: &Delivered) -> Verdict {
    match obstacle(draft) {
        Some(reason) => draft.refuse(Rule::Delivered, &String::from("deliver"), reason),
        None => {
            let fact = Fact::Delivered(Box::new(delivered.clone()));
            draft.record(Rule::Delivered, fact);
            Verdict::done(Rule::Delivered)
        }
    }
}

pub(super) fn failed(draft: &mut Draft<'_>, reason: &str) -> Verdict {
    match obstacle(draft) {
        Some(obstacle) => draft.refuse(Rule::DeliveryFailed, &String::from("deliver"), obstacle),
        None => {
            let reason = String::from(reason);
            draft.record(Rule::DeliveryFailed, Fact::DeliveryFailed { reason });
            Verdict::done(Rule::DeliveryFailed)
        }
    }
}

/// Why there is nothing to deliver.
fn obstacle(draft: &Draft<'_>) -> Option<String> {
    let reason = match &draft.run.place {
        None => "the run works in the person's own tree",
        Some(RunPlace { folder: None, .. }) => "the run has no worktree yet",
        Some(_) if !is_over(draft.pipeline, &draft.run) => "the run is not over",
        Some(_) => return None,
    };
    Some(String::from(reason))
}
