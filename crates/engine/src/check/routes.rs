//! Routes: each has a default, rules that can be reached and can hold, and no agent alone decides one.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::definition::Definition;
use crate::names::ParamName;
use crate::outcome::Outcome;
use crate::place;
use crate::problem::{CheckRule, Place, Problem};
use crate::route::{RouteRule, RouteWork};
use crate::stage::{Stage, Work};

pub(super) fn check(definition: &Definition) -> Vec<Problem> {
    let stages = definition.stages.iter();
    let routes = stages.filter_map(|stage| Some((stage, stage.work.as_route()?)));
    routes
        .flat_map(|(stage, work)| route(definition, stage, work))
        .collect()
}

fn route(definition: &Definition, stage: &Stage, work: &RouteWork) -> Vec<Problem> {
    let mut problems: Vec<Problem> = no_default(stage).into_iter().collect();
    let place = || place!["stages", stage.name, "route"];
    if work.rules.is_empty() {
        let message = format!("`{}` has no rules, so it has nothing to decide", stage.name);
        problems.push(dead(place(), message, "add a rule, or remove the stage"));
    }
    for (at, rule) in work.rules.iter().enumerate() {
        let earlier = &work.rules[..at];
        problems.extend(
            unreachable(stage, earlier, rule).map(|(message, hint)| dead(place(), message, hint)),
        );
        problems.extend(
            never_holds(definition, rule)
                .map(|message| dead(place(), message, "write a value that it can have")),
        );
        problems.extend(by_word(definition, stage, rule));
    }
    problems.extend(by_setting(definition, work));
    problems
}

/// Agents can write the settings file. One that did would choose the shorter way for the next run.
fn by_setting(definition: &Definition, work: &RouteWork) -> Vec<Problem> {
    let asked = work.rules.iter().flat_map(|rule| rule.params.keys());
    let asked: BTreeSet<&ParamName> = asked.collect();
    let set = asked.into_iter().filter(|name| {
        let param = definition.params.get(*name);
        param.is_some_and(|param| !param.settings.is_empty())
    });
    set.map(|name| Problem {
        rule: CheckRule::RouteBySetting,
        place: place!["params", name, "setting"],
        message: format!("`{name}` decides a route, and an agent could write its setting"),
        hint: String::from(
            "remove `setting`: a person gives the value when the run starts, with `--param`",
        ),
    })
    .collect()
}

fn dead(place: Place, message: String, hint: &str) -> Problem {
    Problem {
        rule: CheckRule::RouteDead,
        place,
        message,
        hint: String::from(hint),
    }
}

/// What cannot be looked at goes there, so it is one stage and known beforehand.
fn no_default(stage: &Stage) -> Option<Problem> {
    let message = match stage.on.get(&Outcome::Otherwise) {
        None => format!("the route `{}` has no default", stage.name),
        Some(_) if stage.longer_way().is_none() => {
            format!("the default of `{}` does not name a stage", stage.name)
        }
        Some(_) => return None,
    };
    Some(Problem {
        rule: CheckRule::RouteDefault,
        place: place!["stages", stage.name],
        message,
        hint: String::from("add `on.otherwise = \"…\"` with the stage of the longest way"),
    })
}

fn unreachable(
    stage: &Stage,
    earlier: &[RouteRule],
    rule: &RouteRule,
) -> Option<(String, &'static str)> {
    let word = &rule.outcome;
    if *word == Outcome::Otherwise || word.is_fault() {
        let message = format!(
            "a rule of `{}` cannot have the outcome `{word}`",
            stage.name
        );
        return Some((message, "choose another word"));
    }
    let is_free = !rule.asks_for_change() && rule.params.is_empty() && rule.verdicts.is_empty();
    if is_free {
        let message = format!("the rule `{word}` of `{}` always holds", stage.name);
        return Some((message, "add a condition, or remove the route"));
    }
    let same = earlier.iter().any(|before| before.outcome == *word);
    if same {
        let message = format!("two rules of `{}` have the outcome `{word}`", stage.name);
        return Some((
            message,
            "give each its own word; both may lead to one stage",
        ));
    }
    let wider = earlier.iter().find(|before| before.covers(rule))?;
    let message = format!(
        "the rule `{word}` of `{}` is never reached: `{}` holds first",
        stage.name, wider.outcome
    );
    Some((message, "put it before the wider one, or remove it"))
}

/// A value that a parameter cannot have, or a word with which a stage never ends.
fn never_holds(definition: &Definition, rule: &RouteRule) -> Option<String> {
    let other = rule.params.iter().find(|(name, value)| {
        let param = definition.params.get(*name);
        param.is_some_and(|param| !param.choices.is_empty() && !param.choices.contains(value))
    });
    if let Some((name, value)) = other {
        let word = &rule.outcome;
        return Some(format!(
            "the rule `{word}` never holds: `{name}` cannot be `{value}`"
        ));
    }
    let other = rule.verdicts.iter().find(|(name, word)| {
        let stage = definition.stages.iter().find(|stage| stage.name == **name);
        stage.is_some_and(|stage| !stage.on.contains_key(*word))
    });
    other.map(|(name, word)| {
        let rule = &rule.outcome;
        format!("the rule `{rule}` never holds: `{name}` does not end with `{word}`")
    })
}

/// An agent that classifies its own work must be overruled by evidence. A check or a person needs not.
fn by_word(definition: &Definition, stage: &Stage, rule: &RouteRule) -> Option<Problem> {
    let is_agents = |name: &&crate::names::StageName| {
        let told = definition.stages.iter().find(|stage| stage.name == **name);
        told.is_some_and(|stage| match &stage.work {
            Work::Agent(_) | Work::Open(_) | Work::Review(_) | Work::Steps(_) => true,
            Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => false,
        })
    };
    let told = rule.verdicts.keys().find(is_agents)?;
    (!rule.asks_for_change()).then(|| Problem {
        rule: CheckRule::RouteByWord,
        place: place!["stages", stage.name, "route"],
        message: format!(
            "the rule `{}` of `{}` believes what the agent of `{told}` says",
            rule.outcome, stage.name
        ),
        hint: String::from("add `files`, `lines`, `within` or `avoids`, which can overrule it"),
    })
}
