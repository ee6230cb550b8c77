//! A run through a small pipeline, played on the real engine, as the facts of a screen.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::*;
use views::facts::{Inbox, InboxEntry, Liveness, Timeline, WorkerSign};
use views::list::RunRow;
use views::{Freshness, RunContext, Untrusted};

use crate::event::{Event, RunFacts, RunsFacts, Size};
use crate::screen::Screen;

pub(super) const START: Time = Time(1_787_392_800_000);

pub(super) fn minutes(after_start: u64) -> Time {
    Time(START.0 + after_start * 60_000)
}

pub(super) struct Played {
    pub pipeline: Pipeline,
    pub run: Run,
    entries: Vec<Entry>,
    minute: u64,
}

fn stage_name(text: &str) -> StageName {
    StageName::parse(text).unwrap()
}

pub(super) fn run_id(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

fn to(stage: &str) -> Edge {
    Edge {
        to: Target::Stage(stage_name(stage)),
        count: None,
        reset: Vec::new(),
        approves: Vec::new(),
        words: WordsRule::default(),
    }
}

fn stage(name: &str, work: Work, on: Vec<(&str, Edge)>) -> Stage {
    let on = on.into_iter();
    Stage {
        name: stage_name(name),
        about: None,
        shown: None,
        work,
        on: on
            .map(|(word, edge)| (Outcome::parse(word).unwrap(), edge))
            .collect(),
        inject: None,
        stop: StopRule::Free,
        writes: Writes::Anything,
        tools_deny: Vec::new(),
        retry: None,
        timeout: None,
        heartbeat: None,
    }
}

fn works(agent: &str) -> Work {
    Work::Agent(AgentWork {
        worker: Worker::Agent(AgentName::parse(agent).unwrap()),
        settings: WorkerSettings::default(),
        reads: Reads {
            needed: Vec::new(),
            if_there: Vec::new(),
        },
        leaves: Leaves {
            always: vec![ArtifactName::parse("note").unwrap()],
            by_outcome: BTreeMap::new(),
        },
    })
}

fn asks(question: &str) -> Work {
    Work::Ask(AskWork {
        question: question.to_owned(),
        questions: Questions::Choice { leaves: None },
    })
}

fn checks() -> Work {
    let argv = vec!["cargo".to_owned(), "test".to_owned()];
    Work::Check(CheckWork {
        commands: Commands::Fixed(vec![argv]),
        fails_on: None,
        expects: None,
        home: HomeFolder::Own,
    })
}

fn ends(end: End) -> Work {
    Work::End(EndWork {
        end,
        after: Vec::new(),
        leaves: Vec::new(),
    })
}

fn definition() -> Definition {
    let fixes = CounterName::parse("fixes").unwrap();
    let again = Edge {
        count: Some(fixes.clone()),
        ..to("writing")
    };
    let counter = Counter {
        max: Amount::Fixed(3),
        then: stage_name("stuck"),
    };
    let reset = vec![fixes.clone()];
    let resume = Edge {
        to: Target::Interrupted,
        reset,
        ..to("writing")
    };
    let note = Artifact {
        source: Source::File("note.md".to_owned()),
        format: Format::Text,
        require: Vec::new(),
        equals: BTreeMap::new(),
        outcome: None,
        approved: None,
        strictness: Strictness::Strict,
        max_bytes: 100_000,
    };
    Definition {
        name: PipelineName::parse("notes").unwrap(),
        about: "Ask, write, test.".to_owned(),
        begins: Begins::Command,
        start: stage_name("approving"),
        mode: Mode::Enforced,
        ttl: None,
        budget: Budget::default(),
        settings: None,
        params: BTreeMap::new(),
        counters: BTreeMap::from([(fixes, counter)]),
        groups: BTreeMap::new(),
        artifacts: BTreeMap::from([(ArtifactName::parse("note").unwrap(), note)]),
        stages: vec![
            stage(
                "approving",
                asks("Shall the note be \u{1b}[31mwritten?"),
                vec![("yes", to("writing")), ("no", to("dropped"))],
            ),
            stage("writing", works("writer"), vec![("done", to("testing"))]),
            stage(
                "testing",
                checks(),
                vec![("passed", to("complete")), ("failed", again)],
            ),
            stage(
                "stuck",
                asks("It does not get better. Go on?"),
                vec![("continue", resume), ("stop", to("dropped"))],
            ),
            stage("complete", ends(End::Completed), vec![]),
            stage("dropped", ends(End::Cancelled), vec![]),
        ],
        views: Vec::new(),
        commands: BTreeMap::new(),
        helpers: Vec::new(),
        gives: Vec::new(),
        ignores: Vec::new(),
        placement: Placement::default(),
        litter: Vec::new(),
        protocol: None,
        proofs: Vec::new(),
    }
}

impl Played {
    /// A run that asks.
    pub(super) fn begin(id: &str) -> Self {
        Self::driven(id, Driver::ByHand)
    }

    pub(super) fn driven(id: &str, driver: Driver) -> Self {
        let pipeline = Pipeline::new(definition()).unwrap().pipeline;
        let decision = begin(
            &pipeline,
            &Beginning {
                branch: None,
                at: START,
                by: Who::Person("ann".to_owned()),
                id: run_id(id),
                definition: Hash([0xd0; 32]),
                task: "Write a note\nabout \u{1b}[2Jthe parser".to_owned(),
                params: BTreeMap::new(),
                driver,
                host: HostName::listed("claude"),
                session: None,
                process: None,
                steps: Vec::new(),
                before: BTreeMap::new(),
                queued: false,
                environment: None,
                base: None,
                commit: None,
                unverified_host: None,
            },
        );
        let run = replay(&decision.entries).unwrap();
        Self {
            pipeline,
            run,
            entries: decision.entries,
            minute: 0,
        }
    }

    fn happen(&mut self, by: Who, what: Happening, mut evidence: Evidence) {
        self.minute += 4;
        evidence.tree = evidence.tree.or(Some(Hash([0x77; 32])));
        let event = engine::Event {
            at: minutes(self.minute),
            by,
            what,
        };
        let decision = decide(&self.pipeline, &self.run, &event, &evidence);
        self.entries.extend(decision.entries);
        self.run = replay(&self.entries).unwrap();
    }

    pub(super) fn answer(&mut self, choice: &str) {
        let choice = Outcome::parse(choice).unwrap();
        let answer = Answer::Choice {
            choice,
            words: None,
        };
        let what = Happening::Person(PersonEvent::Answered(answer));
        let ann = Who::Person("ann".to_owned());
        self.happen(ann, what, Evidence::default());
    }

    /// The writer is at work.
    pub(super) fn request(&mut self) {
        let what = Happening::Work(WorkEvent::Requested {
            agent: AgentName::parse("writer").unwrap(),
            step: None,
            model: None,
            call: None,
            worker: None,
            service: None,
        });
        self.happen(Who::Engine, what, Evidence::default());
    }

    pub(super) fn write(&mut self) {
        let number = u8::try_from(self.minute).unwrap();
        let seen = Seen::Valid {
            content: Hash([number; 32]),
            word: None,
        };
        let evidence = Evidence {
            artifacts: BTreeMap::from([(ArtifactName::parse("note").unwrap(), seen)]),
            ..Evidence::default()
        };
        let what = Happening::Work(WorkEvent::Reported {
            agent: Some(AgentName::parse("writer").unwrap()),
            step: None,
            said: None,
            usage: Usage::default(),
        });
        self.happen(Who::Person("ann".to_owned()), what, evidence);
    }

    pub(super) fn check(&mut self, code: i32, tail: &str) {
        let position = &self.run.position;
        let (stage, visit) = (position.stage.clone(), position.visit);
        let result = CheckResult {
            argv: vec!["cargo".to_owned(), "test".to_owned()],
            ended: CheckEnd::Exit(code),
            duration_ms: 3_449,
            tail: tail.to_owned(),
            matched_failure: false,
            lacks: None,
            programs: Vec::new(),
        };
        let tree = TreeAround {
            before: Hash([0x77; 32]),
            after: Hash([0x77; 32]),
            made: BTreeMap::new(),
        };
        let what = Happening::Engine(EngineEvent::ChecksRan {
            stage,
            visit,
            results: vec![result],
            tree,
        });
        self.happen(Who::Engine, what, Evidence::default());
    }

    /// The same refusal over and over.
    pub(super) fn refused_often(&mut self, times: usize) {
        let what = Happening::Work(WorkEvent::Requested {
            agent: AgentName::parse("stranger").unwrap(),
            step: None,
            model: None,
            call: None,
            worker: None,
            service: None,
        });
        let before = self.entries.len();
        self.happen(Who::Engine, what, Evidence::default());
        assert!(self.entries.len() > before, "a refusal leaves an entry");
        let refusal = self.entries.last().unwrap().clone();
        self.entries.extend((1..times).map(|_| refusal.clone()));
    }

    fn context(&self, now: Time) -> RunContext<'_> {
        RunContext {
            project: "/home/ann/parser",
            now,
            freshness: Freshness::Fresh,
        }
    }

    pub(super) fn asks(&self, now: Time) -> Option<InboxEntry> {
        let status = engine::status(&self.pipeline, &self.run);
        matches!(status, Status::Waiting(_)).then(|| {
            let legal = engine::next(&self.pipeline, &self.run);
            let next = views::next(&self.pipeline, &self.run, &legal);
            InboxEntry::new(&self.pipeline, &self.run, &next, "/home/ann/parser", now)
        })
    }

    pub(super) fn row(&self, liveness: Liveness, now: Time) -> RunRow {
        RunRow::new(&self.pipeline, &self.run, self.context(now)).with_liveness(liveness)
    }

    pub(super) fn facts(&self, liveness: Liveness, now: Time) -> RunFacts {
        let mut timeline = Timeline::default();
        let entries: Vec<(u64, &Entry)> = (1..).zip(&self.entries).collect();
        for (number, entry) in &entries {
            timeline.add(&self.pipeline, *number, entry);
        }
        let legal = engine::next(&self.pipeline, &self.run);
        let mut choices = Vec::new();
        for next in legal {
            if let Next::Answer { choices: these, .. } = next {
                choices.extend(these);
            }
        }
        let status = views::status(&self.pipeline, &self.run, self.context(now))
            .with_liveness(liveness)
            .with_inbox(self.asks(now))
            .with_journal(&self.pipeline, &self.run, &timeline, Hash([1; 32]));
        RunFacts {
            spine: views::facts::spine(&self.pipeline, &self.run, &timeline),
            choices,
            entries: Arc::new(views::history(entries)),
            workers: Vec::new(),
            output: None,
            changes: Vec::new(),
            status,
        }
    }
}

/// A worker that has just done something wild.
pub(super) fn sign(at: Time) -> WorkerSign {
    WorkerSign {
        dispatch: DispatchId(1),
        at,
        tool: Some(Untrusted::new("Edit \u{1b}[31msrc/parser.rs")),
        words: Some(Untrusted::new("I add the flag")),
        used: Usage::default(),
    }
}

/// A screen of this size that shows these runs; the first is the shown one.
pub(super) fn screen(columns: u16, rows: u16, runs: &[(&Played, Liveness)], now: Time) -> Screen {
    let mut screen = Screen::new(Size { columns, rows }, now, None);
    let asking = runs.iter().filter_map(|(played, _)| played.asks(now));
    screen.update(Event::Runs(RunsFacts {
        inbox: Inbox::new(asking.collect()),
        rows: runs
            .iter()
            .map(|(played, liveness)| played.row(*liveness, now))
            .collect(),
        ..RunsFacts::default()
    }));
    let shown = screen.selected_run().cloned();
    for (played, liveness) in runs {
        if Some(&played.run.id) == shown.as_ref() {
            screen.update(Event::Run(Box::new(played.facts(*liveness, now))));
        }
    }
    screen
}
