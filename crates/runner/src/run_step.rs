//! `gatewright step`: starts a worker that its host cannot start, and judges it by the same rules.
//!
//! The dispatch is in the journal before the worker starts. This process holds a lock that the
//! dispatch names, so others can see whether the work still runs.

use std::sync::atomic::AtomicBool;

use engine::{
    Dispatch, Entry, Fact, Happening, Refusal, Reply, Rule, Standing, StepId, Who, WorkEvent,
    WorkResult,
};
use runtime::claim::Claim;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, signals};

use store::Backend as _;

use crate::agent::choice::{self, Choice};
use crate::agent::spawn_spec::{self, SpawnOverrides, SpawnSpec};
use crate::agent::version;
use crate::agent::work::{Finish, FoundFiles, OnStop, StartFrom, Work, WorkSetup};
use crate::notes;
use crate::surroundings::{Place, Surroundings};
use runtime::work_record::Record;

/// Runs the due worker and reports its end to the engine. `say` receives messages for people.
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
    // Invariant: what cannot start costs no attempt, so everything is prepared before it is
    // admitted.
    let caution = judged_version(workspace, &opened, &choice)?;
    let claim = Claim::new(&workspace.state)?;
    let spec = spawn_spec::prepare(
        workspace,
        &opened,
        &choice,
        &claim,
        SpawnOverrides::default(),
    )?;
    if let Some(caution) = caution {
        say(&caution);
        transact::remark(workspace, opened.clone(), None, &caution)?;
    }
    let surroundings = Surroundings::of(workspace, &opened)?;
    if let Some(surroundings) = &surroundings {
        surroundings.begin(claim.call(), Place::Project)?;
    }
    let ready = ReadyWorker {
        choice,
        spec,
        claim,
    };
    let done = work(workspace, opened, wanted, &ready, say);
    if let Some(surroundings) = &surroundings {
        surroundings.end(ready.claim.call())?;
    }
    done
}

/// Refuses a program that is not usable. Returns what a person should know about its version.
fn judged_version(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    choice: &Choice,
) -> Result<Option<String>, Failure> {
    let Some(candidate) = spawn_spec::candidate(workspace, opened, choice)? else {
        return Ok(None);
    };
    let usable = match version::remembered(&workspace.state, &candidate) {
        Some(usable) => Some(usable),
        None => version::ask(&workspace.state, &candidate, &AtomicBool::new(false))?,
    };
    Ok(usable.and_then(|usable| usable.caution))
}

/// What a worker needs to start.
struct ReadyWorker {
    choice: Choice,
    spec: SpawnSpec,
    claim: Claim,
}

fn work(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    wanted: Option<&StepId>,
    ready: &ReadyWorker,
    say: &mut dyn FnMut(&str),
) -> Result<Decided, Failure> {
    let ReadyWorker {
        choice,
        spec,
        claim,
    } = ready;
    let admitted = admit(workspace, opened, wanted, choice, claim)?;
    let Some(dispatch) = admitted.opened.run().work_of_call(claim.call()).cloned() else {
        return Ok(turned_down(admitted));
    };
    let before = admitted.opened.stored.version;
    say(&format!(
        "{} works as '{}' ({}) …",
        choice.runner.word(),
        dispatch.agent,
        dispatch.id
    ));
    let record = Record::new(&admitted.opened.run().id, &dispatch, choice.runner.word());
    let work = Work {
        workspace,
        spec,
        claim,
        dispatch: dispatch.clone(),
        setup: WorkSetup {
            stop: signals::watch()?,
            on_stop: OnStop::Crash,
            updates: &mut |_| {},
            spending: None,
            found: FoundFiles::New,
            delivery: None,
        },
        record,
    };
    let finish = work.run(admitted.opened, StartFrom::Beginning)?;
    let Finish::Judged(decided) = finish else {
        return Err(Failure::bug("work was left open"));
    };
    say_notes(workspace, &decided.opened, before, say)?;
    Ok(counted(*decided, admitted.entries, &dispatch))
}

fn say_notes(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    after: u64,
    say: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let (run, version) = (&opened.run().id, opened.stored.version);
    let entries = workspace
        .store
        .journal(run, after + 1, version.saturating_sub(after))?;
    let notes = notes::of(workspace, run, &entries)?;
    notes.iter().for_each(|note| say(note));
    Ok(())
}

/// Why a queued run would refuse this even after it is taken up: then it stays queued.
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
        // Another process may have been faster: then another worker is due, or none.
        let now = choice::choose(&opened.pipeline, opened.run(), wanted)?;
        match now {
            Ok(now) if now.has_same_order(choice) => {
                Ok(Request::from(Happening::Work(WorkEvent::Requested {
                    agent: now.agent,
                    step: now.step,
                    model: None,
                    call: Some(claim.call().clone()),
                    worker: None,
                    service: Some(choice.service()?),
                })))
            }
            Ok(_) | Err(_) => {
                Err(Failure::refused("the run changed meanwhile").hint("type `gatewright next`"))
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

/// A worker that is not admitted does not start, even where its host would let it through.
fn turned_down(decided: Decided) -> Decided {
    let next = engine::next(&decided.opened.pipeline, decided.opened.run());
    let reply = match decided.reply {
        Reply::Inject(reason) => Reply::Refuse(Refusal {
            rule: decided.rule,
            reason,
            next,
            own_work: false,
            artifact: None,
        }),
        other => other,
    };
    Decided { reply, ..decided }
}

/// The reply describes this work, even if another event reported its end. The entries start with those
/// of the admission: readers need to know which work was admitted.
fn counted(mut decided: Decided, admission: Vec<(u64, Entry)>, dispatch: &Dispatch) -> Decided {
    decided.entries.splice(0..0, admission);
    if matches!(decided.reply, Reply::Refuse(_) | Reply::Hold(_)) {
        return decided;
    }
    let mut entries = decided.entries.iter();
    let ended = entries.find_map(|(_, entry)| {
        let Fact::Ended {
            dispatch: id,
            result,
            ..
        } = &entry.fact
        else {
            return None;
        };
        (*id == dispatch.id).then_some((entry.rule, result))
    });
    let (rule, reason) = match ended {
        Some((_, WorkResult::Outcome(_))) => return decided,
        Some((rule, WorkResult::Fault { reason, .. })) => (rule, reason.clone()),
        Some((_, WorkResult::Late | WorkResult::Dropped)) | None => (
            Rule::Late,
            "the run moved on without this work, which does not count".to_owned(),
        ),
    };
    let next = engine::next(&decided.opened.pipeline, decided.opened.run());
    let reply = Reply::Refuse(Refusal {
        rule,
        reason,
        next,
        own_work: false,
        artifact: None,
    });
    Decided { reply, ..decided }
}
