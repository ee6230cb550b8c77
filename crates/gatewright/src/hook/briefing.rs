//! What an agent is told when it begins: its work, what to read, and what to leave.

use std::collections::BTreeMap;

use engine::{Actor, Dispatch, Entry, Happening, Hash};
use hosts::claude::Answer;
use store::Backend as _;
use views::Handed;

use super::answer;
use super::guarded::Guarded;
use crate::desk::{Desk, Opened};
use crate::failure::Failure;

/// How many entries back the reason is looked for why an earlier attempt did not count.
const LOOKED_BACK: u64 = 100;

pub fn began(guarded: &mut Guarded<'_, '_>, actor: &Actor) -> Result<Answer, Failure> {
    let worker = actor.clone();
    let driven = guarded.tell(Happening::AgentBegan { worker })?;
    let opened = &driven.opened;
    let Some(dispatch) = opened.run().work_of(&actor.id) else {
        return Ok(answer::of(&driven));
    };
    Ok(Answer {
        context: Some(text(guarded.desk, opened, dispatch)?),
        ..Answer::nothing()
    })
}

/// The briefing for a piece of work that has been admitted.
pub fn text(desk: &Desk<'_>, opened: &Opened, dispatch: &Dispatch) -> Result<String, Failure> {
    let (pipeline, run) = (&opened.pipeline, opened.run());
    let mut contents: BTreeMap<Hash, String> = BTreeMap::new();
    for hash in views::handed_on(pipeline, run, dispatch) {
        if let Some(bytes) = desk.store.content(hash)? {
            contents.insert(hash, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    let journal = recent(desk, opened)?;
    let earlier = views::earlier_fault(journal.iter(), dispatch);
    let handed = Handed {
        contents: &contents,
        earlier: earlier.as_deref(),
    };
    let text = views::briefing(pipeline, run, dispatch, &handed);
    // An agent may work in a folder of its own.
    let worktree = views::line(desk.workplace.as_ref().unwrap_or(&opened.stored.worktree));
    Ok(format!("{text}\n\nPaths are meant from {worktree}."))
}

/// The end of the journal. Only a second attempt has a reason to look for.
fn recent(desk: &Desk<'_>, opened: &Opened) -> Result<Vec<Entry>, Failure> {
    let version = opened.stored.version;
    let from = version.saturating_sub(LOOKED_BACK) + 1;
    let journal = desk.store.journal(&opened.run().id, from, LOOKED_BACK)?;
    Ok(journal.into_iter().map(|stored| stored.entry).collect())
}
