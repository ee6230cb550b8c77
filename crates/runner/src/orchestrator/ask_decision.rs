//! Asks the person at the terminal how a stopped run continues.

use engine::{Answer as Given, Choice, Happening, Outcome, PersonEvent};
use runtime::failure::Failure;
use runtime::ids;
use runtime::irreversible;
use runtime::transact::{self, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};

use super::Orchestrator;
use super::ask_person::Person;
use crate::drive_options::DriveEnd;
use crate::person_question;
use crate::prompt::Prompt;

impl Orchestrator<'_, '_> {
    pub(super) fn ask_decision(
        &mut self,
        opened: &OpenRun,
        mut person: Person<'_>,
        choices: &[Choice],
    ) -> Result<Option<DriveEnd>, Failure> {
        let Some(typed) = self.one_of(
            person.terminal.as_mut(),
            opened,
            &person_question::decision_words(choices),
        )?
        else {
            return Ok(None);
        };
        let mut all = choices.iter();
        let choice =
            all.find(|choice| person_question::decision_word(choice) == Some(typed.as_str()));
        match choice {
            Some(choice) => self.carry_out(opened, person, choice, typed),
            None => Ok(None),
        }
    }

    /// Asks for all that this decision needs, and submits it.
    pub(super) fn carry_out(
        &mut self,
        opened: &OpenRun,
        mut person: Person<'_>,
        choice: &Choice,
        typed: String,
    ) -> Result<Option<DriveEnd>, Failure> {
        let Some(what) = self.decision(person.terminal.as_mut(), opened, choice)? else {
            return Ok(None);
        };
        let seen = opened.stored.version;
        let mut make = |_: &Workspace<'_>, opened: &OpenRun, _| {
            if opened.stored.version == seen {
                Ok(Request::from(what.clone()))
            } else {
                Err(Failure::refused("the run changed meanwhile").hint("type `gatewright resume`"))
            }
        };
        let key = ids::key()?;
        let decided = transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened.clone())),
            Options {
                by: person.who,
                key: Some(&key),
            },
            &mut make,
        )?;
        self.answered(&decided, &mut person, typed)
    }

    /// The event, after everything that its command would ask for; `None` if the person changes
    /// their mind.
    fn decision(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
        choice: &Choice,
    ) -> Result<Option<Happening>, Failure> {
        match choice {
            Choice::Retry => Ok(Some(Happening::Person(PersonEvent::RetryAsked))),
            Choice::Continue | Choice::RaiseCap => Ok(Some(Happening::Person(
                PersonEvent::Answered(Given::Continue { words: None }),
            ))),
            Choice::Skip { outcomes } => {
                let Some(outcome) = self.outcome(terminal, opened, outcomes)? else {
                    return Ok(None);
                };
                let reason = self.reason(
                    terminal,
                    opened,
                    "skip",
                    &irreversible::skip_warning(opened),
                )?;
                Ok(reason
                    .map(|reason| Happening::Person(PersonEvent::SkipAsked { outcome, reason })))
            }
            Choice::Cancel => {
                let reason = self.reason(
                    terminal,
                    opened,
                    "cancel",
                    &irreversible::cancel_warning(opened),
                )?;
                Ok(reason.map(|reason| Happening::Person(PersonEvent::CancelAsked { reason })))
            }
            Choice::Reset => Ok(None),
        }
    }

    /// The outcome of a skipped stage. Asks only if there are several.
    fn outcome(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
        outcomes: &[Outcome],
    ) -> Result<Option<Option<Outcome>>, Failure> {
        if outcomes.len() < 2 {
            return Ok(Some(None));
        }
        terminal.say("As which outcome?\n")?;
        let words: Vec<String> = outcomes.iter().map(ToString::to_string).collect();
        let typed = self.one_of(terminal, opened, &words)?;
        Ok(typed.and_then(|typed| {
            let mut all = outcomes.iter();
            all.find(|outcome| outcome.as_str() == typed)
                .map(|outcome| Some(outcome.clone()))
        }))
    }

    /// Asks for the reason, and for the run's id as confirmation.
    fn reason(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
        command: &str,
        lost: &str,
    ) -> Result<Option<String>, Failure> {
        terminal.say(&format!("{}\nWhy? ", views::line(lost)))?;
        let Some(reason) = self.read_line(terminal, opened)? else {
            return Ok(None);
        };
        if reason.is_empty() {
            terminal.say(&format!("a {command} needs a reason\n"))?;
            return Ok(None);
        }
        let word = self.run.as_str();
        terminal.say(&format!("Type {word} to {command} this run: "))?;
        match self.read_line(terminal, opened)? {
            Some(typed) if typed == word => Ok(Some(reason)),
            Some(_) => {
                terminal.say(&format!("nothing was done: you did not type {word}\n"))?;
                Ok(None)
            }
            None => Ok(None),
        }
    }
}
