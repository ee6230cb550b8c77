//! Faults: each kind is tried again in its own way, and then a person decides.

use super::fixture::{ONE, World, says, until};

/// `ONE` with these lines in its stage.
fn one(more: &str) -> String {
    ONE.replace(
        "on.done = \"complete\"",
        &format!("on.done = \"complete\"\n{more}"),
    )
}

/// The faults of the history, as their words.
fn faults(world: &World) -> Vec<String> {
    let retried = world.history("retried").into_iter();
    let faults = retried.map(|entry| entry["fact"]["fault"].as_str().unwrap().to_owned());
    faults.collect()
}

#[test]
fn a_crash_waits_a_moment_and_is_tried_again() {
    let world = World::with(
        &one("retry = { max = 2, backoff = \"1s\" }"),
        r#"[ "$count" -gt 2 ] || { echo "no memory" >&2; exit 3; }
echo "note $count" > note.txt"#,
    );
    let ran = world.run("").succeeds();
    assert_eq!(faults(&world), ["crashed", "crashed"]);
    // Each time twice as long.
    says(&ran.stderr, "1s: crashed");
    says(&ran.stderr, "2s: crashed");
    says(&ran.stderr, "exit code 3: no memory");
    let told = world.prompt(2);
    says(&told, "attempt 2");
    says(&told, "exit code 3");
}

#[test]
fn a_crash_that_stays_is_a_persons_and_retry_gives_new_tries() {
    let world = World::with(&one("retry = 0"), "kill -9 $$");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "signal 9");
    assert_eq!(world.starts().len(), 1);
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.starts().len(), 1, "nobody tries it without a person");
    world.agent("echo note > note.txt");
    world.gatewright("retry r-test").succeeds();
    world.gatewright("resume r-test").succeeds();
}

#[test]
fn what_is_missing_is_tried_again_at_once_with_the_reason_in_the_prompt() {
    let world = World::with(
        &one("retry = { max = 1 }"),
        r#"[ "$count" = 1 ] || echo "note" > note.txt"#,
    );
    let ran = world.run("").succeeds();
    assert_eq!(faults(&world), ["missing"]);
    assert!(!ran.stderr.contains("s: missing"), "{ran}");
    let told = world.prompt(2);
    says(&told, "attempt 2");
    says(&told, "`note`");
}

#[test]
fn what_lay_there_before_is_not_what_was_asked_for() {
    let world = World::with(&one("retry = 0"), "exit 0");
    world.project.write("note.txt", "an old note\n");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "`note`");
}

#[test]
fn whoever_is_silent_for_longer_than_its_heartbeat_is_ended() {
    let world = World::with(
        &one("retry = 0\ntimeout = \"30s\"\nheartbeat = \"1s\""),
        "echo $$ > \"$here/worker\"\nsleep 600",
    );
    let ran = world.run("").exits(6);
    says(&ran.stdout, "heartbeat");
    let worker = world.noted("worker").remove(0);
    assert!(!super::under_way::is_alive(&worker));
}

#[test]
fn whoever_says_something_now_and_then_lives() {
    // Time is the subject: it works for longer than its heartbeat, and no pause is as long.
    let world = World::with(
        &one("retry = 0\nheartbeat = \"2s\""),
        "for word in a b c d e f; do echo $word; sleep 0.5; done\necho note > note.txt",
    );
    world.run("").succeeds();
}

#[test]
fn whoever_takes_longer_than_its_time_is_ended() {
    let world = World::with(
        &one("retry = 0\ntimeout = \"1s\""),
        "while :; do echo still here; sleep 0.1; done",
    );
    let ran = world.run("").exits(6);
    says(&ran.stdout, "timeout");
    assert_eq!(world.starts().len(), 1);
}

#[test]
fn a_fault_that_the_stage_knows_leads_where_it_says() {
    let definition = one("retry = 0\non.crashed = \"complete\"");
    let world = World::with(&definition, "exit 1");
    world.run("").succeeds();
    assert_eq!(world.starts().len(), 1);
}

/// Codex, which says how much it did.
const CODEX: &str = r#"
echo '{"type":"thread.started","thread_id":"01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4"}'
"#;

#[test]
fn an_agent_that_used_no_tool_and_left_nothing_is_hollow() {
    let definition = one("retry = 0").replace("agent   =", "runner = \"codex\"\nagent   =");
    let world = World::with(&definition, "");
    world.program(
        "codex",
        &format!(
            "{CODEX}{}",
            r#"echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":5,"output_tokens":1}}'"#
        ),
    );
    let ran = world
        .gatewright("run pipeline.toml --task try --id r-test")
        .exits(6);
    says(&ran.stdout, "hollow");
    let inbox = &world.facts("inbox")["inbox"];
    let asks = inbox[0]["asks"].as_str().unwrap();
    says(asks, "' failed in ");
    says(asks, "hollow");
    assert!(asks.ends_with('?'), "it is a question: {asks}");
    let commands = inbox[0]["commands"].to_string();
    for word in ["retry", "skip", "cancel"] {
        says(asks.to_lowercase().as_str(), word);
        says(&commands, word);
    }
}

/// What strayed stays forbidden: the next attempt is compared with the tree before the first one. On a branch of
/// its own nobody else can have changed it.
#[test]
fn a_change_that_strayed_is_not_forgotten_by_the_next_attempt() {
    let world = World::with(
        &one("writes = [\"note.txt\"]\nretry = { max = 2 }"),
        r#"echo "note $count" > note.txt
[ "$count" != 1 ] || echo "weaker" > test.txt
[ "$count" != 3 ] || rm test.txt"#,
    );
    world.run("--branch").succeeds();
    assert_eq!(faults(&world), ["strayed", "strayed"]);
    assert_eq!(world.starts().len(), 3);
}

/// The check had passed before the review changed what it checked.
#[test]
fn nothing_completes_that_the_promised_check_did_not_pass() {
    let world = World::with(
        r#"
name  = "greeting"
about = "Have a greeting written."
start = "writing"

[artifacts.review]
path    = "review.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[stages.writing]
agent   = "writer"
on.done = "testing"

[stages.testing]
check     = ["grep -q Hello greeting.txt"]
on.passed = "reviewing"
on.failed = "stopped"

[stages.reviewing]
review      = "writer"
panel       = [{ agent = "critic", leaves = "review" }]
rounds      = 3
on.approved = "complete"
on.exceeded = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"

[[prove]]
name    = "nothing completes untested or unreviewed"
before  = "complete"
through = ["testing", "reviewing"]
"#,
        r#"case "$count" in
1) echo Hello > greeting.txt ;;
2) echo '{ "status": "needs_changes", "round": 1 }' > review.json ;;
3) echo Goodbye > greeting.txt ;;
*) echo '{ "status": "approved", "round": '$count' }' > review.json ;;
esac"#,
    );
    world.run("").exits(1);
    let moves = world.history("moved");
    let stages: Vec<&str> = moves
        .iter()
        .filter_map(|entry| entry["fact"]["to"].as_str())
        .collect();
    assert_eq!(stages, ["testing", "reviewing", "testing", "stopped"]);
}

#[test]
fn whoever_begins_again_after_a_kill_reads_that_files_may_be_half_done() {
    let script = r#"echo half > half.txt
[ "$count" -gt 1 ] || sleep 600
echo "note $count" > note.txt"#;
    let world = World::with(ONE, script);
    let run = world.begin(&world.line(""));
    until("it is at work", || world.is_there("half.txt"));
    run.kill();
    world.gatewright("resume r-test").succeeds();
    assert!(!world.prompt(1).contains("half done"));
    says(&world.prompt(2), "half done");
}

/// A planner whose plan is agreed on before its steps are worked through, or that cannot plan.
const PLANNED: &str = r#"
name  = "planned"
about = "Plan, agree, and build."
start = "planning"

[artifacts.plan]
path    = "plan.json"
format  = "json"
outcome = { field = "status", values = { ready = "done", stuck = "blocked", unclear = "needs_input" } }

[artifacts.answers]
from = "answers"

[stages.planning]
agent          = "planner"
reads          = ["answers?"]
leaves         = ["plan"]
on.done        = "agreeing"
on.blocked     = "stopped"
on.needs_input = "asking"

[stages.asking]
ask         = "The planner asks."
from        = "plan.questions"
leaves      = "answers"
on.answered = "planning"

[stages.agreeing]
ask    = "Build it?"
on.yes = "building"
on.no  = "planning"
on.end = "stopped"

[stages.building]
steps     = { from = "plan.phases" }
on.done   = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// A plan without its list is sent back, as no person could go on with it: `retry` would ask the same again.
#[test]
fn a_plan_without_the_list_that_its_outcome_leads_to_does_not_count() {
    let script = r#"case "$count" in
1) echo '{ "status": "ready", "tasks": ["left"] }' > plan.json ;;
2) echo '{ "status": "unclear", "questions": [] }' > plan.json ;;
*) echo '{ "status": "unclear", "questions": ["Which side?"] }' > plan.json ;;
esac"#;
    let world = World::with(PLANNED, script);
    world.run("").exits(6);
    assert_eq!(faults(&world), ["missing", "missing"]);
    for (count, key, fields) in [
        (2, "`phases`", "id, title, agent and needs"),
        (3, "`questions`", "id, question and options"),
    ] {
        let told = world.prompt(count);
        says(&told, "`phases` lists the steps of `building`");
        says(&told, "In this stage: 'planner' failed");
        says(&told, key);
        says(&told, fields);
    }
    assert_eq!(world.facts("next r-test")["stage"], "asking");
}

/// Who cannot plan writes no list.
#[test]
fn a_list_that_no_stage_will_need_may_be_missing() {
    let blocked = r#"echo '{ "status": "stuck" }' > plan.json"#;
    let world = World::with(PLANNED, blocked);
    world.run("").exits(1);
    assert_eq!(faults(&world), [""; 0]);
    // A route may do without the plan.
    let routed = PLANNED.replace(
        "on.yes = \"building\"",
        "on.yes = \"building\"\non.quick = \"doing\"",
    ) + "[stages.doing]\nagent = \"planner\"\non.done = \"complete\"\n";
    let ready = r#"echo '{ "status": "ready" }' > plan.json"#;
    let world = World::with(&routed, ready);
    world.run("").exits(6);
    assert_eq!(faults(&world), [""; 0]);
    assert_eq!(world.facts("next r-test")["stage"], "agreeing");
}

/// A writer and a critic, without a check between them.
const JUDGED: &str = r#"
name  = "judged"
about = "Have it judged."
start = "writing"

[artifacts.review]
path    = "review.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[stages.writing]
agent   = "writer"
on.done = "reviewing"

[stages.reviewing]
review      = "writer"
panel       = [{ agent = "first", leaves = "review" }, { agent = "second", leaves = "review" }]
rounds      = 3
on.approved = "complete"
on.exceeded = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// The first reviewer edits, and undoes it only when it must. Then it has a finding, which the writer fixes.
const EDITS: &str = r#"case "$GATEWRIGHT_AGENT.$count" in
writer.1) echo one > work.txt ;;
first.2) echo mine >> work.txt; echo '{ "status": "approved", "round": 1 }' > review.json ;;
first.3) echo '{ "status": "approved", "round": 2 }' > review.json ;;
first.4) echo one > work.txt; echo '{ "status": "needs_changes", "round": 3 }' > review.json ;;
writer.*) echo two > work.txt ;;
*) echo '{ "status": "approved", "round": '$count' }' > review.json ;;
esac"#;

#[test]
fn on_a_branch_a_reviewer_must_undo_its_own_change() {
    let world = World::with(JUDGED, EDITS);
    world.run("--branch").succeeds();
    assert_eq!(faults(&world), ["strayed", "strayed"]);
    for count in [3, 4] {
        let told = world.prompt(count);
        says(&told, "work.txt: undo the changes");
    }
    // It was undone, so who fixes and who reviews next read nothing of it.
    for count in [5, 6] {
        let told = world.prompt(count);
        assert!(!told.contains("undo the changes"), "{told}");
    }
    let branch = "gatewright/r-test-try:work.txt";
    assert_eq!(world.project.git(["show", branch]).stdout, "two\n");
    world.gatewright("verify r-test").succeeds();
}

/// In the person's tree the edit may be the person's: it is reviewed, and its path is in the history.
#[test]
fn in_the_tree_of_a_person_a_change_during_a_review_is_reviewed() {
    let world = World::with(JUDGED, EDITS);
    world.run("").succeeds();
    assert_eq!(faults(&world), ["strayed"]);
    let told = world.prompt(3);
    says(&told, "work.txt");
    assert!(!told.contains("undo"), "{told}");
    says(
        world.history("retried")[0]["fact"]["reason"]
            .as_str()
            .unwrap(),
        "work.txt",
    );
    assert_eq!(world.project.read("work.txt"), "one\nmine\n");
}
