//! The way through: read the run, look at what the engine needs, decide and store in one transaction.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{
    ArtifactName, Decision, Driver, EngineEvent, Entry, Event, Fact, Happening, PersonEvent,
    Refusal, Reply, Rule, SessionEvent, Standing, Time, Who, WorkEvent, WorkResult,
};
use evidence::Given;
use store::{Backend, Commit, Content, Key, StoredEntry, StoredRun, Transacted};

use crate::clock;
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};
use crate::{run_step, view_files};

/// How often we look again because somebody else was faster.
const MOST_LOOKS: u32 = 500;

/// How many plans are read in a row; each leads into a stage that begins with another plan.
const MOST_PLANS: u32 = 16;

/// How long a hook waits for its turn, whose host waits for it.
const SHORT_PATIENCE: Duration = Duration::from_secs(3);

/// What somebody did, and what came with it.
pub struct Request {
    pub what: Happening,
    /// Artifacts from a person's hand.
    pub given: BTreeMap<ArtifactName, Given>,
    /// Bytes that the event names.
    pub contents: Vec<evidence::Content>,
    /// What an agent said last.
    pub reply: Option<String>,
}

impl From<Happening> for Request {
    fn from(what: Happening) -> Self {
        Self {
            what,
            given: BTreeMap::new(),
            contents: Vec::new(),
            reply: None,
        }
    }
}

/// Makes the deed for a run as it was looked at. It is made anew for every look, since what a word
/// means may depend on where the run is.
pub type MakeRequest<'a> =
    dyn FnMut(&Workspace<'_>, &OpenRun, Time) -> Result<Request, Failure> + 'a;

/// What came of it.
pub struct Decided {
    pub opened: OpenRun,
    pub reply: Reply,
    pub rule: Rule,
    pub entries: Vec<(u64, Entry)>,
    /// It had been done before with the same key; this is what came of it then.
    pub repeated: bool,
    /// What a person should hear of the run's views, each in a line.
    pub notices: Vec<String>,
}

impl Decided {
    /// A refusal of something that was not even tried: it is told, and leaves no entry.
    pub fn refused(opened: OpenRun, refusal: Refusal) -> Self {
        let (rule, reply) = (refusal.rule, Reply::Refuse(refusal));
        Self {
            opened,
            reply,
            rule,
            entries: Vec::new(),
            repeated: false,
            notices: Vec::new(),
        }
    }
}

/// Tells the engine what happened, and stores what it decides.
pub fn drive(
    workspace: &mut Workspace<'_>,
    first: StoredRun,
    key: &Key,
    make: &mut MakeRequest<'_>,
) -> Result<Decided, Failure> {
    let decided = drive_on(workspace, first, key, make)?;
    Ok(with_notices(workspace, decided))
}

/// Whatever was noticed on the way is told with what came of it.
fn with_notices(workspace: &mut Workspace<'_>, decided: Decided) -> Decided {
    let notices = std::mem::take(&mut workspace.notices);
    Decided { notices, ..decided }
}

fn drive_on(
    workspace: &mut Workspace<'_>,
    first: StoredRun,
    key: &Key,
    make: &mut MakeRequest<'_>,
) -> Result<Decided, Failure> {
    if let Some(decided) = repeated(workspace, &first, key)? {
        return Ok(decided);
    }
    let (run, by) = (first.run.id, workspace.context.who());
    let _turn = workspace.state.wait_to_change(&run);
    let mut opened = workspace.read(&run)?;
    for _ in 0..MOST_LOOKS {
        opened = prepare(workspace, opened)?;
        let at = clock::now();
        let deed = make(workspace, &opened, at)?;
        if moves(&deed.what) {
            workspace.project_of(&opened)?;
        }
        if is_queued(&opened) && is_work(&deed.what) {
            if let Some(refusal) = refused_anyway(workspace, &opened, (&by, at), &deed)? {
                return Ok(Decided::refused(opened, refusal));
            }
            opened = take_up(workspace, opened)?;
            continue;
        }
        let key = Some(key);
        match attempt(workspace, opened, Signed { by: &by, at, key }, deed)? {
            Attempt::Done(decided) => return settle(workspace, *decided),
            Attempt::Repeated(entries) => {
                let opened = workspace.read(&run)?;
                return Ok(told_again(opened, entries));
            }
            Attempt::Moved => opened = workspace.read(&run)?,
        }
    }
    let message = format!("run {run} changes faster than it can be looked at");
    Err(Failure::outside(message).hint("do it again"))
}

/// Tells the engine what a host saw in its session. What leaves no entry is decided on what was read,
/// and no lock is taken for it.
pub fn witness(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    signed: (&Who, Option<&Key>),
    make: &mut MakeRequest<'_>,
) -> Result<Decided, Failure> {
    let decided = witness_on(workspace, opened, signed, make)?;
    Ok(with_notices(workspace, decided))
}

fn witness_on(
    workspace: &mut Workspace<'_>,
    mut opened: OpenRun,
    (by, key): (&Who, Option<&Key>),
    make: &mut MakeRequest<'_>,
) -> Result<Decided, Failure> {
    let run = opened.run().id.clone();
    let mut turn = None;
    for _ in 0..MOST_LOOKS {
        opened = prepare(workspace, opened)?;
        let at = clock::now();
        let deed = make(workspace, &opened, at)?;
        if let Some(decided) = unrecorded(workspace, &opened, (by, at), &deed)? {
            return Ok(decided);
        }
        match attempt(workspace, opened, Signed { by, at, key }, deed)? {
            Attempt::Done(decided) => return settle(workspace, *decided),
            Attempt::Repeated(entries) => {
                let opened = workspace.read(&run)?;
                return Ok(told_again(opened, entries));
            }
            Attempt::Moved => {
                workspace.context.expect_delay();
                turn =
                    turn.or_else(|| workspace.state.wait_shortly_to_change(&run, SHORT_PATIENCE));
                opened = workspace.read(&run)?;
            }
        }
    }
    let message = format!("run {run} changes faster than it can be looked at");
    Err(Failure::outside(message).hint("do it again"))
}

/// Leaves a line of ours in the history, which moves nothing; with a key, once.
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
    witness(workspace, opened, (&Who::Engine, key), &mut make)
}

/// What came of it, if there is nothing to remember.
fn unrecorded(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    (by, at): (&Who, Time),
    deed: &Request,
) -> Result<Option<Decided>, Failure> {
    let event = Event {
        at,
        by: by.clone(),
        what: deed.what.clone(),
    };
    let needs = engine::needs(&opened.pipeline, opened.run(), &event);
    if needs != engine::Needs::default() && leaves_entries(&deed.what) {
        // What is looked at here is looked at for the transaction.
        return Ok(None);
    }
    let looked = workspace.look(opened, &needs, &deed.given, deed.reply.as_deref())?;
    let decision = engine::decide(&opened.pipeline, opened.run(), &event, &looked.evidence);
    if !decision.entries.is_empty() {
        return Ok(None);
    }
    Ok(Some(Decided {
        opened: opened.clone(),
        reply: decision.reply,
        rule: decision.rule,
        entries: Vec::new(),
        repeated: false,
        notices: Vec::new(),
    }))
}

/// Does this usually leave a mark, so that looking twice would be a waste?
fn leaves_entries(what: &Happening) -> bool {
    matches!(
        what,
        Happening::Work(WorkEvent::Ended { .. }) | Happening::Work(WorkEvent::Requested { .. })
    )
}

/// Who did it, when, and under which key.
struct Signed<'a> {
    by: &'a Who,
    at: Time,
    key: Option<&'a Key>,
}

enum Attempt {
    Done(Box<Decided>),
    /// The key was there already, with these entries.
    Repeated(Vec<StoredEntry>),
    /// Somebody else was first: look again.
    Moved,
}

/// One look and one transaction.
fn attempt(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    signed: Signed<'_>,
    deed: Request,
) -> Result<Attempt, Failure> {
    let Signed { by, at, key } = signed;
    let event = Event {
        at,
        by: by.clone(),
        what: deed.what,
    };
    let needs = engine::needs(&opened.pipeline, opened.run(), &event);
    let looked = workspace.look(&opened, &needs, &deed.given, deed.reply.as_deref())?;
    let OpenRun { stored, pipeline } = opened;
    let contents: Vec<Content<'_>> = looked
        .contents
        .iter()
        .chain(&deed.contents)
        .map(stored_content)
        .collect();
    let commit = Commit {
        run: &stored.run.id,
        seen: stored.version,
        key,
        contents: &contents,
        fence: workspace.fence,
        secrets: &workspace.context.environment.secrets,
        status: &|run| engine::status(&pipeline, run),
    };
    let mut decide = |run: &_| engine::decide(&pipeline, run, &event, &looked.evidence);
    match workspace.store.transact(&commit, &mut decide)? {
        Transacted::Done {
            decision,
            stored,
            numbers,
        } => {
            let Decision {
                reply,
                entries,
                rule,
            } = decision;
            let opened = OpenRun {
                stored: *stored,
                pipeline,
            };
            let entries = numbers.zip(entries).collect();
            Ok(Attempt::Done(Box::new(Decided {
                opened,
                reply,
                rule,
                entries,
                repeated: false,
                notices: Vec::new(),
            })))
        }
        Transacted::Repeated { entries } => Ok(Attempt::Repeated(entries)),
        Transacted::Moved { .. } => Ok(Attempt::Moved),
    }
}

fn stored_content(content: &evidence::Content) -> Content<'_> {
    Content {
        hash: content.hash,
        bytes: &content.bytes,
    }
}

/// What our own side does before anything else can happen: workers of ours whose process is gone have
/// crashed, a stop that somebody pulled counts, and the steps of a new task graph are read. The work of a headless run is settled by
/// whoever drives it, who may go on with it.
pub fn prepare(workspace: &mut Workspace<'_>, mut opened: OpenRun) -> Result<OpenRun, Failure> {
    if opened.run().driver != Driver::Headless
        && run_step::has_lost_work(workspace, &opened)
        && opened.has_project()
    {
        opened = run_step::settle_lost_work(workspace, opened)?;
    }
    if view_files::is_stopped(workspace, &opened) && opened.has_project() {
        opened = view_files::render(workspace, opened);
    }
    for _ in 0..MOST_PLANS {
        let Some(what) = engine::pending(&opened.pipeline, opened.run()) else {
            return Ok(opened);
        };
        // A run whose project is gone can still be looked at and cancelled.
        if !opened.has_project() {
            return Ok(opened);
        }
        let before = opened.stored.version;
        opened = alone(workspace, opened, &Who::Engine, what)?;
        if opened.stored.version == before {
            return Ok(opened);
        }
    }
    Ok(opened)
}

/// One attempt at something that is no longer needed if somebody else was first.
pub fn alone(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    by: &Who,
    what: Happening,
) -> Result<OpenRun, Failure> {
    let run = opened.run().id.clone();
    match attempt(
        workspace,
        opened,
        Signed {
            by,
            at: clock::now(),
            key: None,
        },
        what.into(),
    )? {
        Attempt::Done(decided) => Ok(decided.opened),
        Attempt::Repeated(_) | Attempt::Moved => workspace.read(&run),
    }
}

/// A move may lead into a stage whose steps are still to be read.
fn settle(workspace: &mut Workspace<'_>, decided: Decided) -> Result<Decided, Failure> {
    let opened = prepare(workspace, decided.opened)?;
    let opened = view_files::render(workspace, opened);
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

/// Could this move the run? Then its project must be there, since nothing else is evidence.
fn moves(what: &Happening) -> bool {
    is_work(what)
        || matches!(
            what,
            Happening::Engine(EngineEvent::ChecksRan { .. })
                | Happening::Person(PersonEvent::SkipAsked { .. })
                | Happening::Person(PersonEvent::RetryAsked)
        )
}

/// Why a queued run would refuse this even after it was taken up: then it is not taken up for it.
fn refused_anyway(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    (by, at): (&Who, Time),
    deed: &Request,
) -> Result<Option<Refusal>, Failure> {
    let taken = as_taken_up(opened, by, at);
    if engine::pending(&taken.pipeline, taken.run()).is_some() {
        return Ok(None);
    }
    let event = Event {
        at,
        by: by.clone(),
        what: deed.what.clone(),
    };
    let needs = engine::needs(&taken.pipeline, taken.run(), &event);
    let looked = workspace.look(&taken, &needs, &deed.given, deed.reply.as_deref())?;
    let decision = engine::decide(&taken.pipeline, taken.run(), &event, &looked.evidence);
    let ended = |entry: &Entry| matches!(entry.fact, Fact::Ended { .. });
    match decision.reply {
        Reply::Refuse(refusal) if !decision.entries.iter().any(ended) => Ok(Some(refusal)),
        _ => Ok(None),
    }
}

/// The run as it will be when it is taken up; nothing is stored.
pub fn as_taken_up(opened: &OpenRun, by: &Who, at: Time) -> OpenRun {
    let mut taken = opened.clone();
    if !is_queued(opened) {
        return taken;
    }
    let event = Event {
        at,
        by: by.clone(),
        what: Happening::Engine(EngineEvent::TakenUp),
    };
    let nothing = engine::Evidence::default();
    let decision = engine::decide(&taken.pipeline, opened.run(), &event, &nothing);
    for entry in &decision.entries {
        if let Ok(run) = engine::apply(Some(taken.stored.run.clone()), entry) {
            taken.stored.run = run;
        }
    }
    taken
}

/// Whoever drives a queued run by hand takes it up.
pub fn take_up(workspace: &mut Workspace<'_>, opened: OpenRun) -> Result<OpenRun, Failure> {
    let by = workspace.context.who();
    match is_queued(&opened) {
        true => alone(
            workspace,
            opened,
            &by,
            Happening::Engine(EngineEvent::TakenUp),
        ),
        false => Ok(opened),
    }
}

/// What came of the same key before, if it was there before.
pub fn repeated(
    workspace: &mut Workspace<'_>,
    stored: &StoredRun,
    key: &Key,
) -> Result<Option<Decided>, Failure> {
    let entries = workspace.store.keyed(&stored.run.id, key)?;
    match entries.is_empty() {
        true => Ok(None),
        false => Ok(Some(told_again(workspace.opened(stored.clone())?, entries))),
    }
}

/// The reply of then, as far as the entries tell it.
fn told_again(opened: OpenRun, entries: Vec<StoredEntry>) -> Decided {
    let entries: Vec<(u64, Entry)> = entries
        .into_iter()
        .map(|stored| (stored.number, stored.entry))
        .collect();
    let rule = entries.last().map_or(Rule::Quiet, |(_, entry)| entry.rule);
    let reply = match entries.iter().rev().find_map(|(_, entry)| refused(entry)) {
        Some((rule, reason)) => {
            let next = engine::next(&opened.pipeline, opened.run());
            Reply::Refuse(Refusal { rule, reason, next })
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

/// Does this entry tell that the answer was no?
fn refused(entry: &Entry) -> Option<(Rule, String)> {
    match &entry.fact {
        Fact::Refused { reason, .. }
        | Fact::Retried { reason, .. }
        | Fact::Stuck { reason, .. }
        | Fact::Ended {
            result: WorkResult::Fault { reason, .. },
            ..
        } => Some((entry.rule, reason.clone())),
        // What else there is tells of something that was done.
        _ => None,
    }
}
