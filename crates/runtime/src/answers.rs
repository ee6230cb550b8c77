//! Answers: turns a person's words into an answer to the run's current question.

use std::collections::BTreeMap;

use engine::{Answer as Given, Happening, Needs, Outcome, PersonEvent, Question, Standing, Time};

use crate::failure::Failure;
use crate::transact::Request;
use crate::workspace::{OpenRun, Workspace};

/// The word that continues a stale, abandoned or over-budget run.
const CONTINUE: &str = "continue";

/// `continue` may also be a choice of the current question; a stopped run takes it first.
pub fn chosen(opened: &OpenRun, choice: &str, at: Time) -> Result<Request, Failure> {
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
        return Ok(Happening::Person(PersonEvent::Answered(Given::Continue)).into());
    }
    let choice = Outcome::parse(choice).map_err(|problem| {
        Failure::usage(format!("'{choice}' is not a valid choice: {problem}"))
    })?;
    Ok(Happening::Person(PersonEvent::Answered(Given::Choice(choice))).into())
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
    let secrets = &workspace.context.environment.secrets;
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
