//! `multi-ai` from the request to its end, with Claude Code and Codex.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use testkit::model::{Actor, Request, Turn, bash, call, make, say, write};

use super::world::{RUN, World, you_are};

const GATHERER: &str = "You are 'requirements-gatherer'";
const PLANNER: &str = "You are 'planner'";
const IMPLEMENTER: &str = "You are 'implementer'";
const CODE_REVIEWER: &str = "You are 'code-reviewer'";
const CODEX: &str = "You are 'review-codex'";

/// A line of shell that leaves the signal. The next one must differ, so it says which one it is.
fn signal(worker: &str, phase: &str) -> String {
    let signal = json!({
        "worker_id": format!("{worker}-1"), "phase": phase, "status": "completed", "timestamp": "now",
    });
    format!("echo '{signal}' > .task/worker-signal.json")
}

/// Asks once, and knows enough when it has the answer.
fn gatherer() -> Actor {
    let question = json!({ "id": "q1", "question": "Which word?" });
    let asks = json!({
        "worker_id": "requirements-gatherer-1", "phase": "requirements_gathering",
        "status": "needs_input", "questions": [question], "timestamp": "now",
    });
    let criterion = json!({
        "id": "a1", "scenario": "a greeting", "given": "a person", "when": "met", "then": "greeted",
    });
    let story = json!({
        "id": "story-20260115-103000",
        "title": "Greet people",
        "requirements": { "functional": ["It greets"] },
        "acceptance_criteria": [criterion],
        "test_criteria": { "commands": ["grep -q Moin greeting.txt"] },
    });
    let tells = format!(
        "echo '{story}' > .task/user-story.json; {}",
        signal("requirements-gatherer", "requirements_gathering")
    );
    let turns = [
        write(".task/worker-signal.json", &asks.to_string()),
        say("I HAVE A QUESTION"),
        bash(&tells),
        say("ALL IS CLEAR"),
    ];
    Actor::new(GATHERER, turns)
}

fn planner() -> Actor {
    let plans = |phase: &str, file: &str| {
        let plan = json!({
            "id": "plan-20260115-110000",
            "title": phase,
            "technical_approach": { "pattern": "a file", "rationale": "it is enough" },
            "steps": [{ "id": 1, "description": "write the greeting" }],
        });
        bash(&format!(
            "echo '{plan}' > .task/{file}; {}",
            signal("planner", phase)
        ))
    };
    let turns = [
        plans("plan_drafting", "plan.json"),
        say("DRAFTED"),
        plans("plan_refining", "plan-refined.json"),
        say("REFINED"),
    ];
    Actor::new(PLANNER, turns)
}

/// Writes the wrong word first, and fixes it after a reviewer has found it.
fn implementer() -> Actor {
    let makes = |id: &str, word: &str| {
        let result = json!({
            "id": id, "status": "complete", "files_modified": [], "files_created": ["greeting.txt"],
        });
        let line = format!("echo {word} > greeting.txt; echo '{result}' > .task/impl-result.json");
        bash(&line)
    };
    let turns = [
        makes("impl-20260115-120000", "Hello"),
        say("MADE"),
        makes("impl-20260115-120001", "Moin"),
        say("MENDED"),
    ];
    Actor::new(IMPLEMENTER, turns)
}

/// Every verdict differs from the one before.
fn verdict(reviewer: &str, model: &str, approves: bool) -> Value {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut verdict = json!({
        "id": format!("review-20260115-{count:06}"), "reviewer": reviewer, "model": model,
        "status": "approved", "summary": "looked at",
    });
    if !approves {
        verdict["status"] = json!("needs_changes");
        verdict["findings"] = json!([{ "title": "SAY-MOIN-INSTEAD", "severity": "high" }]);
    }
    verdict
}

/// The word for the model in a request.
fn model_of(request: &Request) -> &'static str {
    let model = request.body["model"].to_string();
    let mut known = ["opus", "sonnet"].into_iter();
    known.find(|known| model.contains(known)).unwrap()
}

/// A reviewer of Claude Code's: looks, then judges by what it saw.
fn reviewer(agent: &'static str, of: &'static str) -> Actor {
    let leaves = move |request: &Request| format!(".task/{of}-review-{}.json", model_of(request));
    let looks = move |request: &Request| -> Turn {
        // A file that is there is read before it is written anew.
        let reads = json!({ "file_path": leaves(request) });
        call("Read", reads).and_also(bash("cat greeting.txt"))
    };
    let judges = move |request: &Request| -> Turn {
        let seen = request.tool_results();
        let has_moin = seen.iter().any(|result| result.text.contains("Moin"));
        let verdict = verdict(agent, model_of(request), of == "plan" || has_moin);
        write(leaves(request), &verdict.to_string())
    };
    Actor::new(&you_are(agent), [make(looks), make(judges), say("JUDGED")])
}

/// Codex reviews the plan and the code.
fn codex() -> Actor {
    let judges = |request: &Request| {
        let is_code = request.news().contains("code-review-codex.json");
        let of = if is_code { "code" } else { "plan" };
        let verdict = verdict("review-codex", "codex", true);
        bash(&format!("echo '{verdict}' > .task/{of}-review-codex.json"))
    };
    let review = || [make(judges), say("JUDGED")];
    Actor::new(CODEX, [review(), review(), review()].concat())
}

#[test]
fn a_request_becomes_reviewed_and_tested_code() {
    let world = World::new([
        gatherer(),
        planner(),
        implementer(),
        reviewer("plan-reviewer", "plan"),
        reviewer("code-reviewer", "code"),
        codex(),
    ]);
    let ran = world.run("multi-ai", &["--answer", "approval=approve"]);
    let ran = ran.exits(6);
    assert!(ran.stderr.contains("The worker has questions."), "{ran}");
    let answers = ["answer", RUN, "--answer", "q1=Moin"];
    world.type_in(&answers).succeeds();
    let ran = world.resume().succeeds();
    assert!(ran.stdout.contains("r-test completed"), "{ran}");

    // Each that goes on does so in its own conversation, with all that was said in it.
    for (actor, earlier) in [
        (GATHERER, "I HAVE A QUESTION"),
        (PLANNER, "DRAFTED"),
        (IMPLEMENTER, "MADE"),
    ] {
        let requests = world.model.requests_of(actor);
        let last = requests.last().unwrap();
        let mut said = last.messages().iter().map(Value::to_string);
        assert!(said.any(|said| said.contains(earlier)), "{actor}");
        assert_eq!(world.conversations(actor).len(), 1, "{actor}");
    }
    let fixes = world.model.requests_of(IMPLEMENTER).swap_remove(2).news();
    for words in [
        "Fix all that 'code-reviewer' found",
        ".task/code-review-sonnet.json",
    ] {
        assert!(fixes.contains(words), "{fixes}");
    }
    // A reviewer begins each time with nothing but what it reviews.
    assert_eq!(world.conversations(CODE_REVIEWER), [0, 0, 0, 0]);
    // Codex alone goes on in its own: the exact one, with what it said of the plan.
    let reviews = world.model.requests_of(CODEX);
    assert_eq!(reviews.len(), 6, "three reviews of two answers each");
    let last = reviews.last().unwrap().body.to_string();
    assert!(last.contains("plan-review-codex.json"), "{last}");
    let codex: BTreeSet<String> = world
        .began()
        .into_iter()
        .filter(|id| id.starts_with("codex:"))
        .collect();
    assert_eq!(codex.len(), 1, "{codex:?}");
    // The engine itself has run what the person approved.
    let checks = world.facts("checked");
    assert_eq!(checks.len(), 1);
    let argv = json!(["grep", "-q", "Moin", "greeting.txt"]);
    assert_eq!(checks[0]["results"][0]["argv"], argv);
    assert_eq!(world.model.strangers().len(), 0);
    assert_eq!(world.left_over(), Vec::<String>::new());
}
