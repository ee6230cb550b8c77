//! Asks a person: the answer may exist in advance, or come at the terminal or elsewhere.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{Reply, Status, Who};
use runtime::answers::{self, Chosen, Edits};
use runtime::asked_about;
use runtime::failure::Failure;
use runtime::ids;
use runtime::transact::{self, Decided, Options, Target};
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;
use views::Paint;

use super::ask_edits::TypedAnswer;
use super::{Orchestrator, PERSON_POLL_INTERVAL, TICK};
use crate::drive_options::{DriveEnd, WhenWaiting};
use crate::person_question::{self, PersonQuestion};
use crate::progress::Progress;
use crate::prompt::{Prompt, Typed};

/// How long to wait for a line before checking whether somebody answered elsewhere.
const PROMPT_PATIENCE: Duration = Duration::from_millis(500);

/// The person who answers, and the terminal they sit at.
pub(super) struct Person<'a> {
    pub(super) terminal: Box<dyn Prompt>,
    pub(super) who: &'a Who,
}

impl Orchestrator<'_, '_> {
    /// Answers from the settings, asks at the terminal, or waits for an answer elsewhere.
    pub(super) fn person(
        &mut self,
        opened: OpenRun,
        why: String,
    ) -> Result<Option<DriveEnd>, Failure> {
        if !self.pool.is_idle() {
            self.listen(TICK)?;
            return Ok(None);
        }
        let asked = person_question::pending(self.workspace, &opened)?;
        // An answer in advance answers a question, and not a failure.
        let answered = match asked {
            PersonQuestion::Decision { .. } => None,
            PersonQuestion::Choice { .. }
            | PersonQuestion::Questions { .. }
            | PersonQuestion::Command => {
                person_question::answer_in_advance(self.workspace, &opened, &self.settings)?
            }
        };
        if let Some(decided) = answered {
            let answer = self.settings.answers.get(&opened.run().position.stage);
            let what = Progress::Answered {
                by: format!("{}, in advance", self.settings.given_by),
                answer: answer.cloned().unwrap_or_default(),
            };
            self.tell(&decided.opened, &what);
            return match decided.reply {
                Reply::Refuse(refusal) => Err(Failure::refused(views::refusal(&refusal)).hint(
                    format!("`gatewright next {}` lists the possible answers", self.run),
                )),
                Reply::Allow | Reply::Hold(_) | Reply::Inject(_) | Reply::Done => Ok(None),
            };
        }
        let is_new = self.tell_question(&opened, &asked, &why)?;
        let who = self.workspace.context.who();
        let mut person = self.person_at_terminal(&who);
        // Who leaves looks around once more, and gives it back then.
        let stays = person.is_some() || self.when_waiting == WhenWaiting::Stay;
        let opened = self.give_turn_back_if(stays, opened)?;
        if let Some(person) = person.as_mut().filter(|_| is_new) {
            let view = asked_about::next(self.workspace, &opened)?;
            person.terminal.say(&view.background_text(Paint::Plain))?;
        }
        match (asked, person, self.when_waiting) {
            (PersonQuestion::Choice { choices, .. }, Some(person), _) => {
                self.ask_choice(&opened, person, &choices)
            }
            (PersonQuestion::Questions { questions, .. }, Some(person), _) => {
                self.ask_questions(&opened, person, &questions)
            }
            (PersonQuestion::Decision { choices, .. }, Some(person), _) => {
                self.ask_decision(&opened, person, &choices)
            }
            (_, _, WhenWaiting::Exit) => Ok(Some(DriveEnd::Waiting(why))),
            (_, _, WhenWaiting::Stay) => {
                self.listen(PERSON_POLL_INTERVAL)?;
                Ok(None)
            }
        }
    }

    /// Reports the question once for each version of the run. Is it a new one?
    fn tell_question(
        &mut self,
        opened: &OpenRun,
        asked: &PersonQuestion,
        why: &str,
    ) -> Result<bool, Failure> {
        let version = opened.stored.version;
        if self.asked.replace(version) == Some(version) {
            return Ok(false);
        }
        let (question, choices) = match asked {
            PersonQuestion::Choice { question, choices } => (question.as_str(), choices.clone()),
            PersonQuestion::Questions { question, .. } => (question.as_str(), Vec::new()),
            PersonQuestion::Decision { why, choices } => {
                (why.as_str(), person_question::decision_words(choices))
            }
            PersonQuestion::Command => (why, Vec::new()),
        };
        let question = question.to_owned();
        self.tell(opened, &Progress::Asked { question, choices });
        let status = Status::Waiting(why.to_owned());
        self.notices
            .tell(self.workspace, opened, &status, self.watcher)?;
        Ok(true)
    }

    /// Only a person is asked, never an agent or a script.
    pub(super) fn person_at_terminal<'w>(&mut self, who: &'w Who) -> Option<Person<'w>> {
        match who {
            Who::Person(_) => {
                let terminal = self.watcher.prompt()?;
                Some(Person { terminal, who })
            }
            Who::Unattended(_)
            | Who::Agent(_)
            | Who::Through(_)
            | Who::Session(_)
            | Who::Engine => None,
        }
    }

    fn ask_choice(
        &mut self,
        opened: &OpenRun,
        mut person: Person<'_>,
        choices: &[String],
    ) -> Result<Option<DriveEnd>, Failure> {
        let Some((choice, text)) = self.choice(person.terminal.as_mut(), opened, choices)? else {
            return Ok(None);
        };
        let (edits, text) = answers::with_edits(&text);
        let given = Chosen {
            choice: &choice,
            text: Some(text),
        };
        let submit = &mut |workspace: &mut Workspace<'_>, opened: &OpenRun, by: &Who| {
            let key = ids::key()?;
            person_question::submit_answer(workspace, opened, by, &key, given)
        };
        let answer = TypedAnswer {
            edits,
            shown: choice.clone(),
            submit,
        };
        self.submit_typed(opened, &mut person, answer)
    }

    fn ask_questions(
        &mut self,
        opened: &OpenRun,
        mut person: Person<'_>,
        questions: &[engine::Question],
    ) -> Result<Option<DriveEnd>, Failure> {
        let mut answers = Vec::new();
        for question in questions {
            let options = if question.options.is_empty() {
                String::new()
            } else {
                format!(" ({})", views::line(&question.options.join(", ")))
            };
            let terminal = person.terminal.as_mut();
            terminal.say(&format!("{}{options}\n> ", views::line(&question.text)))?;
            let Some(answer) = self.read_line(terminal, opened)? else {
                return Ok(None);
            };
            answers.push((question.id.clone(), answer));
        }
        let shown = format!("{} answers", answers.len());
        let submit = &mut |workspace: &mut Workspace<'_>, opened: &OpenRun, by: &Who| {
            let mut make = |workspace: &Workspace<'_>, opened: &OpenRun, _| {
                answers::answered(workspace, opened, &answers)
            };
            let opened = workspace.read(&opened.run().id)?;
            let options = Options { by, key: None };
            transact::transact(
                workspace,
                Target::Seen(Box::new(opened)),
                options,
                &mut make,
            )
        };
        let edits = Edits::NotMentioned;
        let answer = TypedAnswer {
            edits,
            shown,
            submit,
        };
        self.submit_typed(opened, &mut person, answer)
    }

    /// The typed choice and the words behind it; `None` if it is not one of these.
    fn choice(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
        choices: &[String],
    ) -> Result<Option<(String, String)>, Failure> {
        terminal.say(&format!(
            "{} (your words may follow): ",
            choices.join(" / ")
        ))?;
        let Some(typed) = self.read_line(terminal, opened)? else {
            return Ok(None);
        };
        let typed = typed.trim();
        let (choice, text) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        if choices.iter().any(|known| known == choice) {
            return Ok(Some((choice.to_owned(), text.trim().to_owned())));
        }
        terminal.say(&format!("'{}' is not one of these\n", views::line(choice)))?;
        Ok(None)
    }

    /// The typed word; `None` if it is not one of these.
    pub(super) fn one_of(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
        words: &[String],
    ) -> Result<Option<String>, Failure> {
        terminal.say(&format!("{}: ", words.join(" / ")))?;
        let Some(typed) = self.read_line(terminal, opened)? else {
            return Ok(None);
        };
        if words.contains(&typed) {
            return Ok(Some(typed));
        }
        terminal.say(&format!("'{}' is not one of these\n", views::line(&typed)))?;
        Ok(None)
    }

    pub(super) fn answered(
        &mut self,
        decided: &Decided,
        person: &mut Person<'_>,
        answer: String,
    ) -> Result<Option<DriveEnd>, Failure> {
        match &decided.reply {
            Reply::Refuse(refusal) => {
                person
                    .terminal
                    .say(&format!("{}\n", views::refusal(refusal)))?;
            }
            Reply::Allow | Reply::Hold(_) | Reply::Inject(_) | Reply::Done => {
                let by = person.who.name();
                self.tell(&decided.opened, &Progress::Answered { by, answer });
            }
        }
        Ok(None)
    }

    pub(super) fn read_line(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
    ) -> Result<Option<String>, Failure> {
        while !self.is_stopped() {
            match terminal.line(PROMPT_PATIENCE)? {
                Typed::Line(line) => return Ok(Some(line)),
                Typed::Closed => break,
                // Somebody may have answered elsewhere.
                Typed::Nothing => {
                    let now = self.workspace.store.run(&self.run)?;
                    if now.map(|stored| stored.version) != Some(opened.stored.version) {
                        return Ok(None);
                    }
                }
            }
        }
        self.stop.store(true, Ordering::Relaxed);
        Ok(None)
    }
}
