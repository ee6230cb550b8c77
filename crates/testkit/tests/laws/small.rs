//! Small pipelines, walked through as a host would tell of them: every number, true or false.

use crate::acts::Scope;
use crate::guarded::pipelines::OPEN;
use crate::walk::{Walked, at_once, walk};
use crate::world::{Judge, Params, pipeline};
use engine::Pipeline;

/// Two agents, one of which judges; a task graph.
const SMALL: [(&str, &str); 2] = [
    (
        "flow",
        r#"
        start = "writing"
        [artifacts.draft]
        path = "draft.md"
        format = "text"
        [artifacts.verdict]
        path = "verdict.json"
        format = "json"
        outcome = { field = "status", values = { PASS = "passed", FAIL = "failed" } }
        [counters]
        again = { max = 1, then = "asked" }
        [stages.writing]
        agent = "writer"
        leaves = ["draft"]
        stop = "hold"
        retry = 1
        on.done = "judging"
        [stages.judging]
        agent = "judge"
        leaves = ["verdict"]
        writes = []
        stop = "hold"
        retry = 1
        on.passed = "over"
        on.failed = { to = "writing", count = "again" }
        [stages.asked]
        ask = "On?"
        on.yes = { to = "@interrupted", reset = ["again"] }
        on.no = "given_up"
        [stages.over]
        end = "completed"
        [stages.given_up]
        end = "failed"
        "#,
    ),
    (
        "waves",
        r#"
        start = "building"
        [stages.building]
        steps = [
            { id = "a", title = "A", agent = "step-worker" },
            { id = "b", title = "B", agent = "step-worker" },
        ]
        stop = "hold"
        retry = 1
        on.done = "over"
        on.failed = "given_up"
        [stages.over]
        end = "completed"
        [stages.given_up]
        end = "failed"
        "#,
    ),
];

/// A check, and then a review whose owner may change what was checked.
const PROMISED: &str = r#"
    name = "promised"
    about = "small"
    start = "writing"
    [artifacts.verdict]
    path = "verdict.json"
    format = "json"
    outcome = { field = "status", values = ["approved", "needs_changes"] }
    [stages.writing]
    agent = "writer"
    retry = 0
    on.done = "testing"
    [stages.testing]
    check = ["true"]
    on.passed = "reviewing"
    on.failed = "given_up"
    [stages.reviewing]
    review = "writer"
    panel = [{ agent = "critic", leaves = "verdict" }]
    rounds = 2
    retry = 0
    on.approved = "over"
    on.exceeded = "given_up"
    [stages.over]
    end = "completed"
    [stages.given_up]
    end = "failed"
    [[prove]]
    name = "what completes is tested and reviewed"
    before = "over"
    through = ["testing", "reviewing"]
"#;

/// The pipeline with a route, and the parameters with which its shorter way can be taken.
pub(crate) fn routed() -> (Pipeline, Params) {
    let pipeline =
        pipeline(testkit::pipelines::ROUTED).unwrap_or_else(|problems| panic!("{problems}"));
    let size = engine::ParamName::parse("size").unwrap();
    (pipeline, Params::from([(size, String::from("small"))]))
}

pub(crate) fn walk_routed(judge: Judge<'_>) -> Result<Walked, String> {
    let (pipeline, small) = routed();
    walk(&pipeline, &small, Scope::Work, judge)
}

#[test]
fn what_has_outgrown_its_route_never_completes_by_it() {
    let walked = walk_routed(&engine::decide).unwrap_or_else(|law| panic!("{law}"));
    println!("routed: {walked}");
    for stage in ["fixing", "trying", "over", "planning", "told"] {
        assert!(walked.stages.contains(stage), "{stage}");
    }
}

#[test]
fn nobody_gets_the_shorter_way_without_asking_for_it() {
    let (pipeline, _) = routed();
    let walked = walk(&pipeline, &Params::new(), Scope::Work, &engine::decide);
    let walked = walked.unwrap_or_else(|law| panic!("{law}"));
    assert!(walked.stages.contains("told") && !walked.stages.contains("fixing"));
}

/// Walks through a pipeline whose promise names two gates of different kinds.
pub(crate) fn walk_promised(judge: Judge<'_>) -> Result<Walked, String> {
    walk(&pipeline(PROMISED)?, &Params::new(), Scope::Work, judge)
}

#[test]
fn nothing_completes_that_a_promised_gate_has_not_passed() {
    let walked = walk_promised(&engine::decide).unwrap_or_else(|law| panic!("{law}"));
    println!("promised: {walked}");
}

/// The small pipeline of this name.
fn small(name: &str) -> Result<Pipeline, String> {
    if name == "open" {
        // The walk plays agents by their names.
        return pipeline(&OPEN.replace("helper-*", "helper"));
    }
    let (_, text) = SMALL.iter().find(|(small, _)| *small == name).unwrap();
    pipeline(&format!("name = \"{name}\"\nabout = \"small\"\n{text}"))
}

/// Walks through the small pipeline of this name as a host would tell of it.
pub(crate) fn walk_small(name: &str, judge: Judge<'_>) -> Result<Walked, String> {
    walk(&small(name)?, &Params::new(), Scope::Hosted, judge)
}

#[test]
fn every_word_of_a_host_keeps_the_laws() {
    at_once(["flow", "waves", "open"], |name| {
        let walked = walk_small(name, &engine::decide);
        let walked = walked.unwrap_or_else(|law| panic!("{name}: {law}"));
        println!("{name}, as a host tells it: {walked}");
    });
}
