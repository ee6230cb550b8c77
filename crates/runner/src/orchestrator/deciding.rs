//! Deciding: a person at the terminal says how a run goes on that cannot go on by itself.

use engine::{Answer as Given, Choice, Happening, Outcome, PersonEvent, Who};
use runtime::failure::Failure;
use runtime::ids;
use runtime::no_way_back;
use runtime::transact::{self, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};

use super::Orchestrator;
use crate::drive_options::LeftOff;
use crate::people;
use crate::prompt::Prompt;

impl Orchestrator<'_, '_> {
    pub(super) fn ask_decision(
        &mut self,
        opened: &OpenRun,
        (mut terminal, who): (Box<dyn Prompt>, &Who),
        choices: &[Choice],
    ) -> Result<Option<LeftOff>, Failure> {
        let Some(typed) = self.one_of(terminal.as_mut(), opened, &people::words(choices))? else {
            return Ok(None);
        };
        let mut all = choices.iter();
        let choice = all.find(|choice| people::word(choice) == Some(typed.as_str()));
        let wanted = match choice {
            Some(choice) => self.decision(terminal.as_mut(), opened, choice)?,
            None => None,
        };
        let Some(what) = wanted else {
            return Ok(None);
        };
        let seen = opened.stored.version;
        let mut make = |_: &Workspace<'_>, opened: &OpenRun, _| {
            if opened.stored.version == seen {
                Ok(Request::from(what.clone()))
            } else {
                Err(Failure::no("the run went on meanwhile")
                    .hint("`gatewright resume` goes on with it"))
            }
        };
        let key = ids::key()?;
        let decided = transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened.clone())),
            Options {
                by: who,
                key: Some(&key),
            },
            &mut make,
        )?;
        self.answered(&decided, (terminal.as_mut(), who), typed)
    }

    /// What is wanted, with all that its command would ask for. Nothing where the person thinks better
    /// of it.
    fn decision(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
        choice: &Choice,
    ) -> Result<Option<Happening>, Failure> {
        match choice {
            Choice::Retry => Ok(Some(Happening::Person(PersonEvent::RetryAsked))),
            Choice::Continue => Ok(Some(Happening::Person(PersonEvent::Answered(
                Given::Continue,
            )))),
            Choice::Skip { outcomes } => {
                let Some(outcome) = self.outcome(terminal, opened, outcomes)? else {
                    return Ok(None);
                };
                let reason =
                    self.reason(terminal, opened, ("skip", &no_way_back::by_skip(opened)))?;
                Ok(reason
                    .map(|reason| Happening::Person(PersonEvent::SkipAsked { outcome, reason })))
            }
            Choice::Cancel => {
                let reason = self.reason(
                    terminal,
                    opened,
                    ("cancel", &no_way_back::by_cancel(opened)),
                )?;
                Ok(reason.map(|reason| Happening::Person(PersonEvent::CancelAsked { reason })))
            }
            Choice::Reset => Ok(None),
        }
    }

    /// With which outcome a stage is skipped. Where it has one only, nobody is asked.
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

    /// Why, and the word that lets go what cannot be had back.
    fn reason(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
        (deed, lost): (&str, &str),
    ) -> Result<Option<String>, Failure> {
        terminal.say(&format!("{}\nWhy? ", views::line(lost)))?;
        let Some(reason) = self.hear(terminal, opened)? else {
            return Ok(None);
        };
        if reason.is_empty() {
            terminal.say(&format!("a {deed} wants a reason\n"))?;
            return Ok(None);
        }
        let word = self.run.as_str();
        terminal.say(&format!("Type {word} to {deed} this run: "))?;
        match self.hear(terminal, opened)? {
            Some(typed) if typed == word => Ok(Some(reason)),
            Some(_) => {
                terminal.say(&format!("nothing was done: the word was {word}\n"))?;
                Ok(None)
            }
            None => Ok(None),
        }
    }
}
