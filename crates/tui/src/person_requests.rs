//! What a person does to a run from the screen: the same requests as by the commands, judged by the engine.

use engine::Time;
use runtime::answers::{edits_key, edits_taken};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::ids;
use runtime::person_act::{PersonAct, PersonWish};
use runtime::transact::{self, Decided};
use runtime::workspace::{OpenRun, Workspace};
use views::Style;

use crate::event::Notice;

/// Does it, and says what became of it.
pub(crate) fn perform(context: &Context, act: &PersonAct) -> Notice {
    match Workspace::for_writing(context) {
        Ok(mut workspace) => perform_in(&mut workspace, act),
        Err(failure) => failed(&failure),
    }
}

/// The same in a store that is open.
pub(crate) fn perform_in(workspace: &mut Workspace<'_>, act: &PersonAct) -> Notice {
    match submit(workspace, act) {
        Ok(decided) => told(act, &decided),
        Err(failure) => failed(&failure),
    }
}

pub(crate) fn failed(failure: &Failure) -> Notice {
    Notice {
        style: Style::Bad,
        text: views::line(&failure.to_string()),
    }
}

fn submit(workspace: &mut Workspace<'_>, act: &PersonAct) -> Result<Decided, Failure> {
    let key = ids::key()?;
    if act.what.takes_edits() {
        // The person takes their changes first: then the answer is about them.
        let mut take = |_: &Workspace<'_>, _: &OpenRun, _: Time| Ok(edits_taken());
        let taken = transact::command(workspace, &act.run, &edits_key(&key)?, &mut take)?;
        if taken.reply.refusal().is_some() {
            return Ok(taken);
        }
    }
    let mut make = |workspace: &Workspace<'_>, opened: &OpenRun, at: Time| {
        act.what.request(workspace, opened, at)
    };
    transact::command(workspace, &act.run, &key, &mut make)
}

fn told(act: &PersonAct, decided: &Decided) -> Notice {
    match decided.reply.refusal() {
        Some(refusal) => Notice {
            style: Style::Bad,
            text: views::refusal_in(&decided.opened.pipeline, decided.opened.run(), refusal),
        },
        None => {
            let stage = &decided.opened.run().position.stage;
            let done = match act.what {
                PersonWish::Choose { .. } | PersonWish::Answer { .. } => "answered",
                PersonWish::Retry => "retries",
                PersonWish::Cancel { .. } => "cancelled",
            };
            Notice {
                style: Style::Good,
                text: format!("✓ {} {done}; it is in {stage} now", act.run),
            }
        }
    }
}
