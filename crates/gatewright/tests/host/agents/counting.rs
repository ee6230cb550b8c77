//! What real workers used is counted once, and limits what comes next.

use serde_json::Value;
use testkit::model::{Actor, bash, say};

use super::world::{RUN, World, you_are};

/// Three works of one agent in one conversation, with a budget for two.
pub(super) fn pipeline(runner: &str) -> String {
    let stage = |name: &str, next: &str| {
        format!(
            r#"
[artifacts.{name}_made]
path   = "{name}.md"
format = "text"

[stages.{name}]
agent        = "maker"
runner       = "{runner}"
conversation = "same"
leaves       = ["{name}_made"]
on.done      = "{next}"
"#
        )
    };
    format!(
        r#"
name   = "thrice"
about  = "Have one agent make three things."
start  = "one"
budget = {{ tokens = 60 }}
{}{}{}
[stages.complete]
end = "completed"
"#,
        stage("one", "two"),
        stage("two", "three"),
        stage("three", "complete")
    )
}

#[test]
fn a_conversation_that_goes_on_is_counted_once_and_the_budget_stops_before_the_next_work() {
    for runner in ["claude", "codex", "gemini"] {
        let makes = |name: &str| [bash(&format!("echo text > {name}.md")), say("MADE")];
        let turns = ["one", "two", "three"].into_iter().flat_map(makes);
        let world = World::with(&pipeline(runner), [Actor::new(&you_are("maker"), turns)]);
        let ran = world.run("pipeline.toml", &[]);
        let ran = ran.exits(6);
        let used: Vec<Value> = world.facts("ended");
        let tokens: Vec<_> = used
            .iter()
            .map(|fact| fact["used"]["tokens"].as_u64())
            .collect();
        // Each program names tokens of the cache and thoughts apart, too: they are part of the others.
        assert_eq!(tokens, [Some(30), Some(30)], "{runner}\n{ran}");
        assert_eq!(world.facts("admitted").len(), 2, "{runner}");
        world.type_in(&["answer", RUN, "continue"]).succeeds();
        world.resume().succeeds();
        let began = world.began();
        assert_eq!(began.len(), 3, "{began:?}");
        assert!(began.iter().all(|worker| *worker == began[0]), "{began:?}");
    }
}
