//! Proofs: a claim holds on every path through the pipeline, or the shortest counterexample is shown.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::graph::{Link, StageGraph};
use crate::definition::{Claim, Definition, Proof};
use crate::names::{AgentName, StageName};
use crate::nearest::nearest;
use crate::pattern::AgentPattern;
use crate::place;
use crate::problem::{CheckRule, Place, Problem};
use crate::stage::{Stage, StepsSource, StepsWork, Way, Work, Worker};

pub(super) fn check(graph: &StageGraph<'_>) -> Vec<Problem> {
    let proofs = graph.definition.proofs.iter().enumerate();
    proofs
        .flat_map(|(at, proof)| prove(graph, proof, &place!["prove", at]))
        .collect()
}

fn prove(graph: &StageGraph<'_>, proof: &Proof, place: &Place) -> Vec<Problem> {
    match &proof.claim {
        Claim::Passes {
            after,
            before,
            through,
        } => {
            let named = after.iter().chain([before]).chain(through);
            let unknown: Vec<Problem> = named
                .filter_map(|stage| unknown_stage(graph, proof, stage, place))
                .collect();
            if !unknown.is_empty() || through.is_empty() {
                return unknown
                    .into_iter()
                    .chain(empty(proof, through, place))
                    .collect();
            }
            through
                .iter()
                .filter_map(|stage| passes(graph, proof, after.as_ref(), before, stage, place))
                .collect()
        }
        Claim::Admits { agents, only_after } => admits(graph, proof, agents, only_after, place)
            .into_iter()
            .collect(),
    }
}

fn unknown_stage(
    graph: &StageGraph<'_>,
    proof: &Proof,
    stage: &StageName,
    place: &Place,
) -> Option<Problem> {
    if graph.nodes_of(stage).next().is_some() {
        return None;
    }
    let known = graph
        .definition
        .stages
        .iter()
        .map(|stage| stage.name.as_str());
    Some(Problem {
        rule: CheckRule::ProofVacuous,
        place: place.clone(),
        message: format!(
            "the proof \"{}\" names `{stage}`, which is not a stage",
            proof.name
        ),
        hint: match nearest(stage.as_str(), known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => String::from("name a stage of this pipeline"),
        },
    })
}

fn empty(proof: &Proof, through: &[StageName], place: &Place) -> Option<Problem> {
    through.is_empty().then(|| Problem {
        rule: CheckRule::ProofVacuous,
        place: place.clone(),
        message: format!("the proof \"{}\" claims nothing", proof.name),
        hint: String::from("name stages in `through`"),
    })
}

fn passes(
    graph: &StageGraph<'_>,
    proof: &Proof,
    after: Option<&StageName>,
    before: &StageName,
    through: &StageName,
    place: &Place,
) -> Option<Problem> {
    let goals: BTreeSet<usize> = graph.nodes_of(before).collect();
    let from: Vec<usize> = match after {
        Some(stage) => graph.nodes_of(stage).collect(),
        None => graph.starts.clone(),
    };
    let around = |link: &Link<'_>| {
        let stage = graph.nodes[link.from].stage;
        stage.name != *through || !stage.passes(&link.way)
    };
    let at_once = match after {
        Some(_) => None,
        None => graph.starts.iter().find(|start| goals.contains(start)),
    };
    let way = match at_once {
        Some(start) => graph.nodes[*start].stage.name.to_string(),
        None => graph.describe(&graph.shortest(from, |node| goals.contains(&node), around)?),
    };
    let since = after.map_or(String::new(), |stage| format!(" after `{stage}`"));
    Some(Problem {
        rule: CheckRule::ProofFails,
        place: place.clone(),
        message: format!(
            "\"{}\" is not true: `{before}` is reached{since} without `{through}`: {way}",
            proof.name
        ),
        hint: format!("let every path to `{before}` pass `{through}`, or claim less"),
    })
}

fn admits(
    graph: &StageGraph<'_>,
    proof: &Proof,
    agents: &AgentPattern,
    only_after: &AgentName,
    place: &Place,
) -> Option<Problem> {
    let definition = graph.definition;
    let wanted = members(definition, agents);
    let open: BTreeSet<usize> = (0..graph.nodes.len())
        .filter(|node| {
            let admitted = admitted(graph.nodes[*node].stage);
            let all: Vec<AgentPattern> = admitted
                .iter()
                .flat_map(|pattern| members(definition, pattern))
                .collect();
            all.iter().any(|one| {
                wanted
                    .iter()
                    .any(|other| overlap(one.as_str(), other.as_str()))
            })
        })
        .collect();
    if open.is_empty() {
        return Some(vacuous(
            proof,
            place,
            &format!("no stage admits `{agents}`"),
        ));
    }
    let ends_it =
        |link: &Link<'_>| ended_by(definition, graph.nodes[link.from].stage, link, only_after);
    if !graph.links.iter().any(ends_it) {
        return Some(vacuous(
            proof,
            place,
            &format!("nothing follows the end of `{only_after}`"),
        ));
    }
    let at_once = graph.starts.iter().find(|start| open.contains(start));
    let way = match at_once {
        Some(start) => graph.nodes[*start].stage.name.to_string(),
        None => {
            let starts = graph.starts.clone();
            let path = graph.shortest(starts, |it| open.contains(&it), |link| !ends_it(link))?;
            graph.describe(&path)
        }
    };
    Some(Problem {
        rule: CheckRule::ProofFails,
        place: place.clone(),
        message: format!(
            "\"{}\" is not true: `{agents}` may work before `{only_after}` has ended: {way}",
            proof.name
        ),
        hint: String::from("remove the agents from that stage's `allow`, or claim less"),
    })
}

fn vacuous(proof: &Proof, place: &Place, why: &str) -> Problem {
    Problem {
        rule: CheckRule::ProofVacuous,
        place: place.clone(),
        message: format!("the proof \"{}\" claims nothing: {why}", proof.name),
        hint: "name agents or a group of this pipeline".to_string(),
    }
}

/// The patterns behind a name: a group's members, or the pattern itself.
fn members(definition: &Definition, pattern: &AgentPattern) -> Vec<AgentPattern> {
    definition
        .group(pattern)
        .cloned()
        .unwrap_or_else(|| Vec::from([pattern.clone()]))
}

/// Whom a stage lets work.
fn admitted(stage: &Stage) -> Vec<AgentPattern> {
    let named = |agent: &AgentName| AgentPattern::new(agent.as_str());
    match &stage.work {
        Work::Agent(work) => match &work.worker {
            Worker::Agent(agent) => Vec::from([named(agent)]),
            Worker::Session => Vec::new(),
        },
        Work::Open(work) => work.allow.clone(),
        Work::Review(work) => {
            let panel = work.panel.iter().map(|member| named(&member.agent));
            panel.chain([named(&work.owner)]).collect()
        }
        Work::Steps(work) => steps_admit(work),
        Work::End(work) => work.after.iter().map(|after| after.agent.clone()).collect(),
        Work::Check(_) | Work::Ask(_) | Work::Route(_) => Vec::new(),
    }
}

fn steps_admit(work: &StepsWork) -> Vec<AgentPattern> {
    match &work.source {
        StepsSource::Fixed(steps) => steps
            .iter()
            .map(|step| AgentPattern::new(step.agent.as_str()))
            .collect(),
        StepsSource::Start | StepsSource::Artifact(_) | StepsSource::ArtifactOrStart(_) => {
            if work.agents.is_empty() {
                Vec::from([AgentPattern::new("*")])
            } else {
                work.agents.clone()
            }
        }
    }
}

/// Is this transition taken because that agent ended well?
fn ended_by(definition: &Definition, stage: &Stage, link: &Link<'_>, agent: &AgentName) -> bool {
    match (&stage.work, link.way) {
        (_, Way::After(pattern)) => {
            // Others of a group or glob would take the same edge.
            let members = members(definition, pattern);
            members
                .iter()
                .all(|member| member.as_str() == agent.as_str())
        }
        (Work::Agent(work), way @ Way::Outcome(_)) => {
            work.worker == Worker::Agent(agent.clone()) && stage.passes(&way)
        }
        _ => false,
    }
}

/// Is there a name that both patterns cover?
fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut reached: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut open = Vec::from([(0, 0)]);
    while let Some((i, j)) = open.pop() {
        if !reached.insert((i, j)) {
            continue;
        }
        match (one.get(i), other.get(j)) {
            (None, None) => return true,
            (Some(b'*'), _) | (_, Some(b'*')) => {
                let starred = one.get(i) == Some(&b'*');
                let (skip, keep) = if starred {
                    ((i + 1, j), (i, j + 1))
                } else {
                    ((i, j + 1), (i + 1, j))
                };
                open.push(skip);
                let other_has = if starred {
                    other.get(j).is_some()
                } else {
                    one.get(i).is_some()
                };
                if other_has {
                    open.push(keep);
                }
            }
            (Some(a), Some(b)) if a == b => open.push((i + 1, j + 1)),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_overlap_when_a_name_fits_both() {
        for (one, other, expected) in [
            ("bash-*", "bash-*", true),
            ("bash-*", "*-writer", true),
            ("bash-*", "nix-*", false),
            ("*", "anything", true),
            ("Explore", "Explore", true),
            ("Explore", "Explorer", false),
            ("a*c", "ab*", true),
            ("a*c", "*b", false),
        ] {
            assert_eq!(overlap(one, other), expected, "{one} {other}");
            assert_eq!(overlap(other, one), expected, "{other} {one}");
        }
    }
}
