//! Plan mode in every stage of the built-in pipelines: a session plans at a terminal, as the host tells it to.

use serde_json::{Value, json};
use testkit::claude::{Claude, Session};
use testkit::model::{
    Actor, Model, Request, Turn, agent_in_foreground, bash, call, hold, make, say,
};

use super::way::{ANSIBLE, MULTI_AI, PHASES, Way, held};
use super::{explorer, with_notes};
use crate::stage::Stage;

const QUESTION: &str = "Which greeting?";

/// What a session does in plan mode, in the host's own order: explore, design, ask, write the plan, have it
/// approved; and the first work afterwards.
fn plan(stage: &Stage, helpers: bool) -> Vec<Turn> {
    let path = |name: &str| stage.path(name).to_string_lossy().into_owned();
    let question = json!({
        "question": QUESTION, "header": "Greeting", "multiSelect": false,
        "options": [
            {"label": "Hello", "description": "the usual"},
            {"label": "Moin", "description": "the northern one"},
        ],
    });
    let mut turns = vec![
        call("Read", json!({"file_path": path(".gitignore")})),
        bash("git log --oneline | head -3"),
        call("mcp__notes__find", json!({"name": "none"})),
        call("AskUserQuestion", json!({"questions": [question]})),
        make(write_plan),
        call("ExitPlanMode", json!({})),
        bash("echo Moin > greeting.txt"),
        call(
            "mcp__notes__keep",
            json!({"name": "plan", "text": "it was approved"}),
        ),
    ];
    if helpers {
        let explore = agent_in_foreground("Explore", "GO-EXPLORE: look around");
        let design = agent_in_foreground("Plan", "GO-DESIGN: think about it");
        turns.splice(0..0, [explore, design]);
    }
    turns
}

/// The host names the file of the plan when plan mode begins.
fn write_plan(request: &Request) -> Turn {
    let told = Value::from(request.messages()).to_string();
    let place = told
        .rfind("/plans/")
        .expect("the host names the file of the plan");
    let start = told[..place].rfind(' ').expect("words stand before it") + 1;
    let end = place + told[place..].find(".md").expect("it is Markdown") + 3;
    call(
        "Write",
        json!({"file_path": &told[start..end], "content": "# Plan\n\nGreet people.\n"}),
    )
}

fn designer() -> Actor {
    Actor::new("GO-DESIGN", [bash("ls"), say("A DESIGN")])
}

fn at_a_terminal(stage: &Stage) -> Claude {
    let claude = with_notes(stage, stage.claude());
    // Agents work in the foreground, so that one turn follows the other.
    claude
        .allow(["EnterPlanMode"])
        .env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")
        // The check of auto mode is on a server that a scripted model does not have.
        .arguments(["--settings", r#"{"useAutoModeDuringPlan": false}"#])
}

/// The person answers the question and approves the plan.
fn approve(session: &Session) {
    session.wait_for(QUESTION);
    session.choose("Moin");
    session.choose("Yes, manually approve");
}

/// Nothing was refused, and every plan was approved and followed.
fn check(stage: &Stage, plans: usize) {
    let journal = stage.journal();
    let refused: Vec<&Value> = journal
        .iter()
        .filter(|entry| entry["fact"]["kind"] == "refused")
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let told = stage.model.told("GO-MAIN");
    assert_eq!(
        told.matches("User has approved your plan").count(),
        plans,
        "{told}"
    );
    assert_eq!(stage.project.read("greeting.txt"), "Moin\n");
}

/// A session that begins in plan mode (`--permission-mode plan`), starts a run, and plans in each stage.
fn a_day(way: &Way, start: &str) {
    let scene = Stage::builtin(way.pipeline, []);
    let mut turns = plan(&scene, true);
    for at in 0..way.legs.len() {
        turns.push(hold(&held(at), bash("true")));
        if way.is_new(at) {
            turns.push(call("EnterPlanMode", json!({})));
            turns.append(&mut plan(&scene, true));
        }
    }
    turns.extend((0..6).map(|_| say("END")));
    let model = Model::start([Actor::new("GO-MAIN", turns), explorer(), designer()]);
    let stage = Stage { model, ..scene };
    let session = at_a_terminal(&stage).permission_mode("plan").open();
    session.say(start);
    approve(&session);
    way.walk(&stage, |at| {
        if way.is_new(at) {
            approve(&session);
        }
    });
    session.wait_for("END");
    session.leave();
    check(&stage, way.stages());
}

#[test]
fn plan_mode_is_not_refused_in_ansible() {
    let start = "/create-playbook target=site.yml GO-MAIN: a playbook";
    a_day(&ANSIBLE, start);
}

#[test]
fn plan_mode_is_not_refused_in_multi_ai() {
    a_day(&MULTI_AI, "/multi-ai mode=simple GO-MAIN: greet people");
}

#[test]
fn plan_mode_is_not_refused_in_phases() {
    a_day(&PHASES, "/delegate GO-MAIN: greet people");
}

/// Its stages are left by agents, and in `IDLE` helpers wait until context is there.
#[test]
fn plan_mode_is_not_refused_in_context_first() {
    let scene = Stage::builtin("context-first", []);
    let mut turns = plan(&scene, false);
    let agents = [
        "context-gatherer",
        "context-refiner",
        "strategic-orchestrator",
    ];
    for agent in agents {
        turns.push(agent_in_foreground(agent, "GO-WORKER: work"));
        turns.push(call("EnterPlanMode", json!({})));
        turns.append(&mut plan(&scene, true));
    }
    turns.extend((0..6).map(|_| say("END")));
    let worker = Actor::new("GO-WORKER", [bash("ls"), say("ALL SEEN")]);
    let model = Model::start([Actor::new("GO-MAIN", turns), explorer(), designer(), worker]);
    let stage = Stage { model, ..scene };
    let session = at_a_terminal(&stage).permission_mode("plan").open();
    session.say("GO-MAIN: begin");
    for _ in 0..=agents.len() {
        approve(&session);
    }
    session.wait_for("END");
    session.leave();
    check(&stage, agents.len() + 1);
}
