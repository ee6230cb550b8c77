//! Which worker a step starts, and which it leaves to others.

use testkit::Ran;
use testkit::pipelines::{PARTS, one_check};

use super::fixture::{APPROVES, ONE, REVIEW, WORKED, World, began, done, well};

/// Insists on one line of talk with these words, and on a worker that was not started.
#[track_caller]
fn refuses(world: &World, line: &str, code: i32, words: &[&str]) -> Ran {
    let ran = world.run(line).exits(code);
    assert_eq!(ran.stdout, "", "{ran}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
    for word in words {
        assert!(ran.stderr.contains(word), "does not say {word:?}\n{ran}");
    }
    assert_eq!(world.calls("codex"), Vec::<String>::new());
    assert_eq!(world.history("admitted").len(), 0);
    ran
}

#[test]
fn the_hosts_own_workers_are_left_to_it() {
    for runner in ["runner           = \"claude\"\n", ""] {
        let world = World::with(&REVIEW.replace("runner           = \"codex\"\n", runner));
        world.codex(&well(APPROVES));
        refuses(&world, "step", 1, &["'review-codex'", "gatewright report"]);
    }
}

#[test]
fn a_program_that_is_not_installed_costs_no_attempt() {
    let world = World::with(&REVIEW.replace("\"codex\"", "\"gemini\""));
    refuses(&world, "step", 4, &["`gemini`"]);
}

#[test]
fn a_runner_that_nobody_knows_is_refused_before_the_run_begins() {
    let world = World::unstarted(&REVIEW.replace("\"codex\"", "\"qwen\""));
    world.project.person(["trust", "pipeline.toml"], "yes\n");
    let ran = world
        .run("start pipeline.toml --task try --by-hand")
        .exits(1);
    for words in ["GW-L265", "`qwen`", "claude, codex, gemini, command"] {
        assert!(ran.stderr.contains(words), "{ran}");
    }
}

#[test]
fn tools_are_denied_to_a_program_that_can_be_held_to_it_and_to_no_script() {
    let denies = REVIEW.replace(
        "writes           = []",
        "writes = []\ntools.deny = [\"Bash\"]",
    );
    let world = World::with(&denies);
    world.codex(&well(APPROVES));
    world.step().succeeds();

    let world = World::unstarted(&denies.replace("\"codex\"", "\"command\""));
    world.project.person(["trust", "pipeline.toml"], "yes\n");
    let ran = world
        .run("start pipeline.toml --task try --by-hand")
        .exits(1);
    for words in ["GW-L267", "tools.deny"] {
        assert!(ran.stderr.contains(words), "{ran}");
    }
}

#[test]
fn where_nobody_works_the_next_step_is_told() {
    let asks = r#"
name  = "asks"
about = "Ask first."
start = "asking"

[stages.asking]
ask    = "Shall it be?"
on.yes = "complete"
on.no  = "complete"

[stages.complete]
end = "completed"
"#;
    let world = World::with(asks);
    refuses(&world, "step", 1, &["Shall it be?"]);
    world.run("answer yes").succeeds();
    refuses(&world, "step r-test", 1, &["r-test"]);
    refuses(&world, "step r-none", 3, &["'r-none'"]);
}

#[test]
fn a_check_is_not_a_worker() {
    let world = World::with(&one_check("\"true\""));
    refuses(&world, "step", 1, &["testing", "gatewright check"]);
}

#[test]
fn a_queued_run_is_taken_up_by_a_step_and_by_no_refusal() {
    for (runner, status) in [("codex", "completed"), ("claude", "queued")] {
        let world = World::unstarted(&REVIEW.replace("\"codex\"", &format!("\"{runner}\"")));
        world.trust("pipeline.toml", "");
        world
            .run("start pipeline.toml --task try --by-hand --id r-test --queue")
            .succeeds();
        world.codex(&well(APPROVES));
        world.run("step r-test");
        assert_eq!(world.facts("status r-test")["status"], status, "{runner}");
    }
}

#[test]
fn a_step_is_named_or_the_first_that_can_begin() {
    let world = World::with(PARTS);
    let part = "mkdir -p .task; echo \"$GATEWRIGHT_STEP\" > .task/$GATEWRIGHT_STEP.md";
    world.codex(&[began(ONE).as_str(), WORKED, part, &done(1)].join("\n"));
    let refused = world.run("step --step c").exits(1);
    assert!(
        refused.stderr.contains("'c'") && refused.stderr.contains("a, b"),
        "{refused}"
    );
    let refused = world.run("step --step d").exits(1);
    assert!(refused.stderr.contains("'d'"), "{refused}");
    world.run("step --step b").succeeds();
    assert!(world.noted("codex.prompt.1").contains("`b`: Second"));
    let refused = world.run("step --step b").exits(1);
    assert!(refused.stderr.contains("'b'"), "{refused}");
    world.step().succeeds();
    world.step().succeeds();
    let written = |name: &str| world.project.read(format!(".task/{name}.md"));
    assert_eq!(
        [written("a"), written("b"), written("c")],
        ["a\n", "b\n", "c\n"]
    );
    assert_eq!(world.stage(), "complete");
}

/// A panel with a reviewer of ours, and an owner of the host's.
const PANEL: &str = r#"
name  = "panel"
about = "Have a note reviewed."
start = "reviewing"

[artifacts.verdict]
path    = "verdict.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes", "needs_clarification"] }

[stages.reviewing]
review = "writer"
panel  = [{ agent = "reader", runner = "codex", leaves = "verdict", final = true }]
rounds = 3
on.approved            = "complete"
on.needs_clarification = "stopped"
on.exceeded            = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

#[test]
fn a_reviewer_of_ours_and_an_owner_of_the_hosts_take_turns() {
    let world = World::with(PANEL);
    let verdict = "if [ $count = 1 ]; then s=needs_changes; else s=approved; fi; echo \"{\\\"status\\\":\\\"$s\\\"}\" > verdict.json";
    world.codex(&well(verdict));
    world.step().succeeds();
    let refused = world.step().exits(1);
    assert!(refused.stderr.contains("'writer'"), "{refused}");
    world.project.write("note.md", "better\n");
    world.run("report --agent writer").succeeds();
    world.step().succeeds();
    assert_eq!(world.stage(), "complete");
    assert!(world.noted("codex.prompt.2").contains("round 2"));
}
