//! What a person does in a simulated session: answers questions, and ends open stages.

use std::fs;

use engine::{Act, Happening, PersonEvent, Questions, SessionId, Who, Work};
use runtime::failure::Failure;
use scenario::step::PersonAct;
use serde_json::json;

use super::case_error::{CaseOutcome, broken, not_tested};
use super::example_artifacts::QUESTION;
use super::exchange::Expected;
use super::payloads::{AnsweredBy, AnsweredQuestion};
use super::simulation::{CalledBy, Simulation};

impl Simulation {
    pub(super) fn person(&mut self, act: &PersonAct) -> CaseOutcome<()> {
        match act {
            PersonAct::Answer { choice, words } if words.is_empty() => {
                self.answers(choice.as_str())
            }
            PersonAct::Answer { choice, words } => self.answers(&format!("{choice}: {words}")),
            PersonAct::Answers(_) => self.answers("The first."),
            PersonAct::Finish => self.finishes(),
            PersonAct::Continue
            | PersonAct::Skip { .. }
            | PersonAct::Retry
            | PersonAct::Cancel { .. }
            | PersonAct::Reset { .. }
            | PersonAct::Checkpoint(_)
            | PersonAct::Restore { .. } => not_tested("only a person at a terminal leads there"),
        }
    }

    /// A person answers the question of the current stage in the host's dialogue.
    pub(super) fn answers(&mut self, answer: &str) -> CaseOutcome<()> {
        self.answer(AnsweredBy::Person, answer)
    }

    /// The question of the current stage is answered in the host's dialogue, or before it opens.
    pub(super) fn answer(&mut self, by: AnsweredBy, answer: &str) -> CaseOutcome<()> {
        let (question, labels) = self.question()?;
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        self.answer_to(by, &question, &labels, answer)
    }

    /// The session's shell reports an answer to the question of the current stage.
    pub(super) fn forge_answer(&mut self, answer: &str) -> CaseOutcome<()> {
        let (question, labels) = self.question()?;
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let answered = self.answered(&question, &labels, answer);
        let payload = self.payloads.answered(&answered);
        let answered = self.hook_as(CalledBy::Shell, payload, Expected::Pass);
        answered.map(drop)
    }

    /// A question of the session is answered. The host calls the hooks, then writes down who answered, and
    /// the session goes on.
    pub(super) fn answer_to(
        &mut self,
        by: AnsweredBy,
        question: &str,
        labels: &[&str],
        answer: &str,
    ) -> CaseOutcome<()> {
        let answered = self.answered(question, labels, answer);
        self.hook(self.payloads.answered(&answered), Expected::Pass)?;
        let record = self.payloads.record();
        let mut text = fs::read(&record).unwrap_or_default();
        text.extend(answered.record_line(by).into_bytes());
        fs::write(&record, text).map_err(Failure::file("write", &record))?;
        let file = self.payloads.project.join("README.md");
        let read = json!({ "file_path": file.to_string_lossy() });
        let next = self.payloads.tool(None, "Read", &read);
        self.hook(next, Expected::Answer).map(drop)
    }

    fn answered<'a>(
        &mut self,
        question: &'a str,
        labels: &'a [&'a str],
        answer: &'a str,
    ) -> AnsweredQuestion<'a> {
        AnsweredQuestion {
            call: format!("toolu_prove_question_{}", self.number()),
            question,
            labels,
            answer,
        }
    }

    /// The question of the current stage, and its choices.
    fn question(&self) -> CaseOutcome<(String, Vec<String>)> {
        let run = self.now()?;
        let stage = self.pipeline.stage(&run.position.stage);
        let Some((stage, Work::Ask(ask))) = stage.map(|stage| (stage, &stage.work)) else {
            return broken(format!("{} has no question", run.position.stage));
        };
        let labels = stage.on.keys().map(ToString::to_string).collect();
        let question = match &ask.questions {
            Questions::Choice { .. } => {
                engine::question_of(&self.pipeline, &run).unwrap_or_default()
            }
            Questions::From { .. } => QUESTION.1.to_owned(),
        };
        Ok((question, labels))
    }

    /// A person ends an open stage: by a command of the pipeline, or else at a terminal.
    fn finishes(&mut self) -> CaseOutcome<()> {
        let definition = self.pipeline.definition();
        let mut commands = definition.commands.iter();
        let typed = commands.find(|(_, act)| **act == Act::Finish);
        match typed.map(|(name, _)| name.to_string()) {
            Some(name) => {
                self.payloads.prompt += 1;
                self.hook(self.payloads.command(&name, ""), Expected::Pass)?;
                Ok(())
            }
            None => self.submit_as_person(Happening::Person(PersonEvent::FinishAsked)),
        }
    }

    /// An action of a person at a terminal, which no hook sees.
    fn submit_as_person(&self, what: Happening) -> CaseOutcome<()> {
        let session = SessionId::parse(&self.payloads.session)
            .map_err(|problem| Failure::bug(format!("a session of ours has no id ({problem})")))?;
        self.submit(&Who::Through(session), what, None).map(drop)
    }
}
