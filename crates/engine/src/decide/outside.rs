//! Records changes outside a worker's folder. They do not move the run.

use alloc::boxed::Box;

use super::{Draft, Verdict};
use crate::entry::Fact;
use crate::outside::{Outside, OutsideChange};
use crate::rule::Rule;

/// It is found late, so the work may be over.
pub(super) fn changed(draft: &mut Draft<'_>, change: &OutsideChange) -> Verdict {
    let rule = match &change.what {
        Outside::Ref(_) => Rule::RefMoved,
        Outside::Project { .. } | Outside::Elsewhere { .. } => Rule::ChangedOutside,
    };
    draft.record(rule, Fact::ChangedOutside(Box::new(change.clone())));
    Verdict::done(rule)
}
