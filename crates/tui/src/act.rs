//! What a person does to a run from the screen: the same requests as by the commands, judged by the engine.

use engine::{Happening, PersonEvent, Refusal, Reply, Time};
use runtime::answers::{Chosen, Edits, answered, chosen, edits_key, edits_taken};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::ids;
use runtime::transact::{self, Decided, Request};
use runtime::workspace::{OpenRun, Workspace};
use views::Style;

use crate::event::{Act, Deed, Told};

/// Does it, and says what became of it.
pub(crate) fn act(context: &Context, act: &Act) -> Told {
    match Workspace::for_writing(context) {
        Ok(mut workspace) => act_in(&mut workspace, act),
        Err(failure) => failed(&failure),
    }
}

/// The same in a store that is open.
pub(crate) fn act_in(workspace: &mut Workspace<'_>, act: &Act) -> Told {
    match submit(workspace, act) {
        Ok(decided) => told(act, &decided),
        Err(failure) => failed(&failure),
    }
}

pub(crate) fn failed(failure: &Failure) -> Told {
    Told {
        style: Style::Bad,
        text: views::line(&failure.to_string()),
    }
}

fn submit(workspace: &mut Workspace<'_>, act: &Act) -> Result<Decided, Failure> {
    let key = ids::key()?;
    if takes_edits(&act.deed) {
        // The person takes their changes first: then the answer is about them.
        let mut take = |_: &Workspace<'_>, _: &OpenRun, _: Time| Ok(edits_taken());
        let taken = transact::command(workspace, &act.run, &edits_key(&key)?, &mut take)?;
        if refusal(&taken.reply).is_some() {
            return Ok(taken);
        }
    }
    let mut make = |workspace: &Workspace<'_>, opened: &OpenRun, at: Time| {
        request(workspace, opened, &act.deed, at)
    };
    transact::command(workspace, &act.run, &key, &mut make)
}

fn request(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    deed: &Deed,
    at: Time,
) -> Result<Request, Failure> {
    match deed {
        Deed::Choose { choice, words, .. } => {
            let text = words.as_deref();
            chosen(workspace, opened, Chosen { choice, text }, at)
        }
        Deed::AnswerAll(given) => answered(workspace, opened, given),
        Deed::Retry => Ok(Happening::Person(PersonEvent::RetryAsked).into()),
        Deed::Cancel { reason } => {
            let reason = reason.clone();
            Ok(Happening::Person(PersonEvent::CancelAsked { reason }).into())
        }
    }
}

fn told(act: &Act, decided: &Decided) -> Told {
    match refusal(&decided.reply) {
        Some(refusal) => Told {
            style: Style::Bad,
            text: views::refusal_in(&decided.opened.pipeline, decided.opened.run(), refusal),
        },
        None => {
            let stage = &decided.opened.run().position.stage;
            let done = match act.deed {
                Deed::Choose { .. } | Deed::AnswerAll(_) => "answered",
                Deed::Retry => "retries",
                Deed::Cancel { .. } => "cancelled",
            };
            Told {
                style: Style::Good,
                text: format!("✓ {} {done}; it is in {stage} now", act.run),
            }
        }
    }
}

fn takes_edits(deed: &Deed) -> bool {
    match deed {
        Deed::Choose { edits, .. } => *edits == Edits::Taken,
        Deed::AnswerAll(_) | Deed::Retry | Deed::Cancel { .. } => false,
    }
}

fn refusal(reply: &Reply) -> Option<&Refusal> {
    match reply {
        Reply::Refuse(refusal) | Reply::Hold(refusal) => Some(refusal),
        Reply::Allow | Reply::Inject(_) | Reply::Done => None,
    }
}
