//! A settings file of the host has changed: are our hooks still in it?

use std::path::Path;

use engine::{Happening, SessionEvent};
use hosts::{Answer, Verdict};
use runtime::failure::Failure;

use super::answer;
use super::guarded_session::Guarded;

/// Settings changed: are our hooks still there?
pub(super) fn answer_to(
    guarded: &mut Guarded<'_, '_>,
    file: Option<&str>,
) -> Result<Answer, Failure> {
    let worktree = guarded.opened.stored.worktree().to_owned();
    let environment = &guarded.workspace.context.environment;
    let Some(how) = install::hooks_gone(environment, Path::new(&worktree), file) else {
        return Ok(Answer::nothing());
    };
    let decided = guarded.submit(Happening::Session(SessionEvent::HooksRemoved { how }))?;
    let answered = answer::of(&decided);
    Ok(match answered.verdict {
        Verdict::Refuse(_) => answered,
        Verdict::Nothing | Verdict::Allow | Verdict::GoOn(_) => Answer::nothing(),
    })
}
