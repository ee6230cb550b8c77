//! A step: a worker that its host cannot start is started here, and judged by the same rules.
//!
//! The dispatch is in the journal before the worker begins. While we live we hold a lock that is
//! named in the dispatch, so whoever comes next sees whether the work is still going on.

use engine::{
    Dispatch, Fact, Happening, Refusal, Reply, Rule, Standing, StepId, Who, WorkEvent, WorkResult,
};
use runtime::claim::Claim;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, signals};

use crate::agent::choice::{self, Choice};
use crate::agent::record::Record;
use crate::agent::spawn_spec::{self, Special};
use crate::agent::version;
use crate::agent::work::{Finish, From, Setting, Stopped, Work};

/// Runs the worker whose turn it is, and tells the engine how it ended. `say` is told what begins.
pub fn step(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    wanted: Option<&StepId>,
    say: &mut dyn FnMut(&str),
) -> Result<Decided, Failure> {
    workspace.project_of(&opened)?;
    if let Some(refusal) = refused_anyway(workspace, &opened, wanted)? {
        return Ok(Decided::refused(opened, refusal));
    }
    let opened = transact::take_up(workspace, opened)?;
    let opened = transact::prepare(workspace, opened)?;
    let choice = match choice::choose(&opened.pipeline, opened.run(), wanted)? {
        Ok(choice) => choice,
        Err(refusal) => return Ok(Decided::refused(opened, refusal)),
    };
    // Invariant: what cannot be started costs no attempt, so all is made ready before it is admitted.
    let claim = Claim::new(&workspace.state)?;
    let order = spawn_spec::prepare(workspace, &opened, &choice, (&claim, Special::default()))?;
    if let Some(caution) = version::Asked::default().look_at(&order)? {
        say(&caution);
        transact::remark(workspace, opened.clone(), None, &caution)?;
    }
    let admitted = admit(workspace, opened, wanted, &choice, &claim)?;
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
        workspace,
        order: &order,
        claim: &claim,
        dispatch: dispatch.clone(),
        setting: Setting {
            stop: signals::watch()?,
            stopped: Stopped::Counts,
            tell: &mut |_| {},
            delivery: None,
        },
        record,
    };
    let Finish::Judged(decided) = work.run(admitted.opened, From::TheBeginning)? else {
        return Err(Failure::bug("work was left open"));
    };
    let mut decided = *decided;
    // Whoever reads what came of it wants to know who it was.
    decided.entries.splice(0..0, admitted.entries);
    Ok(counted(decided, &dispatch))
}

/// Why a queued run would refuse this even after it was taken up: then it is not taken up for it.
fn refused_anyway(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    wanted: Option<&StepId>,
) -> Result<Option<Refusal>, Failure> {
    if opened.run().standing != Standing::Queued {
        return Ok(None);
    }
    let taken = transact::as_taken_up(workspace, opened, &workspace.context.who(), clock::now())?;
    let choice = choice::choose(&taken.pipeline, taken.run(), wanted)?;
    Ok(choice.err())
}

fn admit(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    wanted: Option<&StepId>,
    choice: &Choice,
    claim: &Claim,
) -> Result<Decided, Failure> {
    let mut make = |_: &Workspace<'_>, opened: &OpenRun, _| {
        // Somebody may have been quicker: then it is the next one's turn, or nobody's.
        let now = choice::choose(&opened.pipeline, opened.run(), wanted)?;
        match now {
            Ok(now) if now.has_same_order(choice) => {
                Ok(Request::from(Happening::Work(WorkEvent::Requested {
                    agent: now.agent,
                    step: now.step,
                    call: Some(claim.call().clone()),
                    worker: None,
                })))
            }
            Ok(_) | Err(_) => {
                Err(Failure::no("the run went on meanwhile").hint("`gatewright next` says where"))
            }
        }
    };
    transact::transact(
        workspace,
        Target::Seen(Box::new(opened)),
        Options {
            by: &Who::Engine,
            key: None,
        },
        &mut make,
    )
}

/// A worker of ours that is not admitted does not work, also where its host would let it through.
fn turned_down(decided: Decided) -> Decided {
    let next = engine::next(&decided.opened.pipeline, decided.opened.run());
    let reply = match decided.reply {
        Reply::Inject(reason) => Reply::Refuse(Refusal {
            rule: decided.rule,
            reason,
            next,
        }),
        other => other,
    };
    Decided { reply, ..decided }
}

/// The reply says what came of this work, whoever told the engine of its end.
fn counted(decided: Decided, dispatch: &Dispatch) -> Decided {
    if matches!(decided.reply, Reply::Refuse(_) | Reply::Hold(_)) {
        return decided;
    }
    let mut entries = decided.entries.iter();
    let ended = entries.find_map(|(_, entry)| match &entry.fact {
        Fact::Ended {
            dispatch: id,
            result,
            ..
        } if *id == dispatch.id => Some((entry.rule, result)),
        _ => None,
    });
    let (rule, reason) = match ended {
        Some((_, WorkResult::Outcome(_))) => return decided,
        Some((rule, WorkResult::Fault { reason, .. })) => (rule, reason.clone()),
        Some((_, WorkResult::Late | WorkResult::Dropped)) | None => (
            Rule::Late,
            "the run went on without this work, which counts for nothing".to_owned(),
        ),
    };
    let next = engine::next(&decided.opened.pipeline, decided.opened.run());
    let reply = Reply::Refuse(Refusal { rule, reason, next });
    Decided { reply, ..decided }
}
