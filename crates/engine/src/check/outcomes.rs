//! Outcomes: what a stage can end with is a closed set, and all of it is handled.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::definition::Definition;
use crate::leaves::verdict;
use crate::names::Outcome;
use crate::nearest::nearest;
use crate::outcome::{APPROVED, EXCEEDED, Fault, NEEDS_CLARIFICATION};
use crate::pattern::AgentPattern;
use crate::place;
use crate::problem::{CheckRule, Problem};
use crate::stage::{Leaves, Questions, ReviewWork, Stage, Work};

/// What a stage can end with.
struct Outcomes {
    /// These happen in the ordinary way, and must be handled.
    must: BTreeSet<String>,
    /// The engine handles these itself unless `on` does.
    may: BTreeSet<String>,
}

pub(super) fn check(definition: &Definition) -> Vec<Problem> {
    definition
        .stages
        .iter()
        .flat_map(|stage| stage_outcomes(definition, stage))
        .collect()
}

fn stage_outcomes(definition: &Definition, stage: &Stage) -> Vec<Problem> {
    let mut problems = after(definition, stage);
    if let Work::End(_) = stage.work {
        problems.extend(stage.on.keys().map(|outcome| Problem {
            rule: CheckRule::EdgeOnEnd,
            place: place!["stages", stage.name, "on", outcome],
            message: format!("`{}` is an end and has no outcomes", stage.name),
            hint: String::from("take `on` away, or use `after` to let the run begin again"),
        }));
        return problems;
    }
    let Some(outcomes) = outcomes(definition, stage) else {
        return problems;
    };
    problems.extend(no_choice(stage));
    problems.extend(unhandled(stage, &outcomes));
    problems.extend(impossible(stage, &outcomes));
    problems
}

/// `None`: the stage has no outcomes.
fn outcomes(definition: &Definition, stage: &Stage) -> Option<Outcomes> {
    let faults: BTreeSet<String> = Fault::ALL
        .iter()
        .map(|fault| fault.word().to_string())
        .collect();
    let set = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
    let outcomes = match &stage.work {
        Work::Agent(work) => Outcomes {
            must: told(definition, &work.leaves),
            may: faults,
        },
        Work::Open(_) => Outcomes {
            must: BTreeSet::new(),
            may: set(&["finish"]),
        },
        Work::Check(_) => Outcomes {
            must: set(&["passed", "failed"]),
            may: set(&["crashed", "strayed"]),
        },
        Work::Ask(work) => match (&work.questions, stage.timeout) {
            (Questions::Choice, limit) => {
                let chosen = stage.choices().into_iter().map(Outcome::to_string);
                let late = limit.map(|_| Fault::Timeout.word().to_string());
                Outcomes {
                    must: chosen.chain(late).collect(),
                    may: BTreeSet::new(),
                }
            }
            (Questions::From { .. }, None) => Outcomes {
                must: set(&["answered"]),
                may: BTreeSet::new(),
            },
            (Questions::From { .. }, Some(_)) => Outcomes {
                must: set(&["answered", "timeout"]),
                may: BTreeSet::new(),
            },
        },
        Work::Review(work) => Outcomes {
            must: reviewed(definition, work),
            may: faults,
        },
        Work::Steps(_) => Outcomes {
            must: set(&["done", "failed"]),
            may: BTreeSet::new(),
        },
        Work::End(_) => return None,
    };
    Some(outcomes)
}

/// The outcomes that an agent's artifact can tell.
fn told(definition: &Definition, leaves: &Leaves) -> BTreeSet<String> {
    match verdict(definition, leaves) {
        Some((_, field)) => field.values.values().map(Outcome::to_string).collect(),
        None => BTreeSet::from(["done".to_string()]),
    }
}

fn reviewed(definition: &Definition, work: &ReviewWork) -> BTreeSet<String> {
    let asks = work.panel.iter().any(|member| {
        let artifact = definition.artifacts.get(&member.leaves);
        let field = artifact.and_then(|artifact| artifact.outcome.as_ref());
        field.is_some_and(|field| {
            field
                .values
                .values()
                .any(|outcome| outcome.as_str() == NEEDS_CLARIFICATION)
        })
    });
    let mut must = BTreeSet::from([APPROVED.to_string(), EXCEEDED.to_string()]);
    if asks {
        must.insert(NEEDS_CLARIFICATION.to_string());
    }
    must
}

/// A question that nobody can answer is none.
fn no_choice(stage: &Stage) -> Option<Problem> {
    let asks = matches!(&stage.work, Work::Ask(ask) if ask.questions == Questions::Choice);
    (asks && stage.choices().is_empty()).then(|| Problem {
        rule: CheckRule::UnhandledOutcome,
        place: place!["stages", stage.name],
        message: format!("`{}` asks and leaves no choice", stage.name),
        hint: String::from("add `on.yes = \"…\"` and the like: the outcomes are the choices"),
    })
}

fn unhandled(stage: &Stage, outcomes: &Outcomes) -> Vec<Problem> {
    let handled: BTreeSet<&str> = stage.on.keys().map(Outcome::as_str).collect();
    let missing = outcomes
        .must
        .iter()
        .filter(|word| !handled.contains(word.as_str()));
    missing
        .map(|word| Problem {
            rule: CheckRule::UnhandledOutcome,
            place: place!["stages", stage.name],
            message: format!(
                "`{}` can end with `{word}`, which leads nowhere",
                stage.name
            ),
            hint: format!("add `on.{word} = \"…\"`"),
        })
        .collect()
}

fn impossible(stage: &Stage, outcomes: &Outcomes) -> Vec<Problem> {
    let known: Vec<&str> = outcomes
        .must
        .iter()
        .chain(&outcomes.may)
        .map(String::as_str)
        .collect();
    let never = stage
        .on
        .keys()
        .filter(|outcome| !known.contains(&outcome.as_str()));
    never
        .map(|outcome| Problem {
            rule: CheckRule::ImpossibleOutcome,
            place: place!["stages", stage.name, "on", outcome],
            message: format!("`{}` never ends with `{outcome}`", stage.name),
            hint: match nearest(outcome.as_str(), known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it ends with: {}", known.join(", ")),
            },
        })
        .collect()
}

/// In an open stage only an agent that is let in can end there.
fn after(definition: &Definition, stage: &Stage) -> Vec<Problem> {
    let Work::Open(work) = &stage.work else {
        return Vec::new();
    };
    let shut = work.after.iter().filter(|after| {
        let listed = |agent: &str| definition.lists(&work.allow, agent);
        let group = definition.group(&after.agent);
        let whole = work.allow.contains(&after.agent);
        let members = group.map_or_else(|| Vec::from([&after.agent]), |all| all.iter().collect());
        !whole && !members.iter().all(|pattern| listed(pattern.as_str()))
    });
    let shadowed = work.after.iter().enumerate().filter(|(at, after)| {
        let earlier = &work.after[..*at];
        let agents = definition.group(&after.agent);
        let agents = agents.map_or_else(|| Vec::from([&after.agent]), |all| all.iter().collect());
        let covered = |agent: &&AgentPattern| {
            earlier
                .iter()
                .any(|before| definition.covers(&before.agent, agent.as_str()))
        };
        agents.iter().all(covered)
    });
    let shadowed = shadowed.map(|(_, after)| Problem {
        rule: CheckRule::AfterShadowed,
        place: place!["stages", stage.name, "after", after.agent],
        message: format!(
            "an earlier `after` of `{}` covers `{}`",
            stage.name, after.agent
        ),
        hint: String::from("put it before the wider one, or take it away"),
    });
    let shut = shut.map(|after| Problem {
        rule: CheckRule::AfterNotAllowed,
        place: place!["stages", stage.name, "after", after.agent],
        message: format!("`{}` does not let `{}` in", stage.name, after.agent),
        hint: format!("add \"{}\" to `allow`", after.agent),
    });
    shut.chain(shadowed).collect()
}
