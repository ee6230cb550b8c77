//! Routing: which rule of a route holds for this run, and whether the rules that it went by still do.

use alloc::string::String;
use alloc::vec::Vec;

use crate::change::{Change, LineCount, Miss, Routed, Unmet};
use crate::evidence::ChangeNeed;
use crate::names::StageName;
use crate::outcome::Outcome;
use crate::pipeline::Pipeline;
use crate::route::{RouteRule, RouteWork};
use crate::run::Run;
use crate::stage::Stage;

/// The first rule that holds, or `otherwise`. A rule whose evidence cannot be looked at ends the search:
/// nothing shorter is taken on trust.
pub(crate) fn choose(run: &Run, stage: &Stage, change: Option<&Change>) -> Option<Routed> {
    let work = stage.work.as_route()?;
    let mut routed = described(run, stage, work, change)?;
    for rule in &work.rules {
        let Some(because) = miss(run, rule, change) else {
            routed.outcome = rule.outcome.clone();
            break;
        };
        let unseen = matches!(because, Miss::Unseen { .. });
        let rule = rule.outcome.clone();
        routed.unmet.push(Unmet { rule, because });
        if unseen {
            break;
        }
    }
    Some(routed)
}

/// The first route whose rule took the run a shorter way and no longer holds.
pub(crate) fn outgrown(pipeline: &Pipeline, run: &Run, change: Option<&Change>) -> Option<Routed> {
    held(pipeline, run).find_map(|(stage, work, rule)| {
        let because = miss(run, rule, change)?;
        let rule = rule.outcome.clone();
        let unmet = Vec::from([Unmet { rule, because }]);
        let routed = described(run, stage, work, change)?;
        Some(Routed { unmet, ..routed })
    })
}

/// The routes that were looked at again, with the evidence by which they still hold.
pub(crate) fn kept(pipeline: &Pipeline, run: &Run, change: Option<&Change>) -> Vec<Routed> {
    let asking = held(pipeline, run).filter(|(_, _, rule)| rule.asks_for_change());
    let kept = asking.filter_map(|(stage, work, rule)| {
        let routed = described(run, stage, work, change)?;
        let outcome = rule.outcome.clone();
        Some(Routed { outcome, ..routed })
    });
    kept.collect()
}

/// The rules by which the run goes shorter ways, as far as its change can outgrow them: each with its route.
pub fn limiting_rules<'a>(
    pipeline: &'a Pipeline,
    run: &'a Run,
) -> impl Iterator<Item = (&'a StageName, &'a RouteRule)> {
    let asking = held(pipeline, run).filter(|(_, _, rule)| rule.asks_for_change());
    asking.map(|(stage, _, rule)| (&stage.name, rule))
}

/// How the change must be measured before this route can be decided, if a rule that may hold asks.
pub(crate) fn change_to_choose(run: &Run, work: &RouteWork) -> Option<ChangeNeed> {
    change_for(run, work.rules.iter())
}

/// How the change must be measured before the routes of this run can be looked at again.
pub(crate) fn change_to_keep(pipeline: &Pipeline, run: &Run) -> Option<ChangeNeed> {
    change_for(run, held(pipeline, run).map(|(_, _, rule)| rule))
}

/// Must a run with these parameters record the tree at its start?
pub(crate) fn needs_base(pipeline: &Pipeline, params: &Params) -> bool {
    let stages = pipeline.definition().stages.iter();
    let mut rules = stages
        .filter_map(|stage| stage.work.as_route())
        .flat_map(|it| &it.rules);
    rules.any(|rule| rule.asks_for_change() && other_param(params, rule).is_none())
}

type Params = alloc::collections::BTreeMap<crate::names::ParamName, String>;

fn change_for<'a>(run: &Run, rules: impl Iterator<Item = &'a RouteRule>) -> Option<ChangeNeed> {
    let asking = |rule: &&RouteRule| rule.asks_for_change() && known_miss(run, rule).is_none();
    let rules: Vec<&RouteRule> = rules.filter(asking).collect();
    (!rules.is_empty()).then(|| ChangeNeed {
        base: run.base,
        lines: rules.iter().any(|rule| rule.lines.is_some()),
    })
}

/// The rules by which the run goes shorter ways.
fn held<'a>(
    pipeline: &'a Pipeline,
    run: &'a Run,
) -> impl Iterator<Item = (&'a Stage, &'a RouteWork, &'a RouteRule)> {
    run.routes.iter().filter_map(|(route, held)| {
        let stage = pipeline.stage(route)?;
        let work = stage.work.as_route()?;
        Some((stage, work, work.rule(&held.outcome)?))
    })
}

/// A decision for `otherwise`, with what the rules of the route ask for.
fn described(
    run: &Run,
    stage: &Stage,
    work: &RouteWork,
    change: Option<&Change>,
) -> Option<Routed> {
    let asked = work.rules.iter().flat_map(|rule| rule.params.keys());
    let params = asked.filter_map(|name| Some((name.clone(), run.params.get(name)?.clone())));
    let told = work.rules.iter().flat_map(|rule| rule.verdicts.keys());
    let verdicts = told.filter_map(|name| Some((name.clone(), run.exits.get(name)?.clone())));
    Some(Routed {
        route: stage.name.clone(),
        outcome: Outcome::Otherwise,
        longer: stage.longer_way()?.clone(),
        change: change.cloned(),
        params: params.collect(),
        verdicts: verdicts.collect(),
        unmet: Vec::new(),
    })
}

/// The first condition that does not hold.
fn miss(run: &Run, rule: &RouteRule, change: Option<&Change>) -> Option<Miss> {
    known_miss(run, rule).or_else(|| {
        rule.asks_for_change()
            .then(|| change_miss(rule, change))
            .flatten()
    })
}

/// A condition that the run itself answers.
fn known_miss(run: &Run, rule: &RouteRule) -> Option<Miss> {
    if let Some(param) = other_param(&run.params, rule) {
        return Some(param);
    }
    let is_other = |(stage, word): &(&StageName, &Outcome)| {
        run.exits.get(*stage).map(String::as_str) != Some(word.as_str())
    };
    let mut verdicts = rule.verdicts.iter();
    verdicts.find(is_other).map(|(stage, _)| Miss::Verdict {
        stage: stage.clone(),
    })
}

fn other_param(params: &Params, rule: &RouteRule) -> Option<Miss> {
    let mut asked = rule.params.iter();
    let other = asked.find(|(name, value)| params.get(*name) != Some(*value));
    other.map(|(param, _)| Miss::Param {
        param: param.clone(),
    })
}

fn change_miss(rule: &RouteRule, change: Option<&Change>) -> Option<Miss> {
    let unseen = |reason: &str| {
        Some(Miss::Unseen {
            reason: String::from(reason),
        })
    };
    let (files, lines, paths) = match change {
        Some(Change::Seen {
            files,
            lines,
            paths,
        }) => (*files, lines, paths),
        Some(Change::Unseen { reason }) => return unseen(reason),
        None => return unseen("nobody looked at the change"),
    };
    if let Some(most) = rule.files.filter(|most| files > *most) {
        return Some(Miss::Files { most });
    }
    let covered =
        |globs: &[crate::pattern::PathGlob], path: &str| globs.iter().any(|glob| glob.covers(path));
    let outside = |path: &&String| !rule.within.is_empty() && !covered(&rule.within, path);
    if let Some(path) = paths.iter().find(outside) {
        return Some(Miss::Outside { path: path.clone() });
    }
    if let Some(path) = paths.iter().find(|path| covered(&rule.avoids, path)) {
        return Some(Miss::Forbidden { path: path.clone() });
    }
    match (rule.lines, lines) {
        (None, _) => None,
        (Some(most), LineCount::Counted(lines)) => (*lines > most).then_some(Miss::Lines { most }),
        (Some(_), LineCount::Unseen(reason)) => unseen(reason),
        (Some(_), LineCount::Unasked) => unseen("nobody counted the lines"),
    }
}
