//! Plays a scenario to its end, or to the first step with a wrong result.

use std::ops::Range;

use engine::{Entry, HostName, Reply};

use super::expectation::Expectation;
use super::judge::{reply_words, unmet};
use super::mistake::{LocatedMistake, Mistake, Rule};
use super::player::{Player, StepReply};
use super::read::{ExpectedFact, Line, Scenario};
use super::step::{Act, Step};
use super::work_result::Unplayable;

/// The result of a scenario.
#[derive(Clone, Debug)]
pub enum Verdict {
    Passed,
    Failed(Box<Failure>),
}

/// Where a scenario failed, and what had happened before.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The step with the wrong result.
    pub step: String,
    /// What is wrong; there may be several problems.
    pub mistakes: Vec<LocatedMistake>,
    pub history: Vec<Entry>,
}

pub(crate) fn play(scenario: &Scenario, host: &HostName) -> Verdict {
    let mut player = Player::new(&scenario.pipeline, host);
    for line in &scenario.lines {
        let mistakes = (0..line.times).find_map(|turn| {
            let is_last = turn + 1 == line.times;
            let mistakes = play_line(&mut player, line, is_last);
            (!mistakes.is_empty()).then_some(mistakes)
        });
        if let Some(mistakes) = mistakes {
            let file = &scenario.file;
            let mistake = |mistake| LocatedMistake::new(&file.name, &file.text, mistake);
            return Verdict::Failed(Box::new(Failure {
                step: line.step.to_string(),
                mistakes: mistakes.into_iter().map(mistake).collect(),
                history: player.entries,
            }));
        }
    }
    Verdict::Passed
}

/// The problems after this step. Expectations are checked after its last repetition.
fn play_line(player: &mut Player<'_>, line: &Line, is_last: bool) -> Vec<Mistake> {
    let reply = match player.play(&line.step) {
        Ok(reply) => reply,
        Err(unplayable) => return vec![cannot(unplayable, &line.span)],
    };
    if let Some(mistake) = reply.as_ref().and_then(|reply| unexpected(reply, line)) {
        return vec![mistake];
    }
    let demands = line.expectations.iter().filter(|_| is_last);
    let mistakes = demands.filter_map(|demand| match unmet(player, reply.as_ref(), &demand.what) {
        Ok(None) => None,
        Ok(Some(found)) => Some(Mistake {
            rule: Rule::Unmet,
            span: demand.span.clone(),
            message: format!("expected {}", demand.what),
            hint: format!("found {found}"),
        }),
        Err(unplayable) => Some(cannot(unplayable, &demand.span)),
    });
    mistakes.collect()
}

fn cannot(unplayable: Unplayable, span: &Range<usize>) -> Mistake {
    let Unplayable { message, hint } = unplayable;
    Mistake {
        rule: Rule::Unplayable,
        span: span.clone(),
        message,
        hint,
    }
}

/// An unexpected refusal. An end is judged by its consequences, a stop may be held, and passing
/// time requests nothing.
fn unexpected(reply: &StepReply, line: &Line) -> Option<Mistake> {
    let is_expected = |demand: &ExpectedFact| {
        matches!(
            demand.what,
            Expectation::Reply { .. } | Expectation::Rule(_)
        )
    };
    let Reply::Refuse(refusal) = &reply.reply else {
        return None;
    };
    if line.expectations.iter().any(is_expected) || is_told(&line.step, refusal.rule) {
        return None;
    }
    Some(Mistake {
        rule: Rule::Refused,
        span: line.span.clone(),
        message: format!("this was refused: {}", refusal.reason),
        hint: format!(
            "if it should be, write below it: {}",
            reply_words(&reply.reply, reply)
        ),
    })
}

/// Does the step itself say that it fails?
fn is_told(step: &Step, rule: engine::Rule) -> bool {
    use engine::Rule as R;
    let act = match step {
        Step::Given(_) | Step::TreeChanges | Step::Change(_) | Step::Wait(_) => return true,
        Step::Start(_) => return false,
        Step::Act { act, .. } => act,
    };
    match act {
        Act::End { .. } | Act::Report { .. } => matches!(
            rule,
            R::ArtifactMissing
                | R::ArtifactOld
                | R::Hollow
                | R::WorkFault
                | R::Strayed
                | R::OutcomeUnknown
                | R::TimedOut
        ),
        Act::Check { .. } => matches!(rule, R::CheckVoid | R::CheckCannotRun),
        Act::Begin(_) | Act::Person(_) | Act::Host(_) => false,
    }
}
