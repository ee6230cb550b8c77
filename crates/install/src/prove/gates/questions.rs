//! Checks, which we run ourselves, and questions, which a person answers.

use engine::{Fault, Outcome, Questions, Rule, Stage};
use runtime::failure::Failure;
use scenario::step::{Act, CheckHow, Step};
use serde_json::json;

use super::super::case_error::{ensure, not_tested};
use super::super::example_artifacts::QUESTION;
use super::super::hook_process::ProcessEnd;
use super::super::payloads::AnsweredBy;
use super::super::play_route::StandInCheck;
use super::agents::onward;
use super::{Column, GateTester, StageRoute};

pub(super) fn check(
    tester: &mut GateTester<'_>,
    stage: &Stage,
    stage_route: &StageRoute<'_>,
) -> Result<(), Failure> {
    onward(tester, stage_route)?;
    let fails = |step: &Step| {
        matches!(
            step,
            Step::Act {
                act: Act::Check {
                    how: CheckHow::Fails,
                    ..
                },
                ..
            }
        )
    };
    let leg = stage_route
        .route
        .as_ref()
        .and_then(|route| stage_route.routes.after(route, fails));
    let what = match &leg {
        Some(leg) => format!("a command fails: moves to {}", leg.stage),
        None => "a command fails".to_owned(),
    };
    tester.case(Column::Refusal, what, |simulation| match &leg {
        Some(leg) => simulation.play(leg),
        None => not_tested("the next stage is not known"),
    })?;
    let strays = stage.on.keys().any(|outcome| outcome.as_str() == "strayed");
    if strays {
        return Ok(());
    }
    tester.case(
        Column::Fault,
        "files change while it runs: the result does not count",
        |simulation| {
            simulation.must_not_move(|simulation| simulation.check(StandInCheck::ChangesTree))?;
            ensure(!simulation.now()?.gates.contains_key(&stage.name), || {
                "it counts".to_owned()
            })
        },
    )
}

pub(super) fn ask(
    tester: &mut GateTester<'_>,
    stage: &Stage,
    questions: &Questions,
    stage_route: &StageRoute<'_>,
) -> Result<(), Failure> {
    onward(tester, stage_route)?;
    let timeout = Fault::Timeout.word();
    let mut choices = stage.on.keys().map(Outcome::as_str);
    let choice = choices
        .find(|choice| *choice != timeout)
        .unwrap_or_default();
    let (word, answer) = match questions {
        Questions::Choice { .. } => (choice.to_owned(), choice),
        Questions::From { .. } => (format!("{}=yes", QUESTION.0), "yes"),
    };
    by_agents(tester, &word, answer)?;
    let what = "a person answers another question";
    tester.case(Column::Fault, what, |simulation| {
        simulation.must_not_move(|simulation| {
            let question = "Shall we have tea?";
            simulation.answer_to(AnsweredBy::Person, question, &[answer], answer)
        })
    })?;
    let what = "a hook of another program answers";
    tester.case(Column::Fault, what, |simulation| {
        simulation.must_not_move(|simulation| simulation.answer(AnsweredBy::Hook, answer))
    })?;
    let has_choices = matches!(questions, Questions::Choice { .. });
    if has_choices && stage.choice_in_words().is_none() {
        let what = "a person answers with an unknown choice";
        tester.case(Column::Fault, what, |simulation| {
            simulation.must_not_move(|simulation| simulation.answers("perhaps"))
        })?;
    }
    Ok(())
}

/// An agent answers instead of a person.
fn by_agents(tester: &mut GateTester<'_>, word: &str, answer: &str) -> Result<(), Failure> {
    let line = format!("gatewright answer {word}");
    let what = format!("the session runs `{line}`");
    tester.refuses(what, &[Rule::PersonOnly], |simulation| {
        simulation
            .payloads
            .tool(None, "Bash", &json!({ "command": line }))
    })?;
    let what = format!("an agent's shell runs `{line}` anyway");
    tester.case(Column::Refusal, what, |simulation| {
        simulation.must_not_move(|simulation| {
            let output = simulation.command(&["answer", word]);
            ensure(output.ended != ProcessEnd::Code(0), || {
                "the answer was accepted".to_owned()
            })
        })
    })?;
    let what = "the session's shell calls the hook with an answer";
    tester.case(Column::Refusal, what, |simulation| {
        simulation.must_not_move(|simulation| simulation.forge_answer(answer))
    })
}
