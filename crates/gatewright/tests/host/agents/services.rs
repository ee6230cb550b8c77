//! Services that say later, or that know nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use testkit::model::{Actor, bash, fail, limit_first, make, say};
use testkit::pipelines::ONE;

use super::world::{World, you_are};

fn impatient() -> String {
    let retry = "retry   = 0";
    ONE.replace("on.done", &format!("{retry}\non.done"))
}

/// Each vendor names the end of its limit in its own words, and the real programs pass them on.
#[test]
fn a_service_that_says_until_when_is_asked_again_then_and_no_attempt_is_lost() {
    for (runner, refusals) in [("claude", 2), ("codex", 1), ("gemini", 1)] {
        let turns = [
            limit_first(2, refusals, bash("echo text > note.txt")),
            say("MADE"),
        ];
        let world = World::with(&impatient(), [Actor::new(&you_are("writer"), turns)]);
        let ran = world.run("pipeline.toml", &["--runner", runner]);
        let ran = ran.succeeds();
        let limits = world.facts("limited");
        assert_eq!(limits.len(), 1, "{runner} {limits:?}\n{ran}");
        assert_eq!(limits[0]["named"], true, "{runner} {limits:?}");
        assert_eq!(world.facts("admitted").len(), 1, "{runner}\n{ran}");
        assert_eq!(world.facts("retried").len(), 0, "{runner}\n{ran}");
    }
}

#[test]
fn who_is_not_logged_in_is_told_so_and_the_run_goes_on_afterwards() {
    for runner in ["claude", "codex", "gemini"] {
        let logged_in = Arc::new(AtomicBool::new(false));
        let known = Arc::clone(&logged_in);
        let answers = make(move |_| {
            if known.load(Ordering::Relaxed) {
                bash("echo text > note.txt")
            } else {
                fail(401)
            }
        });
        let world = World::with(
            &impatient(),
            [Actor::new(&you_are("writer"), [answers, say("MADE")])],
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
