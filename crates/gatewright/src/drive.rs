//! The way through: read the run, look at what the engine needs, decide and store in one transaction.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{
    ArtifactName, Decision, Driver, Entry, Event, Fact, Happening, Refusal, Reply, Rule, Standing,
    Time, Who, WorkResult,
};
use evidence::Given;
use store::{Backend, Commit, Content, Key, StoredEntry, StoredRun, Transacted};

use crate::clock;
use crate::desk::{Desk, Opened};
use crate::failure::Failure;
use crate::{rendering, step};

/// How often we look again because somebody else was faster.
const MOST_LOOKS: u32 = 500;

/// How many plans are read in a row; each leads into a stage that begins with another plan.
const MOST_PLANS: u32 = 16;

/// How long a hook waits for its turn, whose host waits for it.
const SHORT_PATIENCE: Duration = Duration::from_secs(3);

/// What somebody did, and what came with it.
pub struct Deed {
    pub what: Happening,
    /// Artifacts from a person's hand.
    pub given: BTreeMap<ArtifactName, Given>,
    /// Bytes that the event names.
    pub contents: Vec<evidence::Content>,
    /// What an agent said last.
    pub reply: Option<String>,
}

impl From<Happening> for Deed {
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
pub type MakeDeed<'a> = dyn FnMut(&Desk<'_>, &Opened, Time) -> Result<Deed, Failure> + 'a;

/// What came of it.
pub struct Driven {
    pub opened: Opened,
    pub reply: Reply,
    pub rule: Rule,
    pub entries: Vec<(u64, Entry)>,
    /// It had been done before with the same key; this is what came of it then.
    pub repeated: bool,
    /// What a person should hear of the run's views, each in a line.
    pub notices: Vec<String>,
}

impl Driven {
    /// A refusal of something that was not even tried: it is told, and leaves no entry.
    pub fn refused(opened: Opened, refusal: Refusal) -> Self {
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
    desk: &mut Desk<'_>,
    first: StoredRun,
    key: &Key,
    make: &mut MakeDeed<'_>,
) -> Result<Driven, Failure> {
    let driven = drive_on(desk, first, key, make)?;
    Ok(with_notices(desk, driven))
}

/// Whatever was noticed on the way is told with what came of it.
fn with_notices(desk: &mut Desk<'_>, driven: Driven) -> Driven {
    let notices = std::mem::take(&mut desk.notices);
    Driven { notices, ..driven }
}

fn drive_on(
    desk: &mut Desk<'_>,
    first: StoredRun,
    key: &Key,
    make: &mut MakeDeed<'_>,
) -> Result<Driven, Failure> {
    if let Some(driven) = repeated(desk, &first, key)? {
        return Ok(driven);
    }
    let (run, by) = (first.run.id, desk.context.who());
    let _turn = desk.state.wait_to_change(&run);
    let mut opened = desk.read(&run)?;
    for _ in 0..MOST_LOOKS {
        opened = prepare(desk, opened)?;
        let at = clock::now();
        let deed = make(desk, &opened, at)?;
        if moves(&deed.what) {
            desk.project_of(&opened)?;
        }
        if is_queued(&opened) && is_work(&deed.what) {
            if let Some(refusal) = refused_anyway(desk, &opened, (&by, at), &deed)? {
                return Ok(Driven::refused(opened, refusal));
            }
            opened = take_up(desk, opened)?;
            continue;
        }
        let key = Some(key);
        match attempt(desk, opened, Signed { by: &by, at, key }, deed)? {
            Attempt::Done(driven) => return settle(desk, *driven),
            Attempt::Repeated(entries) => {
                let opened = desk.read(&run)?;
                return Ok(told_again(opened, entries));
            }
            Attempt::Moved => opened = desk.read(&run)?,
        }
    }
    let message = format!("run {run} changes faster than it can be looked at");
    Err(Failure::outside(message).hint("do it again"))
}

/// Tells the engine what a host saw in its session. What leaves no entry is decided on what was read,
/// and no lock is taken for it.
pub fn witness(
    desk: &mut Desk<'_>,
    opened: Opened,
    signed: (&Who, Option<&Key>),
    make: &mut MakeDeed<'_>,
) -> Result<Driven, Failure> {
    let driven = witness_on(desk, opened, signed, make)?;
    Ok(with_notices(desk, driven))
}

fn witness_on(
    desk: &mut Desk<'_>,
    mut opened: Opened,
    (by, key): (&Who, Option<&Key>),
    make: &mut MakeDeed<'_>,
) -> Result<Driven, Failure> {
    let run = opened.run().id.clone();
    let mut turn = None;
    for _ in 0..MOST_LOOKS {
        opened = prepare(desk, opened)?;
        let at = clock::now();
        let deed = make(desk, &opened, at)?;
        if let Some(driven) = unrecorded(desk, &opened, (by, at), &deed)? {
            return Ok(driven);
        }
        match attempt(desk, opened, Signed { by, at, key }, deed)? {
            Attempt::Done(driven) => return settle(desk, *driven),
            Attempt::Repeated(entries) => {
                let opened = desk.read(&run)?;
                return Ok(told_again(opened, entries));
            }
            Attempt::Moved => {
                desk.context.expect_delay();
                turn = turn.or_else(|| desk.state.wait_shortly_to_change(&run, SHORT_PATIENCE));
                opened = desk.read(&run)?;
            }
        }
    }
    let message = format!("run {run} changes faster than it can be looked at");
    Err(Failure::outside(message).hint("do it again"))
}

/// Leaves a line of ours in the history, which moves nothing; with a key, once.
pub fn remark(
    desk: &mut Desk<'_>,
    opened: Opened,
    key: Option<&Key>,
    message: &str,
) -> Result<Driven, Failure> {
    let mut make = |_: &Desk<'_>, _: &Opened, _| {
        let message = message.to_owned();
        Ok(Deed::from(Happening::Remarked { message }))
    };
    witness(desk, opened, (&Who::Engine, key), &mut make)
}

/// What came of it, if there is nothing to remember.
fn unrecorded(
    desk: &Desk<'_>,
    opened: &Opened,
    (by, at): (&Who, Time),
    deed: &Deed,
) -> Result<Option<Driven>, Failure> {
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
    let looked = desk.look(opened, &needs, &deed.given, deed.reply.as_deref())?;
    let decision = engine::decide(&opened.pipeline, opened.run(), &event, &looked.evidence);
    if !decision.entries.is_empty() {
        return Ok(None);
    }
    Ok(Some(Driven {
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
        Happening::AgentEnded { .. } | Happening::AgentRequested { .. }
    )
}

/// Who did it, when, and under which key.
struct Signed<'a> {
    by: &'a Who,
    at: Time,
    key: Option<&'a Key>,
}

enum Attempt {
    Done(Box<Driven>),
    /// The key was there already, with these entries.
    Repeated(Vec<StoredEntry>),
    /// Somebody else was first: look again.
    Moved,
}

/// One look and one transaction.
fn attempt(
    desk: &mut Desk<'_>,
    opened: Opened,
    signed: Signed<'_>,
    deed: Deed,
) -> Result<Attempt, Failure> {
    let Signed { by, at, key } = signed;
    let event = Event {
        at,
        by: by.clone(),
        what: deed.what,
    };
    let needs = engine::needs(&opened.pipeline, opened.run(), &event);
    let looked = desk.look(&opened, &needs, &deed.given, deed.reply.as_deref())?;
    let Opened { stored, pipeline } = opened;
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
        fence: desk.fence,
        secrets: &desk.context.environment.secrets,
        status: &|run| engine::status(&pipeline, run),
    };
    let mut decide = |run: &_| engine::decide(&pipeline, run, &event, &looked.evidence);
    match desk.store.transact(&commit, &mut decide)? {
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
            let opened = Opened {
                stored: *stored,
                pipeline,
            };
            let entries = numbers.zip(entries).collect();
            Ok(Attempt::Done(Box::new(Driven {
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
pub fn prepare(desk: &mut Desk<'_>, mut opened: Opened) -> Result<Opened, Failure> {
    if opened.run().driver != Driver::Headless
        && step::has_lost_work(desk, &opened)
        && opened.has_project()
    {
        opened = step::settle_lost_work(desk, opened)?;
    }
    if rendering::is_stopped(desk, &opened) && opened.has_project() {
        opened = rendering::render(desk, opened);
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
        opened = alone(desk, opened, &Who::Engine, what)?;
        if opened.stored.version == before {
            return Ok(opened);
        }
    }
    Ok(opened)
}

/// One attempt at something that is no longer needed if somebody else was first.
pub fn alone(
    desk: &mut Desk<'_>,
    opened: Opened,
    by: &Who,
    what: Happening,
) -> Result<Opened, Failure> {
    let run = opened.run().id.clone();
    match attempt(
        desk,
        opened,
        Signed {
            by,
            at: clock::now(),
            key: None,
        },
        what.into(),
    )? {
        Attempt::Done(driven) => Ok(driven.opened),
        Attempt::Repeated(_) | Attempt::Moved => desk.read(&run),
    }
}

/// A move may lead into a stage whose steps are still to be read.
fn settle(desk: &mut Desk<'_>, driven: Driven) -> Result<Driven, Failure> {
    let opened = prepare(desk, driven.opened)?;
    let opened = rendering::render(desk, opened);
    Ok(Driven { opened, ..driven })
}

fn is_queued(opened: &Opened) -> bool {
    let run = opened.run();
    run.standing == Standing::Queued && run.driver == Driver::ByHand
}

fn is_work(what: &Happening) -> bool {
    matches!(
        what,
        Happening::Reported { .. } | Happening::Answered(_) | Happening::FinishAsked
    )
}

/// Could this move the run? Then its project must be there, since nothing else is evidence.
fn moves(what: &Happening) -> bool {
    is_work(what)
        || matches!(
            what,
            Happening::ChecksRan { .. } | Happening::SkipAsked { .. } | Happening::RetryAsked
        )
}

/// Why a queued run would refuse this even after it was taken up: then it is not taken up for it.
fn refused_anyway(
    desk: &Desk<'_>,
    opened: &Opened,
    (by, at): (&Who, Time),
    deed: &Deed,
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
    let looked = desk.look(&taken, &needs, &deed.given, deed.reply.as_deref())?;
    let decision = engine::decide(&taken.pipeline, taken.run(), &event, &looked.evidence);
    let ended = |entry: &Entry| matches!(entry.fact, Fact::Ended { .. });
    match decision.reply {
        Reply::Refuse(refusal) if !decision.entries.iter().any(ended) => Ok(Some(refusal)),
        _ => Ok(None),
    }
}

/// The run as it will be when it is taken up; nothing is stored.
pub fn as_taken_up(opened: &Opened, by: &Who, at: Time) -> Opened {
    let mut taken = opened.clone();
    if !is_queued(opened) {
        return taken;
    }
    let event = Event {
        at,
        by: by.clone(),
        what: Happening::TakenUp,
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
pub fn take_up(desk: &mut Desk<'_>, opened: Opened) -> Result<Opened, Failure> {
    let by = desk.context.who();
    match is_queued(&opened) {
        true => alone(desk, opened, &by, Happening::TakenUp),
        false => Ok(opened),
    }
}

/// What came of the same key before, if it was there before.
pub fn repeated(
    desk: &mut Desk<'_>,
    stored: &StoredRun,
    key: &Key,
) -> Result<Option<Driven>, Failure> {
    let entries = desk.store.keyed(&stored.run.id, key)?;
    match entries.is_empty() {
        true => Ok(None),
        false => Ok(Some(told_again(desk.opened(stored.clone())?, entries))),
    }
}

/// The reply of then, as far as the entries tell it.
fn told_again(opened: Opened, entries: Vec<StoredEntry>) -> Driven {
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
    Driven {
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
