//! Task graphs: a step is named, begins when its turn has come, and all are done before the join.

use engine::{
    AgentName, Fault, Graph, Member, MemberState, Rule, Run, Stage, Step, StepId, StepsSource, Work,
};
use runtime::failure::Failure;
use scenario::step as scenario;

use super::super::exchange::Expected;
use super::super::scene::Scene;
use super::super::trouble::{Tried, broken, insist, not_shown};
use super::super::work::{Done, Verdict};
use super::agents::UNFIT;
use super::{Bench, Column, There};

/// A plan of our own where the steps are not fixed: two that can begin at once, and one after both.
pub fn plan(stage: &Stage, there: &There<'_>) -> Option<Vec<Step>> {
    let Work::Steps(work) = &stage.work else {
        return None;
    };
    if matches!(work.source, StepsSource::Fixed(_)) {
        return None;
    }
    let agent = there
        .route
        .as_ref()?
        .beginning
        .iter()
        .find_map(|step| match step {
            scenario::Step::Given(scenario::Given::Step(step)) => Some(step.agent.clone()),
            _ => None,
        })?;
    let id = |text: &str| StepId::parse(text).ok();
    let (one, two, three) = (id("one")?, id("two")?, id("three")?);
    let step = |id: &StepId, needs: &[StepId]| Step {
        id: id.clone(),
        title: format!("step {id}"),
        agent: agent.clone(),
        needs: needs.to_vec(),
    };
    Some(vec![
        step(&one, &[]),
        step(&two, &[]),
        step(&three, &[one.clone(), two.clone()]),
    ])
}

pub fn steps(bench: &mut Bench<'_>, stage: &Stage, there: &There<'_>) -> Result<(), Failure> {
    let Ok(run) = bench.fresh()?.now() else {
        return Ok(());
    };
    let Some(graph) = run.graphs.get(&stage.name) else {
        return bench.case(Column::Refusal, "the steps are planned", |_| {
            broken("the task graph has no steps")
        });
    };
    join(bench, stage, there)?;
    if let Some(agent) = several_ready(graph) {
        let what = format!("'{agent}' is requested without its step");
        bench.case(Column::Refusal, what, |scene| {
            let worker = scene.worker(agent.as_str(), None);
            let rules = &[Rule::StepUnnamed];
            scene
                .hook(scene.pen.agent(&worker), Expected::Refusal(rules))
                .map(drop)
        })?;
    }
    if let Some(member) = graph.members.iter().find(|member| !is_ready(graph, member)) {
        let id = &member.step.id;
        bench.case(
            Column::Refusal,
            format!("step {id} is started before its turn"),
            |scene| {
                let worker = scene.worker(member.step.agent.as_str(), Some(id));
                let rules = &[Rule::StepNotReady];
                scene
                    .hook(scene.pen.agent(&worker), Expected::Refusal(rules))
                    .map(drop)
            },
        )?;
    }
    if let Some(member) = graph.members.iter().find(|member| is_ready(graph, member)) {
        fault(bench, stage, member)?;
    }
    Ok(())
}

fn is_ready(graph: &Graph, member: &Member) -> bool {
    let is_done = |id: &StepId| {
        let mut members = graph.members.iter();
        members.any(|other| other.step.id == *id && other.state == MemberState::Done)
    };
    member.state == MemberState::Pending && member.step.needs.iter().all(is_done)
}

/// An agent with more than one step that can begin.
fn several_ready(graph: &Graph) -> Option<AgentName> {
    let ready = || {
        graph
            .members
            .iter()
            .filter(|member| is_ready(graph, member))
    };
    ready()
        .map(|member| &member.step.agent)
        .find(|agent| ready().filter(|other| other.step.agent == **agent).count() > 1)
        .cloned()
}

/// Every step is done, and only then the run goes on.
fn join(bench: &mut Bench<'_>, stage: &Stage, there: &There<'_>) -> Result<(), Failure> {
    let legs = there
        .route
        .as_ref()
        .and_then(|route| there.routes.onward(route));
    let Some(leg) = legs.as_ref().and_then(|legs| legs.last()) else {
        return Ok(());
    };
    let what = format!("every step is done, and the run moves to {}", leg.stage);
    bench.case(Column::Pass, what, |scene| {
        while let Some(step) = next(&scene.now()?, stage) {
            let mut worker = scene.begins(&step.agent, Some(&step.id))?;
            let done = scene.does(&mut worker, &Verdict::Well)?;
            scene.is_in(&stage.name)?;
            scene.ends(&worker, &done)?;
            insist(is_done(&scene.now()?, stage, &step.id), || {
                format!("step {} is not done", step.id)
            })?;
        }
        scene.is_in(&leg.stage)
    })
}

/// A step that can begin, as long as the run is in its stage.
fn next(run: &Run, stage: &Stage) -> Option<Step> {
    let graph = run
        .graphs
        .get(&stage.name)
        .filter(|_| run.position.stage == stage.name)?;
    let mut members = graph.members.iter();
    members
        .find(|member| is_ready(graph, member))
        .map(|member| member.step.clone())
}

/// Was this step seen to be done? The graph is gone when the run has moved on.
fn is_done(run: &Run, stage: &Stage, id: &StepId) -> bool {
    let graph = run
        .graphs
        .get(&stage.name)
        .filter(|_| run.position.stage == stage.name);
    graph.is_none_or(|graph| {
        let mut members = graph.members.iter();
        members.any(|member| member.step.id == *id && member.state == MemberState::Done)
    })
}

fn fault(bench: &mut Bench<'_>, stage: &Stage, member: &Member) -> Result<(), Failure> {
    let (agent, id) = (&member.step.agent, &member.step.id);
    let Ok(run) = bench.fresh()?.now() else {
        return Ok(());
    };
    let leaves = bench.scene.leaves_of(&run, agent.as_str());
    let must_leave = bench.scene.must_leave(&run, &leaves);
    let fault = if must_leave {
        Fault::Missing
    } else {
        Fault::Hollow
    };
    let what = format!("step {id} leaves nothing: {}", fault.word());
    bench.case(Column::Fault, what, |scene| {
        let mut worker = scene.begins(agent, Some(id))?;
        scene.stays(|scene| {
            let mut tool_uses = 0;
            if must_leave {
                tool_uses = scene.uses_a_tool(&mut worker)?;
            }
            if tool_uses > 0 {
                sent_back(scene, &worker)?;
            }
            scene.stops(&worker, None, Expected::Pass)?;
            let reply = None;
            scene.returns(&worker, &Done { reply, tool_uses })
        })?;
        let run = scene.now()?;
        insist(
            run.graphs.contains_key(&stage.name) && !is_done(&run, stage, id),
            || format!("step {id} counts as done"),
        )
    })
}

fn sent_back(scene: &mut Scene, worker: &super::super::wire::Worker) -> Tried<()> {
    for _ in 0..2 {
        scene.stops(worker, None, Expected::GoOn(UNFIT))?;
    }
    if scene.now()?.dispatches.is_empty() {
        not_shown("its work has already ended")
    } else {
        Ok(())
    }
}
