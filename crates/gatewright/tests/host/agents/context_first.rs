//! `context-first` headless, with the real Claude Code: context is gathered, refined and planned before
//! anybody works, and a person says when it is done.

use testkit::model::{Actor, bash, say};

use super::world::{World, you_are};

/// Each agent of the pipeline says what it found, and the last one works.
fn crew() -> [Actor; 4] {
    let says = |agent: &str, text: &str| Actor::new(&you_are(agent), [bash("ls"), say(text)]);
    let works = [bash("echo made > made.txt"), say("MADE")];
    [
        says("context-gatherer", "GATHERED: three files"),
        says("context-refiner", "REFINED: one file"),
        says("strategic-orchestrator", "PLAN: make it"),
        Actor::new(&you_are("general-purpose"), works),
    ]
}

#[test]
fn context_is_gathered_refined_and_planned_before_somebody_works() {
    let world = World::new(crew());
    let waits = world.run("context-first", &["--runner", "claude"]).exits(6);
    assert!(waits.stdout.contains("EXECUTING"), "{waits}");
    assert_eq!(world.project.read("made.txt"), "made\n");
    let told = |agent: &str| world.model.told(&you_are(agent));
    for (agent, heard) in [
        ("context-refiner", "GATHERED: three files"),
        ("strategic-orchestrator", "REFINED: one file"),
        ("general-purpose", "PLAN: make it"),
    ] {
        assert!(told(agent).contains(heard), "{agent}\n{}", told(agent));
    }
    let moves = world.facts("moved");
    let places: Vec<_> = moves.iter().map(|fact| &fact["to"]).collect();
    assert_eq!(places, ["GATHERING", "REFINING", "EXECUTING"]);
    world.type_in(&["finish", super::world::RUN]).succeeds();
    assert_eq!(world.facts("moved").len(), 4);
    assert_eq!(world.left_over(), Vec::<String>::new());
}
