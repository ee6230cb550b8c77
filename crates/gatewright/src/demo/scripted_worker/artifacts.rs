//! The artifacts that the workers of the demo leave: short, and valid for the schemas of the pipeline.

use serde_json::{Value, json};

use crate::demo::folder::{SCRIPT, TEST_COMMAND};

pub(super) const SIGNAL: &str = ".task/worker-signal.json";
pub(super) const STORY: &str = ".task/user-story.json";
pub(super) const DRAFT: &str = ".task/plan.json";
pub(super) const PLAN: &str = ".task/plan-refined.json";
pub(super) const RESULT: &str = ".task/impl-result.json";

pub(super) fn question() -> String {
    text(&json!({
        "worker_id": "requirements-gatherer-1",
        "phase": "requirements_gathering",
        "status": "needs_input",
        "questions": [{ "id": "space", "question": "What replaces a space?", "options": ["-", "_"] }],
        "timestamp": now(),
    }))
}

/// The signal of a worker that is done.
pub(super) fn done(agent: &str, stage: &str) -> String {
    text(&json!({
        "worker_id": format!("{agent}-1"),
        "phase": stage,
        "status": "completed",
        "timestamp": now(),
    }))
}

pub(super) fn story(separator: &str) -> String {
    text(&json!({
        "id": "story-20260115-103100",
        "title": "File names for titles",
        "requirements": { "functional": [
            format!("{SCRIPT} prints a title in small letters, and a space becomes {separator}"),
        ] },
        "acceptance_criteria": [{
            "id": "a1",
            "scenario": "a title",
            "given": "the title Hello, World!",
            "when": format!("{SCRIPT} is run with it"),
            "then": "it prints hello-world",
        }],
        "test_criteria": { "commands": [TEST_COMMAND] },
    }))
}

pub(super) fn plan(title: &str) -> String {
    text(&json!({
        "id": "plan-20260115-104000",
        "title": format!("File names for titles: {title}"),
        "technical_approach": { "pattern": "one script", "rationale": "there is nothing else to do" },
        "steps": [{ "id": 1, "description": format!("write {SCRIPT}") }],
    }))
}

pub(super) fn result() -> String {
    text(&json!({
        "id": "impl-20260115-120000",
        "status": "complete",
        "files_modified": [],
        "files_created": [SCRIPT],
        "tests": { "written": 0, "passing": 1, "failing": 0 },
        "completed_at": now(),
    }))
}

pub(super) fn approval(reviewer: &str, model: &str, summary: &str) -> String {
    text(&json!({
        "id": "review-20260115-110000",
        "reviewer": reviewer,
        "model": model,
        "status": "approved",
        "summary": summary,
        "reviewed_at": now(),
    }))
}

/// A verdict that asks for this line.
pub(super) fn finding(reviewer: &str, model: &str, line: &str) -> String {
    text(&json!({
        "id": "review-20260115-110000",
        "reviewer": reviewer,
        "model": model,
        "status": "needs_changes",
        "summary": "without a title it succeeds",
        "findings": [{
            "severity": "high",
            "title": "without a title it succeeds",
            "recommendation": format!("begin with the line `{line}`"),
        }],
        "reviewed_at": now(),
    }))
}

fn text(value: &Value) -> String {
    views::json_text(value)
}

fn now() -> String {
    views::time::rfc3339(runtime::clock::now())
}
