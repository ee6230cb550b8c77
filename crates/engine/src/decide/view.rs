//! Views: what others do to their files changes nothing, but that one of them may be a stop.

use alloc::format;

use super::{Draft, Verdict};
use crate::entry::Fact;
use crate::event::ViewChange;
use crate::rule::Rule;
use crate::run::{Standing, Status};
use crate::status::status;
use crate::view::{Removed, View};

/// The file of a view is not as it was written.
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
    let message = format!("the view `{path}` was {done} by somebody else, and is written again");
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
