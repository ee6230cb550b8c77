//! Checks, which we run ourselves, and questions, which a person answers.

use engine::{Fault, Outcome, Questions, Rule, Stage};
use runtime::failure::Failure;
use scenario::step::{Act, CheckHow, Step};
use serde_json::json;

use super::super::exchange::Expected;
use super::super::made::QUESTION;
use super::super::process::Ended;
use super::super::scene::Manner;
use super::super::travel::Check;
use super::super::trouble::{insist, not_shown};
use super::agents::onward;
use super::{Bench, Column, There};

pub fn check(bench: &mut Bench<'_>, stage: &Stage, there: &There<'_>) -> Result<(), Failure> {
    onward(bench, there)?;
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
    let leg = there
        .route
        .as_ref()
        .and_then(|route| there.routes.after(route, fails));
    let what = match &leg {
        Some(leg) => format!("a command fails: moves to {}", leg.stage),
        None => "a command fails".to_owned(),
    };
    bench.case(Column::Refusal, what, |scene| match &leg {
        Some(leg) => scene.play(leg),
        None => not_shown("the next stage is not known"),
    })?;
    let strays = stage.on.keys().any(|outcome| outcome.as_str() == "strayed");
    if strays {
        return Ok(());
    }
    bench.case(
        Column::Fault,
        "files change while it runs: the result does not count",
        |scene| {
            scene.stays(|scene| scene.check(Check::ChangesTree))?;
            insist(!scene.now()?.gates.contains_key(&stage.name), || {
                "it counts".to_owned()
            })
        },
    )
}

pub fn ask(
    bench: &mut Bench<'_>,
    stage: &Stage,
    questions: &Questions,
    there: &There<'_>,
) -> Result<(), Failure> {
    onward(bench, there)?;
    let timeout = Fault::Timeout.word();
    let mut choices = stage.on.keys().map(Outcome::as_str);
    let choice = choices
        .find(|choice| *choice != timeout)
        .unwrap_or_default();
    let (word, answer) = match questions {
        Questions::Choice => (choice.to_owned(), choice),
        Questions::From { .. } => (format!("{}=yes", QUESTION.0), "yes"),
    };
    by_agents(bench, &word, answer)?;
    let what = "a person answers another question";
    bench.case(Column::Fault, what, |scene| {
        scene.stays(|scene| {
            let sent = scene.pen.answered("Shall we have tea?", &[answer], answer);
            scene.hook(sent, Expected::Pass).map(drop)
        })
    })?;
    if *questions == Questions::Choice {
        let what = "a person answers with an unknown choice";
        bench.case(Column::Fault, what, |scene| {
            scene.stays(|scene| scene.answers("perhaps"))
        })?;
    }
    Ok(())
}

/// An agent answers in the place of a person.
fn by_agents(bench: &mut Bench<'_>, word: &str, answer: &str) -> Result<(), Failure> {
    let line = format!("gatewright answer {word}");
    let what = format!("the session runs `{line}`");
    bench.refuses(what, &[Rule::PersonOnly], |scene| {
        scene.pen.tool(None, "Bash", &json!({ "command": line }))
    })?;
    let what = format!("an agent's shell runs `{line}` anyway");
    bench.case(Column::Refusal, what, |scene| {
        scene.stays(|scene| {
            let got = scene.command(&["answer", word]);
            insist(got.ended != Ended::Code(0), || {
                "the answer was accepted".to_owned()
            })
        })
    })?;
    let what = "the session's shell calls the hook with an answer";
    bench.case(Column::Refusal, what, |scene| {
        scene.stays(|scene| scene.answer(Manner::Forged, answer))
    })
}
