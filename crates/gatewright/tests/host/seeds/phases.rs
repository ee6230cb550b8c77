//! The four tests that 004 lists, and its faults, each through the real Claude Code.

use serde_json::{Value, json};
use testkit::model::{Actor, Turn, agent, agent_in_foreground, bash, call, say};

use crate::stage::{Stage, is_refused, program};

const TASK: &str = "Create calculator.py with tests and verify they pass";

/// A phase as a plan tells it.
fn phase(id: &str, agent: &str, title: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "title": title, "agent": agent, "needs": needs })
}

fn leave(path: &str, content: &Value) -> Turn {
    bash(&format!(
        "mkdir -p .claude/state/phases; cat > .claude/state/{path} <<'END'\n{content}\nEND"
    ))
}

/// The agent that cuts the task into these phases.
fn planner(phases: &[Value]) -> Actor {
    let plan = json!({ "task": TASK, "phases": phases });
    Actor::new("GO-PLAN", [leave("plan.json", &plan), say("PLANNED")])
}

fn plans() -> Turn {
    agent_in_foreground("delegation-orchestrator", "GO-PLAN")
}

/// The agent of a phase, which makes something and reports it.
fn worker(marker: &str, id: &str, made: &str) -> Actor {
    let report = json!({
        "status": "completed", "deliverables": [made],
        "context_for_next": format!("CONTEXT of {id}: {made} is there"),
    });
    let path = format!("phases/{id}.json");
    let makes = bash(&format!("echo 'made by {id}' > {made}"));
    Actor::new(marker, [makes, leave(&path, &report), say("DONE")])
}

fn works(agent: &str, id: &str, marker: &str) -> Turn {
    agent_in_foreground(agent, &format!("step: {id}\n{marker}"))
}

fn verifier() -> Actor {
    let verdict = json!({ "status": "PASS", "summary": "all is there" });
    Actor::new(
        "GO-VERIFY",
        [
            bash("ls"),
            leave("verification.json", &verdict),
            say("PASSED"),
        ],
    )
}

fn verifies() -> Turn {
    agent_in_foreground("task-completion-verifier", "GO-VERIFY")
}

/// Claude Code shows the text of the command, in which this stands.
const MAIN: &str = "GO-MAIN";

fn stage(turns: impl IntoIterator<Item = Turn>, crew: impl IntoIterator<Item = Actor>) -> Stage {
    let main = Actor::new(MAIN, turns);
    Stage::builtin("phases", std::iter::once(main).chain(crew))
}

/// What a person types.
fn delegate(stage: &Stage) {
    let typed = format!("/delegate {TASK} ({MAIN})");
    stage.claude().ask(&typed).succeeds();
}

fn view(stage: &Stage, path: &str) -> Value {
    serde_json::from_str(&stage.project.read(path)).expect("the view is JSON")
}

fn workflow(stage: &Stage) -> Value {
    view(stage, ".claude/state/workflow.json")
}

/// A look at the workflow while the model works, as `cat` shows it.
fn look() -> Turn {
    bash("cat .claude/state/workflow.json")
}

/// The workflow as the session saw it with each look: its status, its present phase, and each phase.
fn seen(stage: &Stage) -> Vec<String> {
    let requests = stage.model.requests_of(MAIN);
    let last = requests.last().expect("the session has asked");
    let looks = last.tool_results().into_iter().filter_map(|result| {
        let view: Value = serde_json::from_str(&result.text).ok()?;
        let phases = view.get("phases")?.as_array()?.iter();
        let phases: Vec<&str> = phases.filter_map(|it| it["status"].as_str()).collect();
        let (status, current) = (&view["status"], &view["current_phase"]);
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        Some(format!(
            "{} {} {}",
            word(status),
            word(current),
            phases.join(" ")
        ))
    });
    looks.collect()
}

/// The agents that make a calculator, test it, and verify the whole.
fn calculator_crew() -> [Actor; 4] {
    let phases = [
        phase(
            "phase_0",
            "general-purpose",
            "Create calculator module",
            &[],
        ),
        phase(
            "phase_1",
            "general-purpose",
            "Write and run tests",
            &["phase_0"],
        ),
    ];
    [
        planner(&phases),
        worker("GO-CREATE", "phase_0", "calculator.py"),
        worker("GO-TEST", "phase_1", "test_calculator.py"),
        verifier(),
    ]
}

#[test]
fn single_phase_workflow() {
    let stage = stage(
        [
            look(),
            plans(),
            look(),
            works("general-purpose", "phase_0", "GO-CREATE"),
            look(),
            verifies(),
            say("END"),
        ],
        [
            planner(&[phase("phase_0", "general-purpose", "Create notes.md", &[])]),
            worker("GO-CREATE", "phase_0", "notes.md"),
            verifier(),
        ],
    );
    delegate(&stage);
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert_eq!(
        seen(&stage),
        ["pending - ", "pending - pending", "active - completed",]
    );
    let workflow = workflow(&stage);
    assert_eq!(workflow["status"], "completed");
    assert_eq!(workflow["progress"], 100);
    assert_eq!(workflow["phases"][0]["deliverables"], json!(["notes.md"]));
    let report = stage.project.read(".claude/workflow_state_system.md");
    assert!(
        report.contains("Status: completed | Current Phase: none"),
        "{report}"
    );
    assert!(
        report.contains("- [x] Phase 0: Create notes.md → notes.md\n"),
        "{report}"
    );
    // The protocol stands in the file that every session reads, and was read.
    let memory = stage.project.read("CLAUDE.md");
    assert!(memory.contains("## Workflow State Protocol"), "{memory}");
    let requests = stage.model.requests_of(MAIN);
    let first = requests.first().expect("the session has asked");
    let known = first.system() + &first.first_message();
    assert!(known.contains("Workflow State Protocol"), "{known}");
}

#[test]
fn multi_phase_sequential() {
    let stage = stage(
        [
            plans(),
            // The second phase is not due, and nobody else's is the first.
            works("task-completion-verifier", "phase_1", "GO-EARLY"),
            works("general-purpose", "phase_0", "GO-CREATE"),
            look(),
            works("task-completion-verifier", "phase_1", "GO-TEST"),
            look(),
            verifies(),
            say("END"),
        ],
        [
            planner(&[
                phase(
                    "phase_0",
                    "general-purpose",
                    "Create calculator module",
                    &[],
                ),
                phase(
                    "phase_1",
                    "task-completion-verifier",
                    "Write and run tests",
                    &["phase_0"],
                ),
            ]),
            worker("GO-CREATE", "phase_0", "calculator.py"),
            worker("GO-TEST", "phase_1", "test_calculator.py"),
            Actor::new("GO-EARLY", [say("NEVER")]),
            verifier(),
        ],
    );
    delegate(&stage);
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    let told = stage.model.told(MAIN);
    assert!(told.contains("GW-R14 refused"), "{told}");
    assert!(stage.model.requests_of("GO-EARLY").is_empty());
    assert_eq!(
        seen(&stage),
        ["active - completed pending", "active - completed completed"]
    );
    // The context of the first phase was passed to the second, word for word.
    let briefed = stage.model.told("GO-TEST");
    for expected in [
        "Your step is `phase_1`: Write and run tests",
        "CONTEXT of phase_0: calculator.py is there",
        TASK,
    ] {
        assert!(briefed.contains(expected), "{expected}\n{briefed}");
    }
    // The whole is verified with the reports of all.
    let verified = stage.model.told("GO-VERIFY");
    for id in ["phase_0", "phase_1"] {
        assert!(verified.contains(&format!("CONTEXT of {id}")), "{verified}");
    }
    let workflow = workflow(&stage);
    let phases = workflow["phases"].as_array().expect("a list of phases");
    for (phase, made) in phases.iter().zip(["calculator.py", "test_calculator.py"]) {
        assert_eq!(phase["status"], "completed");
        assert_eq!(phase["deliverables"], json!([made]));
        assert!(phase["started_at"].is_string() && phase["completed_at"].is_string());
    }
    let graph = view(&stage, ".claude/state/active_task_graph.json");
    assert_eq!(graph["waves"], json!([["phase_0"], ["phase_1"]]));
    let sessions = stage.project.read(".claude/state/delegated_sessions.txt");
    assert_eq!(sessions.lines().count(), 1, "{sessions}");
}

#[test]
fn todo_write_sync() {
    let made = |subject: &str| {
        call(
            "TaskCreate",
            json!({ "subject": subject, "description": "a phase" }),
        )
    };
    let marked =
        |id: &str, status: &str| call("TaskUpdate", json!({ "taskId": id, "status": status }));
    let stage = stage(
        [
            plans(),
            made("phase_0: Create calculator module"),
            made("phase_1: Write and run tests"),
            // It cannot be ahead of the workflow.
            marked("1", "completed"),
            marked("1", "in_progress"),
            works("general-purpose", "phase_0", "GO-CREATE"),
            marked("1", "completed"),
            works("general-purpose", "phase_1", "GO-TEST"),
            marked("2", "completed"),
            call("TaskList", json!({})),
            verifies(),
            say("END"),
        ],
        calculator_crew(),
    );
    let claude = stage.claude().env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    let claude = claude.allow(["TaskList"]);
    claude.ask(&format!("/delegate {TASK} ({MAIN})")).succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    let told = stage.model.told(MAIN);
    // The session gets the list as the run knows it, after every phase.
    for expected in [
        "[pending] phase_0: Create calculator module\n  [pending] phase_1: Write and run tests",
        "[completed] phase_0: Create calculator module\n  [pending] phase_1: Write and run tests",
        "[completed] phase_0: Create calculator module\n  [completed] phase_1: Write and run tests",
        "GW-R28",
    ] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    assert_eq!(stage.count("GW-R28"), 1, "{}", stage.history());
    // What the person sees in the host's own list.
    let requests = stage.model.requests_of(MAIN);
    let results = requests
        .last()
        .expect("the session has asked")
        .tool_results();
    let listed = results
        .iter()
        .find(|result| result.text.contains("#1") && result.text.contains("#2"));
    let listed = &listed.expect("the list was shown").text;
    assert_eq!(listed.matches("completed").count(), 2, "{listed}");
}

/// The list of hosts that have no tasks.
#[test]
fn todo_write_sync_with_the_older_tool() {
    let todos = |first: &str, second: &str| {
        let todo = |content: &str, status: &str| {
            let title = content.split_once(": ").map_or(content, |(_, title)| title);
            let form = format!("Working on {title}");
            json!({ "content": content, "status": status, "activeForm": form })
        };
        let all = [
            todo("phase_0: Create calculator module", first),
            todo("phase_1: Write and run tests", second),
        ];
        call("TodoWrite", json!({ "todos": all }))
    };
    let stage = stage(
        [
            plans(),
            todos("pending", "pending"),
            todos("completed", "pending"),
            works("general-purpose", "phase_0", "GO-CREATE"),
            todos("completed", "in_progress"),
            todos("completed", "completed"),
            works("general-purpose", "phase_1", "GO-TEST"),
            todos("completed", "completed"),
            verifies(),
            say("END"),
        ],
        calculator_crew(),
    );
    let claude = stage.claude().env("CLAUDE_CODE_ENABLE_TASKS", "0");
    let claude = claude.allow(["TodoWrite"]);
    claude.ask(&format!("/delegate {TASK} ({MAIN})")).succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    // Twice it was ahead of the workflow, and twice it was told so.
    let told = stage.model.told(MAIN);
    for id in ["phase_0", "phase_1"] {
        assert!(is_refused(&told, "GW-R28", id), "{told}");
    }
    assert_eq!(stage.count("GW-R28"), 2, "{}", stage.history());
}

#[test]
fn hook_trigger() {
    // Claude Code calls our hook after each agent, no matter who asked for it, and only the phase's own end
    // changes the workflow.
    let stage = stage(
        [
            plans(),
            agent_in_foreground("Explore", "GO-LOOK"),
            agent_in_foreground("general-purpose", "GO-STRAY"),
            look(),
            works("general-purpose", "phase_0", "GO-IDLE"),
            look(),
            works("general-purpose", "phase_0", "GO-CREATE"),
            look(),
            say("END"),
        ],
        [
            planner(&[
                phase("phase_0", "general-purpose", "Create the module", &[]),
                phase("phase_1", "general-purpose", "Test it", &[]),
            ]),
            worker("GO-CREATE", "phase_0", "calculator.py"),
            Actor::new("GO-LOOK", [bash("ls"), say("LOOKED")]),
            Actor::new("GO-STRAY", [bash("ls"), say("STRAYED")]),
            Actor::new("GO-IDLE", [say("I am done."), say("Really."), say("Yes.")]),
        ],
    );
    stage.claude().ask(&format!("/delegate {TASK} ({MAIN})"));
    // A session that stops all the same leaves the run waiting.
    assert_eq!(stage.place(), "executing waiting", "{}", stage.history());
    // Who is not asked for by a phase is not let in; who left no report has not done it.
    assert_eq!(
        seen(&stage),
        [
            "pending - pending pending",
            "pending - pending pending",
            "active - completed pending",
        ],
        "{}",
        stage.history()
    );
    // A helper looks around and counts for nothing; anybody else is not let in.
    assert!(!stage.model.requests_of("GO-LOOK").is_empty());
    assert!(stage.model.requests_of("GO-STRAY").is_empty());
}

/// The first implementation counted 8 of 12 parallel ends, and any end as the present phase's.
#[test]
fn phases_side_by_side_are_counted_each_as_itself() {
    let ids = ["phase_0", "phase_1", "phase_2"];
    let markers = ["GO-ZERO", "GO-ONE", "GO-TWO"];
    let begin = |at: usize| {
        agent(
            "general-purpose",
            &format!("step: {}\n{}", ids[at], markers[at]),
        )
    };
    let stage = stage(
        [
            plans(),
            begin(0),
            begin(1),
            begin(2),
            say("I WAIT"),
            say("I WAIT"),
            say("I WAIT"),
            say("I WAIT"),
            say("I WAIT"),
            say("I WAIT"),
            say("I WAIT"),
        ],
        [
            planner(&ids.map(|id| phase(id, "general-purpose", "a part", &[]))),
            worker(markers[0], ids[0], "zero.txt"),
            worker(markers[1], ids[1], "one.txt"),
            worker(markers[2], ids[2], "two.txt"),
        ],
    );
    stage.claude().ask(&format!("/delegate {TASK} ({MAIN})"));
    assert_eq!(stage.place(), "verifying waiting", "{}", stage.history());
    let journal = stage.journal();
    let facts = journal.iter().map(|entry| &entry["fact"]);
    let ended = facts.filter(|fact| fact["kind"] == "ended").count();
    assert_eq!(ended, 1 + ids.len(), "{}", stage.history());
    let phases = workflow(&stage)["phases"].clone();
    let made = ["zero.txt", "one.txt", "two.txt"];
    for (at, made) in made.into_iter().enumerate() {
        assert_eq!(phases[at]["deliverables"], json!([made]));
    }
}

/// Phases that a person gives need no plan; the session begins the run with them.
#[test]
fn phases_that_are_given_at_the_start() {
    let start = format!(
        "{} start phases --task '{TASK}' --steps list.txt",
        program()
    );
    let stage = stage(
        [
            bash(&start),
            plans(),
            works("general-purpose", "phase_0", "GO-CREATE"),
            works("general-purpose", "phase_1", "GO-TEST"),
            verifies(),
            say("END"),
        ],
        [
            planner(&[]),
            worker("GO-CREATE", "phase_0", "calculator.py"),
            worker("GO-TEST", "phase_1", "test_calculator.py"),
            verifier(),
        ],
    );
    let list = "- Create calculator module\n- Write and run tests\n";
    stage.project.write("list.txt", list);
    stage.claude().ask(MAIN).succeeds();
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    assert!(stage.model.requests_of("GO-PLAN").is_empty());
    let titles: Vec<Value> = workflow(&stage)["phases"]
        .as_array()
        .expect("a list of phases")
        .iter()
        .map(|phase| phase["title"].clone())
        .collect();
    assert_eq!(titles, ["Create calculator module", "Write and run tests"]);
}

/// A plan may name an agent that the session does not have. The host refuses the call, and the phase
/// stays to be done.
#[test]
fn an_agent_that_the_session_does_not_have_does_no_phase() {
    let stage = stage(
        [
            plans(),
            works("no-such-agent", "phase_0", "GO-NOBODY"),
            look(),
            works("general-purpose", "phase_1", "GO-CREATE"),
            look(),
            say("END"),
        ],
        [
            planner(&[
                phase("phase_0", "no-such-agent", "Create the module", &[]),
                phase("phase_1", "general-purpose", "Write the notes", &[]),
            ]),
            worker("GO-CREATE", "phase_1", "notes.md"),
            Actor::new("GO-NOBODY", [say("NEVER")]),
        ],
    );
    stage.claude().ask(&format!("/delegate {TASK} ({MAIN})"));
    let seen = seen(&stage);
    assert_eq!(seen.len(), 2, "{}", stage.history());
    assert!(
        seen[1].ends_with("pending completed"),
        "{seen:?}\n{}",
        stage.history()
    );
    let told = stage.model.told(MAIN);
    assert!(told.contains("no-such-agent"), "{told}");
    assert!(stage.model.requests_of("GO-NOBODY").is_empty());
}
