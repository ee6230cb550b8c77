//! Sample runs: one in every stage, with steps in every state, and stopped in every way.

use std::collections::BTreeMap;

use engine::{
    AgentName, ArtifactName, Captured, DispatchId, Driver, Entry, Fact, Fault, Graph, Hash,
    HostName, Member, MemberState, Param, Pipeline, Rule, Run, RunId, SessionId, Stage, StageName,
    Standing, Started, Step, StepId, StepsWork, Time, Who, Work,
};

use crate::digest::{Item, ItemKind, JournalDigest, Verdict};
use crate::words::shown;

/// When the runs started: any valid time.
const AT: Time = Time(1_787_392_800_000);

/// The content of all that the runs have captured.
const CONTENT: Hash = Hash([1; 32]);

pub(super) struct Sample {
    pub run: Run,
    pub digest: JournalDigest,
}

/// The first has just started and has no data; the others have all data.
pub(super) fn samples(pipeline: &Pipeline) -> Vec<Sample> {
    let Some(begun) = begun(pipeline) else {
        return Vec::new();
    };
    let full = full(pipeline, &begun);
    let stages = pipeline.definition().stages.iter();
    let visits = stages.map(|stage| {
        let mut run = full.clone();
        run.position.stage = stage.name.clone();
        run
    });
    let stopped = standings().into_iter().map(|standing| Run {
        standing,
        ..full.clone()
    });
    let digest = digest(pipeline);
    let known = visits.chain(stopped).map(|run| Sample {
        run,
        digest: digest.clone(),
    });
    let first = Sample {
        run: begun.clone(),
        digest: JournalDigest::default(),
    };
    std::iter::once(first).chain(known).collect()
}

fn reason() -> String {
    "a reason".to_owned()
}

fn standings() -> [Standing; 4] {
    [
        Standing::Queued,
        Standing::Stale,
        Standing::Halted { reason: reason() },
        Standing::Cancelled { reason: reason() },
    ]
}

fn begun(pipeline: &Pipeline) -> Option<Run> {
    let definition = pipeline.definition();
    let params = definition.params.iter();
    let params = params.map(|(name, param)| (name.clone(), value(param)));
    let started = Started {
        id: RunId::parse("r-1").ok()?,
        definition: CONTENT,
        task: "a task".to_owned(),
        params: params.collect(),
        driver: Driver::Guarded,
        stage: definition.start.clone(),
        session: None,
        process: None,
        host: HostName::parse("host").ok()?,
        steps: Vec::new(),
        before: BTreeMap::new(),
        queued: false,
        environment: None,
        base: None,
        commit: None,
        branch: None,
    };
    let entry = Entry {
        at: AT,
        by: Who::Person("somebody".to_owned()),
        rule: Rule::Begin,
        fact: Fact::Started(Box::new(started)),
    };
    engine::apply(None, &entry).ok()
}

fn value(param: &Param) -> String {
    let value = param.default.as_ref().or(param.choices.first());
    value.cloned().unwrap_or_else(|| "1".to_owned())
}

/// The same run with everything captured and a step in every state.
fn full(pipeline: &Pipeline, begun: &Run) -> Run {
    let definition = pipeline.definition();
    let captured = |name: &ArtifactName| {
        let captured = Captured {
            content: CONTENT,
            dispatch: None,
            commands: Vec::new(),
        };
        (name.clone(), captured)
    };
    let graphs = definition.stages.iter().filter_map(|stage| {
        let Work::Steps(work) = &stage.work else {
            return None;
        };
        Some((stage.name.clone(), graph(work)?))
    });
    Run {
        artifacts: definition.artifacts.keys().map(captured).collect(),
        graphs: graphs.collect(),
        ..begun.clone()
    }
}

fn graph(work: &StepsWork) -> Option<Graph> {
    let failed = |fault| MemberState::Failed {
        fault,
        reason: reason(),
    };
    let working = MemberState::Working {
        dispatch: DispatchId(1),
    };
    let states = [
        MemberState::Done,
        working,
        MemberState::Pending,
        failed(Fault::Crashed),
        failed(Fault::Missing),
    ];
    let mut members: Vec<Member> = Vec::new();
    for (number, state) in (1..).zip(states) {
        let before = members.last().map(|member| member.step.id.clone());
        let left = work.leaves.iter().map(|name| (name.clone(), CONTENT));
        members.push(Member {
            strayed_from: None,
            step: Step {
                id: StepId::parse(&format!("step-{number}")).ok()?,
                title: format!("Step {number}"),
                agent: AgentName::parse("worker").ok()?,
                needs: before.into_iter().collect(),
            },
            left: left.collect(),
            started_at: (state != MemberState::Pending).then_some(AT),
            ended_at: (state == MemberState::Done).then_some(AT),
            retries: 0,
            state,
        });
    }
    Some(Graph { members })
}

fn digest(pipeline: &Pipeline) -> JournalDigest {
    let stages = &pipeline.definition().stages;
    let mut digest = JournalDigest::default();
    digest.sessions.extend(SessionId::parse("session"));
    let names = stages.iter().map(|stage| stage.name.clone());
    digest.visited.extend(names);
    for stage in stages {
        let shown = shown(pipeline, &stage.name).to_owned();
        let verdict = Verdict {
            passed: false,
            failed: 1,
        };
        digest.reached.insert(shown.clone(), AT);
        digest.verdicts.insert(shown, verdict);
    }
    let passages = stages.first().map(passages).unwrap_or_default();
    digest.history = passages.iter().map(Item::line).collect();
    digest.log = passages.iter().chain(&remarks()).map(Item::line).collect();
    digest
}

fn remarks() -> [Item; 3] {
    [
        Item::remark(AT, ItemKind::Started, None),
        Item::remark(AT, ItemKind::Note, Some("a note".to_owned())),
        Item::remark(AT, ItemKind::Cancelled, Some(reason())),
    ]
}

/// One of every kind, and one that led nowhere.
fn passages(stage: &Stage) -> Vec<Item> {
    let passage = |kind, about: &str, to: Option<&StageName>| Item {
        at: AT,
        kind,
        about: Some(about.to_owned()),
        outcome: Some("done".to_owned()),
        from: Some(stage.name.clone()),
        to: to.cloned(),
    };
    let to = Some(&stage.name);
    vec![
        passage(ItemKind::Agent, "worker", to),
        passage(ItemKind::Engine, "", to),
        passage(ItemKind::Person, "somebody", to),
        passage(ItemKind::Reset, "a reason", to),
        passage(ItemKind::Agent, "worker", None),
    ]
}
