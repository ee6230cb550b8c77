//! Views: changes by others have no effect, except that removing one of them may stop the run.

use alloc::format;

use super::{Draft, Verdict};
use crate::entry::Fact;
use crate::event::ViewChange;
use crate::rule::Rule;
use crate::run::{Standing, Status};
use crate::status::status;
use crate::view::{Removed, View};

/// Somebody changed the file of a view.
pub(super) fn disturbed(
    draft: &mut Draft<'_>,
    view: &View,
    path: &str,
    how: ViewChange,
) -> Verdict {
    let halts = how == ViewChange::Removed && view.removed == Removed::Waits;
    if halts && can_halt(draft) {
        let reason = format!("somebody removed `{path}`");
        draft.record(Rule::Halted, Fact::Halted { reason });
        return Verdict::done(Rule::Halted);
    }
    let done = match how {
        ViewChange::Edited => "edited",
        ViewChange::Removed => "removed",
    };
    let message = format!("somebody {done} the view `{path}`; it is written again");
    draft.record(Rule::ViewChanged, Fact::Noted { message });
    Verdict::done(Rule::ViewChanged)
}

fn can_halt(draft: &Draft<'_>) -> bool {
    let goes_on = matches!(
        status(draft.pipeline, &draft.run),
        Status::Running | Status::Waiting(_)
    );
    goes_on && !matches!(draft.run.standing, Standing::Halted { .. })
}
