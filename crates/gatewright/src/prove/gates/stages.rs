//! The gate of one stage, whatever its kind: who may work, what must be left, and when to stop.

use engine::{
    AgentName, AskWork, Definition, Fault, Rule, Run, Stage, Standing, StopRule, Work, Worker,
    Writes,
};
use runtime::failure::Failure;
use serde_json::json;

use super::super::exchange::Expected;
use super::super::folder;
use super::super::scene::{Moment, Scene};
use super::super::travel::{Moments, Plan, STRAY};
use super::super::trouble::{Tried, insist, not_shown};
use super::super::wire::Background;
use super::{Bench, Column, Gate, There, agents, questions, reach, reviews, steps, unreached};

/// Tries the gate of a stage. The first stage in which an agent may work is where the guards of all
/// stages are tried later.
pub fn gate(
    scene: &mut Scene,
    moments: &mut Moments,
    there: &There<'_>,
    home: &mut Option<Moment>,
) -> Result<Gate, Failure> {
    let pipeline = scene.pipeline.clone();
    let Some(stage) = pipeline.stage(there.name) else {
        return Err(Failure::bug(format!("there is no stage {}", there.name)));
    };
    let about = about(stage);
    let own = steps::plan(stage, there);
    let plan = own.as_deref().map_or(Plan::OfRoute, Plan::Own);
    let moment = match reach(scene, moments, there, plan) {
        Ok(moment) => moment,
        Err(trouble) => return unreached(there.name.as_str(), about, trouble, scene),
    };
    if home.is_none() && agent_may_work(scene, stage) {
        *home = Some(moment.clone());
    }
    let mut bench = Bench::new(scene, moment);
    wrong_agent(&mut bench, stage)?;
    match &stage.work {
        Work::Agent(work) if work.worker == Worker::Session => {
            agents::session(&mut bench, stage, there)?;
        }
        Work::Agent(_) | Work::Open(_) | Work::End(_) => agents::agent(&mut bench, stage, there)?,
        Work::Review(work) => reviews::review(&mut bench, stage, work, there)?,
        Work::Check(_) => questions::check(&mut bench, stage, there)?,
        Work::Ask(AskWork { questions, .. }) => {
            questions::ask(&mut bench, stage, questions, there)?;
        }
        Work::Steps(_) => steps::steps(&mut bench, stage, there)?,
    }
    tools(&mut bench, stage)?;
    writes(&mut bench, stage)?;
    stop(&mut bench, stage)?;
    Ok(bench.gate(there.name.as_str(), about))
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
        Work::End(_) => "the end",
    }
}

/// May the host start an agent here?
fn agent_may_work(scene: &Scene, stage: &Stage) -> bool {
    let by_kind = match &stage.work {
        Work::Agent(work) => work.worker != Worker::Session,
        Work::Open(_) | Work::Review(_) => true,
        Work::Check(_) | Work::Ask(_) | Work::Steps(_) | Work::End(_) => false,
    };
    let agent = scene.in_turn().ok().flatten();
    by_kind && agent.is_some_and(|agent| matches!(scene.is_elsewhere(&agent), Ok(false)))
}

/// By which rules an agent is refused that has no business in the stage.
fn rules(stage: &Stage) -> &'static [Rule] {
    match &stage.work {
        // The session is told first what it still has to leave itself.
        Work::Agent(work) if work.worker == Worker::Session => &[
            Rule::AgentOutOfTurn,
            Rule::ArtifactMissing,
            Rule::ArtifactOld,
            Rule::Hollow,
        ],
        Work::Steps(_) => &[Rule::AgentOutOfTurn, Rule::StepNotReady],
        Work::Ask(_) => &[Rule::RunWaits],
        Work::Agent(_) | Work::Open(_) | Work::Review(_) | Work::Check(_) | Work::End(_) => {
            &[Rule::AgentOutOfTurn]
        }
    }
}

fn wrong_agent(bench: &mut Bench<'_>, stage: &Stage) -> Result<(), Failure> {
    let scene = bench.fresh()?;
    let stranger = match scene.now() {
        Ok(run) => stranger(scene.pipeline.definition(), &run, stage),
        Err(_) => NOBODY.to_owned(),
    };
    let what = format!("'{stranger}' is requested");
    bench.case(Column::Refusal, what, |scene| {
        let worker = scene.worker(&stranger, None);
        scene.stays(|scene| scene.refused(scene.pen.agent(&worker), rules(stage)))
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
        Work::Check(_) | Work::Ask(_) | Work::Steps(_) => Vec::new(),
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
        Work::Check(_) | Work::Ask(_) => false,
    }
}

/// Tools that the stage forbids, to its worker or to the session.
fn tools(bench: &mut Bench<'_>, stage: &Stage) -> Result<(), Failure> {
    // A call for an agent is judged by who it is, and not by its tool.
    const OTHERS: [&str; 5] = ["Agent", "Task", "Skill", "Workflow", "SendMessage"];
    let scene = bench.fresh()?;
    if let Ok(Some(agent)) = scene.in_turn()
        && !matches!(scene.is_elsewhere(&agent), Ok(false))
    {
        // Another program's tools ask nobody, so it is not even started in such a stage.
        return Ok(());
    }
    for pattern in &stage.tools_deny {
        let tool = pattern.as_str().replace('*', "Thing");
        if OTHERS.contains(&tool.as_str()) {
            continue;
        }
        let what = format!("the tool '{tool}' is used");
        bench.case(Column::Refusal, what, |scene| {
            let worker = scene.begins_in_turn()?;
            let input = scene.input_of(&tool);
            let sent = scene.pen.tool(worker.as_ref(), &tool, &input);
            let refused = Expected::Refusal(&[Rule::ToolDenied]);
            scene.hook(sent, refused).map(drop)
        })?;
    }
    Ok(())
}

/// A file that the stage may not change.
fn writes(bench: &mut Bench<'_>, stage: &Stage) -> Result<(), Failure> {
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
    bench.case(
        Column::Fault,
        "the agent changes a file that it may not change",
        |scene| {
            let Some(worker) = scene.begins_in_turn()? else {
                return not_shown("no agent has its turn");
            };
            let path = scene.path(STRAY);
            folder::write(&path, b"strayed\n")?;
            if worker.dispatch.is_none() {
                let input = json!({ "file_path": path.to_string_lossy() });
                let used = scene.pen.tool_used(Some(&worker), "Write", &input);
                scene.hook(used, Expected::Refusal(&[Rule::Strayed]))?;
            }
            scene.stays(|scene| {
                scene.stops(&worker, Some("Done."), Expected::GoOn(&[Rule::Strayed]))
            })
        },
    )
}

/// A session that wants to stop before the work is done.
fn stop(bench: &mut Bench<'_>, stage: &Stage) -> Result<(), Failure> {
    let by_session = matches!(&stage.work, Work::Agent(work) if work.worker == Worker::Session
        && work.leaves.all().is_empty());
    if stage.stop != StopRule::Hold
        || matches!(stage.work, Work::Ask(_) | Work::End(_))
        || by_session
    {
        return Ok(());
    }
    bench.case(
        Column::Refusal,
        "the session stops before the work is done",
        |scene| scene.stays(held),
    )?;
    bench.case(
        Column::Pass,
        "the session stops while agents work in the background",
        |scene| {
            let stop = scene.pen.stop(Background::Somebody);
            scene.hook(stop, Expected::Pass).map(drop)
        },
    )?;
    let what = "the session stops repeatedly: the run waits for a person";
    bench.case(Column::Fault, what, |scene| {
        // The stop that ended a session's own work may have been held already.
        for _ in scene.now()?.holds..MOST_HOLDS {
            held(scene)?;
        }
        scene.hook(scene.pen.stop(Background::Nobody), Expected::Pass)?;
        let standing = scene.now()?.standing;
        insist(standing == Standing::Abandoned, || {
            "the run does not wait for a person".to_owned()
        })
    })
}

/// How often a session is held, by the promise of the engine.
const MOST_HOLDS: u32 = 3;

fn held(scene: &mut Scene) -> Tried<()> {
    const RULES: &[Rule] = &[
        Rule::StopHeld,
        Rule::ArtifactMissing,
        Rule::ArtifactOld,
        Rule::OutcomeUnknown,
        Rule::Hollow,
    ];
    let stop = scene.pen.stop(Background::Nobody);
    scene.hook(stop, Expected::GoOn(RULES)).map(drop)
}

/// Insists that work with this fault has not led on.
pub fn not_done(scene: &Scene, stage: &Stage, fault: Fault, visit: u32) -> Tried<()> {
    let run = scene.now()?;
    insist(run.dispatches.is_empty(), || {
        "its work is still open".to_owned()
    })?;
    let handled = stage
        .on
        .keys()
        .any(|outcome| outcome.as_str() == fault.word());
    insist(handled || run.position.visit == visit, || {
        format!("the run moved to {}", run.position.stage)
    })
}
