//! One look and one transaction: what the engine needs is looked at, then it decides and the store writes.

use std::collections::BTreeMap;

use engine::{ArtifactName, Decision, Entry, Event, Happening, Refusal, Reply, Rule, Time, Who};
use evidence::Given;
use store::{Backend, Commit, Content, Key, StoredEntry, Transacted};

use crate::clock;
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};

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

/// Who did it, when, and under which key.
pub struct Signed<'a> {
    pub by: &'a Who,
    pub at: Time,
    pub key: Option<&'a Key>,
}

pub enum Attempt {
    Done(Box<Decided>),
    /// The key was there already, with these entries.
    Repeated(Vec<StoredEntry>),
    /// Somebody else was first: look again.
    Moved,
}

/// One look and one transaction.
pub fn attempt(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    signed: Signed<'_>,
    request: Request,
) -> Result<Attempt, Failure> {
    let Signed { by, at, key } = signed;
    let event = Event {
        at,
        by: by.clone(),
        what: request.what,
    };
    let needs = engine::needs(&opened.pipeline, opened.run(), &event);
    let looked = workspace.look(&opened, &needs, &request.given, request.reply.as_deref())?;
    let OpenRun { stored, pipeline } = opened;
    let contents: Vec<Content<'_>> = looked
        .contents
        .iter()
        .chain(&request.contents)
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

/// What the engine would decide about this run as it was read. Nothing is stored.
pub fn preview(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    (by, at): (&Who, Time),
    request: &Request,
) -> Result<Decision, Failure> {
    let event = Event {
        at,
        by: by.clone(),
        what: request.what.clone(),
    };
    let needs = engine::needs(&opened.pipeline, opened.run(), &event);
    let looked = workspace.look(opened, &needs, &request.given, request.reply.as_deref())?;
    Ok(engine::decide(
        &opened.pipeline,
        opened.run(),
        &event,
        &looked.evidence,
    ))
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
