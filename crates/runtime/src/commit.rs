//! One proposal and one transaction: read what the engine needs, then decide and store.

use std::collections::BTreeMap;
use std::rc::Rc;

use engine::{
    ArtifactName, Decision, Entry, Event, Happening, Needs, Refusal, Reply, Rule, Time, Who,
};
use evidence::{GivenArtifact, Looked};
use store::{Backend as _, Commit, Content, Key, StoredEntry, Transacted};

use crate::clock;
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};

/// What somebody did, with everything that came with it.
pub struct Request {
    pub what: Happening,
    /// Artifacts that a person gives.
    pub given: BTreeMap<ArtifactName, GivenArtifact>,
    /// Contents that the event refers to.
    pub contents: Vec<evidence::Content>,
    /// The last message of an agent.
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

/// The result of a request.
pub struct Decided {
    pub opened: OpenRun,
    pub reply: Reply,
    pub rule: Rule,
    pub entries: Vec<(u64, Entry)>,
    /// The same key had been used before; this is the earlier result.
    pub repeated: bool,
    /// Notices about the run's views for a person, one line each.
    pub notices: Vec<String>,
}

impl Decided {
    /// A refusal without a try. It leaves no entry.
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
#[derive(Clone, Copy)]
pub struct Signed<'a> {
    pub by: &'a Who,
    pub at: Time,
    pub key: Option<&'a Key>,
}

/// A request as the engine judges it on this run: the event, and the evidence it needs.
pub struct Proposal<'a> {
    request: &'a Request,
    signed: Signed<'a>,
    event: Event,
    needs: Needs,
}

impl<'a> Proposal<'a> {
    pub fn new(opened: &OpenRun, signed: Signed<'a>, request: &'a Request) -> Self {
        let event = Event {
            at: signed.at,
            by: signed.by.clone(),
            what: request.what.clone(),
        };
        let needs = engine::needs(&opened.pipeline, opened.run(), &event);
        Self {
            request,
            signed,
            event,
            needs,
        }
    }

    /// Does the engine need any evidence besides the run?
    pub fn needs_evidence(&self) -> bool {
        self.needs != Needs::default()
    }

    /// Reads the evidence that the engine needs.
    pub fn look(&self, workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Looked, Failure> {
        let reply = self.request.reply.as_deref();
        workspace.look(opened, &self.needs, &self.request.given, reply)
    }

    /// The engine's decision about the run as it was read. Nothing is stored.
    pub fn decide(&self, opened: &OpenRun, looked: &Looked) -> Decision {
        engine::decide(
            &opened.pipeline,
            opened.run(),
            &self.event,
            &looked.evidence,
        )
    }
}

pub enum Attempt {
    Done(Box<Decided>),
    /// The key was used before, with these entries.
    Repeated(Vec<StoredEntry>),
    /// Another process was faster: look again.
    Moved,
}

/// Decides and stores in one transaction, on the evidence of one look.
///
/// `decision` is what was decided about this run before. The store asks for one only while the run has the
/// version that was seen, and the same run, event and evidence lead to the same decision.
pub fn store(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    proposal: &Proposal<'_>,
    looked: &Looked,
    mut decision: Option<Decision>,
) -> Result<Attempt, Failure> {
    let OpenRun { stored, pipeline } = opened;
    let contents: Vec<Content<'_>> = looked
        .contents
        .iter()
        .chain(&proposal.request.contents)
        .map(stored_content)
        .collect();
    let commit = Commit {
        run: &stored.run.id,
        seen: stored.version,
        key: proposal.signed.key,
        contents: &contents,
        fence: workspace.fence,
        secrets: workspace.context.environment.secrets(),
        status: &|run| engine::status(&pipeline, run),
    };
    let mut decide = |run: &_| {
        let known = decision.take();
        known.unwrap_or_else(|| engine::decide(&pipeline, run, &proposal.event, &looked.evidence))
    };
    let transacted = workspace.store.transact_on(&stored, &commit, &mut decide)?;
    match transacted {
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
                stored: Rc::from(stored),
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

pub(crate) fn stored_content(content: &evidence::Content) -> Content<'_> {
    Content {
        hash: content.hash,
        bytes: &content.bytes,
    }
}

/// What the engine decides about a copy of a run, with the run afterwards. Nothing is stored.
pub fn decide_on_copy(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    by: &Who,
    request: &Request,
) -> Result<Decided, Failure> {
    let signed = Signed {
        by,
        at: clock::now(),
        key: None,
    };
    let proposal = Proposal::new(opened, signed, request);
    let looked = proposal.look(workspace, opened)?;
    let decision = proposal.decide(opened, &looked);
    let mut after = opened.clone();
    for entry in &decision.entries {
        let run = engine::apply(Some(after.stored.run.clone()), entry)
            .map_err(|unfit| Failure::bug(format!("an entry does not fit its run: {unfit:?}")))?;
        Rc::make_mut(&mut after.stored).run = run;
    }
    let version = opened.stored.version;
    Ok(Decided {
        opened: after,
        reply: decision.reply,
        rule: decision.rule,
        entries: (version + 1..).zip(decision.entries).collect(),
        repeated: false,
        notices: Vec::new(),
    })
}

/// One attempt at something that is no longer needed if another process was faster.
pub fn try_once(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    by: &Who,
    what: Happening,
) -> Result<OpenRun, Failure> {
    let run = opened.run().id.clone();
    let signed = Signed {
        by,
        at: clock::now(),
        key: None,
    };
    let request = Request::from(what);
    let proposal = Proposal::new(&opened, signed, &request);
    let looked = proposal.look(workspace, &opened)?;
    match store(workspace, opened, &proposal, &looked, None)? {
        Attempt::Done(decided) => Ok(decided.opened),
        Attempt::Repeated(_) | Attempt::Moved => workspace.read(&run),
    }
}
