//! Two steps at once, each by a real worker in a worktree of its own.

use serde_json::json;
use testkit::model::{Actor, bash, hold, say};
use testkit::pipelines::WAVES;

use super::world::World;

#[test]
fn two_steps_work_at_once_and_apart_and_what_they_made_is_merged() {
    let step = |name: &str| {
        let makes = format!("mkdir -p reports; echo {name} | tee {name}.txt > reports/{name}.md");
        let turns = [hold(name, bash(&format!("pwd; {makes}"))), say("MADE")];
        Actor::new(&format!("Your step is `{name}`"), turns)
    };
    let world = World::with(WAVES, [step("left"), step("right")]);
    let steps = ["left", "right"].map(|name| {
        json!({ "id": name, "agent": "maker", "title": format!("the {name} one"), "needs": [] })
    });
    world.project.write("steps.json", json!(steps).to_string());
    let child = world.begin(&["--steps", "steps.json"]);
    // Both have asked their model before either has an answer.
    for name in ["left", "right"] {
        world.model.wait_until_held(name);
    }
    // Who is ready first waits for its turn: changes come back in the order of the steps.
    for name in ["right", "left"] {
        world.model.release(name);
    }
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));

    let places = ["left", "right"].map(|name| {
        let text = format!("{name}\n");
        assert_eq!(world.project.read(format!("{name}.txt")), text);
        assert_eq!(world.project.read(format!("reports/{name}.md")), text);
        let requests = world.model.requests_of(&format!("Your step is `{name}`"));
        let seen = requests.last().unwrap().tool_results();
        seen[0].text.trim().to_owned()
    });
    assert_ne!(places[0], places[1]);
    let project = world.project.path().display().to_string();
    assert!(!places.contains(&project), "{places:?}");
    assert_eq!(world.facts("ended").len(), 2);
    assert_eq!(world.left_over(), Vec::<String>::new());
}
