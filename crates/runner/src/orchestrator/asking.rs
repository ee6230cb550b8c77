//! Asking: a person answers in advance, at the terminal, or elsewhere.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{Reply, Who};
use runtime::answers;
use runtime::failure::Failure;
use runtime::ids;
use runtime::transact::{self, Decided, Options, Target};
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use super::{GLANCE, Orchestrator, TICK};
use crate::drive_options::{LeftOff, Patience};
use crate::people::{self, Asked};
use crate::progress::Progress;
use crate::prompt::{Prompt, Typed};

/// How long a line is waited for, before we look whether somebody answered elsewhere.
const PROMPT_PATIENCE: Duration = Duration::from_millis(500);

impl Orchestrator<'_, '_> {
    /// A person is asked: in advance, at the terminal, or elsewhere.
    pub(super) fn person(
        &mut self,
        opened: OpenRun,
        why: String,
    ) -> Result<Option<LeftOff>, Failure> {
        if !self.pool.is_idle() {
            self.listen(TICK)?;
            return Ok(None);
        }
        let asked = people::asked(self.workspace, &opened)?;
        // What was said in advance is an answer to a question, and not to a failure.
        let answered = match asked {
            Asked::Decision { .. } => None,
            _ => people::in_advance(self.workspace, &opened, &self.settings)?,
        };
        if let Some(decided) = answered {
            let answer = self.settings.answers.get(&opened.run().position.stage);
            let what = Progress::Answered {
                by: format!("{}, in advance", self.settings.given_by),
                answer: answer.cloned().unwrap_or_default(),
            };
            self.tell(&decided.opened, &what);
            return match decided.reply {
                Reply::Refuse(refusal) => Err(Failure::no(views::refusal(&refusal)).hint(format!(
                    "`gatewright next {}` says what may be answered",
                    self.run
                ))),
                _ => Ok(None),
            };
        }
        let version = opened.stored.version;
        if self.asked.replace(version) != Some(version) {
            let (question, choices) = match &asked {
                Asked::Choice { question, choices } => (question.clone(), choices.clone()),
                Asked::Questions { question, .. } => (question.clone(), Vec::new()),
                Asked::Decision { choices } => (why.clone(), people::words(choices)),
                Asked::Command => (why.clone(), Vec::new()),
            };
            self.tell(&opened, &Progress::Asked { question, choices });
        }
        let who = self.workspace.context.who();
        match (asked, self.prompt(&who), self.patience) {
            (Asked::Choice { choices, .. }, Some(terminal), _) => {
                self.ask_choice(&opened, (terminal, &who), &choices)
            }
            (Asked::Questions { questions, .. }, Some(terminal), _) => {
                self.ask_questions(&opened, (terminal, &who), &questions)
            }
            (Asked::Decision { choices }, Some(terminal), _) => {
                self.ask_decision(&opened, (terminal, &who), &choices)
            }
            (_, _, Patience::Leave) => Ok(Some(LeftOff::Waiting(why))),
            (_, _, Patience::Stay) => {
                self.listen(GLANCE)?;
                Ok(None)
            }
        }
    }

    /// The terminal of a person. Nobody else is asked.
    fn prompt(&mut self, who: &Who) -> Option<Box<dyn Prompt>> {
        match who {
            Who::Person(_) => self.watcher.prompt(),
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
        (mut terminal, who): (Box<dyn Prompt>, &Who),
        choices: &[String],
    ) -> Result<Option<LeftOff>, Failure> {
        let Some(choice) = self.one_of(terminal.as_mut(), opened, choices)? else {
            return Ok(None);
        };
        let key = ids::key()?;
        let decided = people::give(self.workspace, opened, (who, &key), &choice)?;
        self.answered(&decided, (terminal.as_mut(), who), choice)
    }

    fn ask_questions(
        &mut self,
        opened: &OpenRun,
        (mut terminal, who): (Box<dyn Prompt>, &Who),
        questions: &[engine::Question],
    ) -> Result<Option<LeftOff>, Failure> {
        let mut answers = Vec::new();
        for question in questions {
            let options = if question.options.is_empty() {
                String::new()
            } else {
                format!(" ({})", views::line(&question.options.join(", ")))
            };
            terminal.say(&format!("{}{options}\n> ", views::line(&question.text)))?;
            let Some(answer) = self.hear(terminal.as_mut(), opened)? else {
                return Ok(None);
            };
            answers.push((question.id.clone(), answer));
        }
        let mut make = |workspace: &Workspace<'_>, opened: &OpenRun, _| {
            answers::answered(workspace, opened, &answers)
        };
        let opened = self.workspace.read(&self.run)?;
        let decided = transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options { by: who, key: None },
            &mut make,
        )?;
        let answer = format!("{} answers", answers.len());
        self.answered(&decided, (terminal.as_mut(), who), answer)
    }

    /// The one of these words that is typed; nothing where something else is.
    pub(super) fn one_of(
        &self,
        terminal: &mut dyn Prompt,
        opened: &OpenRun,
        words: &[String],
    ) -> Result<Option<String>, Failure> {
        terminal.say(&format!("{}: ", words.join(" / ")))?;
        let Some(typed) = self.hear(terminal, opened)? else {
            return Ok(None);
        };
        if words.contains(&typed) {
            return Ok(Some(typed));
        }
        terminal.say(&format!("'{}' is none of them\n", views::line(&typed)))?;
        Ok(None)
    }

    pub(super) fn answered(
        &mut self,
        decided: &Decided,
        (terminal, who): (&mut dyn Prompt, &Who),
        answer: String,
    ) -> Result<Option<LeftOff>, Failure> {
        match &decided.reply {
            Reply::Refuse(refusal) => terminal.say(&format!("{}\n", views::refusal(refusal)))?,
            _ => {
                let by = who.name();
                self.tell(&decided.opened, &Progress::Answered { by, answer });
            }
        }
        Ok(None)
    }

    pub(super) fn hear(
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
