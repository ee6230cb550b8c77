//! The other doors to an agent.

use serde_json::json;
use testkit::model::{Actor, agent_in_foreground, bash, call, make, say, send_message};

use crate::stage::{DRAFT, Stage, is_refused, program};

fn start() -> testkit::model::Turn {
    bash(&format!("{} start story --task 'a story'", program()))
}

fn leave_draft(text: &str) -> testkit::model::Turn {
    bash(&format!("cat > draft.md <<'END'\n{text}END"))
}

#[test]
fn a_workflow_is_refused() {
    let script = "export const meta = { name: 'w', description: 'x', phases: [{title:'P'}] }\n\
                  phase('P')\nreturn await agent('GO-FLOW', {label:'a', phase:'P', agentType:'critic'})\n";
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                start(),
                call("Workflow", json!({ "script": script })),
                say("END"),
            ],
        ),
        Actor::new("GO-FLOW", [say("NEVER")]),
    ]);
    stage.claude().ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("GW-R26 refused"), "{told}");
    assert!(stage.model.requests_of("GO-FLOW").is_empty());
}

#[test]
fn a_skill_with_a_conversation_of_its_own_is_an_agent() {
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                start(),
                call("Skill", json!({"skill": "forky"})),
                say("END"),
            ],
        ),
        Actor::new("GO-FORK", [bash("echo x > forked.txt"), say("FORKED")]),
    ]);
    let skill =
        "---\nname: forky\ndescription: a fork\ncontext: fork\nagent: critic\n---\nGO-FORK\n";
    stage.project.write(".claude/skills/forky/SKILL.md", skill);
    stage.claude().ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R11", "'critic'"), "{told}");
    assert!(!stage.path("forked.txt").exists());
}

#[test]
fn another_claude_in_the_shell_is_refused() {
    let stage = Stage::story([Actor::new(
        "GO-MAIN",
        [
            start(),
            bash("claude -p --bare 'GO-NESTED: do the work'"),
            say("END"),
        ],
    )]);
    stage.claude().ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R26", "'claude'"), "{told}");
}

#[test]
fn a_nested_agent_is_judged_like_any_other() {
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                start(),
                agent_in_foreground("writer", "GO-WRITER"),
                say("END"),
            ],
        ),
        Actor::new(
            "GO-WRITER",
            [
                agent_in_foreground("helper", "GO-HELPER"),
                leave_draft(DRAFT),
                say("WRITTEN"),
            ],
        ),
        Actor::new("GO-HELPER", [say("NEVER")]),
    ]);
    stage.claude().ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-WRITER");
    assert!(is_refused(&told, "GW-R11", "'helper'"), "{told}");
    assert!(stage.model.requests_of("GO-HELPER").is_empty());
    assert!(stage.place().starts_with("judging"), "{}", stage.history());
}

#[test]
fn a_finished_agent_is_written_to_only_in_its_turn() {
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                start(),
                agent_in_foreground("writer", "GO-WRITER"),
                make(|request| send_message(&request.agent_id(), "GO ON")),
                say("END"),
            ],
        ),
        Actor::new(
            "GO-WRITER",
            [
                leave_draft(DRAFT),
                say("WRITTEN"),
                bash("echo x > more.txt"),
                say("MORE"),
            ],
        ),
    ]);
    stage.claude().ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R11", "'writer'"), "{told}");
    assert!(!stage.path("more.txt").exists());
}
