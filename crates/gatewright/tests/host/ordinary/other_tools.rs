//! Tools that a session uses on some days only: shells in the background, and a worktree that it enters.

use serde_json::json;
use testkit::model::{Actor, agent_in_foreground, bash, call, say};

use crate::stage::{Stage, is_refused};

#[test]
fn a_shell_in_the_background_is_not_refused() {
    let background =
        json!({"command": "sleep 1; echo later > later.txt", "run_in_background": true});
    let stage = Stage::always_on([Actor::new(
        "GO-MAIN",
        [
            call("Bash", background),
            bash("while [ ! -e later.txt ]; do sleep 0.1; done; cat later.txt"),
            say("END"),
        ],
    )]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    assert_eq!(stage.project.read("later.txt"), "later\n");
    assert_eq!(stage.count("GW-R107"), 0, "{}", stage.history());
    assert!(!stage.history().contains("refused"), "{}", stage.history());
}

/// The host moves the session into a worktree below `.claude`: its work there is free, and its agents are judged.
#[test]
fn a_session_that_enters_a_worktree_stays_guarded_and_works_there() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [
                call("EnterWorktree", json!({"name": "topic"})),
                bash(
                    "pwd; echo x > notes.txt; git add -A; git commit -qm notes; git log --oneline | head -1",
                ),
                agent_in_foreground("bash-expert", "GO-BASH"),
                call("ExitWorktree", json!({"action": "keep"})),
                bash("pwd"),
                say("END"),
            ],
        ),
        Actor::new("GO-BASH", [say("NEVER")]),
    ]);
    stage.project.git(["add", "-A"]);
    stage.project.git(["commit", "-qm", "all"]);
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains(".claude/worktrees/topic"), "{told}");
    assert!(is_refused(&told, "GW-R11", "'bash-expert'"), "{told}");
    assert_eq!(told.matches(" refused: ").count(), 1, "{told}");
    assert_eq!(stage.runs().len(), 1);
    assert_eq!(stage.count("GW-R107"), 0, "{}", stage.history());
}
