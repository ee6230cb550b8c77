//! Two steps at once, each by a real worker in a worktree of its own.

use serde_json::json;
use testkit::model::{Actor, bash, hold, say};

use crate::world::{RUN, World};

const PIPELINE: &str = r#"
name  = "waves"
about = "Have steps done at once."
start = "working"

[artifacts.report]
path   = "reports/{step}.md"
format = "text"

[stages.working]
steps        = "start"
max_parallel = 2
leaves       = ["report"]
on.done      = "complete"
on.failed    = "given_up"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

#[test]
fn two_steps_work_at_once_and_apart_and_what_they_made_is_merged() {
    let step = |name: &str| {
        let line = format!(
            "pwd; mkdir -p reports; echo {name} > {name}.txt; echo {name} > reports/{name}.md"
        );
        Actor::new(
            &format!("Your step is `{name}`"),
            [hold(name, bash(&line)), say("MADE")],
        )
    };
    let world = World::with(PIPELINE, [step("left"), step("right")]);
    let steps = json!([
        { "id": "left", "agent": "maker", "title": "the left one", "needs": [] },
        { "id": "right", "agent": "maker", "title": "the right one", "needs": [] },
    ]);
    world.project.write("steps.json", steps.to_string());
    let child = world.begin(&["--steps", "steps.json"]);
    world.model.wait_until_held("left");
    world.model.wait_until_held("right");
    world.model.release("right");
    world.model.release("left");
    let _ = child.wait_with_output().unwrap();
    println!("{}", world.type_in(&["history", RUN]));
    println!("{}", world.model.told("Your step is `left`"));
    for name in ["left", "right"] {
        assert_eq!(
            world.project.read(format!("{name}.txt")),
            format!("{name}\n")
        );
    }
}
