//! A step: a worker that its host cannot start is started here, and judged by the same rules.
//!
//! The dispatch is in the journal before the worker begins. While we live we hold a lock that is
//! named in the dispatch, so whoever comes next sees whether the work is still going on.

use engine::{
    Dispatch, Ending, Fact, Fault, Happening, Refusal, Reply, Rule, Standing, StepId, Usage, Who,
    WorkRef, WorkResult,
};

use crate::clock;
use crate::commands::check::stop_on_signals;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Deed, Driven};
use crate::failure::Failure;
use crate::worker::choice::{self, Choice};
use crate::worker::claim::{self, Claim};
use crate::worker::order::{self, Special};
use crate::worker::record::Record;
use crate::worker::version;
use crate::worker::work::{Finish, From, Setting, Stopped, Work};

/// Runs the worker whose turn it is, and tells the engine how it ended. `say` is told what begins.
pub fn step(
    desk: &mut Desk<'_>,
    opened: Opened,
    wanted: Option<&StepId>,
    say: &mut dyn FnMut(&str),
) -> Result<Driven, Failure> {
    desk.project_of(&opened)?;
    if let Some(refusal) = refused_anyway(desk, &opened, wanted)? {
        return Ok(Driven::refused(opened, refusal));
    }
    let opened = drive::take_up(desk, opened)?;
    let opened = drive::prepare(desk, opened)?;
    let choice = match choice::choose(&opened.pipeline, opened.run(), wanted)? {
        Ok(choice) => choice,
        Err(refusal) => return Ok(Driven::refused(opened, refusal)),
    };
    // Invariant: what cannot be started costs no attempt, so all is made ready before it is admitted.
    let claim = Claim::new(&desk.state)?;
    let order = order::prepare(desk, &opened, &choice, (&claim, Special::default()))?;
    if let Some(caution) = version::Asked::default().look_at(&order)? {
        say(&caution);
        drive::remark(desk, opened.clone(), None, &caution)?;
    }
    let admitted = admit(desk, opened, wanted, &choice, &claim)?;
    let Some(dispatch) = admitted.opened.run().work_of_call(claim.call()).cloned() else {
        return Ok(turned_down(admitted));
    };
    say(&format!(
        "{} works as '{}' ({}) …",
        choice.runner.word(),
        dispatch.agent,
        dispatch.id
    ));
    let record = Record::new(&admitted.opened.run().id, &dispatch, choice.runner.word());
    let work = Work {
        desk,
        order: &order,
        claim: &claim,
        dispatch: dispatch.clone(),
        setting: Setting {
            stop: stop_on_signals()?,
            stopped: Stopped::Counts,
            tell: &mut |_| {},
            delivery: None,
        },
        record,
    };
    let Finish::Judged(driven) = work.run(admitted.opened, From::TheBeginning)? else {
        return Err(Failure::bug("work was left open"));
    };
    let mut driven = *driven;
    // Whoever reads what came of it wants to know who it was.
    driven.entries.splice(0..0, admitted.entries);
    Ok(counted(driven, &dispatch))
}

/// Why a queued run would refuse this even after it was taken up: then it is not taken up for it.
fn refused_anyway(
    desk: &Desk<'_>,
    opened: &Opened,
    wanted: Option<&StepId>,
) -> Result<Option<Refusal>, Failure> {
    if opened.run().standing != Standing::Queued {
        return Ok(None);
    }
    let taken = drive::as_taken_up(opened, &desk.context.who(), clock::now());
    let choice = choice::choose(&taken.pipeline, taken.run(), wanted)?;
    Ok(choice.err())
}

fn admit(
    desk: &mut Desk<'_>,
    opened: Opened,
    wanted: Option<&StepId>,
    choice: &Choice,
    claim: &Claim,
) -> Result<Driven, Failure> {
    let mut make = |_: &Desk<'_>, opened: &Opened, _| {
        // Somebody may have been quicker: then it is the next one's turn, or nobody's.
        let now = choice::choose(&opened.pipeline, opened.run(), wanted)?;
        match now {
            Ok(now) if now.has_same_order(choice) => Ok(Deed::from(Happening::AgentRequested {
                agent: now.agent,
                step: now.step,
                call: Some(claim.call().clone()),
                worker: None,
            })),
            Ok(_) | Err(_) => {
                Err(Failure::no("the run went on meanwhile").hint("`gatewright next` says where"))
            }
        }
    };
    drive::witness(desk, opened, (&Who::Engine, None), &mut make)
}

/// A worker of ours that is not admitted does not work, also where its host would let it through.
fn turned_down(driven: Driven) -> Driven {
    let next = engine::next(&driven.opened.pipeline, driven.opened.run());
    let reply = match driven.reply {
        Reply::Inject(reason) => Reply::Refuse(Refusal {
            rule: driven.rule,
            reason,
            next,
        }),
        other => other,
    };
    Driven { reply, ..driven }
}

/// The reply says what came of this work, whoever told the engine of its end.
fn counted(driven: Driven, dispatch: &Dispatch) -> Driven {
    if matches!(driven.reply, Reply::Refuse(_) | Reply::Hold(_)) {
        return driven;
    }
    let mut entries = driven.entries.iter();
    let ended = entries.find_map(|(_, entry)| match &entry.fact {
        Fact::Ended {
            dispatch: id,
            result,
            ..
        } if *id == dispatch.id => Some((entry.rule, result)),
        _ => None,
    });
    let (rule, reason) = match ended {
        Some((_, WorkResult::Outcome(_))) => return driven,
        Some((rule, WorkResult::Fault { reason, .. })) => (rule, reason.clone()),
        Some((_, WorkResult::Late | WorkResult::Dropped)) | None => (
            Rule::Late,
            "the run went on without this work, which counts for nothing".to_owned(),
        ),
    };
    let next = engine::next(&driven.opened.pipeline, driven.opened.run());
    let reply = Reply::Refuse(Refusal { rule, reason, next });
    Driven { reply, ..driven }
}

/// Is there work of ours whose process is gone?
pub fn has_lost_work(desk: &Desk<'_>, opened: &Opened) -> bool {
    lost(desk, opened).next().is_some()
}

fn lost<'a>(desk: &'a Desk<'_>, opened: &'a Opened) -> impl Iterator<Item = &'a Dispatch> {
    let open = opened.run().dispatches.values();
    open.filter(|open| open.session.is_none()).filter(|open| {
        open.call
            .as_ref()
            .is_some_and(|call| claim::is_lost(&desk.state, call))
    })
}

/// Tells the engine of work of ours whose process is gone: it has crashed.
pub fn settle_lost_work(desk: &mut Desk<'_>, mut opened: Opened) -> Result<Opened, Failure> {
    let lost: Vec<Dispatch> = lost(desk, &opened).cloned().collect();
    for dispatch in lost {
        let reason = format!("the process that ran {} is gone", dispatch.id);
        let what = Happening::AgentEnded {
            work: WorkRef::Dispatch(dispatch.id),
            ending: Ending::Fault {
                fault: Fault::Crashed,
                reason,
            },
            usage: Usage::default(),
        };
        opened = drive::alone(desk, opened, &Who::Engine, what)?;
        if let Some(call) = &dispatch.call {
            claim::clear(&desk.state, call);
        }
    }
    Ok(opened)
}
