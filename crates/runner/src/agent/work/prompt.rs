//! What a worker reads when it starts: what it comes back to, its briefing, and the definition's own text.

use engine::{Dispatch, Duty, Happened, Run};
use runtime::briefing;
use runtime::failure::Failure;
use runtime::workspace::OpenRun;

use super::{FoundFiles, StartFrom, Work};

const INTERRUPTED: &str = "You were interrupted in the middle of this work. Check what is there \
                           already, then continue and finish it.";

/// The process of an earlier start is gone, and its conversation with it.
const HALF_DONE: &str = "An earlier start of this work was interrupted, and it begins again now. Files that the \
                         earlier start changed may be half done: check them before you rely on them.";

impl Work<'_, '_> {
    /// What it comes back to, the briefing, then the definition's own text.
    pub(super) fn prompt(&self, opened: &OpenRun, from: &StartFrom) -> Result<String, Failure> {
        let briefing = briefing::text(self.workspace, opened, &self.dispatch)?;
        let before = match from {
            StartFrom::Conversation(_) => Some(INTERRUPTED.to_owned()),
            StartFrom::Beginning | StartFrom::ProcessEnd(_) => self.begins_again(opened.run()),
        };
        let before = before.map(|before| format!("{before}\n\n"));
        let advice = self.spec.advice.map(|advice| format!("\n\n{advice}"));
        let briefing = format!(
            "{}{briefing}{}",
            before.unwrap_or_default(),
            advice.unwrap_or_default()
        );
        Ok(match &self.spec.prompt {
            Some(own) => format!("{briefing}\n\n{own}"),
            None => format!("{briefing}\n"),
        })
    }

    fn begins_again(&self, run: &Run) -> Option<String> {
        match self.setup.found {
            FoundFiles::OfEarlierStart => Some(HALF_DONE.to_owned()),
            FoundFiles::New => self.begins_in_new_worktree(run),
        }
    }

    /// What a step hears whose last attempt is not there.
    fn begins_in_new_worktree(&self, run: &Run) -> Option<String> {
        self.record.step_folder.as_ref()?;
        let step = self.dispatch.duty.step()?;
        let interrupted = self.record.restarts > 0;
        (interrupted || has_failed(run, &self.dispatch)).then(|| {
            format!(
                "Your step begins again, in a new worktree with the project as it is now: nothing of the last attempt \
                 is here, so there is nothing to undo. Do the whole step. What was not merged of that attempt is kept \
                 in git: `git for-each-ref 'refs/gatewright/{}/{step}-*'` lists it.",
                run.id
            )
        })
    }
}

/// Has an earlier attempt at this step failed since the run came here?
fn has_failed(run: &Run, dispatch: &Dispatch) -> bool {
    run.position.happened.iter().any(|it| match it {
        Happened::Failed { step, .. } => match &dispatch.duty {
            Duty::Step { step: own } => step.as_ref() == Some(own),
            Duty::Work | Duty::Open | Duty::Review { .. } | Duty::Fix { .. } => false,
        },
        Happened::Worked { .. }
        | Happened::Checked { .. }
        | Happened::Routed(_)
        | Happened::Answered { .. }
        | Happened::Skipped { .. }
        | Happened::Continued { .. }
        | Happened::Reset { .. }
        | Happened::Restored { .. } => false,
    })
}
