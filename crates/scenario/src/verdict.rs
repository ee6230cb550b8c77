//! A scenario is played to its end, or to the first step after which something is not true.

use std::ops::Range;

use engine::{Entry, HostName, Reply};

use super::expectation::Expectation;
use super::judge::{reply_words, unmet};
use super::leaving::Unplayable;
use super::mistake::{Mistake, Rule, Trouble};
use super::player::{Heard, Player};
use super::read::{Demand, Line, Scenario};
use super::step::{Act, Step};

/// How a scenario went.
#[derive(Clone, Debug)]
pub enum Verdict {
    Passed,
    Failed(Box<Failure>),
}

/// Where a scenario went wrong, and what had happened until then.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The step after which something is not true.
    pub step: String,
    /// What is wrong: more than one thing may be.
    pub troubles: Vec<Trouble>,
    pub history: Vec<Entry>,
}

pub fn play(scenario: &Scenario, host: &HostName) -> Verdict {
    let mut player = Player::new(&scenario.pipeline, host);
    for line in &scenario.lines {
        let mistakes = (0..line.times).find_map(|turn| {
            let is_last = turn + 1 == line.times;
            let mistakes = play_line(&mut player, line, is_last);
            (!mistakes.is_empty()).then_some(mistakes)
        });
        if let Some(mistakes) = mistakes {
            let file = &scenario.file;
            let trouble = |mistake| Trouble::new(&file.name, &file.text, mistake);
            return Verdict::Failed(Box::new(Failure {
                step: line.step.to_string(),
                troubles: mistakes.into_iter().map(trouble).collect(),
                history: player.entries,
            }));
        }
    }
    Verdict::Passed
}

/// What is wrong after this step. What must be true is looked at after its last repetition.
fn play_line(player: &mut Player<'_>, line: &Line, is_last: bool) -> Vec<Mistake> {
    let heard = match player.play(&line.step) {
        Ok(heard) => heard,
        Err(unplayable) => return vec![cannot(unplayable, &line.span)],
    };
    if let Some(mistake) = heard.as_ref().and_then(|heard| unexpected(heard, line)) {
        return vec![mistake];
    }
    let demands = line.expectations.iter().filter(|_| is_last);
    let mistakes = demands.filter_map(|demand| match unmet(player, heard.as_ref(), &demand.what) {
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

/// A refusal that nobody expected. An end is judged by what comes of it, a stop may be held, and
/// time that passes asks for nothing.
fn unexpected(heard: &Heard, line: &Line) -> Option<Mistake> {
    let is_expected = |demand: &Demand| {
        matches!(
            demand.what,
            Expectation::Reply { .. } | Expectation::Rule(_)
        )
    };
    let Reply::Refuse(refusal) = &heard.reply else {
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
            reply_words(&heard.reply, heard)
        ),
    })
}

/// Does the step itself tell that it goes wrong, so that no further word is needed?
fn is_told(step: &Step, rule: engine::Rule) -> bool {
    use engine::Rule as R;
    let act = match step {
        Step::Given(_) | Step::TreeChanges | Step::Wait(_) => return true,
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
