//! Sessions that are compacted, resumed, forked, cleared and killed.

use testkit::model::{Actor, agent, agent_in_foreground, bash, hold, say};

use crate::stage::{DRAFT, Stage, program};

fn leave_draft() -> testkit::model::Turn {
    bash(&format!("cat > draft.md <<'END'\n{DRAFT}END"))
}

fn start() -> String {
    format!("{} start story --task 'a story'", program())
}

#[test]
fn a_resumed_session_goes_on_with_its_run() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [
                agent_in_foreground("context-gatherer", "GO-GATHER"),
                say("FIRST"),
                agent_in_foreground("context-refiner", "GO-REFINE"),
                say("SECOND"),
            ],
        ),
        Actor::new("GO-GATHER", [bash("ls"), say("GATHERED")]),
        Actor::new("GO-REFINE", [bash("ls"), say("REFINED")]),
    ]);
    let first = stage.claude().ask("GO-MAIN").succeeds();
    assert_eq!(stage.place(), "GATHERING running");
    stage
        .claude()
        .resume(first.session_id())
        .ask("go on")
        .succeeds();
    assert_eq!(stage.place(), "REFINING running", "{}", stage.history());
}

#[test]
fn a_fork_has_a_run_of_its_own() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [
                agent_in_foreground("context-gatherer", "GO-GATHER"),
                say("FIRST"),
                agent_in_foreground("context-refiner", "GO-REFINE"),
                say("SECOND"),
            ],
        ),
        Actor::new("GO-GATHER", [bash("ls"), say("GATHERED")]),
        Actor::new("GO-REFINE", [say("NEVER")]),
    ]);
    let first = stage.claude().ask("GO-MAIN").succeeds();
    stage
        .claude()
        .fork(first.session_id())
        .ask("go on")
        .succeeds();
    assert_eq!(stage.runs().len(), 2, "{}", stage.history());
    assert!(stage.model.requests_of("GO-REFINE").is_empty());
    assert!(stage.model.told("GO-MAIN").contains("GW-R11"));
}

#[test]
fn a_compacted_session_goes_on_and_is_told_where_it_stands() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [
                // At a terminal every agent works in the background, and its end is a prompt.
                agent("context-gatherer", "GO-GATHER"),
                say("BEGUN"),
                say("FIRST"),
                agent("context-refiner", "GO-REFINE"),
                say("BEGUN AGAIN"),
                say("AFTER COMPACTION"),
            ],
        ),
        Actor::new("GO-GATHER", [bash("ls"), say("GATHERED")]),
        Actor::new("GO-REFINE", [bash("ls"), say("REFINED")]),
    ]);
    let session = stage.claude().open();
    session.say("GO-MAIN begin");
    session.wait_for("FIRST");
    session.say("/compact");
    session.wait_for("ompacted");
    session.say("go on");
    session.wait_for("AFTER COMPACTION");
    session.leave();
    assert_eq!(stage.place(), "REFINING running", "{}", stage.history());
    // The phantom end that a compaction tells of matched nothing and moved nothing.
    assert_eq!(stage.count("GW-R30"), 0, "{}", stage.history());
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("`GATHERING`"), "{told}");
}

#[test]
fn a_cleared_session_has_an_heir_and_its_worker_goes_on() {
    let stage = Stage::story([
        // The heir's conversation begins with the end of the worker, and nobody typed a thing.
        Actor::when(
            "HEIR",
            |request| {
                let first = request.first_message();
                !first.contains("GO-MAIN begin") && !first.contains("GO-WRITER")
            },
            [say("H1"), say("H2"), say("H3"), say("H4")],
        ),
        Actor::new(
            "GO-WRITER",
            [leave_draft(), hold("cleared", say("WRITTEN"))],
        ),
        Actor::new(
            "GO-MAIN",
            [bash(&start()), agent("writer", "GO-WRITER"), say("FIRST")],
        ),
    ]);
    let session = stage.claude().open();
    session.say("GO-MAIN begin");
    session.wait_for("FIRST");
    stage.model.wait_until_held("cleared");
    session.say("/clear");
    session.wait_until(|screen| !screen.contains("FIRST"));
    stage.model.release("cleared");
    session.wait_for("it waits for you");
    session.leave();
    assert_eq!(stage.runs().len(), 1);
    let heir = stage.model.told("HEIR");
    assert!(heir.contains("`judging`"), "{heir}");
    assert!(heir.contains("GW-R91"), "{heir}");
    assert!(stage.place().starts_with("judging"), "{}", stage.history());
}

#[test]
fn a_killed_session_is_succeeded_and_a_living_one_is_not() {
    let stage = Stage::story([
        Actor::new("GO-MAIN", [bash(&start()), hold("never", say("END"))]),
        Actor::new("GO-LATER", [say("NOT MINE")]),
        Actor::new(
            "GO-SUCCESSOR",
            [agent_in_foreground("writer", "GO-WRITER"), say("END")],
        ),
        Actor::new("GO-WRITER", [leave_draft(), say("WRITTEN")]),
    ]);
    let first = stage.claude().begin("GO-MAIN: begin");
    stage.model.wait_until_held("never");
    // While the first one lives, another one reads that the run is held.
    let later = stage.claude().ask("GO-LATER").succeeds();
    assert_eq!(later.result(), "NOT MINE");
    assert!(!stage.model.told("GO-LATER").contains("`writing`"));
    first.kill();
    drop(first);
    stage.claude().ask("GO-SUCCESSOR").succeeds();
    assert!(stage.place().starts_with("judging"), "{}", stage.history());
    assert_eq!(stage.runs().len(), 1);
}
