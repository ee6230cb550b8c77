//! The flows of the multi-model pipeline, each through the real Claude Code, with the real Codex as the last word.

use serde_json::{Value, json};
use testkit::codex;
use testkit::model::{Actor, Turn, bash, call, hold, make, say, send_message};

use crate::stage::{Stage, program};

const RUN: &str = "r-multi";

fn start() -> Turn {
    let program = program();
    bash(&format!(
        "{program} start multi-ai --task 'Greet people' --id {RUN}"
    ))
}

/// The shell line that leaves this JSON in a file of the run.
fn leaves(file: &str, content: &Value) -> String {
    format!("cat > .task/{file} <<'END'\n{content}\nEND\n")
}

/// The signal of a worker. `at` makes it another one than the last.
fn signal(worker: &str, phase: &str, status: &str, at: u8) -> String {
    let mut signal = json!({
        "worker_id": format!("{worker}-1"), "phase": phase, "status": status,
        "timestamp": format!("2026-01-15T10:00:{at:02}Z"),
    });
    if status == "needs_input" {
        signal["questions"] = json!([{ "id": "q1", "question": "Which word?" }]);
    }
    leaves("worker-signal.json", &signal)
}

fn story() -> String {
    let criterion = json!({
        "id": "AC1", "scenario": "a greeting", "given": "a person", "when": "met", "then": "greeted",
    });
    let story = json!({
        "id": "story-20260115-103000",
        "title": "Greet people",
        "requirements": { "functional": ["It greets"] },
        "acceptance_criteria": [criterion],
        "test_criteria": { "commands": ["grep -q Moin greeting.txt"] },
    });
    leaves("user-story.json", &story)
}

fn plan(file: &str, title: &str, commands: &[&str]) -> String {
    let plan = json!({
        "id": "plan-20260115-110000",
        "title": title,
        "technical_approach": { "pattern": "a file", "rationale": "it is enough" },
        "steps": [{ "id": 1, "file": "greeting.txt", "description": "write the greeting" }],
        "test_plan": { "commands": commands },
    });
    leaves(file, &plan)
}

fn result(word: &str, at: u8) -> String {
    let result = json!({
        "id": format!("impl-20260115-1200{at:02}"), "status": "complete",
        "files_modified": [], "files_created": ["greeting.txt"],
    });
    format!(
        "echo {word} > greeting.txt; {}",
        leaves("impl-result.json", &result)
    )
}

/// The verdict of a reviewer on `plan` or `code`.
fn review(of: &str, reviewer: &str, model: &str, status: &str, at: u8) -> String {
    let mut review = json!({
        "id": format!("review-20260115-1130{at:02}"), "reviewer": reviewer, "model": model,
        "status": status, "summary": "looked at",
    });
    if status == "needs_changes" {
        review["findings"] = json!([{ "title": "SAY-MOIN-INSTEAD", "severity": "high" }]);
    }
    leaves(&format!("{of}-review-{model}.json"), &review)
}

/// The session calls an agent with the model that the panel names.
pub(crate) fn calls(agent: &str, model: &str, marker: &str) -> Turn {
    let input = json!({
        "description": "a piece of work", "prompt": marker, "subagent_type": agent,
        "model": model, "run_in_background": false,
    });
    call("Agent", input)
}

/// The session writes to the worker that it called as this one in the row.
pub(crate) fn goes_on(place: usize) -> Turn {
    make(move |request| {
        let ids = request.agent_ids();
        send_message(ids.get(place).map_or("", String::as_str), "GO ON")
    })
}

fn step() -> Turn {
    bash(&format!("{} step {RUN}", program()))
}

fn works(marker: &str, line: &str) -> Actor {
    Actor::new(marker, [bash(line), say("DONE")])
}

/// A project with the pipeline, the host, and a Codex that reviews with these lines of shell.
fn stage(script: Vec<Actor>, reviews: &[String]) -> (Stage, codex::CodexModel) {
    let stage = Stage::builtin("multi-ai", script);
    let turns = reviews
        .iter()
        .flat_map(|line| [codex::run(line), codex::say("JUDGED")]);
    let model = codex::CodexModel::start(turns);
    codex::settle(&stage.project, &model);
    // A person who has Codex gives the project their environment.
    let line = format!(
        "PATH='{}' '{}' trust --environment",
        search_path(),
        program()
    );
    stage.project.person_at(&line, "yes\n").succeeds();
    (stage, model)
}

fn search_path() -> String {
    let system = std::env::var("PATH").unwrap_or_default();
    format!("{}:{system}", codex::folder().display())
}

fn claude(stage: &Stage) -> testkit::claude::Claude {
    stage.claude().env("PATH", search_path())
}

fn answers(stage: &Stage, words: &[&str]) {
    let words = [&["answer", RUN], words].concat();
    stage.project.person(words, "").succeeds();
}

/// Phases 1 to 6: questions with a resume of the same worker, the approval, the plan, its reviews, the code,
/// its reviews with a finding that gets fixed, and the tests that the engine runs.
#[test]
fn a_request_becomes_reviewed_and_tested_code() {
    let main = vec![
        start(),
        calls("requirements-gatherer", "opus", "GO-GATHER"),
        hold("asked", goes_on(0)),
        say("WAITING"),
        hold("told", calls("planner", "opus", "GO-ARCHITECT")),
        goes_on(1),
        say("WAITING"),
        calls("plan-reviewer", "sonnet", "GO-PLAN-SONNET"),
        calls("plan-reviewer", "opus", "GO-PLAN-OPUS"),
        step(),
        hold("planned", calls("implementer", "sonnet", "GO-IMPLEMENT")),
        calls("code-reviewer", "sonnet", "GO-CODE-SONNET-1"),
        goes_on(4),
        say("WAITING"),
        calls("code-reviewer", "opus", "GO-CODE-OPUS-1"),
        step(),
        hold(
            "mended",
            calls("code-reviewer", "sonnet", "GO-CODE-SONNET-2"),
        ),
        calls("code-reviewer", "opus", "GO-CODE-OPUS-2"),
        step(),
        bash(&format!("{} check {RUN}", program())),
        say("END"),
    ];
    let (gatherer, planner) = ("requirements-gatherer", "planner");
    let (plans, codes) = ("plan-reviewer", "code-reviewer");
    let script = vec![
        Actor::new("GO-MAIN", main),
        Actor::new(
            "GO-GATHER",
            [
                // A signal in another's name is sent back.
                bash(&signal(planner, "requirements_gathering", "needs_input", 1)),
                say("I HAVE A QUESTION"),
                bash(&signal(
                    gatherer,
                    "requirements_gathering",
                    "needs_input",
                    2,
                )),
                say("I HAVE A QUESTION"),
                bash(&(story() + &signal(gatherer, "requirements_gathering", "completed", 3))),
                say("ALL IS CLEAR"),
            ],
        ),
        Actor::new(
            "GO-ARCHITECT",
            [
                bash(
                    &(plan("plan.json", "draft", &[])
                        + &signal(planner, "plan_drafting", "completed", 4)),
                ),
                say("DRAFTED"),
                bash(
                    &(plan(
                        "plan-refined.json",
                        "refined",
                        &["grep -q Moin greeting.txt"],
                    ) + &signal(planner, "plan_refining", "completed", 5)),
                ),
                say("REFINED"),
            ],
        ),
        works(
            "GO-PLAN-SONNET",
            &review("plan", plans, "sonnet", "approved", 1),
        ),
        works(
            "GO-PLAN-OPUS",
            &review("plan", plans, "opus", "approved", 2),
        ),
        Actor::new(
            "GO-IMPLEMENT",
            [
                bash(&result("Hello", 1)),
                say("<promise>IMPLEMENTATION_COMPLETE</promise>"),
                bash(&result("Moin", 2)),
                say("MENDED"),
            ],
        ),
        works(
            "GO-CODE-SONNET-1",
            &review("code", codes, "sonnet", "needs_changes", 3),
        ),
        works(
            "GO-CODE-OPUS-1",
            &review("code", codes, "opus", "approved", 4),
        ),
        works(
            "GO-CODE-SONNET-2",
            &review("code", codes, "sonnet", "approved", 5),
        ),
        works(
            "GO-CODE-OPUS-2",
            &review("code", codes, "opus", "approved", 6),
        ),
    ];
    let reviewer = |of: &str, at| review(of, "review-codex", "codex", "approved", at);
    let reviews = [
        reviewer("plan", 7),
        reviewer("code", 8),
        reviewer("code", 9),
    ];
    let (stage, codex) = stage(script, &reviews);
    stage.project.write(".task/notes.txt", "");
    let running = claude(&stage).begin("GO-MAIN: begin");
    stage.model.wait_until_held("asked");
    assert_eq!(
        stage.place(),
        "needs_user_input waiting",
        "{}",
        stage.history()
    );
    answers(&stage, &["--answer", "q1=Moin"]);
    stage.model.release("asked");
    stage.model.wait_until_held("told");
    assert_eq!(stage.place(), "approval waiting", "{}", stage.history());
    let asked = stage.status(RUN).to_string();
    assert!(asked.contains("grep -q Moin greeting.txt"), "{asked}");
    answers(&stage, &["approve"]);
    stage.model.release("told");
    for flag in ["planned", "mended"] {
        stage.model.wait_until_held(flag);
        stage.model.release(flag);
    }
    running.wait().succeeds();

    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    let gathered = stage.model.told("GO-GATHER");
    assert!(gathered.contains("\"planner-1\""), "{gathered}");
    // Each of the three goes on in the conversation in which it began.
    for (actor, earlier) in [
        ("GO-GATHER", "I HAVE A QUESTION"),
        ("GO-ARCHITECT", "DRAFTED"),
        ("GO-IMPLEMENT", "IMPLEMENTATION_COMPLETE"),
    ] {
        let last = stage.model.requests_of(actor).pop().expect("a request");
        let said = Value::from(last.messages().to_vec()).to_string();
        assert!(said.contains(earlier), "{actor}: {said}");
    }
    // Codex goes on in its own conversation too.
    let requests = codex.requests();
    assert_eq!(requests.len(), 6);
    assert!(requests[5].to_string().contains("plan-review-codex.json"));
    // The engine itself ran what the person approved, once.
    let journal = stage.journal();
    let mut facts = journal.iter().map(|entry| &entry["fact"]);
    let checked = facts
        .find(|fact| fact["kind"] == "checked")
        .expect("a check");
    let results = checked["results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "{checked}");
    assert_eq!(
        results[0]["argv"],
        json!(["grep", "-q", "Moin", "greeting.txt"])
    );
    stage.project.person(["verify"], "").succeeds();
}

/// To the stage in which the plan is refined, by a person's word.
fn to_the_refined_plan(stage: &Stage) {
    let skips = |outcome: &str| {
        let words = [
            "skip",
            RUN,
            "--as",
            outcome,
            "--reason",
            "not what this test is about",
        ];
        stage.project.person(words, &format!("{RUN}\n")).succeeds();
    };
    skips("completed");
    answers(stage, &["approve"]);
    skips("completed");
    assert_eq!(
        stage.place(),
        "plan_refining running",
        "{}",
        stage.history()
    );
}

/// A plan with a test command of its own waits for a person; a finding goes back to the planner, in the
/// conversation in which it planned; and a session that stops meanwhile is held.
#[test]
fn findings_are_mended_by_the_same_planner_and_the_stop_is_held() {
    let main = vec![
        start(),
        hold("begun", calls("planner", "opus", "GO-ARCHITECT")),
        hold("added", calls("plan-reviewer", "sonnet", "GO-SONNET")),
        goes_on(0),
        say("WAITING"),
        say("I STOP HERE"),
        calls("plan-reviewer", "opus", "GO-OPUS"),
        say("END"),
        say("END"),
        say("END"),
    ];
    let refined = plan("plan-refined.json", "first", &["make lint"])
        + &signal("planner", "plan_refining", "completed", 1);
    let script = vec![
        Actor::new("GO-MAIN", main),
        Actor::new(
            "GO-ARCHITECT",
            [
                bash(&refined),
                say("REFINED"),
                bash(&plan("plan-refined.json", "second", &["make lint"])),
                say("MENDED"),
            ],
        ),
        works(
            "GO-SONNET",
            &review("plan", "plan-reviewer", "sonnet", "needs_changes", 1),
        ),
        works(
            "GO-OPUS",
            &review("plan", "plan-reviewer", "opus", "approved", 2),
        ),
    ];
    let stage = Stage::builtin("multi-ai", script);
    stage.project.write(".task/notes.txt", "");
    let running = stage.claude().begin("GO-MAIN: begin");
    stage.model.wait_until_held("begun");
    to_the_refined_plan(&stage);
    stage.model.release("begun");
    stage.model.wait_until_held("added");
    assert_eq!(stage.place(), "new_commands waiting", "{}", stage.history());
    let asked = stage.status(RUN).to_string();
    assert!(asked.contains("`make lint`"), "{asked}");
    answers(&stage, &["approve"]);
    stage.model.release("added");
    running.wait().succeeds();
    // The same planner, with all that was said before.
    let last = stage
        .model
        .requests_of("GO-ARCHITECT")
        .pop()
        .expect("a request");
    let said = Value::from(last.messages().to_vec()).to_string();
    assert!(said.contains("REFINED"), "{said}");
    assert_eq!(stage.model.requests_of("GO-ARCHITECT").len(), 4);
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("'planner'"), "{told}");
    assert!(told.contains("GW-R91"), "{told}");
    assert!(told.contains("gatewright step"), "{told}");
    assert!(
        stage.place().starts_with("plan_reviewing"),
        "{}",
        stage.history()
    );
}

#[test]
fn the_loop_is_cancelled_by_a_typed_command() {
    let main = Actor::new(
        "GO-MAIN",
        (0..8).map(|number| say(&format!("TURN-{number}"))),
    );
    let stage = Stage::builtin("multi-ai", [main]);
    let session = stage.claude().open();
    session.say("/multi-ai GO-MAIN: greet people");
    session.wait_for("TURN-3");
    session.wait_for("it waits for you");
    let status = stage.status(&stage.run());
    assert_eq!(
        status["stage"]["name"], "requirements_gathering",
        "{status}"
    );
    assert!(
        status["task"].to_string().contains("greet people"),
        "{status}"
    );
    session.say("/cancel-loop it is enough");
    session.wait_for("TURN-4");
    session.leave();
    assert!(stage.place().ends_with("cancelled"), "{}", stage.history());
    let journal = stage.journal();
    let cancelled = journal.iter().find(|entry| entry["rule"] == "GW-R71");
    let by = cancelled.map(|entry| entry["by"].to_string());
    assert!(
        by.is_some_and(|by| by.contains("person")),
        "{}",
        stage.history()
    );
}
