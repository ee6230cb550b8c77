//! What real workers cost is counted once, over conversations that go on, kills and waves, and the
//! budget is checked before the next work.
//!
//! The model claims to have read 40,000 tokens for each answer, which the pinned program takes for some
//! 16 cents. It rounds nothing, and we round up, so sums may differ by a cent.

use serde_json::json;
use testkit::model::{Actor, Turn, bash, hold, say};
use testkit::pipelines::WAVES;

use super::counting;
use super::world::{RUN, World, you_are};

fn dear(turn: Turn) -> Turn {
    turn.having_read(40_000)
}

/// What each piece of work cost, in cents.
fn cents(world: &World) -> Vec<u64> {
    let ended = world.facts("ended").into_iter();
    ended
        .map(|fact| fact["used"]["cost_cents"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_conversation_that_goes_on_costs_what_it_added_and_the_budget_stops_the_next_work() {
    let pipeline = counting::pipeline("claude").replace("tokens = 60", "cost = \"0.65\"");
    let makes = |name: &str| {
        let works = bash(&format!("echo text > {name}.md"));
        [dear(works), dear(say("MADE"))]
    };
    let turns = ["one", "two", "three"].into_iter().flat_map(makes);
    let world = World::with(&pipeline, [Actor::new(&you_are("maker"), turns)]);
    let ran = world.run("pipeline.toml", &[]).exits(6);
    assert_eq!(cents(&world), [33, 33], "{ran}");
    assert!(ran.stdout.contains("cost 0.66 of 0.65"), "{ran}");
    assert_eq!(world.facts("admitted").len(), 2, "{ran}");
    world.type_in(&["answer", RUN, "continue"]).succeeds();
    world.resume().succeeds();
    assert_eq!(cents(&world), [33, 33, 33]);
}

#[test]
fn after_a_kill_what_the_worker_spends_then_is_counted_once() {
    let pipeline = counting::pipeline("claude").replace("tokens = 60", "cost = \"0.30\"");
    let makes = |name: &str| bash(&format!("echo text > {name}.md"));
    let turns = [
        dear(bash("echo once >> trace")),
        hold("THINKING", dear(makes("one"))),
        dear(say("MADE")),
        dear(makes("two")),
        dear(say("MADE")),
    ];
    let world = World::with(&pipeline, [Actor::new(&you_are("maker"), turns)]);
    let child = world.begin(&[]);
    world.model.wait_until_held("THINKING");
    world.kill(child);
    world.wait_until_nobody_is_left();
    world.model.release("THINKING");
    let ran = world.resume().exits(6);
    // The killed process never told its cost, and no turn had ended before from which a rate is known. Its
    // tokens are counted from its messages.
    assert_eq!(cents(&world), [33], "{ran}");
    assert!(ran.stdout.contains("cost 0.33 of 0.30"), "{ran}");
    let tokens = world.facts("ended")[0]["used"]["tokens"].as_u64().unwrap();
    assert!(tokens > 3 * 40_000, "three answers: {tokens}");
    assert_eq!(world.facts("admitted").len(), 1, "{ran}");
    assert_eq!(world.conversations(&you_are("maker")).len(), 1);
}

#[test]
fn workers_at_once_are_counted_together() {
    let step = |name: &str| {
        let works = bash(&format!(
            "mkdir -p reports; echo {name} > reports/{name}.md"
        ));
        let turns = [hold(name, dear(works)), dear(say("MADE"))];
        Actor::new(&format!("Your step is `{name}`"), turns)
    };
    let budget = r#"budget = { cost = "0.40" }"#;
    let pipeline = WAVES.replace(
        "start = \"working\"",
        &format!("start = \"working\"\n{budget}"),
    );
    assert!(pipeline.contains(budget));
    let world = World::with(&pipeline, ["left", "right", "last"].map(step));
    let steps = [
        ("left", json!([])),
        ("right", json!([])),
        ("last", json!(["left", "right"])),
    ];
    let steps = steps.map(
        |(name, needs)| json!({ "id": name, "agent": "maker", "title": name, "needs": needs }),
    );
    world.project.write("steps.json", json!(steps).to_string());
    let child = world.begin(&["--steps", "steps.json"]);
    for name in ["left", "right"] {
        world.model.wait_until_held(name);
    }
    for name in ["left", "right", "last"] {
        world.model.release(name);
    }
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(6), "65 of 40 cents are used");
    assert_eq!(cents(&world), [33, 33]);
    assert_eq!(world.facts("admitted").len(), 2);
    world.type_in(&["answer", RUN, "continue"]).succeeds();
    world.resume().succeeds();
    assert_eq!(cents(&world), [33, 33, 33]);
}

/// One agent makes one thing.
fn once(budget: &str) -> String {
    format!(
        r#"
name   = "once"
about  = "Have one agent make one thing."
start  = "one"
budget = {{ cost = "{budget}" }}

[artifacts.made]
path   = "one.md"
format = "text"

[stages.one]
agent   = "maker"
runner  = "claude"
leaves  = ["made"]
on.done = "complete"

[stages.complete]
end = "completed"
"#
    )
}

#[test]
fn the_first_turn_of_all_ends_within_the_turn_when_the_budget_is_used_up() {
    let on_and_on = (0..5).map(|_| dear(bash("echo more >> trace")));
    let makes = [dear(bash("echo text > one.md")), dear(say("MADE"))];
    let maker = Actor::new(&you_are("maker"), on_and_on.chain(makes));
    let world = World::with(&once("0.50"), [maker]);
    let ran = world.run("pipeline.toml", &[]).exits(6);
    // No turn has ended yet, so nobody but the program knows what its tokens cost. Three answers cost 0.48.
    assert!(ran.stdout.contains("cost 0.65 of 0.50"), "{ran}");
    assert_eq!(world.facts("ended").len(), 0, "its work is open");
    assert_eq!(world.facts("cut_short")[0]["used"]["cost_cents"], 65);
    world.type_in(&["answer", RUN, "continue"]).succeeds();
    let ran = world.resume().succeeds();
    assert_eq!(cents(&world), [49], "the same amount again\n{ran}");
    assert_eq!(world.facts("admitted").len(), 1, "in the same attempt");
    assert_eq!(world.conversations(&you_are("maker")).len(), 1);
}

#[test]
fn a_cap_of_the_machine_ends_the_first_turn_of_all_and_its_raise_goes_on() {
    let on_and_on = (0..2).map(|_| dear(bash("echo more >> trace")));
    let makes = [dear(bash("echo text > one.md")), dear(say("MADE"))];
    let maker = Actor::new(&you_are("maker"), on_and_on.chain(makes));
    let world = World::with(&once("9.00"), [maker]);
    world
        .type_in(&["caps", "--machine", "cost=0.30"])
        .succeeds();
    let ran = world.run("pipeline.toml", &[]).exits(6);
    assert!(ran.stdout.contains("cost 0.33 of 0.30"), "{ran}");
    assert_eq!(world.facts("ended").len(), 0, "its work is open");
    world.type_in(&["caps", "--machine", "none"]).succeeds();
    world.type_in(&["answer", RUN, "continue"]).succeeds();
    world.resume().succeeds();
    assert_eq!(world.facts("admitted").len(), 1, "in the same attempt");
}
