//! The orchestrator: one run, driven until it is over, waits for a person, or we are stopped.
//!
//! Every step is one durable transition. What is due is told from the run alone, so a new process finds
//! what the old one would have done next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{CallId, Dispatch, Happening, Refusal, Reply, RunId, Status, StepId, Time, Who};
use store::{Backend as _, Key};

use super::crew::{Crew, Member, Report, Shared, What};
use super::due::{self, Due};
use super::job::{self, Job};
use super::lease::Lease;
use super::looking_back::Recent;
use super::people::{self, Asked, Heard, Terminal};
use super::progress::{Glance, Progress, Watcher, Worker};
use super::recovery::{self, How, Left};
use super::session::Manner;
use super::settings::Settings;
use super::slots::{Limits, Slot};
use super::workplace::{Queue, Where, Workplace};
use crate::commands::check;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Deed, Driven};
use crate::failure::Failure;
use crate::turn::PATIENCE;
use crate::worker::choice::{self, Choice, Starter};
use crate::worker::claim::Claim;
use crate::worker::listener::Told;
use crate::worker::order::{self, Special};
use crate::worker::record::Record;
use crate::worker::work::From;
use crate::{chance, clock, collision};

/// How often a picture is drawn again, and signals are looked at.
const TICK: Duration = Duration::from_millis(100);

/// How often a run that waits for a person is looked at.
const GLANCE: Duration = Duration::from_secs(1);

/// Why the orchestrator let a run go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOff {
    Over(Status),
    /// A person must do something first.
    Waiting(String),
    /// Somebody stopped us; the run goes on with `resume`.
    Stopped,
}

/// What to do where a person is asked and none sits at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Leave the run waiting.
    Leave,
    /// Stay until somebody answers elsewhere.
    Stay,
}

pub struct Orchestrator<'o, 'd> {
    desk: &'o mut Desk<'d>,
    run: RunId,
    settings: Settings,
    starter: Starter,
    lease: Lease,
    stop: Arc<AtomicBool>,
    patience: Patience,
    limits: Limits,
    /// The order in which what parallel workers did comes back.
    queue: Queue,
    crew: Crew,
    watcher: &'o mut dyn Watcher,
    begun: Instant,
    /// The stage that was told last.
    told: Option<engine::StageName>,
    /// What was told last of a pause, so that it is told once.
    pausing: Option<Time>,
    /// The version of the run at which a person was asked last.
    asked: Option<u64>,
    /// The stage whose commands are run.
    checking: Option<engine::StageName>,
}

impl<'o, 'd> Orchestrator<'o, 'd> {
    /// Takes the run's lease.
    pub fn new(
        desk: &'o mut Desk<'d>,
        run: &RunId,
        manner: &Manner,
        watcher: &'o mut dyn Watcher,
    ) -> Result<Self, Failure> {
        let settings = Settings::of(&desk.state, run)?;
        let starter = settings.starter()?;
        let lease = Lease::take(desk, run)?;
        desk.fence = Some(lease.fence);
        Ok(Self {
            desk,
            run: run.clone(),
            settings,
            starter,
            lease,
            stop: Arc::clone(&manner.stop),
            patience: manner.patience,
            limits: manner.limits.clone(),
            queue: Queue::default(),
            crew: Crew::new(),
            watcher,
            begun: Instant::now(),
            told: None,
            pausing: None,
            asked: None,
            checking: None,
        })
    }

    /// Drives the run. However this ends, no worker of ours is left alive.
    pub fn drive(mut self) -> Result<LeftOff, Failure> {
        let driven = self.drive_on();
        // Whoever is still at work is ended; its work stays open.
        self.stop.store(true, Ordering::Relaxed);
        while !self.crew.is_idle() {
            self.crew.wait(TICK);
        }
        let left = driven?;
        let opened = self.desk.read(&self.run)?;
        let (status, reason) = match &left {
            LeftOff::Over(status) => (status.word(), String::new()),
            LeftOff::Waiting(why) => ("waiting", why.clone()),
            LeftOff::Stopped => ("stopped", String::new()),
        };
        let status = status.to_owned();
        self.tell(&opened, &Progress::Left { status, reason });
        Ok(left)
    }

    fn drive_on(&mut self) -> Result<LeftOff, Failure> {
        let mut opened = self.desk.read(&self.run)?;
        self.desk.project_of(&opened)?;
        if opened.run().standing == engine::Standing::Queued {
            opened = self.take_up(opened)?;
        }
        self.note_manner(&opened)?;
        let again = opened.run().last_dispatch.0 > 0;
        self.tell(&opened, &Progress::Driving { again });
        self.take_over(opened)?;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(LeftOff::Stopped);
            }
            self.is_ours()?;
            let opened = self.look()?;
            if let Some(left) = self.step(opened)? {
                return Ok(left);
            }
        }
    }

    /// Invariant: from the look for other runs to the taking up nobody else begins one.
    fn take_up(&mut self, opened: Opened) -> Result<Opened, Failure> {
        let _turn = self.desk.state.wait_to_start(PATIENCE)?;
        let definition = opened.pipeline.definition();
        let worktree = opened.stored.worktree.clone();
        collision::refuse(self.desk, definition, opened.run(), &worktree)?;
        drive::alone(self.desk, opened, &Who::Engine, Happening::TakenUp)
    }

    /// What differs from the usual way stands in the history, once.
    fn note_manner(&mut self, opened: &Opened) -> Result<(), Failure> {
        let Some(message) = self.settings.told() else {
            return Ok(());
        };
        let key = Key::parse("driving").map_err(|problem| Failure::bug(problem.to_string()))?;
        if !self.desk.store.keyed(&self.run, &key)?.is_empty() {
            return Ok(());
        }
        let mut make = |_: &Desk<'_>, _: &Opened, _| {
            let message = message.clone();
            Ok(Deed::from(Happening::Remarked { message }))
        };
        let opened = self.desk.read(&opened.run().id)?;
        drive::witness(self.desk, opened, (&Who::Engine, Some(&key)), &mut make).map(drop)
    }

    fn is_ours(&self) -> Result<(), Failure> {
        match self.lease.is_lost() {
            false => Ok(()),
            true => Err(
                Failure::no(format!("another gatewright drives {} now", self.run)).hint(format!(
                    "`gatewright status {}` shows how it goes",
                    self.run
                )),
            ),
        }
    }

    /// The run as it is, with its time judged.
    fn look(&mut self) -> Result<Opened, Failure> {
        let opened = self.desk.read(&self.run)?;
        let opened = drive::prepare(self.desk, opened)?;
        let mut make = |_: &Desk<'_>, _: &Opened, _| Ok(Deed::from(Happening::TimePassed));
        let driven = drive::witness(self.desk, opened, (&Who::Engine, None), &mut make)?;
        let opened = driven.opened;
        let stage = opened.run().position.stage.clone();
        if let Some(from) = self.told.replace(stage.clone())
            && from != stage
        {
            self.tell(&opened, &Progress::Moved { from, to: stage });
        }
        Ok(opened)
    }

    /// Does one thing that is due, or waits a moment.
    fn step(&mut self, opened: Opened) -> Result<Option<LeftOff>, Failure> {
        // Whoever has ended is heard before the next one begins.
        if self.crew.has_ended(opened.run()) {
            self.listen(TICK)?;
            return Ok(None);
        }
        let recent = Recent::of(self.desk, &opened)?;
        match due::due(&opened, self.starter, recent.has_worked(&opened))? {
            Due::Over(status) => return Ok(Some(LeftOff::Over(status))),
            Due::Person(why) => return self.person(opened, why),
            Due::Finish => {
                let stage = &opened.run().position.stage;
                let why = format!("an agent has worked in {stage}: is it done?");
                return self.person(opened, why);
            }
            Due::Check if !self.crew.has(Member::Check) => self.check(&opened)?,
            Due::Workers(choices) => self.begin(opened, &recent, choices)?,
            Due::Check | Due::Nothing => {}
        }
        self.listen(TICK)?;
        Ok(None)
    }

    /// Hears what the crew has to say.
    fn listen(&mut self, patience: Duration) -> Result<(), Failure> {
        let mut report = self.crew.wait(patience);
        if report.is_none() {
            let opened = self.desk.read(&self.run)?;
            self.watcher.tick(&glance(&opened, &self.crew, self.begun));
        }
        while let Some(Report { who, what }) = report {
            match (who, what) {
                (_, What::Over(Err(failure))) => return Err(failure),
                (Member::Dispatch(dispatch), What::Told(told)) => {
                    let what = match told {
                        Told::Acted(action) => Progress::WorkerActed { dispatch, action },
                        Told::Used(usage) => Progress::WorkerUsed { dispatch, usage },
                        Told::SentBack(reason) => Progress::WorkerSentBack { dispatch, reason },
                    };
                    let opened = self.desk.read(&self.run)?;
                    self.tell(&opened, &what);
                }
                (Member::Dispatch(dispatch), What::Over(Ok(()))) => {
                    let opened = self.desk.read(&self.run)?;
                    let recent = Recent::of(self.desk, &opened)?;
                    if let Some((result, is_fault)) = recent.judged(dispatch) {
                        let what = Progress::WorkerEnded {
                            dispatch,
                            result,
                            is_fault,
                        };
                        self.tell(&opened, &what);
                    }
                }
                (Member::Check, What::Over(Ok(()))) => {
                    let opened = self.desk.read(&self.run)?;
                    let recent = Recent::of(self.desk, &opened)?;
                    let stage = self.checking.take();
                    let checked = stage.and_then(|it| Some((recent.checked(&it)?, it)));
                    if let Some(((passed, tail), stage)) = checked {
                        let what = Progress::CheckEnded {
                            stage,
                            passed,
                            tail,
                        };
                        self.tell(&opened, &what);
                    }
                }
                (Member::Check, What::Told(_)) => {}
            }
            report = self.crew.wait(Duration::ZERO);
        }
        Ok(())
    }

    fn tell(&mut self, opened: &Opened, what: &Progress) {
        let at = glance(opened, &self.crew, self.begun);
        self.watcher.tell(&at, what);
    }

    fn shared(&self) -> Shared {
        Shared {
            whereabouts: self.desk.context.whereabouts(),
            run: self.run.clone(),
            fence: self.lease.fence,
            stop: Arc::clone(&self.stop),
        }
    }

    // --- workers ---

    /// Starts those who may begin, as many as may work at once.
    fn begin(&mut self, opened: Opened, recent: &Recent, due: Vec<Choice>) -> Result<(), Failure> {
        let now = clock::now();
        let mut opened = opened;
        let mut pause: Option<(Time, String)> = None;
        for choice in due {
            match recent.pause(&opened, &choice) {
                Some((until, why)) if until > now => {
                    pause = match pause {
                        Some(earlier) if earlier.0 <= until => Some(earlier),
                        Some(_) | None => Some((until, why)),
                    };
                }
                Some(_) | None => opened = self.start(opened, &choice)?,
            }
        }
        if let Some((until, why)) = pause.filter(|_| self.crew.is_idle())
            && self.pausing.replace(until) != Some(until)
        {
            self.tell(&opened, &Progress::Pausing { until, why });
        }
        Ok(())
    }

    /// Invariant: what cannot be started costs no attempt, so all is made ready before it is admitted.
    fn start(&mut self, opened: Opened, choice: &Choice) -> Result<Opened, Failure> {
        if self.has_enough(&opened) {
            return Ok(opened);
        }
        let runner = choice.runner.word();
        let Some(slot) = self.limits.take(&self.desk.state, runner)? else {
            return Ok(opened);
        };
        let claim = Claim::new(&self.desk.state)?;
        let workplace = match &choice.step {
            Some(step) => self.workplace(&opened, (step, claim.call(), 0))?,
            None => None,
        };
        // Without a folder of its own a worker works where all others do, and so alone.
        if workplace.is_none() && !self.crew.is_idle() {
            return Ok(opened);
        }
        let special = Special {
            stand_in: self.settings.stand_in.as_deref(),
            workplace: None,
        };
        order::prepare(self.desk, &opened, choice, (&claim, special))?;
        let admitted = self.admit(opened, choice, claim.call())?;
        let Some(dispatch) = of_call(&admitted.opened, claim.call()) else {
            return self.turned_down(admitted);
        };
        let record = record(&self.run, &dispatch, choice);
        let work = (claim, dispatch, choice);
        let means = (record, slot, workplace);
        self.hand_over(&admitted.opened, work, means, From::TheBeginning)?;
        Ok(admitted.opened)
    }

    fn workplace(
        &self,
        opened: &Opened,
        of: (&StepId, &CallId, u32),
    ) -> Result<Option<Box<Workplace>>, Failure> {
        let with = (&self.queue, &self.stop);
        Ok(match Workplace::make(self.desk, opened, of, with)? {
            Where::Together => None,
            Where::Apart(workplace) => Some(workplace),
        })
    }

    /// Are as many at work as the stage allows?
    fn has_enough(&self, opened: &Opened) -> bool {
        let run = opened.run();
        let stage = opened.pipeline.stage(&run.position.stage);
        let most = match stage.map(|stage| &stage.work) {
            Some(engine::Work::Steps(work)) => match &work.max_parallel {
                Some(most) => engine::amount(most, run).unwrap_or(1),
                None => u32::MAX,
            },
            _ => 1,
        };
        let open = run.dispatches.values();
        let open = open.filter(|open| open.visit == run.position.visit).count();
        u32::try_from(open).unwrap_or(u32::MAX) >= most
    }

    fn admit(&mut self, opened: Opened, choice: &Choice, call: &CallId) -> Result<Driven, Failure> {
        let what = Happening::AgentRequested {
            agent: choice.agent.clone(),
            step: choice.step.clone(),
            call: Some(call.clone()),
            worker: None,
        };
        let mut make = |_: &Desk<'_>, _: &Opened, _| Ok(Deed::from(what.clone()));
        drive::witness(self.desk, opened, (&Who::Engine, None), &mut make)
    }

    /// The engine did not admit it: the run has moved, or waits now, or its budget is used up.
    fn turned_down(&mut self, driven: Driven) -> Result<Opened, Failure> {
        if let Reply::Refuse(Refusal { reason, .. }) = &driven.reply {
            let text = reason.clone();
            self.tell(&driven.opened, &Progress::Remark { text });
        }
        // Somebody else may have been quicker; if nothing changes, we must not try for ever.
        let status = engine::status(&driven.opened.pipeline, driven.opened.run());
        match (&driven.reply, status) {
            (Reply::Refuse(refusal), Status::Running) if self.crew.is_idle() => {
                Err(Failure::no(views::refusal(refusal))
                    .hint(format!("`gatewright why {}` tells more", self.run)))
            }
            _ => Ok(driven.opened),
        }
    }

    /// A thread goes on with it.
    fn hand_over(
        &mut self,
        opened: &Opened,
        (claim, dispatch, choice): (Claim, Dispatch, &Choice),
        (mut record, slot, workplace): (Record, Slot, Option<Box<Workplace>>),
        from: From,
    ) -> Result<(), Failure> {
        if let Some(workplace) = &workplace {
            workplace.enter(dispatch.id);
            record.workplace = Some(workplace.folder()?);
        }
        let worker = Worker {
            dispatch: dispatch.id,
            agent: dispatch.agent.clone(),
            step: job::step_of(&dispatch).cloned(),
            runner: choice.runner.word().to_owned(),
            model: choice.settings.model.clone(),
            attempt: dispatch.attempt,
        };
        let (who, shared) = (Member::Dispatch(dispatch.id), self.shared());
        let job = Job {
            claim,
            dispatch,
            choice: choice.clone(),
            record,
            from,
            workplace,
            stand_in: self.settings.stand_in.clone(),
            slot,
        };
        let work = move |tell: &mut dyn FnMut(Told)| job.work(&shared, tell);
        self.crew.begin(who, Some(worker.clone()), work)?;
        self.tell(opened, &Progress::WorkerBegan { worker });
        Ok(())
    }

    // --- what another one left ---

    /// Ends what is left of an orchestrator that was killed, and goes on with its work.
    fn take_over(&mut self, mut opened: Opened) -> Result<(), Failure> {
        for left in recovery::left(self.desk, &opened) {
            left.end();
            opened = self.go_on(opened, &left)?;
        }
        Ok(())
    }

    fn go_on(&mut self, opened: Opened, left: &Left) -> Result<Opened, Failure> {
        let (id, agent) = (left.dispatch.id, &left.dispatch.agent);
        let text = format!("'{agent}' ({id}) was interrupted: {}", left.how.told());
        self.tell(&opened, &Progress::Remark { text });
        let choice = choice::of_dispatch(&opened.pipeline, &left.dispatch, self.starter)?;
        let (Some(choice), Some(call)) = (choice, &left.dispatch.call) else {
            return left.close(self.desk, opened);
        };
        match left.how {
            How::Late | How::GiveUp => left.close(self.desk, opened),
            How::Judge | How::GoOn | How::BeginAnew => {
                let claim = Claim::take_over(&self.desk.state, call)?;
                let mut record = left
                    .record
                    .clone()
                    .unwrap_or_else(|| record(&self.run, &left.dispatch, &choice));
                if left.how == How::BeginAnew {
                    if let Some(step) = &choice.step {
                        let of = (step, call, record.restarts);
                        Workplace::abandon(self.desk, &opened, of)?;
                    }
                    record.restarts += 1;
                    record.conversation = None;
                }
                let dispatch = left.dispatch.clone();
                let slot = self.wait_for_slot(&choice)?;
                let step = choice.step.as_ref();
                let workplace = match step {
                    Some(step) => self.workplace(&opened, (step, call, record.restarts))?,
                    None => None,
                };
                let work = (claim, dispatch, &choice);
                self.hand_over(&opened, work, (record, slot, workplace), left.from())?;
                Ok(opened)
            }
        }
    }

    /// Work that has begun goes on, as soon as there is a place for it.
    fn wait_for_slot(&self, choice: &Choice) -> Result<Slot, Failure> {
        loop {
            let slot = self.limits.take(&self.desk.state, choice.runner.word())?;
            match slot {
                Some(slot) => return Ok(slot),
                None if self.stop.load(Ordering::Relaxed) => return Ok(Slot::default()),
                None => std::thread::sleep(TICK),
            }
        }
    }

    // --- checks ---

    fn check(&mut self, opened: &Opened) -> Result<(), Failure> {
        let stage = opened.run().position.stage.clone();
        self.checking = Some(stage.clone());
        self.tell(opened, &Progress::CheckBegan { stage });
        let (shared, key) = (self.shared(), chance::key()?);
        self.crew.begin(Member::Check, None, move |_| {
            let context = shared.whereabouts.context();
            let mut desk = Desk::for_writing(&context)?;
            desk.fence = Some(shared.fence);
            let opened = desk.read(&shared.run)?;
            check::check(&mut desk, opened, &key).map(drop)
        })
    }

    // --- people ---

    /// A person is asked: in advance, at the terminal, or elsewhere.
    fn person(&mut self, opened: Opened, why: String) -> Result<Option<LeftOff>, Failure> {
        if !self.crew.is_idle() {
            self.listen(TICK)?;
            return Ok(None);
        }
        if let Some(driven) = people::in_advance(self.desk, &opened, &self.settings)? {
            let answer = self.settings.answers.get(&opened.run().position.stage);
            let what = Progress::Answered {
                by: format!("{}, in advance", self.settings.given_by),
                answer: answer.cloned().unwrap_or_default(),
            };
            self.tell(&driven.opened, &what);
            return match driven.reply {
                Reply::Refuse(refusal) => Err(Failure::no(views::refusal(&refusal)).hint(format!(
                    "`gatewright next {}` says what may be answered",
                    self.run
                ))),
                _ => Ok(None),
            };
        }
        let asked = people::asked(self.desk, &opened, &why)?;
        let version = opened.stored.version;
        if self.asked.replace(version) != Some(version) {
            let (question, choices) = match &asked {
                Asked::Choice { question, choices } => (question.clone(), choices.clone()),
                Asked::Questions { question, .. } => (question.clone(), Vec::new()),
                Asked::Command(why) => (why.clone(), Vec::new()),
            };
            self.tell(&opened, &Progress::Asked { question, choices });
        }
        let who = self.desk.context.who();
        self.watcher.aside();
        match (asked, Terminal::of(&who), self.patience) {
            (Asked::Choice { choices, .. }, Some(terminal), _) => {
                self.ask_choice(&opened, (terminal, &who), &choices)
            }
            (Asked::Questions { questions, .. }, Some(terminal), _) => {
                self.ask_questions(&opened, (terminal, &who), &questions)
            }
            (_, _, Patience::Leave) => Ok(Some(LeftOff::Waiting(why))),
            (_, _, Patience::Stay) => {
                self.listen(GLANCE)?;
                Ok(None)
            }
        }
    }

    fn ask_choice(
        &mut self,
        opened: &Opened,
        (mut terminal, who): (Terminal, &Who),
        choices: &[String],
    ) -> Result<Option<LeftOff>, Failure> {
        terminal.say(&format!("{}: ", choices.join(" / ")))?;
        let Some(choice) = self.hear(&mut terminal, opened)? else {
            return Ok(None);
        };
        if !choices.contains(&choice) {
            terminal.say(&format!("'{}' is none of them\n", views::line(&choice)))?;
            return Ok(None);
        }
        let key = chance::key()?;
        let driven = people::give(self.desk, opened, (who, &key), &choice)?;
        self.answered(&driven, (&mut terminal, who), choice)
    }

    fn ask_questions(
        &mut self,
        opened: &Opened,
        (mut terminal, who): (Terminal, &Who),
        questions: &[engine::Question],
    ) -> Result<Option<LeftOff>, Failure> {
        let mut answers = Vec::new();
        for question in questions {
            let options = match question.options.is_empty() {
                true => String::new(),
                false => format!(" ({})", views::line(&question.options.join(", "))),
            };
            terminal.say(&format!("{}{options}\n> ", views::line(&question.text)))?;
            let Some(answer) = self.hear(&mut terminal, opened)? else {
                return Ok(None);
            };
            answers.push((question.id.clone(), answer));
        }
        let mut make = |desk: &Desk<'_>, opened: &Opened, _| {
            crate::commands::answer::answered(desk, opened, &answers)
        };
        let opened = self.desk.read(&self.run)?;
        let driven = drive::witness(self.desk, opened, (who, None), &mut make)?;
        let answer = format!("{} answers", answers.len());
        self.answered(&driven, (&mut terminal, who), answer)
    }

    fn answered(
        &mut self,
        driven: &Driven,
        (terminal, who): (&mut Terminal, &Who),
        answer: String,
    ) -> Result<Option<LeftOff>, Failure> {
        match &driven.reply {
            Reply::Refuse(refusal) => terminal.say(&format!("{}\n", views::refusal(refusal)))?,
            _ => {
                let by = who.name();
                self.tell(&driven.opened, &Progress::Answered { by, answer });
            }
        }
        Ok(None)
    }

    fn hear(&self, terminal: &mut Terminal, opened: &Opened) -> Result<Option<String>, Failure> {
        let stopped = || self.stop.load(Ordering::Relaxed);
        let of = (&self.run, opened.stored.version);
        match terminal.hear(self.desk, of, &stopped)? {
            Heard::Line(line) => Ok(Some(line)),
            Heard::Moved => Ok(None),
            Heard::Stopped => {
                self.stop.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    }
}

fn glance<'a>(opened: &'a Opened, crew: &'a Crew, begun: Instant) -> Glance<'a> {
    Glance {
        opened,
        at_work: &crew.at_work,
        elapsed: begun.elapsed(),
        now: clock::now(),
    }
}

fn of_call(opened: &Opened, call: &CallId) -> Option<Dispatch> {
    let mut open = opened.run().dispatches.values();
    open.find(|open| open.call.as_ref() == Some(call)).cloned()
}

fn record(run: &RunId, dispatch: &Dispatch, choice: &Choice) -> Record {
    Record {
        run: run.clone(),
        dispatch: dispatch.id,
        agent: dispatch.agent.clone(),
        runner: choice.runner.word().to_owned(),
        process: None,
        conversation: None,
        workplace: None,
        restarts: 0,
        ended: None,
    }
}
