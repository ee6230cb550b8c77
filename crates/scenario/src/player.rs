//! The player: plays steps on the real engine, with an invented world in place of the disk.

use std::collections::BTreeMap;

use engine::{
    Answer, ArtifactName, Beginning, CheckpointName, Decision, Driver, EngineEvent, Entry, Event,
    Evidence, Happening, Hash, HostName, PersonEvent, Pipeline, Question, Reply, Rule, Run, RunId,
    SessionEvent, SessionId, StageName, StepsSource, ToolEvent, TreeAround, Usage, Who, Words,
    Work,
};

use super::check_result;
use super::grammar::FIRST_SESSION;
use super::step::{
    Act, Background, By, CheckHow, Entrance, Given, HostAct, PersonAct, Point, Start, Step,
    StepsGiven, Subject,
};
use super::work_result::{Unplayable, unplayable};
use super::world::World;

/// A run in an invented world.
#[derive(Clone)]
pub(crate) struct Player<'a> {
    pub pipeline: &'a Pipeline,
    /// The agent program of a guarded run's session.
    host: &'a HostName,
    pub world: World,
    pub run: Option<Run>,
    pub entries: Vec<Entry>,
    pub(super) driver: Driver,
    checkpoints: BTreeMap<CheckpointName, (u64, Run)>,
    /// The run at its last arrival in each stage.
    arrivals: BTreeMap<StageName, (u64, Run)>,
}

/// The reply to a step.
#[derive(Clone, Debug)]
pub(crate) struct StepReply {
    pub reply: Reply,
    pub rule: Rule,
    /// How many entries there were before.
    pub entries_before: usize,
}

pub(super) type Played<T> = Result<T, Unplayable>;

impl<'a> Player<'a> {
    pub(crate) fn new(pipeline: &'a Pipeline, host: &'a HostName) -> Self {
        Self {
            pipeline,
            host,
            world: World::default(),
            run: None,
            entries: Vec::new(),
            driver: Driver::Guarded,
            checkpoints: BTreeMap::new(),
            arrivals: BTreeMap::new(),
        }
    }

    /// Plays a step. Returns its reply, if it gets one.
    pub(crate) fn play(&mut self, step: &Step) -> Played<Option<StepReply>> {
        if !matches!(step, Step::Given(Given::Step(_))) {
            self.world.plan.close();
        }
        let before = self.entries.len();
        let decision = match step {
            Step::Given(given) => {
                self.given(given);
                return Ok(None);
            }
            Step::TreeChanges => {
                self.world.change_tree();
                return Ok(None);
            }
            Step::Change(change) => {
                self.world.change_tree();
                self.world.change = change.clone();
                return Ok(None);
            }
            Step::Start(start) => self.start(start)?,
            Step::Wait(time) => {
                self.world.wait(*time);
                let event = Event {
                    at: self.world.now,
                    by: Who::Engine,
                    what: Happening::Engine(EngineEvent::TimePassed),
                };
                let evidence = self.look(&event)?;
                self.happen(event.by, event.what, evidence)?
            }
            Step::Act { by, act } => self.act(by, act)?,
        };
        self.plan()?;
        let Decision { reply, rule, .. } = decision;
        Ok(Some(StepReply {
            reply,
            rule,
            entries_before: before,
        }))
    }

    /// May this worker start now? Asks the real engine, on a copy.
    pub(crate) fn may_begin(&self, subject: &Subject) -> Played<Reply> {
        self.clone()
            .begin(&By::Usual, subject)
            .map(|decision| decision.reply)
    }

    fn given(&mut self, given: &Given) {
        match given {
            Given::Step(step) => self.world.plan.add(step.clone()),
            Given::Question { id, text } => self.world.questions.push(question(id, text)),
            Given::Old(artifact) => {
                let need = engine::ArtifactNeed {
                    artifact: artifact.clone(),
                    step: None,
                    agent: None,
                };
                self.world.litter(&need);
            }
        }
    }

    fn start(&mut self, start: &Start) -> Played<Decision> {
        let session = match start.driver {
            Driver::Guarded => Some(parsed(SessionId::parse(FIRST_SESSION))?),
            Driver::ByHand | Driver::Headless => None,
        };
        let beginning = Beginning {
            at: self.world.now,
            by: person(),
            id: parsed(RunId::parse("scenario"))?,
            definition: Hash([0; 32]),
            task: String::from("play a scenario"),
            params: start.params.clone(),
            driver: start.driver,
            host: self.host.clone(),
            process: None,
            session,
            steps: self.given_at_start(start.steps),
            before: self.lying_there(),
            queued: start.entry == Entrance::Queued,
            environment: None,
            base: None,
            commit: None,
            branch: None,
            unverified_host: None,
        };
        self.driver = start.driver;
        let decision = engine::begin(self.pipeline, &beginning);
        self.record(&decision)?;
        Ok(decision)
    }

    /// What earlier runs have left, as a command sees it before a start.
    fn lying_there(&self) -> BTreeMap<ArtifactName, Hash> {
        let needs = engine::needs_at_start(self.pipeline, &BTreeMap::new());
        let needs = needs.artifacts.into_iter();
        needs
            .filter_map(|need| Some((need.artifact.clone(), self.world.look(&need).content()?)))
            .collect()
    }

    /// Steps are given at the start if the pipeline needs them there.
    fn given_at_start(&self, steps: StepsGiven) -> Vec<engine::Step> {
        let wanted = steps == StepsGiven::AtStart || self.pipeline.definition().stages.iter().any(
            |stage| matches!(&stage.work, Work::Steps(work) if work.source == StepsSource::Start),
        );
        if wanted {
            self.world.plan.steps.clone()
        } else {
            Vec::new()
        }
    }

    pub(super) fn running(&self) -> Played<&Run> {
        self.run.as_ref().ok_or_else(|| Unplayable {
            message: String::from("there is no run: it was refused at the start"),
            hint: String::from("end the scenario with the refusal"),
        })
    }

    fn act(&mut self, by: &By, act: &Act) -> Played<Decision> {
        match act {
            Act::Begin(subject) => self.begin(by, subject),
            Act::End {
                subject,
                begins,
                how,
                usage,
            } => self.work(by, subject, *begins, how, *usage),
            Act::Report { subject, how } => self.report(by, subject, how, Usage::default()),
            Act::Check { stage, how } => self.check(by, stage.as_ref(), *how),
            Act::Person(act) => {
                let what = self.person_event(act)?;
                self.plainly(self.who(by, person()), what)
            }
            Act::Host(act) => {
                let (usual, what) = self.host_event(act);
                self.plainly(self.who(by, usual), what)
            }
        }
    }

    fn check(&mut self, by: &By, stage: Option<&StageName>, how: CheckHow) -> Played<Decision> {
        let before = self.world.tree();
        if how == CheckHow::ChangesTree {
            self.world.change_tree();
        }
        let around = TreeAround {
            before,
            after: self.world.tree(),
            made: BTreeMap::new(),
        };
        let what = check_result::checks_ran(self.pipeline, self.running()?, stage, how, around)?;
        self.happen(self.who(by, Who::Engine), what, Evidence::default())
    }

    /// Reads the world without changing it.
    pub(super) fn plainly(&mut self, by: Who, what: Happening) -> Played<Decision> {
        let event = Event {
            at: self.world.now,
            by,
            what,
        };
        let evidence = self.look(&event)?;
        self.happen(event.by, event.what, evidence)
    }

    fn host_event(&self, act: &HostAct) -> (Who, Happening) {
        match act {
            HostAct::Open(session) => {
                let opened = Happening::Session(SessionEvent::Started {
                    session: session.clone(),
                    process: None,
                    heir_of: None,
                    unverified_host: None,
                });
                (Who::Session(session.clone()), opened)
            }
            HostAct::Close(session) => {
                let closed = Happening::Session(SessionEvent::Ended {
                    session: session.clone(),
                });
                (Who::Session(session.clone()), closed)
            }
            HostAct::Stop { background } => {
                let background_work = *background == Background::Working;
                (
                    self.host(),
                    Happening::Session(SessionEvent::StopRequested { background_work }),
                )
            }
            HostAct::Tool(tool) => {
                let requested = Happening::Tool(ToolEvent::Requested {
                    tool: tool.clone(),
                    worker: None,
                    protected_paths: Vec::new(),
                    bypass: None,
                });
                (self.host(), requested)
            }
            HostAct::Prompt => (
                self.host(),
                Happening::Session(SessionEvent::PromptSubmitted {
                    text: String::new(),
                }),
            ),
            HostAct::TakeUp => (Who::Engine, Happening::Engine(EngineEvent::TakenUp)),
        }
    }

    fn person_event(&mut self, act: &PersonAct) -> Played<Happening> {
        Ok(match act {
            PersonAct::Answer { choice, words } => {
                let words = (!words.is_empty()).then(|| Words {
                    text: words.clone(),
                    content: self.world.new_content(),
                });
                let choice = choice.clone();
                Happening::Person(PersonEvent::Answered(Answer::Choice { choice, words }))
            }
            PersonAct::Answers(given) => {
                let content = self.world.new_content();
                Happening::Person(PersonEvent::Answered(Answer::Answers {
                    given: given.clone(),
                    content,
                }))
            }
            PersonAct::Continue => {
                Happening::Person(PersonEvent::Answered(Answer::Continue { words: None }))
            }
            PersonAct::Finish => Happening::Person(PersonEvent::FinishAsked),
            PersonAct::Skip { outcome, reason } => Happening::Person(PersonEvent::SkipAsked {
                outcome: outcome.clone(),
                reason: reason.clone(),
            }),
            PersonAct::Retry => Happening::Person(PersonEvent::RetryAsked),
            PersonAct::Cancel { reason } => Happening::Person(PersonEvent::CancelAsked {
                reason: reason.clone(),
            }),
            PersonAct::Reset { reason } => Happening::Person(PersonEvent::ResetAsked {
                reason: reason.clone(),
            }),
            PersonAct::Checkpoint(name) => {
                Happening::Person(PersonEvent::CheckpointAsked { name: name.clone() })
            }
            PersonAct::Restore { point, reason } => {
                let (entry, state) = self.point(point)?;
                let reason = reason.clone();
                Happening::Person(PersonEvent::RestoreAsked {
                    entry,
                    state: Box::new(state),
                    reason,
                })
            }
        })
    }

    /// The run at this point, and its entry.
    fn point(&self, point: &Point) -> Played<(u64, Run)> {
        let (found, hint) = match point {
            Point::Checkpoint(name) => (
                self.checkpoints.get(name),
                format!("write `checkpoint {name}` further up"),
            ),
            Point::Stage(stage) => (
                self.arrivals.get(stage),
                format!("let the run go through {stage} further up"),
            ),
        };
        match found {
            Some(found) => Ok(found.clone()),
            None => unplayable(format!("unknown point `{point}`"), hint),
        }
    }

    /// What exists in the world before anything happens.
    pub(super) fn look(&mut self, event: &Event) -> Played<Evidence> {
        let run = self.running()?;
        let needs = engine::needs(self.pipeline, run, event);
        let artifacts = needs.artifacts.iter();
        let artifacts = artifacts.map(|need| (need.artifact.clone(), self.world.look(need)));
        let artifacts = artifacts.collect();
        let tree = needs.tree.then(|| self.world.tree());
        let questions = needs.questions.map(|_| Ok(self.questions(&event.what)));
        let steps = needs.steps.map(|_| Ok(self.world.plan.steps.clone()));
        Ok(Evidence {
            artifacts,
            tree,
            questions,
            steps,
            ..Evidence::default()
        })
    }

    /// The worker's questions: those given, otherwise questions that fit these answers.
    fn questions(&self, what: &Happening) -> Vec<Question> {
        if let Happening::Person(PersonEvent::Answered(Answer::Answers { given, .. })) = what
            && self.world.questions.is_empty()
        {
            return given.keys().map(|id| question(id, id)).collect();
        }
        self.world.questions.clone()
    }

    pub(super) fn who(&self, by: &By, usual: Who) -> Who {
        match by {
            By::Usual => usual,
            By::Session(session) => Who::Session(session.clone()),
        }
    }

    /// Who reports agents, stops and prompts in a run of this kind.
    pub(super) fn host(&self) -> Who {
        match (self.driver, SessionId::parse(FIRST_SESSION)) {
            (Driver::Guarded, Ok(session)) => Who::Session(session),
            (Driver::ByHand, _) => person(),
            (Driver::Guarded | Driver::Headless, _) => Who::Engine,
        }
    }

    /// Routes are decided, and the steps of a new task graph are read, before anything else happens.
    fn plan(&mut self) -> Played<()> {
        const MOST: u32 = 16;
        for _ in 0..MOST {
            let run = self.run.as_ref();
            let Some(what) = run.and_then(|run| engine::pending(self.pipeline, run)) else {
                break;
            };
            let before = self.entries.len();
            self.settle(what)?;
            if self.entries.len() == before {
                break;
            }
        }
        Ok(())
    }

    fn settle(&mut self, what: Happening) -> Played<()> {
        let plans = matches!(what, Happening::Engine(EngineEvent::StepsRead { .. }));
        if plans && self.world.plan.steps.is_empty() {
            let hint = String::from("write `given step s1 by AGENT` above this step");
            return unplayable(String::from("a task graph starts without steps"), hint);
        }
        let event = Event {
            at: self.world.now,
            by: Who::Engine,
            what,
        };
        let evidence = self.look(&event)?;
        self.happen(event.by, event.what, evidence).map(drop)
    }

    pub(super) fn happen(
        &mut self,
        by: Who,
        what: Happening,
        evidence: Evidence,
    ) -> Played<Decision> {
        let event = Event {
            at: self.world.now,
            by,
            what,
        };
        let run = self.running()?;
        let measured = engine::needs(self.pipeline, run, &event).change;
        let change = measured.map(|_| self.world.change.clone());
        let evidence = Evidence { change, ..evidence };
        let decision = engine::decide(self.pipeline, run, &event, &evidence);
        self.record(&decision)?;
        if let (Happening::Person(PersonEvent::CheckpointAsked { name }), Some(run)) =
            (event.what, &self.run)
        {
            self.checkpoints
                .insert(name, (self.entries.len() as u64, run.clone()));
        }
        Ok(decision)
    }

    fn record(&mut self, decision: &Decision) -> Played<()> {
        for entry in &decision.entries {
            let run = engine::apply(self.run.take(), entry).map_err(|damage| Unplayable {
                message: format!("the engine contradicts itself: {damage}"),
                hint: String::from("please report this"),
            })?;
            self.run = Some(run);
            self.entries.push(entry.clone());
        }
        let mut facts = decision.entries.iter().map(|entry| &entry.fact);
        if let (true, Some(run)) = (facts.any(|fact| engine::arrival(fact).is_some()), &self.run) {
            let point = (self.entries.len() as u64, run.clone());
            self.arrivals.insert(run.position.stage.clone(), point);
        }
        Ok(())
    }
}

pub(super) fn person() -> Who {
    Who::Person(String::from("a person"))
}

fn question(id: &str, text: &str) -> Question {
    let (id, text) = (String::from(id), String::from(text));
    Question {
        id,
        text,
        options: Vec::new(),
        context: None,
    }
}

pub(super) fn parsed<T>(name: Result<T, engine::NameError>) -> Played<T> {
    name.map_err(|problem| Unplayable {
        message: format!("a name of our own is wrong: {problem}"),
        hint: String::from("please report this"),
    })
}
