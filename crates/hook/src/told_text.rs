//! Which stage's text a session has had: it is given once, and again only to a conversation that lost it.

use std::fs;

use engine::{Reply, SessionId};
use runtime::state::{self, State};
use runtime::transact::Decided;

/// Notes that the session gets the text of the stage, if there is one. Had it been given before? Nothing
/// depends on the file: without it the text is given once more.
pub(super) fn note(state: &State, session: &SessionId, decided: &Decided) -> bool {
    if !matches!(decided.reply, Reply::Inject(_)) {
        return false;
    }
    let run = decided.opened.run();
    let mark = format!("{session} {}", run.position.visit);
    let path = state.folder().join("told").join(run.id.as_str());
    let had_text = fs::read_to_string(&path).is_ok_and(|kept| kept == mark);
    if !had_text {
        let _ = state::write_durably(&path, &mark);
    }
    had_text
}
