//! What a person changed in the files of artifacts, taken by their own word in the session.

use engine::{Fact, Reply};
use hosts::Answer;
use runtime::answers;
use runtime::failure::Failure;
use runtime::transact::{Decided, Options};
use store::Key;

use super::answer;
use super::guarded_session::Guarded;

/// The decision, in the name of the person who typed it. `key` belongs to the answer that follows.
pub(super) fn take(guarded: &mut Guarded<'_, '_>, key: Option<&Key>) -> Result<Decided, Failure> {
    let by = &guarded.person();
    let key = key.map(answers::edits_key).transpose()?;
    let options = Options {
        by,
        key: key.as_ref(),
    };
    guarded.submit_with(options, &mut |_, _, _| Ok(answers::edits_taken()))
}

/// The same before an answer: the decision only if the edits are not taken, so that nothing follows.
pub(super) fn refused(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
) -> Result<Option<Decided>, Failure> {
    let decided = take(guarded, key)?;
    let is_refused = matches!(decided.reply, Reply::Refuse(_));
    Ok(is_refused.then_some(decided))
}

/// What the person who typed only this sees.
pub(super) fn told(decided: &Decided) -> Answer {
    let facts = decided.entries.iter().map(|(_, entry)| &entry.fact);
    let taken: Vec<&str> = facts
        .filter_map(|fact| match fact {
            Fact::Captured { artifact, .. } => Some(artifact.as_str()),
            _ => None,
        })
        .collect();
    let done = if taken.is_empty() {
        "no file of an artifact was changed since the question was asked".to_owned()
    } else {
        format!("the changed text of {} is taken", taken.join(", "))
    };
    let notice = answer::objection(decided).unwrap_or(done);
    Answer {
        notice: Some(format!("gatewright: {notice}")),
        ..answer::told(decided)
    }
}
