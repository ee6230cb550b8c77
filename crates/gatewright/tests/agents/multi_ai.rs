//! `multi-ai` from the request to its end, with Claude Code and Codex.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use testkit::model::{Actor, Request, Turn, bash, call, make, say, write};

use crate::world::{RUN, World, you_are};

const GATHERER: &str = "You are 'requirements-gatherer'";
const PLANNER: &str = "You are 'planner'";
const IMPLEMENTER: &str = "You are 'implementer'";
const CODE_REVIEWER: &str = "You are 'code-reviewer'";
const CODEX: &str = "You are 'review-codex'";

/// A line of shell that leaves the signal. The next one must differ, so it says which one it is.
fn signal(phase: &str) -> String {
    let signal = json!({ "status": "completed", "phase": phase });
    format!("echo '{signal}' > .task/worker-signal.json")
}

/// Asks once, and knows enough when it has the answer.
fn gatherer() -> Actor {
    let question = json!({ "id": "q1", "question": "Which word?" });
    let asks = json!({ "status": "needs_input", "questions": [question] });
    let criterion = json!({
        "id": "a1", "scenario": "a greeting", "given": "a person", "when": "met", "then": "greeted",
    });
    let story = json!({
        "id": "s1",
        "title": "Greet people",
        "requirements": { "functional": ["It greets"] },
        "acceptance_criteria": [criterion],
        "test_criteria": { "commands": ["grep -q Moin greeting.txt"] },
    });
    let tells = format!(
        "echo '{story}' > .task/user-story.json; {}",
        signal("story")
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
            "id": "p1",
            "title": phase,
            "technical_approach": { "pattern": "a file", "rationale": "it is enough" },
            "steps": [{ "id": 1, "description": "write the greeting" }],
        });
        bash(&format!("echo '{plan}' > .task/{file}; {}", signal(phase)))
    };
    let turns = [
        plans("drafted", "plan.json"),
        say("DRAFTED"),
        plans("refined", "plan-refined.json"),
        say("REFINED"),
    ];
    Actor::new(PLANNER, turns)
}

/// Says the wrong word first, and mends it when a reviewer has found that.
fn implementer() -> Actor {
    let makes = |id: &str, word: &str| {
        let result = json!({
            "id": id, "status": "complete", "files_modified": [], "files_created": ["greeting.txt"],
        });
        let line = format!("echo {word} > greeting.txt; echo '{result}' > .task/impl-result.json");
        bash(&line)
    };
    let turns = [
        makes("first", "Hello"),
        say("MADE"),
        makes("second", "Moin"),
        say("MENDED"),
    ];
    Actor::new(IMPLEMENTER, turns)
}

/// Every verdict differs from the one before.
fn verdict(approves: bool) -> Value {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let id = COUNT.fetch_add(1, Ordering::Relaxed).to_string();
    let finding = json!({ "title": "SAY-MOIN-INSTEAD", "severity": "high" });
    match approves {
        true => json!({ "id": id, "status": "approved", "summary": "good" }),
        false => {
            json!({ "id": id, "status": "needs_changes", "summary": "bad", "findings": [finding] })
        }
    }
}

/// A reviewer of Claude Code's: looks, then judges by what it saw.
fn reviewer(agent: &str, of: &'static str) -> Actor {
    let leaves = move |request: &Request| {
        let model = request.body["model"].to_string();
        let known = ["opus", "sonnet"];
        let model = known.into_iter().find(|known| model.contains(known));
        format!(".task/{of}-review-{}.json", model.unwrap())
    };
    let looks = move |request: &Request| -> Turn {
        // A file that is there is read before it is written anew.
        let reads = json!({ "file_path": leaves(request) });
        call("Read", reads).and_also(bash("cat greeting.txt"))
    };
    let judges = move |request: &Request| -> Turn {
        let seen = request.tool_results();
        let has_moin = seen.iter().any(|result| result.text.contains("Moin"));
        let verdict = verdict(of == "plan" || has_moin);
        write(leaves(request), &verdict.to_string())
    };
    Actor::new(&you_are(agent), [make(looks), make(judges), say("JUDGED")])
}

/// Codex reviews the plan and the code.
fn codex() -> Actor {
    let judges = |request: &Request| {
        let is_code = request.first_message().contains("code-review-codex.json");
        let of = if is_code { "code" } else { "plan" };
        let verdict = verdict(true);
        bash(&format!("echo '{verdict}' > .task/{of}-review-codex.json"))
    };
    Actor::new(CODEX, [make(judges), say("JUDGED")])
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

    // Whoever goes on does so in its own conversation, with all that was said in it.
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
    let reviews = world.model.requests_of(CODEX);
    assert_eq!(reviews.len(), 6, "three reviews of two answers each");
    // The engine itself has run what the person approved.
    let checks = world.facts("checked");
    assert_eq!(checks.len(), 1);
    let argv = json!(["grep", "-q", "Moin", "greeting.txt"]);
    assert_eq!(checks[0]["results"][0]["argv"], argv);
    assert_eq!(world.model.strangers().len(), 0);
    assert_eq!(world.left_over(), Vec::<String>::new());
}
