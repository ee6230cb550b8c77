//! A small pipeline and runs of it, for tests of stores.

use std::collections::BTreeMap;

use engine::{
    AgentName, AgentWork, Begins, Budget, Conversation, Decision, Definition, Driver, Edge, End,
    EndWork, Entry, Fact, HostName, Leaves, Mode, NameError, Outcome, PipelineName, Reads, Reply,
    Rule, Run, RunId, Stage, StageName, Standing, Started, Status, StopRule, Target, Time, Who,
    WordsRule, Work, Worker, WorkerSettings, Writes,
};

use crate::{Backend, Commit, Error, Files, NewRun, StoredRun, Transacted};

/// One run, from its start.
pub struct TestRun {
    pub id: RunId,
    pub files: Files,
    pub definition: Definition,
}

impl TestRun {
    pub fn new(id: &str) -> Result<Self, NameError> {
        Ok(Self {
            id: RunId::parse(id)?,
            files: Files::single("story.toml", b"name = \"story\""),
            definition: definition()?,
        })
    }

    /// The decision that starts the run.
    pub fn beginning(&self) -> Decision {
        let started = Started {
            id: self.id.clone(),
            definition: self.files.hash(),
            task: format!("the task of {}\nand more of it", self.id),
            params: BTreeMap::new(),
            driver: Driver::ByHand,
            host: HostName::listed("claude"),
            stage: self.definition.start.clone(),
            session: None,
            process: None,
            steps: Vec::new(),
            before: BTreeMap::new(),
            queued: false,
            environment: None,
            base: None,
            commit: None,
            branch: None,
        };
        decision(&[Fact::Started(Box::new(started))])
    }

    pub fn new_run(&self) -> NewRun<'_> {
        NewRun {
            project: "/project",
            worktree: "/project/tree",
            files: &self.files,
            compiled: &self.definition,
            key: None,
            contents: &[],
            secrets: &[],
            status: &status,
        }
    }

    pub fn begin(&self, store: &mut dyn Backend) -> Result<StoredRun, Error> {
        store.begin(&self.new_run(), &self.beginning())
    }

    pub fn commit(&self, seen: u64) -> Commit<'_> {
        let (run, status) = (&self.id, &status);
        Commit {
            run,
            seen,
            key: None,
            contents: &[],
            fence: None,
            secrets: &[],
            status,
        }
    }

    /// Stores these facts after this version.
    pub fn add(
        &self,
        store: &mut dyn Backend,
        seen: u64,
        facts: &[Fact],
    ) -> Result<Transacted, Error> {
        store.transact(&self.commit(seen), &mut |_| decision(facts))
    }

    /// Adds one entry, however often another writer is faster.
    pub fn add_in_the_end(
        &self,
        store: &mut dyn Backend,
        commit: Commit<'_>,
        fact: &Fact,
    ) -> Result<(), Error> {
        let mut seen = commit.seen;
        loop {
            let commit = Commit { seen, ..commit };
            match store.transact(&commit, &mut |_| decision(std::slice::from_ref(fact)))? {
                Transacted::Moved { version } => seen = version,
                Transacted::Done { .. } | Transacted::Repeated { .. } => return Ok(()),
            }
        }
    }
}

/// A decision with these facts, one second apart.
pub fn decision(facts: &[Fact]) -> Decision {
    let entry = |(second, fact): (u64, &Fact)| Entry {
        at: Time(second * 1_000),
        by: Who::Person("ada".to_owned()),
        rule: Rule::Quiet,
        fact: fact.clone(),
    };
    let entries = (1..).zip(facts).map(entry).collect();
    Decision {
        reply: Reply::Done,
        entries,
        rule: Rule::Quiet,
    }
}

/// A fact that changes nothing.
pub fn note(message: &str) -> Fact {
    Fact::Noted {
        message: message.to_owned(),
    }
}

/// The fact that ends the run.
pub fn cancelled() -> Fact {
    Fact::Cancelled {
        reason: "enough".to_owned(),
    }
}

/// The status of a run of this pipeline.
pub fn status(run: &Run) -> Status {
    match run.standing {
        Standing::Cancelled { .. } => Status::Cancelled,
        Standing::Queued
        | Standing::Going
        | Standing::Stuck { .. }
        | Standing::Stale
        | Standing::OverBudget { .. }
        | Standing::Halted { .. }
        | Standing::Abandoned => Status::Running,
    }
}

/// One stage of work, and an end.
pub fn definition() -> Result<Definition, NameError> {
    let work = Work::Agent(AgentWork {
        worker: Worker::Agent(AgentName::parse("writer")?),
        settings: WorkerSettings {
            conversation: Conversation::Fresh,
            ..Default::default()
        },
        reads: Reads::default(),
        leaves: Leaves::default(),
    });
    let end = Work::End(EndWork {
        end: End::Completed,
        after: Vec::new(),
        leaves: Vec::new(),
    });
    let done = Edge {
        to: Target::Stage(StageName::parse("finished")?),
        count: None,
        reset: Vec::new(),
        approves: Vec::new(),
        words: WordsRule::default(),
    };
    let on = BTreeMap::from([(Outcome::parse("done")?, done)]);
    Ok(Definition {
        name: PipelineName::parse("story")?,
        about: "A story for tests.".to_owned(),
        begins: Begins::Command,
        start: StageName::parse("writing")?,
        mode: Mode::Enforced,
        ttl: None,
        budget: Budget::default(),
        settings: None,
        params: BTreeMap::new(),
        counters: BTreeMap::new(),
        groups: BTreeMap::new(),
        artifacts: BTreeMap::new(),
        stages: vec![
            stage("writing", work, on)?,
            stage("finished", end, BTreeMap::new())?,
        ],
        views: Vec::new(),
        commands: BTreeMap::new(),
        helpers: Vec::new(),
        gives: Vec::new(),
        ignores: Vec::new(),
        placement: engine::Placement::default(),
        litter: Vec::new(),
        protocol: None,
        proofs: Vec::new(),
    })
}

fn stage(name: &str, work: Work, on: BTreeMap<Outcome, Edge>) -> Result<Stage, NameError> {
    Ok(Stage {
        name: StageName::parse(name)?,
        about: None,
        shown: None,
        work,
        on,
        inject: None,
        stop: StopRule::Free,
        writes: Writes::Anything,
        tools_deny: Vec::new(),
        retry: None,
        timeout: None,
        heartbeat: None,
    })
}
