//! `phases` headless: planned, two phases at once in worktrees, one that verifies, and the whole verified.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::model::{Actor, Turn, bash, hold, say, write};

use super::world::{RUN, World, you_are};

fn leaves(path: &str, content: &Value) -> Turn {
    bash(&format!(
        "mkdir -p .claude/state/phases; cat > .claude/state/{path} <<'END'\n{content}\nEND"
    ))
}

fn reports(id: &str, made: &str) -> Turn {
    let report = json!({
        "status": "completed", "deliverables": [made],
        "context_for_next": format!("CONTEXT of {id}"),
    });
    leaves(&format!("phases/{id}.json"), &report)
}

fn planner() -> Actor {
    let phase = |id: &str, agent: &str, needs: &[&str]| json!({ "id": id, "title": format!("the {id} part"), "agent": agent, "needs": needs });
    let plan = json!({ "task": "Greet people", "phases": [
        phase("left", "general-purpose", &[]),
        phase("right", "general-purpose", &[]),
        phase("check", "task-completion-verifier", &["left", "right"]),
    ] });
    let turns = [leaves("plan.json", &plan), say("PLANNED")];
    Actor::new(&you_are("delegation-orchestrator"), turns)
}

/// Waits for its word in the middle of its work.
fn maker(id: &str) -> Actor {
    let makes = bash(&format!("pwd; echo {id} > {id}.txt"));
    let turns = [
        hold(id, makes),
        reports(id, &format!("{id}.txt")),
        say("MADE"),
    ];
    Actor::new(&format!("Your step is `{id}`"), turns)
}

fn crew() -> [Actor; 5] {
    let sees = bash("cat left.txt right.txt");
    let checks = [
        sees,
        reports("check", "both parts are there"),
        say("CHECKED"),
    ];
    let verdict = json!({ "status": "PASS", "summary": "both are there" });
    // Who may change nothing has no shell that writes.
    let passes = write(".claude/state/verification.json", &verdict.to_string());
    let verifies = [passes, say("PASSED")];
    [
        planner(),
        maker("left"),
        maker("right"),
        Actor::new("Your step is `check`", checks),
        Actor::new(&you_are("task-completion-verifier"), verifies),
    ]
}

fn workflow(world: &World) -> Value {
    serde_json::from_str(&world.project.read(".claude/state/workflow.json")).unwrap()
}

#[test]
fn two_phases_work_at_once_a_third_verifies_them_and_the_whole_is_verified() {
    let world = World::new(crew());
    let words = ["run", "phases", "--task", "Greet people", "--id", RUN];
    let child = world
        .command(&words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for id in ["left", "right"] {
        world.model.wait_until_held(id);
    }
    // While both are at work, both are current, and the first of them is *the* current one.
    let during = workflow(&world);
    assert_eq!(during["current_phase"], "phase_0", "{during}");
    assert_eq!(during["current_phases"], json!(["phase_0", "phase_1"]));
    for id in ["right", "left"] {
        world.model.release(id);
    }
    let ended = child.wait_with_output().unwrap().status.code();
    let history = world.type_in(&["history", RUN]).stdout;
    assert_eq!(ended, Some(0), "{history}");

    let after = workflow(&world);
    assert_eq!(after["status"], "completed", "{after}");
    assert_eq!(after["progress"], 100);
    let phases = after["phases"].as_array().unwrap();
    let made: Vec<&Value> = phases.iter().map(|it| &it["deliverables"][0]).collect();
    assert_eq!(made, ["left.txt", "right.txt", "both parts are there"]);
    // Each worked in a folder of its own, and the third saw what both had made and said.
    let folders = ["left", "right"].map(|id| {
        let requests = world.model.requests_of(&format!("Your step is `{id}`"));
        requests.last().unwrap().tool_results()[0].text.clone()
    });
    assert_ne!(folders[0], folders[1]);
    let told = world.model.told("Your step is `check`");
    for expected in ["CONTEXT of left", "CONTEXT of right", "left\nright"] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    let verified = world.model.told(&you_are("task-completion-verifier"));
    assert!(verified.contains("CONTEXT of check"), "{verified}");
    assert_eq!(world.project.read("left.txt"), "left\n");
    assert_eq!(world.left_over(), Vec::<String>::new());
    world.type_in(&["verify", RUN]).succeeds();
}
