//! What was typed before a question was shown answers nothing.

use std::fs;

use super::{ONE, WAITS, World, at_terminal, until};

/// Writes, and asks.
fn asked() -> String {
    let asks = "[stages.agreeing]\nask = \"Good?\"\non.yes = \"complete\"\non.no = \"dropped\"\n";
    let one = ONE.replace("on.done = \"complete\"", "on.done = \"agreeing\"");
    assert_ne!(one, ONE);
    format!("{one}\n{asks}\n[stages.dropped]\nend = \"failed\"\n")
}

#[test]
fn a_pasted_answer_is_dropped_where_nobody_has_seen_the_question() {
    // With keys, and without a picture.
    for more in ["", " 2> talk.txt"] {
        let world = World::with(&asked(), WAITS);
        let terminal = at_terminal(&world, &format!("{}{more}", super::run(&world)));
        until("it works", || !world.noted("works").is_empty());
        if more.is_empty() {
            terminal.wait_for("l look · a");
        }
        terminal.type_text("yes");
        terminal.press("Enter");
        fs::write(world.programs().join("go"), "").unwrap();
        terminal.wait_for("(your words may follow):");
        terminal.type_text("no seen");
        terminal.press("Enter");
        let ended = terminal.wait_for_end();
        assert_eq!(ended.code, Some(1), "{}", ended.screen);
        let answered = world.history("answered");
        assert_eq!(answered.len(), 1, "{answered:?}");
        assert_eq!(answered[0]["fact"]["answer"], "no", "{answered:?}");
    }
}

#[test]
fn a_word_that_was_typed_early_confirms_nothing() {
    let world = World::with(&asked(), WAITS);
    let queued = world.line("").replacen("run", "start --queue", 1);
    world.gatewright(&queued).succeeds();
    let go = world.programs().join("go");
    let line = format!(
        "echo ready; while [ ! -e '{}' ]; do sleep 0.05; done; '{}' cancel r-test --reason enough",
        go.display(),
        super::PROGRAM
    );
    let terminal = at_terminal(&world, &line);
    terminal.wait_for("ready");
    terminal.type_text("r-test");
    terminal.press("Enter");
    fs::write(&go, "").unwrap();
    terminal.wait_for("Type r-test to");
    terminal.press("Enter");
    assert_eq!(terminal.wait_for_end().code, Some(1));
    assert_eq!(world.status("r-test"), "queued");
    let terminal = at_terminal(&world, &line);
    terminal.wait_for("Type r-test to");
    terminal.type_text("r-test");
    terminal.press("Enter");
    assert_eq!(terminal.wait_for_end().code, Some(0));
    assert_eq!(world.status("r-test"), "cancelled");
}
