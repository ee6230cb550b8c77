//! Tasks of a run that began with its session: what the person writes, and an end after which the next
//! one begins with nothing of the last.

use crate::guarded::pipelines::FLOW;
use crate::guarded::told::{check, tell};
use crate::guarded::world::World;

/// Every session has a run. A map is drawn, work follows, a person ends it, and it may begin again.
const TASKS: &str = r#"
name   = "tasks"
about  = "One task after another."
begins = "session"
start  = "idle"

[commands]
task-done = "finish"

[artifacts.map]
path   = "out/map.md"
format = "text"

[stages.idle]
allow        = ["scout"]
leaves.scout = ["map"]
after.scout  = "working"

[stages.working]
allow     = ["writer"]
on.finish = "over"

[stages.over]
end          = "completed"
leaves.scout = ["map"]
after.scout  = "working"
"#;

fn told(lines: &[(&str, &str)]) -> World {
    tell(TASKS, lines, &engine::decide).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The first task, up to its end.
const FIRST: [(&str, &str); 6] = [
    ("prompt draw a map", "done R95 | task given"),
    ("ask scout call A", "allow R10 | admitted d1 scout"),
    ("begins w1 scout", "done R41 | began d1 w1"),
    ("lay map 1", ""),
    (
        "returned call A tools 3 w1",
        "done R32 | captured map, ended d1 done, to working",
    ),
    ("person: finish", "done R64 | to over"),
];

#[test]
fn the_task_is_what_the_person_writes_before_an_agent_works() {
    let world = told(&[
        ("prompt draw a map", "done R95 | task given"),
        ("prompt of the coast", "done R95 | task given"),
        // It says nothing new.
        ("prompt draw a map", "done R95"),
        ("s2: prompt something else", "done R04"),
        ("ask scout call A", "allow R10 | admitted d1 scout"),
        ("begins w1 scout", "done R41 | began d1 w1"),
        ("prompt how far are you?", "done R95"),
    ]);
    assert_eq!(world.run.task, "draw a map\n\nof the coast");
}

#[test]
fn only_a_run_that_began_with_its_session_takes_its_task_from_a_prompt() {
    check(FLOW, &[("prompt write a poem", "inject R95")]);
}

#[test]
fn a_long_prompt_is_cut() {
    let long = format!("prompt {}", "x".repeat(100_000));
    let world = told(&[
        (long.as_str(), "done R95 | task given"),
        (long.as_str(), "done R95"),
    ]);
    assert!(world.run.task.chars().count() < 20_000);
}

#[test]
fn the_next_task_begins_with_nothing_of_the_last() {
    let mut lines = FIRST.to_vec();
    lines.push(("prompt thank you", "done R95 | next task given"));
    let world = told(&lines);
    // Until work begins, the run is about what it has done.
    assert_eq!(world.run.task, "draw a map");
    assert_eq!(world.run.artifacts.len(), 1);
    lines.push(("prompt now a poem", "done R95 | next task given"));
    lines.push((
        "ask scout call B",
        "allow R10 | task began, admitted d2 scout",
    ));
    let world = told(&lines);
    assert_eq!(world.run.task, "thank you\n\nnow a poem");
    assert!(world.run.artifacts.is_empty() && world.run.trail.is_empty());
    // It began already: the next try goes on with the same task, and what is added to it.
    lines.push((
        "prompt in rhymes",
        "done R95 | ended d2 dropped, task given",
    ));
    lines.push(("ask scout call C", "allow R10 | admitted d3 scout"));
    let task = told(&lines).run.task;
    assert_eq!(task, "thank you\n\nnow a poem\n\nin rhymes");
}

#[test]
fn after_a_reset_the_next_prompt_is_another_task() {
    let mut lines = FIRST.to_vec();
    lines.push(("person: reset", "done R72 | reset"));
    lines.push(("prompt a poem instead", "done R95 | task given"));
    assert_eq!(told(&lines).run.task, "a poem instead");
}
