//! Warnings: what is declared and not used, and promises that are not stated.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::references::placeholders;
use crate::amount::Amount;
use crate::definition::{Artifact, Definition, Source, Strictness};
use crate::names::{ArtifactName, CounterName, GroupName};
use crate::pattern::AgentPattern;
use crate::place;
use crate::problem::{CheckRule, Place, Problem};
use crate::stage::{Commands, Questions, Stage, Target, Work, Worker};
use crate::view::ViewFormat;

pub(super) fn check(definition: &Definition) -> Vec<Problem> {
    let names = unused_names(definition);
    let shadowed = shadowed(definition).into_iter().map(|name| Problem {
        rule: CheckRule::GroupShadowsAgent,
        place: place!["groups", name],
        message: format!("`{name}` is a group and an agent"),
        hint: String::from("give the group another name: a list would mean the group"),
    });
    let full = returns_without_reset(definition);
    let full = full.into_iter().map(|(place, counter)| Problem {
        rule: CheckRule::ResumeWithoutReset,
        place,
        message: format!("`{counter}` is still full after this answer"),
        hint: String::from("add it to `reset`; otherwise the next failure asks again"),
    });
    let unproved = definition.proofs.is_empty().then(|| Problem {
        rule: CheckRule::NothingProved,
        place: place!["name"],
        message: String::from("this pipeline has no promise to prove"),
        hint: String::from("add a [[prove]] with `before` and `through`"),
    });
    names
        .into_iter()
        .chain(shadowed)
        .chain(full)
        .chain(unproved)
        .collect()
}

/// Artifacts, counters, groups and parameters that are declared and nowhere used.
fn unused_names(definition: &Definition) -> Vec<Problem> {
    let (left, counted) = (used_artifacts(definition), counted(definition));
    let (patterns, mentioned) = (patterns(definition), mentioned(definition));
    let artifacts = definition
        .artifacts
        .keys()
        .filter(|name| !left.contains(*name));
    let counters = definition
        .counters
        .keys()
        .filter(|name| !counted.contains(*name));
    let groups = definition
        .groups
        .keys()
        .filter(|name| !patterns.contains(name.as_str()));
    let params = definition
        .params
        .keys()
        .filter(|name| !mentioned.contains(name.as_str()));
    let unused = |rule, table: &str, name: &str, what: &str| Problem {
        rule,
        place: place![table, name],
        message: format!("{what}: `{name}`"),
        hint: how_to_use(rule, name),
    };
    let artifacts = artifacts.map(|name| {
        let what = "an artifact is neither written nor read";
        unused(CheckRule::UnusedArtifact, "artifacts", name.as_str(), what)
    });
    let counters = counters.map(|name| {
        unused(
            CheckRule::UnusedCounter,
            "counters",
            name.as_str(),
            "a counter never counts",
        )
    });
    let groups = groups.map(|name| {
        unused(
            CheckRule::UnusedGroup,
            "groups",
            name.as_str(),
            "a group is not used",
        )
    });
    let params = params.map(|name| {
        unused(
            CheckRule::UnusedParam,
            "params",
            name.as_str(),
            "a parameter is not used",
        )
    });
    artifacts
        .chain(counters)
        .chain(groups)
        .chain(params)
        .collect()
}

fn how_to_use(rule: CheckRule, name: &str) -> String {
    if rule == CheckRule::UnusedParam {
        format!("use `{{{name}}}` in a command, a path or a limit, or remove it")
    } else {
        String::from("use it, or remove it")
    }
}

fn used_artifacts(definition: &Definition) -> BTreeSet<ArtifactName> {
    definition
        .stages
        .iter()
        .flat_map(stage_artifacts)
        .cloned()
        .collect()
}

fn stage_artifacts(stage: &Stage) -> Vec<&ArtifactName> {
    let approved = stage
        .edges()
        .into_iter()
        .flat_map(|(_, edge)| &edge.approves);
    let work: Vec<&ArtifactName> = match &stage.work {
        Work::Agent(work) => work.reads.all().chain(work.leaves.all()).collect(),
        Work::Open(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::End(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::Route(_) => Vec::new(),
        Work::Check(_) => stage.check_fields().map(|field| &field.artifact).collect(),
        Work::Ask(work) => match &work.questions {
            Questions::From { field, leaves } => Vec::from([&field.artifact, leaves]),
            Questions::Choice { leaves } => leaves.iter().collect(),
        },
        Work::Review(work) => {
            let panel = work.panel.iter().map(|member| &member.leaves);
            work.reads
                .all()
                .chain(&work.fixes)
                .chain(&work.of)
                .chain(panel)
                .collect()
        }
        Work::Steps(work) => {
            let source = work.source.field().map(|field| &field.artifact);
            work.reads.all().chain(&work.leaves).chain(source).collect()
        }
    };
    work.into_iter().chain(approved).collect()
}

fn counted(definition: &Definition) -> BTreeSet<CounterName> {
    let edges = definition.stages.iter().flat_map(Stage::edges);
    edges.filter_map(|(_, edge)| edge.count.clone()).collect()
}

/// Every pattern that could be a group's name.
fn patterns(definition: &Definition) -> BTreeSet<String> {
    let text = |pattern: &AgentPattern| pattern.as_str().to_string();
    let stages = definition.stages.iter().flat_map(|stage| {
        let after = stage.after().iter().map(|after| text(&after.agent));
        let work: Vec<String> = match &stage.work {
            Work::Open(work) => {
                let leaves = work.leaves.iter().map(|(who, _)| text(who));
                work.allow.iter().map(text).chain(leaves).collect()
            }
            Work::End(work) => work.leaves.iter().map(|(who, _)| text(who)).collect(),
            Work::Steps(work) => work.agents.iter().map(text).collect(),
            Work::Agent(_) | Work::Check(_) | Work::Ask(_) | Work::Review(_) | Work::Route(_) => {
                Vec::new()
            }
        };
        after.chain(work).collect::<Vec<_>>()
    });
    let proofs = definition
        .proofs
        .iter()
        .filter_map(|proof| match &proof.claim {
            crate::definition::Claim::Admits { agents, .. } => Some(text(agents)),
            crate::definition::Claim::Passes { .. } => None,
        });
    stages.chain(proofs).collect()
}

/// Every parameter that something refers to.
fn mentioned(definition: &Definition) -> BTreeSet<String> {
    let limits = definition
        .amounts()
        .into_iter()
        .filter_map(|amount| match amount {
            Amount::Param(name) => Some(name.as_str().to_string()),
            Amount::Fixed(_) => None,
        });
    let targets = definition.stages.iter().flat_map(Stage::edges);
    let targets = targets.filter_map(|(_, edge)| match &edge.to {
        Target::Param(name) => Some(name.as_str().to_string()),
        Target::Stage(_) | Target::Interrupted => None,
    });
    let artifacts = definition.artifacts.values().flat_map(in_artifact);
    let texts = definition.stages.iter().flat_map(|stage| {
        let commands: Vec<String> = match &stage.work {
            Work::Check(check) => match &check.commands {
                Commands::Fixed(lines) => lines
                    .iter()
                    .flatten()
                    .flat_map(|word| words(word))
                    .collect(),
                Commands::Approved(_) => Vec::new(),
            },
            Work::Ask(ask) => words(&ask.question),
            Work::Route(route) => {
                let params = route.rules.iter().flat_map(|rule| rule.params.keys());
                params.map(|name| name.as_str().to_string()).collect()
            }
            Work::Agent(_) | Work::Open(_) | Work::Review(_) | Work::Steps(_) | Work::End(_) => {
                Vec::new()
            }
        };
        let inject = stage.inject.as_deref().map(words).unwrap_or_default();
        commands.into_iter().chain(inject).collect::<Vec<_>>()
    });
    let views = definition.views.iter().flat_map(|view| {
        let promise = view.format.param().map(|name| name.as_str().to_string());
        let shown = in_template(definition, &view.format);
        words(&view.path).into_iter().chain(promise).chain(shown)
    });
    limits
        .chain(targets)
        .chain(artifacts)
        .chain(texts)
        .chain(views)
        .collect()
}

/// The parameters that a template mentions.
fn in_template(definition: &Definition, format: &ViewFormat) -> Vec<String> {
    let ViewFormat::Template(template) = format else {
        return Vec::new();
    };
    let names = definition.params.keys().map(|name| name.as_str());
    let mentioned = names.filter(|name| template.text.contains(name));
    mentioned.map(ToString::to_string).collect()
}

/// The placeholders of a text.
fn words(text: &str) -> Vec<String> {
    let found = placeholders(text).into_iter();
    found.map(ToString::to_string).collect()
}

fn in_artifact(artifact: &Artifact) -> Vec<String> {
    let path = match &artifact.source {
        Source::File(path) => words(path),
        Source::Reply | Source::Answers => Vec::new(),
    };
    let strictness = match &artifact.strictness {
        Strictness::Param(name) => Some(name.as_str().to_string()),
        Strictness::Strict | Strictness::Advisory => None,
    };
    let equals = artifact.equals.values().flat_map(|text| words(text));
    path.into_iter().chain(strictness).chain(equals).collect()
}

fn shadowed(definition: &Definition) -> Vec<&GroupName> {
    let agents: BTreeSet<&str> = definition
        .stages
        .iter()
        .filter_map(|stage| match &stage.work {
            Work::Agent(work) => match &work.worker {
                Worker::Agent(agent) => Some(agent.as_str()),
                Worker::Session => None,
            },
            Work::Review(work) => Some(work.owner.as_str()),
            Work::Open(_)
            | Work::Check(_)
            | Work::Ask(_)
            | Work::Steps(_)
            | Work::Route(_)
            | Work::End(_) => None,
        })
        .collect();
    definition
        .groups
        .keys()
        .filter(|name| agents.contains(name.as_str()))
        .collect()
}

/// Answers that continue where a counter blocked the run, and leave it full.
fn returns_without_reset(definition: &Definition) -> Vec<(Place, &CounterName)> {
    let mut found = Vec::new();
    for (counter, declared) in &definition.counters {
        let stage = definition
            .stages
            .iter()
            .find(|stage| stage.name == declared.then);
        for (way, edge) in stage.map(Stage::edges).unwrap_or_default() {
            if edge.to == Target::Interrupted && !edge.reset.contains(counter) {
                let stage = stage.map(|stage| super::references::way_place(stage, &way));
                found.extend(stage.map(|place| (place, counter)));
            }
        }
    }
    found
}
