//! Task graphs: a call names its step, a step starts when its needs are done, and the join waits for all.

use engine::{
    AgentName, Fault, Graph, Member, MemberState, Rule, Run, Stage, Step, StepId, StepsSource, Work,
};
use runtime::failure::Failure;
use scenario::step as scenario;

use super::super::case_error::{CaseOutcome, broken, ensure, not_tested};
use super::super::exchange::Expected;
use super::super::simulated_worker::{WantedResult, WorkDone};
use super::super::simulation::Simulation;
use super::agents::UNFIT;
use super::{Column, GateTester, StageRoute};

/// Our own plan if the steps are not fixed: two that can start at once, and one after both.
pub(super) fn plan(stage: &Stage, stage_route: &StageRoute<'_>) -> Option<Vec<Step>> {
    let Work::Steps(work) = &stage.work else {
        return None;
    };
    if matches!(work.source, StepsSource::Fixed(_)) {
        return None;
    }
    let agent = stage_route
        .route
        .as_ref()?
        .beginning
        .iter()
        .find_map(|step| {
            let scenario::Step::Given(scenario::Given::Step(step)) = step else {
                return None;
            };
            Some(step.agent.clone())
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

pub(super) fn steps(
    tester: &mut GateTester<'_>,
    stage: &Stage,
    stage_route: &StageRoute<'_>,
) -> Result<(), Failure> {
    let Ok(run) = tester.fresh()?.now() else {
        return Ok(());
    };
    let Some(graph) = run.graphs.get(&stage.name) else {
        return tester.case(Column::Refusal, "the steps are planned", |_| {
            broken("the task graph has no steps")
        });
    };
    join(tester, stage, stage_route)?;
    if let Some(agent) = several_ready(graph) {
        let what = format!("'{agent}' is requested without its step");
        tester.case(Column::Refusal, what, |simulation| {
            let worker = simulation.worker(agent.as_str(), None);
            let rules = &[Rule::StepUnnamed];
            simulation
                .hook(simulation.payloads.agent(&worker), Expected::Refusal(rules))
                .map(drop)
        })?;
    }
    if let Some(member) = graph.members.iter().find(|member| !is_ready(graph, member)) {
        let id = &member.step.id;
        tester.case(
            Column::Refusal,
            format!("step {id} is started before its turn"),
            |simulation| {
                let worker = simulation.worker(member.step.agent.as_str(), Some(id));
                let rules = &[Rule::StepNotReady];
                simulation
                    .hook(simulation.payloads.agent(&worker), Expected::Refusal(rules))
                    .map(drop)
            },
        )?;
    }
    if let Some(member) = graph.members.iter().find(|member| is_ready(graph, member)) {
        fault(tester, stage, member)?;
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

/// An agent with more than one step that can start.
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

/// The run moves on only when every step is done.
fn join(
    tester: &mut GateTester<'_>,
    stage: &Stage,
    stage_route: &StageRoute<'_>,
) -> Result<(), Failure> {
    let legs = stage_route
        .route
        .as_ref()
        .and_then(|route| stage_route.routes.onward(route));
    let Some(leg) = legs.as_ref().and_then(|legs| legs.last()) else {
        return Ok(());
    };
    let what = format!("every step is done, and the run moves to {}", leg.stage);
    tester.case(Column::Pass, what, |simulation| {
        while let Some(step) = next(&simulation.now()?, stage) {
            let mut worker = simulation.begins(&step.agent, Some(&step.id))?;
            let done = simulation.does(&mut worker, &WantedResult::Success)?;
            simulation.must_be_in(&stage.name)?;
            simulation.ends(&worker, &done)?;
            ensure(is_done(&simulation.now()?, stage, &step.id), || {
                format!("step {} is not done", step.id)
            })?;
        }
        simulation.must_be_in(&leg.stage)
    })
}

/// A step that can start, as long as the run is in its stage.
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

/// Is this step done? The graph no longer exists once the run has moved on.
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

fn fault(tester: &mut GateTester<'_>, stage: &Stage, member: &Member) -> Result<(), Failure> {
    let (agent, id) = (&member.step.agent, &member.step.id);
    let Ok(run) = tester.fresh()?.now() else {
        return Ok(());
    };
    let leaves = tester.simulation.leaves_of(&run, agent.as_str());
    let must_leave = tester.simulation.must_leave(&run, &leaves);
    let fault = if must_leave {
        Fault::Missing
    } else {
        Fault::Hollow
    };
    let what = format!("step {id} leaves nothing: {}", fault.word());
    tester.case(Column::Fault, what, |simulation| {
        let mut worker = simulation.begins(agent, Some(id))?;
        simulation.must_not_move(|simulation| {
            let mut tool_uses = 0;
            if must_leave {
                tool_uses = simulation.uses_a_tool(&mut worker)?;
            }
            if tool_uses > 0 {
                sent_back(simulation, &worker)?;
            }
            simulation.stops(&worker, None, Expected::Pass)?;
            let reply = None;
            simulation.returns(&worker, &WorkDone { reply, tool_uses })
        })?;
        let run = simulation.now()?;
        ensure(
            run.graphs.contains_key(&stage.name) && !is_done(&run, stage, id),
            || format!("step {id} counts as done"),
        )
    })
}

fn sent_back(
    simulation: &mut Simulation,
    worker: &super::super::payloads::SimulatedWorker,
) -> CaseOutcome<()> {
    for _ in 0..2 {
        simulation.stops(worker, None, Expected::Continue(UNFIT))?;
    }
    if simulation.now()?.dispatches.is_empty() {
        not_tested("its work has already ended")
    } else {
        Ok(())
    }
}
