//! Flow: what every path to a stage has written, and what a person has approved on every path.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::graph::{Link, LinkKind, StageGraph};
use crate::definition::{Definition, Strictness};
use crate::names::ArtifactName;
use crate::outcome::Outcome;
use crate::pattern::AgentPattern;
use crate::place;
use crate::problem::{CheckRule, Place, Problem};
use crate::stage::{
    Commands, FieldOf, Leaves, Questions, Stage, StepsSource, Way, WordsRule, Work,
};

/// What is certain at a stage on every path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Certain {
    Written(ArtifactName),
    /// Written, or the run has steps of its own in its place.
    Planned(ArtifactName),
    /// Approved by a person, and not written since.
    Approved(ArtifactName),
}

type Known = BTreeSet<Certain>;

pub(super) fn check(graph: &StageGraph<'_>) -> Vec<Problem> {
    let known = settle(graph, &questions(graph));
    let mut problems = Vec::new();
    let mut told: BTreeSet<(Place, ArtifactName)> = BTreeSet::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        let Some(Some(certain)) = known.get(at) else {
            continue;
        };
        for (wanted, place) in wants(node.stage) {
            let name = name_of(&wanted).clone();
            if !certain.contains(&wanted) && told.insert((place.clone(), name)) {
                problems.push(problem(graph, at, &wanted, place));
            }
        }
    }
    for (link, problem) in approvals(graph, &known) {
        if told.insert((problem.place.clone(), link)) {
            problems.push(problem);
        }
    }
    problems
}

fn name_of(certain: &Certain) -> &ArtifactName {
    match certain {
        Certain::Written(name) | Certain::Planned(name) | Certain::Approved(name) => name,
    }
}

/// The artifacts that matter. The others are not followed, to save time.
fn questions(graph: &StageGraph<'_>) -> Known {
    let stages = graph.definition.stages.iter();
    let wanted = stages.clone().flat_map(wants).map(|(wanted, _)| wanted);
    let edges = stages
        .flat_map(Stage::edges)
        .flat_map(|(_, edge)| &edge.approves);
    wanted
        .chain(edges.map(|name| Certain::Written(name.clone())))
        .collect()
}

/// What is certain at each node: the intersection over all paths. Sets only shrink, so this ends.
fn settle(graph: &StageGraph<'_>, asked: &Known) -> Vec<Option<Known>> {
    let mut known: Vec<Option<Known>> = graph.nodes.iter().map(|_| None).collect();
    let mut queued: Vec<bool> = graph.nodes.iter().map(|_| false).collect();
    let mut open = VecDeque::new();
    for start in &graph.starts {
        known[*start] = Some(given(graph, *start, asked));
        open.push_back(*start);
    }
    while let Some(node) = open.pop_front() {
        queued[node] = false;
        let Some(here) = known[node].clone() else {
            continue;
        };
        for (_, link) in graph.links_from(node) {
            let there = across(graph, link, &here, asked);
            let merged = match &known[link.to] {
                Some(before) => before.intersection(&there).cloned().collect(),
                None => there,
            };
            if known[link.to].as_ref() != Some(&merged) {
                known[link.to] = Some(merged);
                if !core::mem::replace(&mut queued[link.to], true) {
                    open.push_back(link.to);
                }
            }
        }
    }
    known
}

/// What a run that starts here already has.
fn given(graph: &StageGraph<'_>, start: usize, asked: &Known) -> Known {
    let usual = graph.nodes[start].stage.name == graph.definition.start;
    let wanted = wants(graph.nodes[start].stage);
    let planned = wanted.into_iter().map(|(wanted, _)| wanted);
    let planned = planned.filter(|wanted| matches!(wanted, Certain::Planned(_)) && !usual);
    planned.filter(|fact| asked.contains(fact)).collect()
}

fn across(graph: &StageGraph<'_>, link: &Link<'_>, here: &Known, asked: &Known) -> Known {
    let stage = graph.nodes[link.from].stage;
    // The next task begins at the end of the last one, with nothing of it.
    let mut known = match stage.work {
        Work::End(_) => Known::new(),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::Route(_) => here.clone(),
    };
    for artifact in touched(stage) {
        known.remove(&Certain::Approved(artifact.clone()));
    }
    let written = written(graph, stage, link).into_iter();
    let written = written.flat_map(|name| {
        [
            Certain::Written(name.clone()),
            Certain::Planned(name.clone()),
        ]
    });
    let approved = link.edge.approves.iter();
    let approved = approved.chain(approved_before(graph, stage, link));
    let approved = approved.cloned().map(Certain::Approved);
    known.extend(written.chain(approved).filter(|fact| asked.contains(fact)));
    known
}

/// Artifacts that may add commands and added none: with new ones the run goes elsewhere.
fn approved_before<'g>(
    graph: &StageGraph<'g>,
    stage: &'g Stage,
    link: &Link<'g>,
) -> Vec<&'g ArtifactName> {
    if link.kind == LinkKind::Unapproved {
        return Vec::new();
    }
    let adds = |name: &&ArtifactName| {
        let artifact = graph.definition.artifacts.get(*name);
        artifact.is_some_and(|artifact| {
            artifact.strictness == Strictness::Strict && artifact.approved.is_some()
        })
    };
    // The owner of a review may have had nothing to fix.
    let is_there = |name: &&ArtifactName| {
        stage.work.as_review().is_none_or(|review| {
            review.of.as_ref() == Some(*name) || review.reads.needed.contains(name)
        })
    };
    let delivered = stage.delivers(link.way.outcome()).into_iter();
    delivered.filter(adds).filter(is_there).collect()
}

/// Every artifact that work in this stage may write: an approval of it ends here.
fn touched(stage: &Stage) -> Vec<&ArtifactName> {
    match &stage.work {
        Work::Agent(work) => work.leaves.all(),
        Work::Open(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::End(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::Review(work) => {
            let panel = work.panel.iter().map(|member| &member.leaves);
            panel.chain(&work.fixes).collect()
        }
        Work::Steps(work) => work.leaves.iter().collect(),
        Work::Ask(work) => work.leaves().into_iter().collect(),
        Work::Check(_) | Work::Route(_) => Vec::new(),
    }
}

fn requires_words(stage: &Stage, outcome: &Outcome) -> bool {
    let edge = stage.on.get(outcome);
    edge.is_some_and(|edge| edge.words == WordsRule::Required)
}

/// What is certainly written when this transition is taken.
fn written<'g>(graph: &StageGraph<'g>, stage: &'g Stage, link: &Link<'g>) -> Vec<&'g ArtifactName> {
    let left = match (&stage.work, link.way) {
        (Work::Agent(work), Way::Outcome(outcome)) => left_with(&work.leaves, outcome),
        (Work::Open(work), Way::After(agent)) => left_by_all(graph.definition, &work.leaves, agent),
        (Work::End(work), Way::After(agent)) => left_by_all(graph.definition, &work.leaves, agent),
        (Work::Ask(work), Way::Outcome(outcome)) => match &work.questions {
            Questions::From { leaves, .. } if *outcome == Outcome::Answered => Vec::from([leaves]),
            // Words that are not required may not be there.
            Questions::Choice { leaves } if requires_words(stage, outcome) => {
                leaves.iter().collect()
            }
            Questions::From { .. } | Questions::Choice { .. } => Vec::new(),
        },
        (Work::Review(work), Way::Outcome(outcome)) if *outcome == Outcome::Approved => {
            work.panel.iter().map(|member| &member.leaves).collect()
        }
        (Work::Steps(work), Way::Outcome(outcome)) if *outcome == Outcome::Done => {
            work.leaves.iter().collect()
        }
        _ => Vec::new(),
    };
    let strict = |name: &&ArtifactName| {
        graph
            .definition
            .artifacts
            .get(*name)
            .is_some_and(|artifact| artifact.strictness == Strictness::Strict)
    };
    left.into_iter().filter(strict).collect()
}

/// What every agent that can take this edge leaves.
fn left_by_all<'a>(
    definition: &Definition,
    leaves: &'a [(AgentPattern, Vec<ArtifactName>)],
    after: &AgentPattern,
) -> Vec<&'a ArtifactName> {
    let group = definition.group(after);
    let agents = group.map_or_else(|| Vec::from([after]), |all| all.iter().collect());
    let leaves_it = |agent: &&AgentPattern, name: &ArtifactName| {
        leaves.iter().any(|(who, names)| {
            names.contains(name) && (who == *agent || definition.covers(who, agent.as_str()))
        })
    };
    let all = leaves.iter().flat_map(|(_, names)| names);
    all.filter(|name| agents.iter().all(|agent| leaves_it(agent, name)))
        .collect()
}

fn left_with<'a>(leaves: &'a Leaves, outcome: &Outcome) -> Vec<&'a ArtifactName> {
    if outcome.is_fault() {
        return Vec::new();
    }
    leaves
        .always
        .iter()
        .chain(leaves.by_outcome.get(outcome).into_iter().flatten())
        .collect()
}

/// What must be certain before a stage can work, and where the definition says so.
fn wants(stage: &Stage) -> Vec<(Certain, Place)> {
    let at = |key: &str| place!["stages", stage.name, key];
    let written = |name: &ArtifactName| Certain::Written(name.clone());
    let reads = |names: &[ArtifactName]| -> Vec<(Certain, Place)> {
        names
            .iter()
            .map(|name| (written(name), at("reads")))
            .collect()
    };
    match &stage.work {
        Work::Agent(work) => reads(&work.reads.needed),
        Work::Ask(work) => match &work.questions {
            Questions::From { field, .. } => Vec::from([(written(&field.artifact), at("from"))]),
            Questions::Choice { .. } => Vec::new(),
        },
        Work::Review(work) => {
            let of = work.of.iter().map(|name| (written(name), at("of")));
            reads(&work.reads.needed).into_iter().chain(of).collect()
        }
        Work::Steps(work) => {
            let source = match &work.source {
                StepsSource::Artifact(field) => Some((written(&field.artifact), at("steps"))),
                StepsSource::ArtifactOrStart(field) => {
                    Some((Certain::Planned(field.artifact.clone()), at("steps")))
                }
                StepsSource::Fixed(_) | StepsSource::Start => None,
            };
            reads(&work.reads.needed)
                .into_iter()
                .chain(source)
                .collect()
        }
        Work::Check(work) => match &work.commands {
            Commands::Approved(fields) => {
                let approved = |field: &FieldOf| Certain::Approved(field.artifact.clone());
                let all = fields.iter().map(|field| (approved(field), at("check")));
                all.collect()
            }
            Commands::Fixed(_) => Vec::new(),
        },
        Work::Open(_) | Work::Route(_) | Work::End(_) => Vec::new(),
    }
}

fn problem(graph: &StageGraph<'_>, at: usize, wanted: &Certain, place: Place) -> Problem {
    let stage = &graph.nodes[at].stage.name;
    let way = way_without(graph, at, wanted);
    match wanted {
        Certain::Written(name) | Certain::Planned(name) => Problem {
            rule: CheckRule::ReadBeforeWritten,
            place,
            message: format!("`{stage}` reads `{name}`, which is not written on this path: {way}"),
            hint: format!("let an earlier stage write it, or read \"{name}?\" if it is optional"),
        },
        Certain::Approved(name) => Problem {
            rule: CheckRule::UnapprovedCommands,
            place,
            message: format!(
                "`{stage}` runs commands of `{name}` that nobody approved on this path: {way}"
            ),
            hint: format!(
                "add approves = [\"{name}\"] to a person's answer after the last stage that writes it"
            ),
        },
    }
}

/// The shortest path to the node after which this is not certain, found over pairs of node and the
/// state of this one artifact.
fn way_without(graph: &StageGraph<'_>, goal: usize, wanted: &Certain) -> String {
    let asked = Known::from([wanted.clone()]);
    let begins = |start: &usize| (*start, given(graph, *start, &asked).contains(wanted));
    let starts: Vec<(usize, bool)> = graph.starts.iter().map(begins).collect();
    if starts.contains(&(goal, false)) {
        return String::from(graph.nodes[goal].stage.name.as_str());
    }
    let holds = |link: &Link<'_>, before: bool| {
        let here: Known = before.then(|| wanted.clone()).into_iter().collect();
        across(graph, link, &here, &asked).contains(wanted)
    };
    let is_goal = |node: usize, certain: bool| node == goal && !certain;
    let path = graph.shortest_with(starts, is_goal, |link, before| Some(holds(link, before)));
    path.map_or_else(|| String::from("(unknown)"), |path| graph.describe(&path))
}

/// An answer can approve only what exists.
fn approvals(graph: &StageGraph<'_>, known: &[Option<Known>]) -> Vec<(ArtifactName, Problem)> {
    let mut problems = Vec::new();
    for link in &graph.links {
        let Some(Some(certain)) = known.get(link.from) else {
            continue;
        };
        for name in &link.edge.approves {
            if !certain.contains(&Certain::Written(name.clone())) {
                let stage = graph.nodes[link.from].stage;
                let place = super::references::way_place(stage, &link.way);
                let wanted = Certain::Written(name.clone());
                problems.push((name.clone(), problem(graph, link.from, &wanted, place)));
            }
        }
    }
    problems
}
