//! The whole way of a pipeline, and what is refused on it.

use testkit::model::{Actor, agent_in_foreground, bash, call, say};

use crate::stage::{Stage, is_refused};

#[test]
fn an_agent_out_of_order_is_refused_and_the_model_learns_why_and_what_next() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [agent_in_foreground("bash-expert", "GO-BASH"), say("END")],
        ),
        Actor::new("GO-BASH", [say("NEVER")]),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(is_refused(&told, "GW-R11", "'bash-expert'"), "{told}");
    assert!(told.contains("'context-gatherer'"), "{told}");
    assert!(stage.model.requests_of("GO-BASH").is_empty());
    assert_eq!(stage.place(), "IDLE running");
    assert_eq!(stage.count("GW-R11"), 1);
}

#[test]
fn the_whole_of_context_first_in_one_session() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [
                // The host reads names without case, dashes and underscores.
                agent_in_foreground("Context Gatherer", "GO-GATHER"),
                agent_in_foreground("Explore", "GO-EXPLORE"),
                agent_in_foreground("context-refiner", "GO-REFINE"),
                agent_in_foreground("c-expert", "GO-EARLY"),
                agent_in_foreground("strategic-orchestrator", "GO-PLAN"),
                agent_in_foreground("bash-expert", "GO-BASH"),
                say("END"),
            ],
        ),
        Actor::new("GO-GATHER", [bash("ls"), say("GATHERED: three files")]),
        Actor::new("GO-EXPLORE", [bash("ls"), say("EXPLORED")]),
        Actor::new("GO-REFINE", [bash("ls"), say("REFINED: one file")]),
        Actor::new("GO-EARLY", [say("NEVER")]),
        Actor::new("GO-PLAN", [bash("ls"), say("PLAN: bash-expert")]),
        Actor::new("GO-BASH", [bash("echo made > made.txt"), say("MADE")]),
    ]);
    for agent in ["bash-expert", "c-expert"] {
        let text = format!("---\nname: {agent}\ndescription: {agent}\n---\nWork.\n");
        stage
            .project
            .write(format!(".claude/agents/{agent}.md"), text);
    }
    stage.claude().ask("GO-MAIN: begin").succeeds();

    assert_eq!(stage.place(), "EXECUTING running", "{}", stage.history());
    assert_eq!(stage.project.read("made.txt"), "made\n");
    // What was said is handed on to the next worker.
    let refiner = stage.model.told("GO-REFINE");
    assert!(refiner.contains("GATHERED: three files"), "{refiner}");
    let planner = stage.model.told("GO-PLAN");
    assert!(planner.contains("REFINED: one file"), "{planner}");
    // Who came too early was not there at all.
    assert!(stage.model.requests_of("GO-EARLY").is_empty());
    let moves = stage.journal();
    let moves = moves
        .iter()
        .filter(|entry| entry["rule"] == "GW-R96")
        .count();
    assert_eq!(moves, 3, "{}", stage.history());

    stage.project.person(["finish"], "").succeeds();
    assert_eq!(stage.place(), "COMPLETE completed");
}

#[test]
fn the_session_is_told_where_it_stands_and_only_an_idle_one_gets_the_text() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [
                agent_in_foreground("context-gatherer", "GO-GATHER"),
                say("FIRST"),
                say("SECOND"),
            ],
        ),
        Actor::new("GO-GATHER", [bash("ls"), say("GATHERED")]),
    ]);
    let first = stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    let text = "This project works in a fixed order";
    assert_eq!(told.matches(text).count(), 1, "{told}");
    assert!(told.contains("`GATHERING`"), "{told}");
    let resumed = stage.claude().resume(first.session_id());
    resumed.ask("GO-ON").succeeds();
    let last = stage.model.requests_of("GO-MAIN");
    let news = last
        .last()
        .map(testkit::model::Request::news)
        .unwrap_or_default();
    assert!(news.contains("`GATHERING`"), "{news}");
    assert!(
        !news.contains("This project works in a fixed order"),
        "{news}"
    );
    assert_eq!(stage.runs().len(), 1);
}

#[test]
fn the_shell_of_the_session_knows_the_run() {
    let stage = Stage::always_on([Actor::new(
        "GO-MAIN",
        [bash("echo run is $GATEWRIGHT_RUN"), say("END")],
    )]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains(&format!("run is {}", stage.run())), "{told}");
}

#[test]
fn a_session_in_a_project_without_a_pipeline_is_left_alone() {
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                agent_in_foreground("helper", "GO-HELPER"),
                call(
                    "TaskCreate",
                    serde_json::json!({"subject": "s", "description": "d"}),
                ),
                say("END"),
            ],
        ),
        Actor::new("GO-HELPER", [bash("echo x > x.txt"), say("HELPED")]),
    ]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert!(stage.model.told("GO-MAIN").contains("HELPED"));
    assert_eq!(stage.runs(), Vec::<String>::new());
    assert!(!stage.project.state().join("sessions").exists());
}
