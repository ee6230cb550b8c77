//! Transactions: read the run, read the evidence that the engine needs, decide and store.

use std::rc::Rc;
use std::time::Duration;

use engine::{
    Decision, Driver, EngineEvent, Entry, Fact, Happening, PersonEvent, Refusal, Reply, Rule,
    RunId, SessionEvent, Standing, Time, Who, WorkEvent, WorkResult,
};
use evidence::Looked;
use store::{Backend, Key, StoredEntry};

use crate::commit::{self, Attempt, Proposal, Signed};
pub use crate::commit::{Decided, Request, try_once};
use crate::failure::Failure;
use crate::file_lock::FileLock;
use crate::workspace::{OpenRun, Workspace};
use crate::{adopted_elsewhere, clock, known_limits, lost_work, view_files, witness};

/// How often to look again after another process was faster.
const MOST_LOOKS: u32 = 500;

/// How many task graphs are read in a row; each leads to a stage that starts with another one.
const MOST_PLANS: u32 = 16;

/// How long a hook waits for the lock while its host waits.
const SHORT_PATIENCE: Duration = Duration::from_secs(3);

/// The run of a request.
pub enum Target {
    /// Locks the run and reads it under the lock, so that no command starves.
    Locked(RunId),
    /// The run as the caller has just read it. A decision without entries takes no lock; a lock is
    /// taken after another process was faster.
    Seen(Box<OpenRun>),
}

/// Who asks, and how often it counts.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub by: &'a Who,
    /// Requests with the same key count once.
    pub key: Option<&'a Key>,
}

/// Makes the request for a run. It is called again for every look, because the meaning of a word
/// may depend on the run's state.
pub type MakeRequest<'a> =
    dyn FnMut(&Workspace<'_>, &OpenRun, Time) -> Result<Request, Failure> + 'a;

/// Submits what somebody typed, signed with the caller.
pub fn command(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    key: &Key,
    make: &mut MakeRequest<'_>,
) -> Result<Decided, Failure> {
    let options = Options {
        by: &workspace.context.who(),
        key: Some(key),
    };
    transact(workspace, Target::Locked(run.clone()), options, make)
}

/// Submits an event to the engine, and stores its decision.
pub fn transact(
    workspace: &mut Workspace<'_>,
    target: Target,
    options: Options<'_>,
    make: &mut MakeRequest<'_>,
) -> Result<Decided, Failure> {
    let decided = match target {
        Target::Seen(opened) => look_and_store(workspace, *opened, options, None, make)?,
        Target::Locked(run) => match repeated(workspace, &run, options.key)? {
            Some(decided) => decided,
            None => {
                let lock = workspace.state.lock_run(&run);
                let opened = workspace.read(&run)?;
                let opened = witness::reconcile(workspace, opened, None, witness::Range::All)?;
                look_and_store(workspace, opened, options, lock, make)?
            }
        },
    };
    // Entries of the preparation belong to the result.
    let notices = std::mem::take(&mut workspace.notices);
    Ok(Decided { notices, ..decided })
}

fn look_and_store(
    workspace: &mut Workspace<'_>,
    mut opened: OpenRun,
    options: Options<'_>,
    mut lock: Option<FileLock>,
    make: &mut MakeRequest<'_>,
) -> Result<Decided, Failure> {
    let Options { by, key } = options;
    let run = opened.run().id.clone();
    for _ in 0..MOST_LOOKS {
        opened = prepare(workspace, opened)?;
        let at = clock::now();
        let signed = Signed { by, at, key };
        let request = make(workspace, &opened, at)?;
        adopted_elsewhere::require_home(&workspace.state, &opened, &request.what)?;
        if moves(&request.what) {
            workspace.require_project(&opened)?;
        }
        if is_queued(&opened) && is_work(&request.what) {
            if let Some(refusal) = refused_anyway(workspace, &opened, signed, &request)? {
                return Ok(Decided::refused(opened, refusal));
            }
            let taken_up = Happening::Engine(EngineEvent::TakenUp);
            opened = try_once(workspace, opened, by, taken_up)?;
            continue;
        }
        let proposal = Proposal::new(&opened, signed, &request);
        let looked = proposal.look(workspace, &opened)?;
        let decision = first_decision(&opened, &proposal, &request, &looked);
        let decision = match decision {
            Some(decision) if decision.entries.is_empty() => {
                return Ok(unrecorded(opened, decision));
            }
            decision => decision,
        };
        let limits = opened.run().limits.clone();
        match commit::store(workspace, opened, &proposal, &looked, decision)? {
            Attempt::Done(decided) => {
                let project = &decided.opened.stored.project;
                let entries = decided.entries.iter().map(|(_, entry)| entry);
                known_limits::follow(&workspace.state, project, &limits, entries);
                return settle(workspace, *decided);
            }
            Attempt::Repeated(entries) => {
                let opened = workspace.read(&run)?;
                return Ok(earlier_result(opened, entries));
            }
            Attempt::Moved => {
                workspace.context.expect_delay();
                let state = &workspace.state;
                lock = lock.or_else(|| state.lock_run_within(&run, SHORT_PATIENCE));
                opened = workspace.read(&run)?;
            }
        }
    }
    let message = format!("run {run} changes faster than it can be read");
    Err(Failure::environment(message).hint("retry"))
}

/// A decision without entries needs no transaction. Events that usually leave entries go directly
/// to the store, which also checks the key.
fn first_decision(
    opened: &OpenRun,
    proposal: &Proposal<'_>,
    request: &Request,
    looked: &Looked,
) -> Option<Decision> {
    if proposal.needs_evidence() && leaves_entries(&request.what) {
        return None;
    }
    Some(proposal.decide(opened, looked))
}

fn unrecorded(opened: OpenRun, decision: Decision) -> Decided {
    Decided {
        opened,
        reply: decision.reply,
        rule: decision.rule,
        entries: Vec::new(),
        repeated: false,
        notices: Vec::new(),
    }
}

/// Adds a remark to the history, which changes nothing; with a key, once.
pub fn remark(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    key: Option<&Key>,
    message: &str,
) -> Result<Decided, Failure> {
    let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
        let message = message.to_owned();
        Ok(Request::from(Happening::Session(SessionEvent::Remarked {
            message,
        })))
    };
    let by = Who::Engine;
    transact(
        workspace,
        Target::Seen(Box::new(opened)),
        Options { by: &by, key },
        &mut make,
    )
}

/// Does this event usually leave an entry?
fn leaves_entries(what: &Happening) -> bool {
    moves(what)
        || matches!(
            what,
            Happening::Work(WorkEvent::Ended { .. }) | Happening::Work(WorkEvent::Requested { .. })
        )
}

/// What must happen before a request: settle workers whose process is gone, notice a removed view
/// that stops the run, and read the steps of a new task graph. In a headless run the orchestrator
/// settles lost work itself, because it may continue it.
pub fn prepare(workspace: &mut Workspace<'_>, mut opened: OpenRun) -> Result<OpenRun, Failure> {
    if opened.run().driver != Driver::Headless
        && lost_work::has_lost_work(workspace, &opened)
        && opened.has_project()
    {
        opened = lost_work::settle_lost_work(workspace, opened)?;
    }
    if view_files::is_stopped(workspace, &opened) && opened.has_project() {
        opened = view_files::render(workspace, opened);
    }
    read_plans(workspace, opened)
}

/// Reads the steps of a task graph that the run has reached.
fn read_plans(workspace: &mut Workspace<'_>, mut opened: OpenRun) -> Result<OpenRun, Failure> {
    for _ in 0..MOST_PLANS {
        let Some(what) = engine::pending(&opened.pipeline, opened.run()) else {
            return Ok(opened);
        };
        // A run whose project is gone can still be read and cancelled.
        if !opened.has_project() {
            return Ok(opened);
        }
        let before = opened.stored.version;
        opened = try_once(workspace, opened, &Who::Engine, what)?;
        if opened.stored.version == before {
            return Ok(opened);
        }
    }
    Ok(opened)
}

/// A move may lead to a stage whose steps must be read. Lost work was settled before the decision,
/// and rendering finds removed views.
fn settle(workspace: &mut Workspace<'_>, decided: Decided) -> Result<Decided, Failure> {
    let opened = read_plans(workspace, decided.opened)?;
    let opened = view_files::render_after(workspace, opened, &decided.entries);
    Ok(Decided { opened, ..decided })
}

fn is_queued(opened: &OpenRun) -> bool {
    let run = opened.run();
    run.standing == Standing::Queued && run.driver == Driver::ByHand
}

fn is_work(what: &Happening) -> bool {
    matches!(
        what,
        Happening::Work(WorkEvent::Reported { .. })
            | Happening::Person(PersonEvent::Answered(_))
            | Happening::Person(PersonEvent::FinishAsked)
    )
}

/// Could this event move the run? Then its project must exist: it is the evidence.
fn moves(what: &Happening) -> bool {
    is_work(what)
        || matches!(
            what,
            Happening::Engine(EngineEvent::ChecksRan { .. })
                | Happening::Person(PersonEvent::SkipAsked { .. })
                | Happening::Person(PersonEvent::RetryAsked)
                | Happening::Person(PersonEvent::ResetAsked { .. })
                | Happening::Person(PersonEvent::RestoreAsked { .. })
        )
}

/// Why a queued run would refuse this even after it is taken up: then it stays queued.
fn refused_anyway(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    signed: Signed<'_>,
    request: &Request,
) -> Result<Option<Refusal>, Failure> {
    let taken = as_taken_up(workspace, opened, signed.by, signed.at)?;
    if engine::pending(&taken.pipeline, taken.run()).is_some() {
        return Ok(None);
    }
    let proposal = Proposal::new(&taken, signed, request);
    let decision = proposal.decide(&taken, &proposal.look(workspace, &taken)?);
    let ended = |entry: &Entry| matches!(entry.fact, Fact::Ended { .. });
    match decision.reply {
        Reply::Refuse(refusal) if !decision.entries.iter().any(ended) => Ok(Some(refusal)),
        Reply::Refuse(_) | Reply::Hold(_) | Reply::Allow | Reply::Inject(_) | Reply::Done => {
            Ok(None)
        }
    }
}

/// The run as it would be after being taken up; nothing is stored.
pub fn as_taken_up(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    by: &Who,
    at: Time,
) -> Result<OpenRun, Failure> {
    let mut taken = opened.clone();
    if !is_queued(opened) {
        return Ok(taken);
    }
    let request = Request::from(Happening::Engine(EngineEvent::TakenUp));
    let key = None;
    let proposal = Proposal::new(opened, Signed { by, at, key }, &request);
    let decision = proposal.decide(opened, &proposal.look(workspace, opened)?);
    for entry in &decision.entries {
        if let Ok(run) = engine::apply(Some(taken.stored.run.clone()), entry) {
            Rc::make_mut(&mut taken.stored).run = run;
        }
    }
    Ok(taken)
}

/// Takes up a queued run that somebody drives by hand.
pub fn take_up(workspace: &mut Workspace<'_>, opened: OpenRun) -> Result<OpenRun, Failure> {
    let by = workspace.context.who();
    if is_queued(&opened) {
        try_once(
            workspace,
            opened,
            &by,
            Happening::Engine(EngineEvent::TakenUp),
        )
    } else {
        Ok(opened)
    }
}

/// The earlier result of the same key, if there is one.
pub fn repeated(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    key: Option<&Key>,
) -> Result<Option<Decided>, Failure> {
    let Some(key) = key else { return Ok(None) };
    let entries = workspace.store.keyed(run, key)?;
    if entries.is_empty() {
        return Ok(None);
    }
    let opened = workspace.read(run)?;
    Ok(Some(earlier_result(opened, entries)))
}

/// The earlier reply, as far as the entries show it.
fn earlier_result(opened: OpenRun, entries: Vec<StoredEntry>) -> Decided {
    let entries: Vec<(u64, Entry)> = entries
        .into_iter()
        .map(|stored| (stored.number, stored.entry))
        .collect();
    let rule = entries.last().map_or(Rule::Quiet, |(_, entry)| entry.rule);
    let reply = match entries.iter().rev().find_map(|(_, entry)| refused(entry)) {
        Some((rule, reason)) => {
            let next = engine::next(&opened.pipeline, opened.run());
            Reply::Refuse(Refusal {
                rule,
                reason,
                next,
                own_work: false,
                artifact: None,
            })
        }
        None => Reply::Done,
    };
    Decided {
        opened,
        reply,
        rule,
        entries,
        repeated: true,
        notices: Vec::new(),
    }
}

/// Does this entry record a refusal?
fn refused(entry: &Entry) -> Option<(Rule, String)> {
    // All other facts record something that was done.
    let (Fact::Refused { reason, .. }
    | Fact::Retried { reason, .. }
    | Fact::Stuck { reason, .. }
    | Fact::Ended {
        result: WorkResult::Fault { reason, .. },
        ..
    }) = &entry.fact
    else {
        return None;
    };
    Some((entry.rule, reason.clone()))
}
