//! Outcomes: what a stage can end with is a closed set, and all of it is handled.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::definition::Definition;
use crate::leaves::verdict;
use crate::nearest::nearest;
use crate::outcome::{Fault, Outcome};
use crate::pattern::AgentPattern;
use crate::place;
use crate::problem::{CheckRule, Problem};
use crate::stage::{Edge, Leaves, Questions, ReviewWork, Stage, Way, WordsRule, Work};

/// What a stage can end with.
struct Outcomes {
    /// These happen normally, and must be handled.
    must: BTreeSet<Outcome>,
    /// The engine handles these itself unless `on` does.
    may: BTreeSet<Outcome>,
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
            hint: String::from("remove `on`, or use `after` to let the run start again"),
        }));
        return problems;
    }
    let Some(outcomes) = outcomes(definition, stage) else {
        return problems;
    };
    problems.extend(no_choice(stage));
    problems.extend(words_unasked(stage));
    problems.extend(unhandled(stage, &outcomes));
    problems.extend(impossible(stage, &outcomes));
    problems
}

/// `None`: the stage has no outcomes.
fn outcomes(definition: &Definition, stage: &Stage) -> Option<Outcomes> {
    let faults = BTreeSet::from(Fault::ALL.map(Outcome::Fault));
    let outcomes = match &stage.work {
        Work::Agent(work) => Outcomes {
            must: told(definition, &work.leaves),
            may: faults,
        },
        Work::Open(_) => Outcomes {
            must: BTreeSet::new(),
            may: BTreeSet::from([Outcome::Finish]),
        },
        Work::Check(_) => Outcomes {
            must: BTreeSet::from([Outcome::Passed, Outcome::Failed]),
            may: BTreeSet::from([Fault::Crashed, Fault::Strayed].map(Outcome::Fault)),
        },
        Work::Ask(work) => match (&work.questions, stage.timeout) {
            (Questions::Choice { .. }, limit) => {
                let chosen = stage.choices().into_iter().cloned();
                let late = limit.map(|_| Outcome::Fault(Fault::Timeout));
                Outcomes {
                    must: chosen.chain(late).collect(),
                    may: BTreeSet::new(),
                }
            }
            (Questions::From { .. }, limit) => {
                let late = limit.map(|_| Outcome::Fault(Fault::Timeout));
                Outcomes {
                    must: [Outcome::Answered].into_iter().chain(late).collect(),
                    may: BTreeSet::new(),
                }
            }
        },
        Work::Review(work) => Outcomes {
            must: reviewed(definition, work),
            may: faults,
        },
        Work::Steps(_) => Outcomes {
            must: BTreeSet::from([Outcome::Done, Outcome::Failed]),
            may: BTreeSet::new(),
        },
        Work::Route(work) => Outcomes {
            must: work.rules.iter().map(|rule| rule.outcome.clone()).collect(),
            may: BTreeSet::from([Outcome::Otherwise]),
        },
        Work::End(_) => return None,
    };
    Some(outcomes)
}

/// The outcomes that an agent's artifact can tell.
fn told(definition: &Definition, leaves: &Leaves) -> BTreeSet<Outcome> {
    match verdict(definition, leaves) {
        Some((_, field)) => field.values.values().cloned().collect(),
        None => BTreeSet::from([Outcome::Done]),
    }
}

fn reviewed(definition: &Definition, work: &ReviewWork) -> BTreeSet<Outcome> {
    let asks = work.panel.iter().any(|member| {
        let artifact = definition.artifacts.get(&member.leaves);
        let field = artifact.and_then(|artifact| artifact.outcome.as_ref());
        field.is_some_and(|field| {
            let mut outcomes = field.values.values();
            outcomes.any(|outcome| *outcome == Outcome::NeedsClarification)
        })
    });
    let mut must = BTreeSet::from([Outcome::Approved, Outcome::Exceeded]);
    if asks {
        must.insert(Outcome::NeedsClarification);
    }
    must
}

/// Only a person who chooses can say something with it.
fn words_unasked(stage: &Stage) -> Vec<Problem> {
    let asks = matches!(&stage.work, Work::Ask(ask) if ask.is_choice());
    let requires = |(way, edge): &(Way<'_>, &Edge)| {
        let chosen = asks && way.outcome().is_some_and(|it| !it.is_fault());
        edge.words == WordsRule::Required && !chosen
    };
    let unasked = stage.edges().into_iter().filter(requires);
    unasked
        .map(|(way, _)| Problem {
            rule: CheckRule::WordsUnasked,
            place: super::references::way_place(stage, &way),
            message: format!("nobody chooses `{way}` in `{}`", stage.name),
            hint: String::from("remove `text`, or ask a question with choices there"),
        })
        .collect()
}

/// A question needs at least one choice.
fn no_choice(stage: &Stage) -> Option<Problem> {
    let asks = matches!(&stage.work, Work::Ask(ask) if ask.is_choice());
    (asks && stage.choices().is_empty()).then(|| Problem {
        rule: CheckRule::UnhandledOutcome,
        place: place!["stages", stage.name],
        message: format!("`{}` asks but has no choices", stage.name),
        hint: String::from("add choices, such as `on.yes = \"…\"`: the outcomes are the choices"),
    })
}

fn unhandled(stage: &Stage, outcomes: &Outcomes) -> Vec<Problem> {
    let missing = outcomes
        .must
        .iter()
        .filter(|outcome| !stage.on.contains_key(outcome));
    missing
        .map(|word| Problem {
            rule: CheckRule::UnhandledOutcome,
            place: place!["stages", stage.name],
            message: format!(
                "`{}` can end with `{word}`, for which it has no edge",
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
        .map(Outcome::as_str)
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

/// In an open stage only an allowed agent can end.
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
        hint: String::from("put it before the wider one, or remove it"),
    });
    let shut = shut.map(|after| Problem {
        rule: CheckRule::AfterNotAllowed,
        place: place!["stages", stage.name, "after", after.agent],
        message: format!("`{}` does not allow `{}`", stage.name, after.agent),
        hint: format!("add \"{}\" to `allow`", after.agent),
    });
    shut.chain(shadowed).collect()
}
