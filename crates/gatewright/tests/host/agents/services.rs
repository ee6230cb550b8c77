//! Services that say later, or that know nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use testkit::model::{Actor, bash, fail, fail_first, make, say};
use testkit::pipelines::MAKING;

use super::world::{World, you_are};

fn patient() -> String {
    let retry = r#"retry   = { max = 2, backoff = "1s" }"#;
    MAKING.replace("on.done", &format!("{retry}\non.done"))
}

#[test]
fn a_service_that_says_later_is_asked_again_after_a_pause() {
    for (runner, refusals) in [("claude", 2), ("codex", 1), ("gemini", 1)] {
        let turns = [
            fail_first(429, refusals, bash("echo text > made.md")),
            say("MADE"),
        ];
        let world = World::with(&patient(), [Actor::new(&you_are("maker"), turns)]);
        let ran = world.run("pipeline.toml", &["--runner", runner]);
        let ran = ran.succeeds();
        let results = world.results();
        assert_eq!(results.len(), 2, "{runner} {results:?}");
        assert!(results[0].contains("limited"), "{runner} {results:?}");
        assert!(ran.stderr.contains("limited"), "{runner}\n{ran}");
    }
}

#[test]
fn who_is_not_logged_in_is_told_so_and_the_run_goes_on_afterwards() {
    for runner in ["claude", "codex", "gemini"] {
        let logged_in = Arc::new(AtomicBool::new(false));
        let known = Arc::clone(&logged_in);
        let answers = make(move |_| {
            if known.load(Ordering::Relaxed) {
                bash("echo text > made.md")
            } else {
                fail(401)
            }
        });
        let world = World::with(
            &patient(),
            [Actor::new(&you_are("maker"), [answers, say("MADE")])],
        );
        let ran = world.run("pipeline.toml", &["--runner", runner]).exits(4);
        let said = format!("{runner} is not logged in");
        assert!(ran.stderr.contains(&said), "{ran}");
        assert_eq!(world.results().len(), 0, "{runner}");
        logged_in.store(true, Ordering::Relaxed);
        world.resume().succeeds();
        assert_eq!(world.results().len(), 1, "{runner}");
    }
}
