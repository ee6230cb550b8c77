//! Checks, which we run ourselves, and questions, which a person answers.

use engine::{Questions, Rule, Stage};
use serde_json::json;

use super::super::exchange::Expected;
use super::super::made::QUESTION;
use super::super::process::Ended;
use super::super::scene::{Manner, Scene};
use super::super::travel::Check;
use super::super::trouble::{Tried, insist, not_shown};
use super::agents::onward;
use super::{Bench, Column, There};
use crate::failure::Failure;
use crate::scenario::step::{Act, CheckHow, Step};

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
        Some(leg) => format!("a command fails: on to {}", leg.stage),
        None => "a command fails".to_owned(),
    };
    bench.case(Column::Refusal, what, |scene| match &leg {
        Some(leg) => scene.play(leg),
        None => not_shown("nothing is known of what follows"),
    })?;
    let strays = stage.on.keys().any(|outcome| outcome.as_str() == "strayed");
    if strays {
        return Ok(());
    }
    bench.case(
        Column::Fault,
        "files change while it runs: it counts for nothing",
        |scene| {
            scene.stays(|scene| scene.check(Check::ChangesTree))?;
            insist(scene.now()?.gates.get(&stage.name).is_none(), || {
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
    let mut choices = stage.on.keys();
    let choice = match questions {
        Questions::Choice => choices.next().map_or(String::new(), ToString::to_string),
        Questions::From { .. } => format!("{}=yes", QUESTION.0),
    };
    let answered = match questions {
        Questions::Choice => choice.as_str(),
        Questions::From { .. } => "yes",
    };
    let line = format!("gatewright answer {choice}");
    bench.case(
        Column::Refusal,
        format!("the session runs `{line}`"),
        |scene| {
            let input = json!({ "command": line });
            let sent = scene.pen.tool(None, "Bash", &input);
            scene
                .hook(sent, Expected::Refusal(&[Rule::PersonOnly]))
                .map(drop)
        },
    )?;
    bench.case(
        Column::Refusal,
        format!("an agent's shell runs `{line}` all the same"),
        |scene| {
            scene.stays(|scene| {
                let got = scene.command(&["answer", &choice]);
                insist(got.ended != Ended::Code(0), || {
                    "the answer was taken".to_owned()
                })
            })
        },
    )?;
    let what = "the session's shell tells the hook of an answer";
    bench.case(Column::Refusal, what, |scene| {
        scene.stays(|scene| scene.answer(Manner::Forged, answered))
    })?;
    bench.case(
        Column::Fault,
        "a person answers another question",
        |scene| scene.stays(|scene| answers(scene, "Shall we have tea?", &choice)),
    )?;
    if *questions == Questions::Choice {
        bench.case(
            Column::Fault,
            "a person says something that is no choice",
            |scene| scene.stays(|scene| scene.answers("perhaps")),
        )?;
    }
    Ok(())
}

fn answers(scene: &mut Scene, question: &str, answer: &str) -> Tried<()> {
    let sent = scene.pen.answered(question, &[answer], answer);
    scene.hook(sent, Expected::Pass).map(drop)
}
