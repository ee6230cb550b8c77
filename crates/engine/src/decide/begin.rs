//! Starting: a new run at the start stage, or a fork of another run.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Draft, moving, session};
use crate::amount::Amount;
use crate::apply::{apply, interrupted};
use crate::cause::MoveReason;
use crate::decision::{Decision, Refusal, Reply};
use crate::definition::{Definition, Meaning, Param};
use crate::entry::{Entry, Fact, Started};
use crate::event::{Beginning, Who};
use crate::evidence::Evidence;
use crate::names::{ParamName, RunId, Time};
use crate::pipeline::Pipeline;
use crate::project_path;
use crate::rule::Rule;
use crate::run::Run;
use crate::stage::{Stage, StepsSource};
use crate::steps::usable_steps;

/// Starts a run, or says why it cannot start.
pub fn begin(pipeline: &Pipeline, beginning: &Beginning) -> Decision {
    if beginning.task.trim().is_empty() {
        return refuse(String::from("a run needs a task: describe what to do"));
    }
    let params = match params(pipeline.definition(), &beginning.params) {
        Ok(params) => params,
        Err(reason) => return refuse(reason),
    };
    if let Err(reason) = steps(pipeline.definition(), beginning) {
        return refuse(reason);
    }
    let started = Started {
        id: beginning.id.clone(),
        definition: beginning.definition,
        task: beginning.task.clone(),
        params,
        driver: beginning.driver,
        host: beginning.host.clone(),
        stage: pipeline.definition().start_with(&beginning.steps).clone(),
        session: beginning.session.clone(),
        process: beginning.process,
        steps: beginning.steps.clone(),
        before: beginning.before.clone(),
        queued: beginning.queued,
        environment: beginning.environment,
        base: beginning.base,
        branch: beginning.branch.clone(),
        commit: beginning.commit.clone(),
    };
    let fact = Fact::Started(Box::new(started));
    first(
        pipeline,
        beginning.at,
        &beginning.by,
        Rule::Begin,
        fact,
        Enter::Stage {
            unverified_host: beginning.unverified_host.as_deref(),
        },
    )
}

/// A run that continues from a recorded state of another one.
pub fn fork(
    pipeline: &Pipeline,
    state: &Run,
    entry: u64,
    id: &RunId,
    at: Time,
    by: &Who,
) -> Decision {
    let mut graphs = state.graphs.clone();
    let members = graphs.values_mut().flat_map(|graph| &mut graph.members);
    members.for_each(interrupted);
    let forked = Run {
        graphs,
        id: id.clone(),
        started_at: at,
        dispatches: BTreeMap::new(),
        workers: Arc::default(),
        session: None,
        bypass: None,
        // It works where the other one works, and delivers nothing of its own.
        place: None,
        ..state.clone()
    };
    let fact = Fact::Forked {
        from: state.id.clone(),
        entry,
        state: Box::new(forked),
    };
    first(pipeline, at, by, Rule::Fork, fact, Enter::Nothing)
}

enum Enter<'a> {
    Stage { unverified_host: Option<&'a str> },
    Nothing,
}

fn first(
    pipeline: &Pipeline,
    at: Time,
    by: &Who,
    rule: Rule,
    fact: Fact,
    enter: Enter<'_>,
) -> Decision {
    let entry = Entry {
        at,
        by: by.clone(),
        rule,
        fact,
    };
    let Ok(run) = apply(None, &entry) else {
        return refuse(String::from("the run cannot start"));
    };
    let evidence = Evidence::default();
    let entries = Vec::from([entry]);
    let mut draft = Draft {
        pipeline,
        run: Cow::Owned(run),
        at,
        by: by.clone(),
        tree: None,
        evidence: &evidence,
        entries,
    };
    if let Enter::Stage { unverified_host } = enter {
        moving::enter(&mut draft, &MoveReason::Edge);
        session::mark(&mut draft, unverified_host);
    }
    Decision {
        reply: Reply::Done,
        entries: draft.entries,
        rule,
    }
}

fn refuse(reason: String) -> Decision {
    let refusal = Refusal {
        rule: Rule::Begin,
        reason,
        next: Vec::new(),
        own_work: false,
        artifact: None,
    };
    Decision {
        reply: Reply::Refuse(refusal),
        entries: Vec::new(),
        rule: Rule::Begin,
    }
}

/// The parameters with their defaults: all that are required, none that is unknown.
fn params(
    definition: &Definition,
    given: &BTreeMap<ParamName, String>,
) -> Result<BTreeMap<ParamName, String>, String> {
    if let Some(name) = given
        .keys()
        .find(|name| !definition.params.contains_key(*name))
    {
        let known: Vec<&str> = definition.params.keys().map(ParamName::as_str).collect();
        return Err(match known.as_slice() {
            [] => format!("there is no parameter '{name}': this pipeline has none"),
            known => format!(
                "there is no parameter '{name}' (there are: {})",
                known.join(", ")
            ),
        });
    }
    let mut params = BTreeMap::new();
    for (name, param) in &definition.params {
        if let Some(value) = value(name, param, given)? {
            params.insert(name.clone(), value);
        }
    }
    limits(definition, &params)?;
    Ok(params)
}

fn value(
    name: &ParamName,
    param: &Param,
    given: &BTreeMap<ParamName, String>,
) -> Result<Option<String>, String> {
    let known = given.get(name).or(param.default.as_ref());
    let known = known.map(|value| param.words.get(value).unwrap_or(value));
    // An empty value counts as missing: a command would get an empty argument.
    let Some(value) = known.filter(|value| !param.required || !value.trim().is_empty()) else {
        return if param.required {
            Err(format!("parameter '{name}' is required: {}", param.about))
        } else {
            Ok(None)
        };
    };
    if !param.choices.is_empty() && !param.choices.contains(value) {
        let choices = param.choices.join(", ");
        return Err(format!(
            "parameter '{name}' must be one of {choices}, not '{value}'"
        ));
    }
    match param.meaning {
        Meaning::Text => Ok(Some(value.to_string())),
        Meaning::Path if value.starts_with('-') => Err(format!(
            "parameter '{name}' is a path, but '{value}' looks like an option"
        )),
        Meaning::Path => project_path::plain(value).map(Some).ok_or_else(|| {
            format!(
                "parameter '{name}' is a path inside the project, but '{value}' leads out of it"
            )
        }),
    }
}

/// Parameters that are used as limits are numbers.
fn limits(definition: &Definition, params: &BTreeMap<ParamName, String>) -> Result<(), String> {
    for limit in definition.amounts() {
        if let Amount::Param(name) = limit
            && params
                .get(name)
                .is_none_or(|value| value.parse::<u32>().is_err())
        {
            let value = params.get(name).map_or("nothing", String::as_str);
            return Err(format!(
                "parameter '{name}' is a limit, but {value} is not a number"
            ));
        }
    }
    at_least_one(definition, params)
}

/// With no round and no worker nothing could happen.
fn at_least_one(
    definition: &Definition,
    params: &BTreeMap<ParamName, String>,
) -> Result<(), String> {
    let zero = definition
        .stages
        .iter()
        .filter_map(Stage::least_one)
        .find_map(|limit| match limit {
            Amount::Param(name)
                if params
                    .get(name)
                    .is_some_and(|value| value.parse() == Ok(0_u32)) =>
            {
                Some(name)
            }
            Amount::Param(_) | Amount::Fixed(_) => None,
        });
    match zero {
        Some(name) => Err(format!("parameter '{name}' must be at least 1")),
        None => Ok(()),
    }
}

/// Steps are given if and only if the pipeline needs them.
fn steps(definition: &Definition, beginning: &Beginning) -> Result<(), String> {
    let wanted = definition
        .stages
        .iter()
        .filter_map(|stage| stage.work.as_steps())
        .find(|steps| steps.source.takes_given());
    match (wanted, beginning.steps.as_slice()) {
        (Some(work), []) if work.source == StepsSource::Start => {
            Err(String::from("this pipeline needs its steps at the start"))
        }
        (Some(_), []) => Ok(()),
        (Some(work), steps) => usable_steps(definition, work, steps),
        (None, []) => Ok(()),
        (None, _) => Err(String::from("this pipeline takes no steps at the start")),
    }
}
