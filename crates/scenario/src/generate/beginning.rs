//! The starts of the runs in a search.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    AgentName, Amount, Definition, Driver, Param, ParamName, Stage, StepId, StepsSource, StepsWork,
    Target, Work,
};

use super::super::step::{Entrance, Given, Start, Step, StepsGiven};
use super::possible::examples;

/// Every start: limits are small, and a parameter that names a stage takes each of its values.
pub(super) fn beginnings(definition: &Definition) -> Vec<Vec<Step>> {
    const MOST_BEGINNINGS: usize = 64;
    let mut all: Vec<BTreeMap<ParamName, String>> = vec![BTreeMap::new()];
    for (name, param) in &definition.params {
        let values = values(definition, name, param);
        let with = |params: &BTreeMap<ParamName, String>, value: &String| {
            let mut params = params.clone();
            params.insert(name.clone(), value.clone());
            params
        };
        if !values.is_empty() {
            let combined = all
                .iter()
                .flat_map(|params| values.iter().map(|v| with(params, v)));
            all = combined.take(MOST_BEGINNINGS).collect();
        }
    }
    let given = plan(definition).map(|step| Step::Given(Given::Step(step)));
    let begun = all.into_iter().map(|params| {
        let start = Start {
            driver: Driver::Guarded,
            entry: Entrance::AtOnce,
            steps: StepsGiven::Usual,
            params,
        };
        given
            .clone()
            .into_iter()
            .chain([Step::Start(start)])
            .collect()
    });
    begun.collect()
}

/// The values of a parameter to try; empty if its default is enough.
fn values(definition: &Definition, name: &ParamName, param: &Param) -> Vec<String> {
    let is_target = definition
        .stages
        .iter()
        .flat_map(Stage::edges)
        .any(|(_, edge)| matches!(&edge.to, Target::Param(target) if target == name));
    if is_target {
        return param.choices.clone();
    }
    let asked = asked_by_routes(definition, name);
    if !asked.is_empty() {
        return asked.into_iter().chain(param.default.clone()).collect();
    }
    let is_limit = definition
        .amounts()
        .into_iter()
        .any(|amount| matches!(amount, Amount::Param(limit) if limit == name));
    let least = match is_limit {
        true if param.choices.is_empty() => Some(String::from("1")),
        true => {
            let numbers = param
                .choices
                .iter()
                .filter_map(|choice| choice.parse::<u32>().ok());
            numbers
                .filter(|number| *number > 0)
                .min()
                .map(|number| number.to_string())
        }
        false => None,
    };
    let wanted = || {
        param
            .choices
            .first()
            .cloned()
            .unwrap_or_else(|| String::from("something"))
    };
    let needed = (param.required && param.default.is_none()).then(wanted);
    least.or(needed).into_iter().collect()
}

/// The values that routes ask for, each once.
fn asked_by_routes(definition: &Definition, name: &ParamName) -> BTreeSet<String> {
    let routes = definition
        .stages
        .iter()
        .filter_map(|stage| stage.work.as_route());
    let rules = routes.flat_map(|route| &route.rules);
    rules
        .filter_map(|rule| rule.params.get(name).cloned())
        .collect()
}

/// One step that every task graph of the pipeline accepts, if steps are given at all.
fn plan(definition: &Definition) -> Option<engine::Step> {
    let graphs: Vec<&StepsWork> = definition
        .stages
        .iter()
        .filter_map(|stage| match &stage.work {
            Work::Steps(work) => Some(work),
            Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Ask(_)
            | Work::Review(_)
            | Work::Route(_)
            | Work::End(_) => None,
        })
        .filter(|work| !matches!(work.source, StepsSource::Fixed(_)))
        .collect();
    graphs.first()?;
    let named = graphs.iter().flat_map(|work| &work.agents);
    let named = named.flat_map(|pattern| examples(definition, pattern));
    let fits = |agent: &AgentName| {
        graphs
            .iter()
            .all(|work| work.agents.is_empty() || definition.lists(&work.agents, agent.as_str()))
    };
    let agent = named.chain(AgentName::parse("worker")).find(fits)?;
    let id = StepId::parse("s1").ok()?;
    Some(engine::Step {
        title: id.to_string(),
        id,
        agent,
        needs: Vec::new(),
    })
}
