//! Whole runs through the real engine.

use std::collections::BTreeMap;
use std::ops::Range;

use engine::*;

use super::example::*;
use super::facts::check_result;
use crate::{Paint, history};

/// A run, its journal, and which entries belong to one decision.
pub(crate) struct Play {
    pub pipeline: Pipeline,
    pub run: Run,
    pub entries: Vec<Entry>,
    pub decisions: Vec<Range<usize>>,
    pub minute: u64,
}

pub(crate) fn ann() -> Who {
    Who::Person("ann".to_owned())
}

impl Play {
    pub(crate) fn begin() -> Self {
        Self::driven(Driver::ByHand)
    }

    pub(crate) fn driven(driver: Driver) -> Self {
        Self::started(pipeline(), driver, false)
    }

    /// A run of another pipeline.
    pub(crate) fn of(pipeline: Pipeline) -> Self {
        Self::started(pipeline, Driver::ByHand, false)
    }

    /// A headless run that waits in the queue for an hour before a worker takes it up.
    pub(crate) fn queued_for_an_hour() -> Self {
        let mut play = Self::started(pipeline(), Driver::Headless, true);
        play.minute += 59;
        let taken_up = Happening::Engine(EngineEvent::TakenUp);
        play.happen(Who::Engine, taken_up, Evidence::default());
        play
    }

    fn started(pipeline: Pipeline, driver: Driver, queued: bool) -> Self {
        let decision = begin(
            &pipeline,
            &Beginning {
                branch: None,
                at: START,
                by: ann(),
                id: run_id("r-7f3"),
                definition: hash(0xd0),
                task: "Write the role web\nand test it".to_owned(),
                params: BTreeMap::from([(param_name("target"), "roles/web".to_owned())]),
                driver,
                host: HostName::listed("claude"),
                session: None,
                process: None,
                steps: Vec::new(),
                before: BTreeMap::new(),
                queued,
                environment: None,
                base: None,
                commit: None,
                unverified_host: None,
            },
        );
        let run = replay(&decision.entries).unwrap();
        let decisions = std::iter::once(0..decision.entries.len()).collect();
        Self {
            pipeline,
            run,
            entries: decision.entries,
            decisions,
            minute: 0,
        }
    }

    pub(crate) fn happen(&mut self, by: Who, what: Happening, mut evidence: Evidence) -> Reply {
        self.minute += 1;
        evidence.tree = evidence.tree.or(Some(hash(0x77)));
        let event = Event {
            at: minutes(self.minute),
            by,
            what,
        };
        let decision = decide(&self.pipeline, &self.run, &event, &evidence);
        let first = self.entries.len();
        self.entries.extend(decision.entries);
        self.decisions.push(first..self.entries.len());
        self.run = replay(&self.entries).unwrap();
        decision.reply
    }

    /// These artifacts lie there, each with a word in its outcome field.
    pub(crate) fn left(&self, left: &[(&str, Option<&str>)]) -> Evidence {
        let number = u8::try_from(self.minute).unwrap();
        let seen = |(artifact, word): &(&str, Option<&str>)| {
            let word = word.map(str::to_owned);
            (
                artifact_name(artifact),
                Seen::Valid {
                    content: hash(number),
                    word,
                },
            )
        };
        Evidence {
            artifacts: left.iter().map(seen).collect(),
            ..Evidence::default()
        }
    }

    /// An agent is reported to have left these artifacts.
    pub(crate) fn report(&mut self, agent: &str, left: &[(&str, Option<&str>)]) -> Reply {
        let evidence = self.left(left);
        let agent = Some(agent_name(agent));
        let what = Happening::Work(WorkEvent::Reported {
            agent,
            step: None,
            said: None,
            usage: Usage::default(),
        });
        self.happen(ann(), what, evidence)
    }

    pub(crate) fn plan(&mut self) {
        let step = |id: &str, needs: &[&str]| Step {
            id: step_id(id),
            title: format!("Write {id}"),
            agent: agent_name(&format!("bash-{id}")),
            needs: needs.iter().map(|need| step_id(need)).collect(),
        };
        let steps = Some(Ok(vec![step("tasks", &[]), step("tests", &["tasks"])]));
        let what = pending(&self.pipeline, &self.run).unwrap();
        self.happen(
            Who::Engine,
            what,
            Evidence {
                steps,
                ..Evidence::default()
            },
        );
    }

    pub(crate) fn check(&mut self, code: i32, tail: &str) {
        let position = &self.run.position;
        let (stage, visit) = (position.stage.clone(), position.visit);
        let results = vec![check_result(CheckEnd::Exit(code), tail)];
        let tree = TreeAround {
            before: hash(0x77),
            after: hash(0x77),
            made: BTreeMap::new(),
        };
        let what = Happening::Engine(EngineEvent::ChecksRan {
            stage,
            visit,
            results,
            tree,
        });
        self.happen(Who::Engine, what, Evidence::default());
    }

    pub(crate) fn answer(&mut self, choice: &str) {
        let what = Happening::Person(PersonEvent::Answered(Answer::Choice {
            choice: outcome(choice),
            words: None,
        }));
        self.happen(ann(), what, Evidence::default());
    }

    pub(crate) fn numbered(&self) -> Vec<(u64, &Entry)> {
        (1..).zip(&self.entries).collect()
    }

    pub(crate) fn stands_in(&self, stage: &str) {
        assert_eq!(self.run.position.stage.as_str(), stage, "{}", self.told());
    }

    pub(crate) fn told(&self) -> String {
        history(self.numbered()).text(Paint::Plain)
    }
}

/// A plan, a refused step, a failing and a passing check, a review, and the end.
pub(crate) fn whole_story() -> Play {
    let mut play = Play::begin();
    play.report("gatherer", &[("context", None)]);
    play.report("validator", &[]);
    play.report("planner", &[("plan", Some("ready")), ("questions", None)]);
    play.stands_in("approving");
    play.answer("yes");
    play.plan();
    play.report("bash-tasks", &[("built", None)]);
    play.report("bash-tests", &[("built", None)]);
    play.stands_in("validating");
    play.report("validator", &[("validated", Some("PASS"))]);
    play.check(
        2,
        "roles/web/tasks/main.yml:3: no-changed-when\n1 failure\n",
    );
    play.stands_in("debugging");
    play.report("debugger", &[("fixed", None)]);
    play.report("validator", &[("validated", Some("PASS"))]);
    play.check(0, "");
    play.stands_in("reviewing");
    play.report("code-reviewer", &[("first_verdict", Some("OK"))]);
    play.report("codex-reviewer", &[("second_verdict", Some("OK"))]);
    play.report("session", &[]);
    play.stands_in("complete");
    play
}
