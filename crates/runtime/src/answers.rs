//! Answers: turns a person's words into an answer to the run's current question.

use std::collections::BTreeMap;

use engine::WITH_EDITS;
use engine::{
    Answer as Given, Happening, Needs, Outcome, PersonEvent, Question, Standing, Time, Words,
};
use evidence::Content;
use store::Key;

use crate::failure::Failure;
use crate::transact::Request;
use crate::workspace::{OpenRun, Workspace};

/// The word that continues a stale, abandoned or over-budget run.
pub(crate) const CONTINUE: &str = "continue";

/// More than this belongs into a file that the answer names.
const LONGEST_TEXT: usize = 8_000;

/// A choice, and what the person says with it.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    pub choice: &'a str,
    pub text: Option<&'a str>,
}

impl<'a> Chosen<'a> {
    /// A choice without words.
    pub fn silent(choice: &'a str) -> Self {
        Self { choice, text: None }
    }
}

/// Does the person take what they changed in the files of artifacts?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edits {
    Taken,
    NotMentioned,
}

impl Edits {
    /// Taken if either says so.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Taken => Self::Taken,
            Self::NotMentioned => other,
        }
    }
}

/// Splits off the word that takes edits, where it begins or ends what a person typed. Between other
/// words it is one of theirs.
pub fn with_edits(typed: &str) -> (Edits, &str) {
    let typed = typed.trim();
    let apart = |rest: &&str| rest.is_empty() || rest.trim() != *rest;
    let ahead = typed.strip_prefix(WITH_EDITS).filter(apart);
    let behind = typed.strip_suffix(WITH_EDITS).filter(apart);
    match ahead.or(behind) {
        Some(rest) => (Edits::Taken, rest.trim()),
        None => (Edits::NotMentioned, typed),
    }
}

/// The person takes their edits before the answer that is about them. A second try with the same key
/// finds that they are taken.
pub fn edits_key(key: &Key) -> Result<Key, Failure> {
    let derived = evidence::hash(format!("edits {key}").as_bytes()).to_string();
    Key::parse(&derived).map_err(|problem| Failure::bug(problem.to_string()))
}

pub fn edits_taken() -> Request {
    Happening::Person(PersonEvent::EditsTaken).into()
}

/// `continue` may also be a choice of the current question; a stopped run takes it first.
pub fn chosen(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    chosen: Chosen<'_>,
    at: Time,
) -> Result<Request, Failure> {
    let Chosen { choice, text } = chosen;
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let length = text.map_or(0, |text| text.chars().count());
    if length > LONGEST_TEXT {
        let message = format!("the text has {length} characters, more than {LONGEST_TEXT}");
        return Err(Failure::usage(message).hint("put it into a file, and name the file"));
    }
    let stopped = match opened.run().standing {
        Standing::Stale
        | Standing::Abandoned
        | Standing::OverBudget { .. }
        | Standing::Halted { .. } => true,
        Standing::Queued
        | Standing::Going
        | Standing::Stuck { .. }
        | Standing::Cancelled { .. } => false,
    };
    let stale = engine::is_stale(&opened.pipeline, opened.run(), at);
    if choice == CONTINUE && (stopped || stale || !is_choice(opened, choice)) {
        let words = text.map(str::to_owned);
        return Ok(Happening::Person(PersonEvent::Answered(Given::Continue { words })).into());
    }
    let choice = Outcome::parse(choice).map_err(|problem| {
        Failure::usage(format!("'{choice}' is not a valid choice: {problem}"))
    })?;
    let content = text.map(|text| words_content(workspace, opened, &choice, text));
    let words = text.zip(content.as_ref()).map(|(text, content)| Words {
        text: text.to_owned(),
        content: content.hash,
    });
    Ok(Request {
        what: Happening::Person(PersonEvent::Answered(Given::Choice { choice, words })),
        given: BTreeMap::new(),
        contents: content.into_iter().collect(),
        reply: None,
    })
}

/// What a person says with a choice, as an artifact: with the question that it answers.
fn words_content(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    choice: &Outcome,
    text: &str,
) -> Content {
    let asked = Question {
        id: choice.to_string(),
        text: engine::question_of(&opened.pipeline, opened.run()).unwrap_or_default(),
        options: Vec::new(),
        context: None,
    };
    let given = BTreeMap::from([(choice.to_string(), text.to_owned())]);
    let secrets = workspace.context.environment.secrets();
    evidence::questions::answers_content(&[asked], &given, secrets)
}

fn is_choice(opened: &OpenRun, word: &str) -> bool {
    let stage = opened.pipeline.stage(&opened.run().position.stage);
    stage.is_some_and(|stage| stage.on.keys().any(|outcome| outcome.as_str() == word))
}

/// Answers to a worker's questions: their text becomes an artifact.
pub fn answered(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    answers: &[(String, String)],
) -> Result<Request, Failure> {
    let given: BTreeMap<String, String> = answers.iter().cloned().collect();
    let questions = questions(workspace, opened)?.unwrap_or_default();
    let secrets = workspace.context.environment.secrets();
    let content = evidence::questions::answers_content(&questions, &given, secrets);
    let what = Happening::Person(PersonEvent::Answered(Given::Answers {
        given,
        content: content.hash,
    }));
    Ok(Request {
        what,
        given: BTreeMap::new(),
        contents: vec![content],
        reply: None,
    })
}

/// The questions that a worker asks in the current stage, if the stage is for questions.
pub fn questions(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
) -> Result<Option<Vec<Question>>, Failure> {
    let Some(asked) = engine::asked(&opened.pipeline, opened.run()) else {
        return Ok(None);
    };
    let needs = Needs {
        questions: Some(asked),
        ..Needs::default()
    };
    let looked = workspace.look(opened, &needs, &BTreeMap::new(), None)?;
    match looked.evidence.questions {
        Some(Ok(questions)) => Ok(Some(questions)),
        Some(Err(reason)) => Err(Failure::refused(format!(
            "cannot read the questions: {reason}"
        ))),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_takes_edits_stands_at_an_end() {
        for (typed, taken, rest) in [
            ("--with-edits", Edits::Taken, ""),
            (" --with-edits looks good ", Edits::Taken, "looks good"),
            ("looks good --with-edits", Edits::Taken, "looks good"),
            (
                "what is --with-edits for",
                Edits::NotMentioned,
                "what is --with-edits for",
            ),
            ("--with-editsx", Edits::NotMentioned, "--with-editsx"),
            ("x--with-edits", Edits::NotMentioned, "x--with-edits"),
            ("", Edits::NotMentioned, ""),
        ] {
            assert_eq!(with_edits(typed), (taken, rest), "{typed:?}");
        }
    }
}
