//! A person's answers to the host's own questions, where they answer what the run asks.

use std::path::Path;

use engine::{Answer as Given, AskWork, Happening, Outcome, PersonEvent, Question, Questions};
use hosts::Answer;
use runtime::answers;
use runtime::failure::Failure;
use runtime::transact::{Options, Request};

use super::answer;
use super::guarded::Guarded;
use crate::install;

/// The answers count only where they were given to the run's own question, word for word: the
/// session writes the questions, and a person's word about something else is not an answer.
pub(super) fn answered(
    guarded: &mut Guarded<'_, '_>,
    given: &[(String, Vec<String>)],
) -> Result<Answer, Failure> {
    let Some(ask) = asked(guarded) else {
        return Ok(Answer::nothing());
    };
    if may_be_another_hooks(guarded) {
        return Ok(only_at_a_terminal(guarded));
    }
    let choice = match ask.questions {
        Questions::Choice => match chosen(guarded, given) {
            Some(choice) => Some(choice),
            None => return Ok(did_not_count(guarded)),
        },
        Questions::From { .. } => None,
    };
    let texts = match choice {
        Some(_) => Vec::new(),
        None => {
            let questions = answers::questions(guarded.workspace, &guarded.opened)?;
            match matched(&questions.unwrap_or_default(), given) {
                Some(texts) => texts,
                None => return Ok(did_not_count(guarded)),
            }
        }
    };
    let options = Options {
        by: &guarded.person(),
        key: None,
    };
    let decided = guarded.submit_with(options, &mut |workspace, opened, _| match &choice {
        Some(choice) => {
            let given = Given::Choice(choice.clone());
            Ok(Request::from(Happening::Person(PersonEvent::Answered(
                given,
            ))))
        }
        None => answers::answered(workspace, opened, &texts),
    })?;
    Ok(answer::told(&decided))
}

/// The person answered something, and both sides learn that the run has no answer by it.
fn did_not_count(guarded: &Guarded<'_, '_>) -> Answer {
    let opened = &guarded.opened;
    let line = views::not_an_answer(&opened.pipeline, opened.run());
    let standing = views::session_prompt(&opened.pipeline, opened.run());
    Answer {
        context: line.as_ref().map(|line| format!("{line}\n{standing}")),
        notice: line.map(|line| format!("gatewright: {line}")),
        ..Answer::nothing()
    }
}

/// May a hook of another program have given the answer? The host does not say who did.
fn may_be_another_hooks(guarded: &Guarded<'_, '_>) -> bool {
    let worktree = Path::new(&guarded.opened.stored.worktree);
    install::others_answer(&guarded.workspace.context.environment, worktree)
}

fn only_at_a_terminal(guarded: &Guarded<'_, '_>) -> Answer {
    let run = &guarded.opened.run().id;
    let line = format!(
        "this did not answer run {run}: a hook of another program may have answered; only \
         `gatewright answer {run} CHOICE` at a terminal counts here"
    );
    Answer {
        context: Some(format!("{line}. Ask the person to type it.")),
        notice: Some(format!("gatewright: {line}")),
        ..Answer::nothing()
    }
}

fn asked(guarded: &Guarded<'_, '_>) -> Option<AskWork> {
    let stage = &guarded.opened.run().position.stage;
    let stage = guarded.opened.pipeline.stage(stage)?;
    stage.work.as_ask().cloned()
}

fn chosen(guarded: &Guarded<'_, '_>, given: &[(String, Vec<String>)]) -> Option<Outcome> {
    let asked = engine::question_of(&guarded.opened.pipeline, guarded.opened.run())?;
    let mut given = given.iter();
    let (_, labels) = given.find(|(question, _)| is_same(question, &asked))?;
    let [label] = labels.as_slice() else {
        return None;
    };
    let stage = &guarded.opened.run().position.stage;
    let choices = guarded.opened.pipeline.stage(stage)?.on.keys();
    choices
        .into_iter()
        .find(|choice| is_same(choice.as_str(), label))
        .cloned()
}

/// An answer to every question of the worker; some are not all.
fn matched(
    questions: &[Question],
    given: &[(String, Vec<String>)],
) -> Option<Vec<(String, String)>> {
    let found = questions.iter().map(|question| {
        let (_, labels) = given
            .iter()
            .find(|(text, _)| is_same(text, &question.text))?;
        Some((question.id.clone(), labels.join(", ")))
    });
    found
        .collect::<Option<Vec<_>>>()
        .filter(|found| !found.is_empty())
}

/// The same words, however they are spaced and written.
fn is_same(one: &str, other: &str) -> bool {
    let folded = |text: &str| {
        let words: Vec<String> = text
            .split(|c: char| c.is_whitespace() || matches!(c, '-' | '_'))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        words.join(" ")
    };
    folded(one) == folded(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, text: &str) -> Question {
        Question {
            id: id.to_owned(),
            text: text.to_owned(),
            options: Vec::new(),
            context: None,
        }
    }

    #[test]
    fn words_are_compared_and_not_their_dress() {
        assert!(is_same("Go  on?", "go on?"));
        assert!(is_same("try_again", "Try again"));
        assert!(!is_same("go on?", "go on"));
    }

    #[test]
    fn every_question_wants_its_answer() {
        let questions = [question("q1", "Which port?"), question("q2", "Which host?")];
        let given = |texts: &[&str]| -> Vec<(String, Vec<String>)> {
            let answers = texts
                .iter()
                .map(|text| ((*text).to_owned(), vec!["x".to_owned()]));
            answers.collect()
        };
        assert!(matched(&questions, &given(&["which port?", "Which host?"])).is_some());
        assert!(matched(&questions, &given(&["Which port?"])).is_none());
        assert!(matched(&[], &given(&["Which port?"])).is_none());
    }
}
