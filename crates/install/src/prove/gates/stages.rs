//! The gate of one stage, whatever its kind: who may work, what must be left, and when to stop.

use engine::{
    AgentName, AskWork, Definition, Fault, Rule, Run, Stage, Standing, StopRule, Work, Worker,
    Writes,
};
use runtime::failure::Failure;
use serde_json::json;

use super::super::case_error::{CaseOutcome, ensure, not_tested};
use super::super::exchange::Expected;
use super::super::payloads::Background;
use super::super::play_route::{PlanSource, STRAY, Snapshots};
use super::super::sandbox;
use super::super::simulation::{Simulation, Snapshot};
use super::{
    Column, Gate, GateTester, StageRoute, agents, questions, reach, reviews, steps, unreached,
};

/// Runs the cases of one stage. The guards that apply everywhere are tested later, in the first stage
/// where an agent may work.
pub(super) fn gate(
    simulation: &mut Simulation,
    snapshots: &mut Snapshots,
    stage_route: &StageRoute<'_>,
    home: &mut Option<Snapshot>,
) -> Result<Gate, Failure> {
    let pipeline = simulation.pipeline.clone();
    let Some(stage) = pipeline.stage(stage_route.name) else {
        return Err(Failure::bug(format!(
            "there is no stage {}",
            stage_route.name
        )));
    };
    let about = about(stage);
    let own = steps::plan(stage, stage_route);
    let plan = own
        .as_deref()
        .map_or(PlanSource::OfRoute, PlanSource::Given);
    let snapshot = match reach(simulation, snapshots, stage_route, plan) {
        Ok(snapshot) => snapshot,
        Err(trouble) => return unreached(stage_route.name.as_str(), about, trouble, simulation),
    };
    if home.is_none() && agent_may_work(simulation, stage) {
        *home = Some(snapshot.clone());
    }
    let mut tester = GateTester::new(simulation, snapshot);
    wrong_agent(&mut tester, stage)?;
    match &stage.work {
        Work::Agent(work) if work.worker == Worker::Session => {
            agents::session(&mut tester, stage, stage_route)?;
        }
        Work::Agent(_) | Work::Open(_) | Work::End(_) => {
            agents::agent(&mut tester, stage, stage_route)?
        }
        Work::Review(work) => reviews::review(&mut tester, stage, work, stage_route)?,
        Work::Check(_) => questions::check(&mut tester, stage, stage_route)?,
        Work::Ask(AskWork { questions, .. }) => {
            questions::ask(&mut tester, stage, questions, stage_route)?;
        }
        Work::Steps(_) => steps::steps(&mut tester, stage, stage_route)?,
        // A run never rests in a route.
        Work::Route(_) => {}
    }
    tools(&mut tester, stage)?;
    writes(&mut tester, stage)?;
    stop(&mut tester, stage)?;
    Ok(tester.gate(stage_route.name.as_str(), about))
}

fn about(stage: &Stage) -> &'static str {
    match &stage.work {
        Work::Agent(work) if work.worker == Worker::Session => "the session works",
        Work::Agent(_) => "an agent works",
        Work::Open(_) => "some agents may work",
        Work::Check(_) => "a check",
        Work::Ask(_) => "a question",
        Work::Review(_) => "a review",
        Work::Steps(_) => "a task graph",
        Work::Route(_) => "a route",
        Work::End(_) => "the end",
    }
}

/// May the host start an agent here?
fn agent_may_work(simulation: &Simulation, stage: &Stage) -> bool {
    let by_kind = match &stage.work {
        Work::Agent(work) => work.worker != Worker::Session,
        Work::Open(_) | Work::Review(_) => true,
        Work::Check(_) | Work::Ask(_) | Work::Steps(_) | Work::Route(_) | Work::End(_) => false,
    };
    let agent = simulation.next_agent().ok().flatten();
    by_kind && agent.is_some_and(|agent| matches!(simulation.is_external(&agent), Ok(false)))
}

/// The rules that refuse an agent that may not work in the stage.
fn rules(stage: &Stage) -> &'static [Rule] {
    match &stage.work {
        // The session must first leave its own artifacts.
        Work::Agent(work) if work.worker == Worker::Session => &[
            Rule::AgentOutOfTurn,
            Rule::ArtifactMissing,
            Rule::ArtifactOld,
            Rule::Hollow,
        ],
        Work::Steps(_) => &[Rule::AgentOutOfTurn, Rule::StepNotReady],
        Work::Ask(_) => &[Rule::RunWaits],
        Work::Agent(_)
        | Work::Open(_)
        | Work::Review(_)
        | Work::Check(_)
        | Work::Route(_)
        | Work::End(_) => &[Rule::AgentOutOfTurn],
    }
}

fn wrong_agent(tester: &mut GateTester<'_>, stage: &Stage) -> Result<(), Failure> {
    let simulation = tester.fresh()?;
    let stranger = match simulation.now() {
        Ok(run) => stranger(simulation.pipeline.definition(), &run, stage),
        Err(_) => NOBODY.to_owned(),
    };
    let what = format!("'{stranger}' is requested");
    tester.case(Column::Refusal, what, |simulation| {
        let worker = simulation.worker(&stranger, None);
        simulation.must_not_move(|simulation| {
            simulation.refused(simulation.payloads.agent(&worker), rules(stage))
        })
    })
}

/// A name that no pipeline knows.
const NOBODY: &str = "somebody-else";

/// An agent that may not work here: one of another stage, if there is one.
fn stranger(definition: &Definition, run: &Run, stage: &Stage) -> String {
    let known = definition.stages.iter().flat_map(named);
    let mut known = known.filter(|agent| !is_welcome(definition, run, stage, agent));
    known
        .next()
        .map_or_else(|| NOBODY.to_owned(), |agent| agent.to_string())
}

/// The agents that a stage names one by one.
fn named(stage: &Stage) -> Vec<AgentName> {
    match &stage.work {
        Work::Agent(work) => match &work.worker {
            Worker::Agent(agent) => vec![agent.clone()],
            Worker::Session => Vec::new(),
        },
        Work::Review(work) => {
            let panel = work.panel.iter().map(|member| member.agent.clone());
            panel.chain([work.owner.clone()]).collect()
        }
        Work::Open(_) | Work::End(_) => {
            let after = stage.after().iter();
            after
                .filter_map(|after| AgentName::parse(after.agent.as_str()).ok())
                .collect()
        }
        Work::Check(_) | Work::Ask(_) | Work::Steps(_) | Work::Route(_) => Vec::new(),
    }
}

fn is_welcome(definition: &Definition, run: &Run, stage: &Stage, agent: &AgentName) -> bool {
    match &stage.work {
        Work::Open(work) => definition.lists(&work.allow, agent.as_str()),
        Work::End(work) => {
            let mut after = work.after.iter();
            after.any(|after| definition.covers(&after.agent, agent.as_str()))
        }
        Work::Steps(_) => {
            let graph = run.graphs.get(&stage.name);
            let mut members = graph.into_iter().flat_map(|graph| &graph.members);
            members.any(|member| member.step.agent == *agent)
        }
        Work::Agent(_) | Work::Review(_) => named(stage).contains(agent),
        Work::Check(_) | Work::Ask(_) | Work::Route(_) => false,
    }
}

/// Tools that the stage forbids, to its worker or to the session.
fn tools(tester: &mut GateTester<'_>, stage: &Stage) -> Result<(), Failure> {
    // A call that starts an agent is judged by the agent, not by the tool.
    const OTHERS: [&str; 5] = ["Agent", "Task", "Skill", "Workflow", "SendMessage"];
    let simulation = tester.fresh()?;
    if let Ok(Some(agent)) = simulation.next_agent()
        && !matches!(simulation.is_external(&agent), Ok(false))
    {
        // No hook sees the tools of another program, so it never starts in such a stage.
        return Ok(());
    }
    for pattern in &stage.tools_deny {
        let tool = pattern.as_str().replace('*', "Thing");
        if OTHERS.contains(&tool.as_str()) {
            continue;
        }
        let what = format!("the tool '{tool}' is used");
        tester.case(Column::Refusal, what, |simulation| {
            let worker = simulation.start_next_worker()?;
            let input = simulation.input_of(&tool);
            let payload = simulation.payloads.tool(worker.as_ref(), &tool, &input);
            let refused = Expected::Refusal(&[Rule::ToolDenied]);
            simulation.hook(payload, refused).map(drop)
        })?;
    }
    Ok(())
}

/// A file that the stage may not change.
fn writes(tester: &mut GateTester<'_>, stage: &Stage) -> Result<(), Failure> {
    let Writes::Only(globs) = &stage.writes else {
        return Ok(());
    };
    let by_agents = matches!(
        &stage.work,
        Work::Agent(_) | Work::Open(_) | Work::Review(_) | Work::Steps(_)
    );
    let by_session = matches!(&stage.work, Work::Agent(work) if work.worker == Worker::Session);
    if !by_agents || by_session || globs.iter().any(|glob| glob.covers(STRAY)) {
        return Ok(());
    }
    tester.case(
        Column::Fault,
        "the agent changes a file that it may not change",
        |simulation| {
            let Some(worker) = simulation.start_next_worker()? else {
                return not_tested("no agent has its turn");
            };
            let path = simulation.path(STRAY);
            sandbox::write(&path, b"strayed\n")?;
            if worker.dispatch.is_none() {
                let input = json!({ "file_path": path.to_string_lossy() });
                let used = simulation
                    .payloads
                    .tool_used(Some(&worker), "Write", &input);
                simulation.hook(used, Expected::Refusal(&[Rule::Strayed]))?;
            }
            simulation.must_not_move(|simulation| {
                simulation.stops(&worker, Some("Done."), Expected::Continue(&[Rule::Strayed]))
            })
        },
    )
}

/// A session tries to stop before the work is done.
fn stop(tester: &mut GateTester<'_>, stage: &Stage) -> Result<(), Failure> {
    let by_session = matches!(&stage.work, Work::Agent(work) if work.worker == Worker::Session
        && work.leaves.all().is_empty());
    if stage.stop != StopRule::Hold
        || matches!(stage.work, Work::Ask(_) | Work::End(_))
        || by_session
    {
        return Ok(());
    }
    tester.case(
        Column::Refusal,
        "the session stops before the work is done",
        |simulation| simulation.must_not_move(held),
    )?;
    tester.case(
        Column::Pass,
        "the session stops while agents work in the background",
        |simulation| {
            let stop = simulation.payloads.stop(Background::Somebody);
            simulation.hook(stop, Expected::Pass).map(drop)
        },
    )?;
    let what = "the session stops repeatedly: the run waits for a person";
    tester.case(Column::Fault, what, |simulation| {
        // The stop that ended a session's own work may have been held already.
        for _ in simulation.now()?.holds..MOST_HOLDS {
            held(simulation)?;
        }
        simulation.hook(simulation.payloads.stop(Background::Nobody), Expected::Pass)?;
        let standing = simulation.now()?.standing;
        ensure(standing == Standing::Abandoned, || {
            "the run does not wait for a person".to_owned()
        })
    })
}

/// How often the engine holds a stop.
const MOST_HOLDS: u32 = 3;

fn held(simulation: &mut Simulation) -> CaseOutcome<()> {
    const RULES: &[Rule] = &[
        Rule::StopHeld,
        Rule::ArtifactMissing,
        Rule::ArtifactOld,
        Rule::OutcomeUnknown,
        Rule::Hollow,
    ];
    let stop = simulation.payloads.stop(Background::Nobody);
    simulation.hook(stop, Expected::Continue(RULES)).map(drop)
}

/// Requires that work with this fault has not moved the run on.
pub(super) fn not_done(
    simulation: &Simulation,
    stage: &Stage,
    fault: Fault,
    visit: u32,
) -> CaseOutcome<()> {
    let run = simulation.now()?;
    ensure(run.dispatches.is_empty(), || {
        "its work is still open".to_owned()
    })?;
    let handled = stage
        .on
        .keys()
        .any(|outcome| outcome.as_str() == fault.word());
    ensure(handled || run.position.visit == visit, || {
        format!("the run moved to {}", run.position.stage)
    })
}
