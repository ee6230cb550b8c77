//! Groups to which a project's settings file adds: proved again, trusted by a person, pinned by the run.

use serde_json::json;
use testkit::Project;

use crate::fixture::{PROGRAM, fact, run, says_one_line};

/// An open group of agents that may change things, after somebody has planned.
const OPEN: &str = r#"
name     = "open"
about    = "Plan, then work."
start    = "planning"
settings = "agents.json"

[groups]
makers = { always = ["bash-*"], setting = "agents.makers" }

[stages.planning]
allow         = ["planner"]
after.planner = "working"

[stages.working]
allow     = ["makers"]
on.finish = "complete"

[stages.complete]
end = "completed"

[[prove]]
name       = "nobody works before the plan"
agent      = "makers"
only_after = "planner"
"#;

fn project() -> Project {
    let project = Project::new(PROGRAM);
    project.write("open.toml", OPEN);
    project
}

/// Starts a run and brings it to where the group may work.
fn working(project: &Project, pipeline: &str, id: &str) {
    project
        .run(["start", pipeline, "--task", "x", "--by-hand", "--id", id])
        .succeeds();
    run(project, &format!("report {id} --agent planner")).succeeds();
}

#[test]
fn a_settings_file_adds_agents_to_a_group() {
    let project = project();
    project.trust("open.toml");
    working(&project, "open.toml", "r-before");
    let refused = run(&project, "report r-before --agent rust-expert").exits(1);
    assert!(refused.stderr.contains("GW-R11"), "{refused}");

    project.write(
        "agents.json",
        r#"{"agents": {"makers": ["rust-*", "go-expert"]}}"#,
    );
    // A person sees who may work now, before anything begins.
    let start = project.run(["start", "open.toml", "--task", "x", "--by-hand"]);
    says_one_line(start, 1, &["gatewright trust open.toml"]);
    let shown = run(&project, "trust open.toml --show").succeeds().stdout;
    assert!(
        shown.contains("makers: bash-*, rust-*, go-expert"),
        "{shown}"
    );
    project.trust("open.toml");
    working(&project, "open.toml", "r-after");
    for agent in ["rust-expert", "go-expert", "bash-writer"] {
        run(&project, &format!("report r-after --agent {agent}")).succeeds();
    }
    run(&project, "report r-after --agent python-writer").exits(1);

    // A run stays with what it began with, whatever the file says now.
    run(&project, "report r-before --agent rust-expert").exits(1);
    project.write("agents.json", "{}");
    run(&project, "report r-after --agent rust-expert").succeeds();
    run(&project, "verify").succeeds();
}

/// The built-in pipeline takes more agents, too; as shipped it needs nobody's trust, with them it does.
#[test]
fn a_built_in_pipeline_with_more_agents_must_be_trusted() {
    let project = Project::new(PROGRAM);
    let start = ["start", "context-first", "--task", "x", "--by-hand"];
    project.run(start).succeeds();
    project.write(".gatewright/agents.json", r#"{"language": ["rust-*"]}"#);
    says_one_line(project.run(start), 1, &["gatewright trust context-first"]);
    project.trust("context-first");
    let words = [&start[..], &["--id", "r-more"]].concat();
    project.run(words).succeeds();
    for agent in [
        "context-gatherer",
        "context-refiner",
        "strategic-orchestrator",
    ] {
        project.write("said.json", format!(r#"{{"said": "{agent}"}}"#));
        let name = match agent {
            "context-gatherer" => "gathered",
            "context-refiner" => "refined",
            _ => "orchestration",
        };
        let line = format!("report r-more --agent {agent} --artifact {name}=said.json");
        run(&project, &line).succeeds();
    }
    run(&project, "report r-more --agent rust-expert").succeeds();
    run(&project, "report r-more --agent python-expert").exits(1);
    // As shipped again.
    project.write(".gatewright/agents.json", "{}");
    project.run(start).succeeds();
}

/// The settings file is next to the pipelines, and is none of them.
#[test]
fn a_settings_file_is_not_taken_for_a_pipeline() {
    let project = Project::new(PROGRAM);
    project.run(["init", "context-first", "--yes"]).succeeds();
    project.write(".gatewright/agents.json", r#"{"language": ["rust-*"]}"#);
    let listed = project.run(["pipelines", "--json"]).succeeds();
    assert!(!listed.stdout.contains("\"agents\""), "{listed}");
    project.person(["trust"], "yes\n").succeeds();
    let start = ["start", "context-first", "--task", "x", "--by-hand"];
    project.run(start).succeeds();
    // A pipeline in JSON is one, also if it is broken.
    project.write(
        ".gatewright/other.json",
        r#"{"name": "other", "stages": {}}"#,
    );
    project.write(".gatewright/broken.json", "{");
    let listed = project.run(["pipelines", "--json"]).succeeds();
    for name in ["\"other\"", "\"broken\""] {
        assert!(listed.stdout.contains(name), "{listed}");
    }
}

/// A member that would break a promise is refused, wherever it comes from.
#[test]
fn every_promise_is_proved_again_with_the_new_members() {
    let project = Project::new(PROGRAM);
    let leaky = OPEN.replace(
        "allow         = [\"planner\"]",
        "allow         = [\"planner\", \"Explore\"]",
    );
    project.write("open.toml", leaky);
    run(&project, "lint open.toml").succeeds();
    project.write("agents.json", r#"{"agents": {"makers": ["Explore"]}}"#);
    let linted = run(&project, "lint open.toml").exits(1);
    assert!(linted.stderr.contains("GW-L260"), "{linted}");
    let start = project.run(["start", "open.toml", "--task", "x", "--by-hand"]);
    assert_eq!(start.code, Some(1), "{start}");
}

#[test]
fn settings_that_name_no_agents_are_told() {
    let project = project();
    for (settings, said) in [
        (r#"{"agents": {"makers": "rust-*"}}"#, "makers"),
        (r#"{"agents": {"makers": [1]}}"#, "makers"),
        (r#"{"agents": {"makers": ["a\nmakers b"]}}"#, "makers"),
        ("{", "JSON"),
    ] {
        project.write("agents.json", settings);
        says_one_line(run(&project, "lint open.toml"), 1, &[said, "agents.json"]);
    }
    project.write("agents.json", r#"{"agents": {"makers": ["no name"]}}"#);
    let linted = run(&project, "lint open.toml").exits(1);
    assert!(linted.stderr.contains("`no name`"), "{linted}");
    // What says nothing about the group adds nothing.
    for nothing in [
        r#"{"agents": {}}"#,
        r#"{"agents": {"makers": null}}"#,
        r#"{"agents": {"makers": []}}"#,
    ] {
        project.write("agents.json", nothing);
        run(&project, "lint open.toml").succeeds();
    }
}

#[test]
fn a_copy_of_a_pipeline_has_open_groups_too() {
    let project = Project::new(PROGRAM);
    project.write(".gatewright/agents.json", r#"{"language": ["rust-*"]}"#);
    let made = fact(&project, "new mine --from context-first");
    let files = made["files"].as_array().unwrap();
    assert!(
        !files.contains(&json!(".gatewright/gatewright:groups")),
        "{made}"
    );
    let drawn = run(&project, "graph mine").succeeds().stdout;
    assert!(
        drawn.contains("rust-*") || drawn.contains("language"),
        "{drawn}"
    );
}
