//! Budgets: turns, tokens, cost and time are checked before the next worker starts.

use super::fixture::{World, says};

/// Two workers one after another, under this budget.
fn two(budget: &str, runner: &str) -> String {
    format!(
        r#"
name  = "two"
about = "Have two say something."
start = "first"

[budget]
{budget}

[artifacts.said]
from = "reply"

[artifacts.more]
from = "reply"

[stages.first]
agent   = "one"
runner  = "{runner}"
leaves  = ["said"]
on.done = "second"

[stages.second]
agent   = "other"
runner  = "{runner}"
leaves  = ["more"]
on.done = "complete"

[stages.complete]
end = "completed"
"#
    )
}

/// Says something, for 1000 tokens in one turn.
const CODEX: &str = r#"
echo "{\"type\":\"thread.started\",\"thread_id\":\"01a1e0b0-54e3-7200-8e56-8dc64c4ddf0$count\"}"
echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"all is well"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":990,"cached_input_tokens":5,"output_tokens":10}}'
"#;

/// Says something, for 40 cents in one turn.
const CLAUDE: &str = r#"
while [ $# -gt 0 ]; do
    case $1 in --session-id) id=$2 ;; esac
    shift
done
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}"
echo '{"type":"assistant","message":{"content":[{"type":"text","text":"all is well"}]}}'
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\"result\":\"all is well\",\"session_id\":\"$id\",\"total_cost_usd\":0.40,\"usage\":{\"input_tokens\":10,\"output_tokens\":10}}"
"#;

const RUN: &str = "run pipeline.toml --task try --id r-test";

/// The first worker uses up the budget; a person grants it again.
fn spent_by_the_first(budget: &str, (runner, script): (&str, &str), told: &str) {
    let world = World::with(&two(budget, runner), "");
    world.program(runner, script);
    let ran = world.gatewright(RUN).exits(6);
    says(&ran.stdout, told);
    assert_eq!(world.starts(), ["first"], "the second never began");
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.starts(), ["first"], "a resume grants nothing");
    world.gatewright("answer r-test continue").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.starts(), ["first", "second"]);
}

#[test]
fn turns_are_counted_over_the_whole_run() {
    spent_by_the_first("turns = 1", ("codex", CODEX), "1 of 1 turns");
}

#[test]
fn tokens_are_counted_over_the_whole_run() {
    spent_by_the_first("tokens = 900", ("codex", CODEX), "1000 of 900 tokens");
}

#[test]
fn cost_is_counted_over_the_whole_run() {
    spent_by_the_first(
        "cost = \"0.30\"",
        ("claude", CLAUDE),
        "0.40 of 0.30 in cost",
    );
}

#[test]
fn time_is_counted_over_the_whole_run() {
    let definition = two("time = \"2s\"", "codex").replace("runner  = \"codex\"\n", "");
    let world = World::with(&definition, "sleep 2.5\necho well");
    let ran = world.run("").exits(6);
    // A busy machine takes longer, never less.
    let (used, _) = ran
        .stdout
        .split_once(" of 2 seconds")
        .expect("the budget is told");
    let used: u64 = used.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(used >= 2, "{ran}");
    assert_eq!(world.starts(), ["first"]);
    world.agent("echo well");
    world.gatewright("answer r-test continue").succeeds();
    world.gatewright("resume r-test").succeeds();
}

#[test]
fn what_fits_into_the_budget_goes_through_and_is_told() {
    let world = World::with(&two("tokens = 5000\nturns = 10", "codex"), "");
    world.program("codex", CODEX);
    world.gatewright(RUN).succeeds();
    let facts = world.facts("status r-test");
    let tokens = &facts["budget"][1];
    assert_eq!(tokens["used"], 2000, "{facts}");
    assert_eq!(tokens["limit"], 5000, "{facts}");
}
