//! The orchestrator is killed in the middle of real work, and the same conversation goes on.

use testkit::Ran;
use testkit::model::{Actor, bash, hold, say};
use testkit::pipelines::ONE;

use super::world::{World, you_are};

/// Begins a run with this runner, kills its orchestrator while the model thinks, and goes on.
fn kill_and_resume(world: &World, runner: &str) -> Ran {
    let child = world.begin(&["--runner", runner]);
    world.model.wait_until_held("THINKING");
    world.kill(child);
    // Its worker goes with it, before anybody comes to look.
    world.wait_until_nobody_is_left();
    world.model.release("THINKING");
    let ran = world.resume_elsewhere().succeeds();
    assert_eq!(world.results().len(), 1, "{runner}\n{ran}");
    assert_eq!(world.project.read("trace"), "once\n", "{runner}");
    assert_eq!(world.left_over(), Vec::<String>::new(), "{runner}");
    ran
}

#[test]
fn after_a_kill_the_same_conversation_goes_on_and_the_work_is_done_once() {
    // Gemini CLI says in the model's place that it was interrupted.
    for (runner, said_for_it) in [("claude", 0), ("codex", 0), ("gemini", 1)] {
        let writer = you_are("writer");
        let thinks = hold("THINKING", bash("echo text > note.txt"));
        let thinks = std::iter::repeat_n(thinks, 1 + said_for_it);
        let turns = [bash("echo once >> trace")].into_iter().chain(thinks);
        let turns = turns.chain([say("MADE")]);
        let world = World::with(ONE, [Actor::new(&writer, turns)]);
        let ran = kill_and_resume(&world, runner);
        assert!(ran.stderr.contains("'writer'"), "{runner}\n{ran}");
        assert_eq!(world.began().len(), 1, "{runner}\n{ran}");
        // It was told that it was interrupted, behind all that was said before.
        let requests = world.model.requests_of(&writer);
        let resumed = &requests[requests.len() - 2];
        assert_eq!(resumed.turns_taken(&writer), 1 + said_for_it, "{runner}");
        let news = resumed.news();
        assert!(news.contains("interrupted"), "{runner}\n{news}");
    }
}

#[test]
fn a_worker_that_was_killed_before_its_first_word_costs_no_attempt() {
    for runner in ["claude", "codex", "gemini"] {
        let works = bash("echo once >> trace; echo text > note.txt");
        let thinks = hold("THINKING", works);
        let turns = [thinks, say("MADE")];
        let world = World::with(ONE, [Actor::new(&you_are("writer"), turns)]);
        let ran = kill_and_resume(&world, runner);
        assert_eq!(world.facts("retried").len(), 0, "{runner}\n{ran}");
    }
}
