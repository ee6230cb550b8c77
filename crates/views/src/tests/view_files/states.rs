//! Formats that tell where a run is.

use engine::*;
use expect_test::{Expect, expect};

use super::told;
use crate::tests::example::*;
use crate::tests::play::{Play, ann, whole_story};

fn check(play: &Play, format: &ViewFormat, expected: Expect) {
    expected.assert_eq(&told(play, format));
}

/// A field of a view that is JSON.
fn field(play: &Play, format: &ViewFormat, name: &str) -> String {
    let view: serde_json::Value = serde_json::from_str(&told(play, format)).unwrap();
    view[name].to_string()
}

/// The front matter's lines that begin so.
fn matter(play: &Play, names: &[&str]) -> Vec<String> {
    let text = told(play, &ViewFormat::AnsibleState);
    let wanted = |line: &&str| names.iter().any(|name| line.starts_with(name));
    text.lines().filter(wanted).map(str::to_owned).collect()
}

fn looped() -> ViewFormat {
    ViewFormat::LoopState(LoopView {
        counter: counter_name("fixes"),
        promise: TextOrParam::Param(param_name("target")),
    })
}

fn to_validating() -> Play {
    let mut play = Play::begin();
    play.report("gatherer", &[("context", None)]);
    play.report("planner", &[("plan", Some("ready")), ("questions", None)]);
    play.answer("yes");
    play.plan();
    play.report("bash-tasks", &[("built", None)]);
    play.report("bash-tests", &[("built", None)]);
    play.stands_in("validating");
    play
}

/// Three validations fail: the third is a person's decision.
fn to_the_limit() -> Play {
    let mut play = to_validating();
    for _ in 0..2 {
        play.report("validator", &[("validated", Some("FAIL"))]);
        play.report("debugger", &[("fixed", None)]);
    }
    play.report("validator", &[("validated", Some("PASS"))]);
    play.check(2, "");
    play.stands_in("escalate");
    play
}

fn reset(play: &mut Play) {
    let reason = "a new try".to_owned();
    play.happen(
        ann(),
        Happening::Person(PersonEvent::ResetAsked { reason }),
        Evidence::default(),
    );
}

#[test]
fn the_state_of_a_whole_run_as_front_matter() {
    check(
        &whole_story(),
        &ViewFormat::AnsibleState,
        expect![[r#"
        ---
        active: false
        pipeline_phase: complete
        target_path: roles/web
        current_agent: null
        task_description: "Write the role web\nand test it"
        started_at: "2026-08-22T10:00:00Z"
        validation_attempts: 1
        last_validation_passed: true
        ---

        # Pipeline State

        The run is in complete, after 1 failed validation: completed

        [2026-08-22 10:00:00 UTC] Pipeline started
        [2026-08-22 10:01:00 UTC] gatherer completed -> planning
        [2026-08-22 10:03:00 UTC] planner completed -> approving
        [2026-08-22 10:04:00 UTC] ann said yes -> building
        [2026-08-22 10:06:00 UTC] bash-tasks completed
        [2026-08-22 10:07:00 UTC] bash-tests completed -> validating
        [2026-08-22 10:08:00 UTC] validator completed -> validating
        [2026-08-22 10:09:00 UTC] linting failed -> debugging
        [2026-08-22 10:10:00 UTC] debugger completed -> validating
        [2026-08-22 10:11:00 UTC] validator completed -> validating
        [2026-08-22 10:12:00 UTC] linting passed -> reviewing
        [2026-08-22 10:13:00 UTC] code-reviewer completed
        [2026-08-22 10:14:00 UTC] codex-reviewer completed -> tidying
        [2026-08-22 10:15:00 UTC] session completed -> complete
    "#]],
    );
}

#[test]
fn the_state_in_the_middle_of_a_run() {
    let mut play = to_validating();
    play.report("validator", &[("validated", Some("FAIL"))]);
    check(
        &play,
        &ViewFormat::AnsibleState,
        expect![[r#"
        ---
        active: true
        pipeline_phase: debugging
        target_path: roles/web
        current_agent: debugger
        task_description: "Write the role web\nand test it"
        started_at: "2026-08-22T10:00:00Z"
        validation_attempts: 1
        last_validation_passed: false
        ---

        # Pipeline State

        The run is in debugging, after 1 failed validation: running

        [2026-08-22 10:00:00 UTC] Pipeline started
        [2026-08-22 10:01:00 UTC] gatherer completed -> planning
        [2026-08-22 10:02:00 UTC] planner completed -> approving
        [2026-08-22 10:03:00 UTC] ann said yes -> building
        [2026-08-22 10:05:00 UTC] bash-tasks completed
        [2026-08-22 10:06:00 UTC] bash-tests completed -> validating
        [2026-08-22 10:07:00 UTC] validator completed -> debugging
    "#]],
    );
}

#[test]
fn failed_validations_are_counted_until_a_person_lets_it_go_on() {
    let names = [
        "active",
        "current_agent",
        "validation_attempts",
        "last_validation_passed",
    ];
    let mut play = to_the_limit();
    assert_eq!(
        matter(&play, &names),
        [
            "active: true",
            "current_agent: null",
            "validation_attempts: 3",
            "last_validation_passed: false"
        ]
    );
    play.answer("continue");
    assert_eq!(
        matter(&play, &names),
        [
            "active: true",
            "current_agent: debugger",
            "validation_attempts: 0",
            "last_validation_passed: false"
        ]
    );
    play.report("debugger", &[("fixed", None)]);
    play.report("validator", &[("validated", Some("PASS"))]);
    play.check(0, "");
    assert_eq!(
        matter(&play, &names)[2..],
        ["validation_attempts: 0", "last_validation_passed: true"]
    );
}

#[test]
fn a_cancelled_run_is_not_active() {
    let mut play = to_validating();
    let reason = "enough".to_owned();
    play.happen(
        ann(),
        Happening::Person(PersonEvent::CancelAsked { reason }),
        Evidence::default(),
    );
    assert_eq!(matter(&play, &["active"]), ["active: false"]);
    let text = told(&play, &ViewFormat::AnsibleState);
    assert!(
        text.ends_with("UTC] Pipeline cancelled: enough\n"),
        "{text}"
    );
}

#[test]
fn the_state_with_context_and_history() {
    let mut play = to_validating();
    let context = field(&play, &ViewFormat::PipelineState, "context");
    assert_eq!(context, r#"{"context":"the site has two hosts"}"#);
    reset(&mut play);
    check(
        &play,
        &ViewFormat::PipelineState,
        expect![[r#"
            {
              "version": "1.0",
              "state": "gathering",
              "timestamp": "2026-08-22T10:07:00Z",
              "session_id": "",
              "context": {
                "context": ""
              },
              "history": [
                {"agent":"gatherer","timestamp":"2026-08-22T10:01:00Z","state_before":"gathering","state_after":"planning"},
                {"agent":"planner","timestamp":"2026-08-22T10:02:00Z","state_before":"planning","state_after":"approving"},
                {"agent":"person","timestamp":"2026-08-22T10:03:00Z","state_before":"approving","state_after":"building"},
                {"agent":"bash-tasks","timestamp":"2026-08-22T10:05:00Z","state_before":"building","state_after":"building"},
                {"agent":"bash-tests","timestamp":"2026-08-22T10:06:00Z","state_before":"building","state_after":"validating"},
                {"agent":"reset","timestamp":"2026-08-22T10:07:00Z","state_before":"validating","state_after":"gathering","reason":"a new try"}
              ]
            }
        "#]],
    );
}

#[test]
fn work_that_moves_nothing_is_in_the_history_too() {
    let mut play = Play::begin();
    play.report("bash-x", &[]);
    play.report("bash-y", &[]);
    let view = told(&play, &ViewFormat::PipelineState);
    let view: serde_json::Value = serde_json::from_str(&view).unwrap();
    let items: Vec<String> = view["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            format!(
                "{} {} {}",
                item["agent"], item["state_before"], item["state_after"]
            )
        })
        .collect();
    assert_eq!(
        items,
        [
            r#""bash-x" "gathering" "gathering""#,
            r#""bash-y" "gathering" "gathering""#
        ]
    );
    assert_eq!(view["context"], serde_json::json!({ "context": "" }));
}

#[test]
fn the_log_of_a_run() {
    let mut play = to_the_limit();
    play.report("validator", &[]);
    check(
        &play,
        &ViewFormat::Log,
        expect![[r#"
            [2026-08-22T10:00:00Z] [gatewright] the run started at gathering (by hand, unwitnessed): Write the role web and test it (GW-R01)
            [2026-08-22T10:01:00Z] [gatewright] approved: 'gatherer' (d1) was admitted to gathering, attempt 1 (GW-R10)
            [2026-08-22T10:01:00Z] [gatewright] 'gatherer' (d1) ended: done (GW-R32)
            [2026-08-22T10:01:00Z] [gatewright] gathering → planning: after gatherer (GW-R96)
            [2026-08-22T10:02:00Z] [gatewright] approved: 'planner' (d2) was admitted to planning, attempt 1 (GW-R10)
            [2026-08-22T10:02:00Z] [gatewright] 'planner' (d2) ended: done (GW-R32)
            [2026-08-22T10:02:00Z] [gatewright] planning → approving: done (GW-R96)
            [2026-08-22T10:03:00Z] [gatewright] approving was answered: yes (GW-R60)
            [2026-08-22T10:03:00Z] [gatewright] approved plan as 01010101 (GW-R60)
            [2026-08-22T10:03:00Z] [gatewright] approving → building: yes (GW-R96)
            [2026-08-22T10:04:00Z] [gatewright] 2 steps of building planned: tasks, tests (GW-R85)
            [2026-08-22T10:05:00Z] [gatewright] approved: 'bash-tasks' (d3) was admitted to building for step tasks, attempt 1 (GW-R10)
            [2026-08-22T10:05:00Z] [gatewright] 'bash-tasks' (d3) ended: done (GW-R32)
            [2026-08-22T10:06:00Z] [gatewright] approved: 'bash-tests' (d4) was admitted to building for step tests, attempt 1 (GW-R10)
            [2026-08-22T10:06:00Z] [gatewright] 'bash-tests' (d4) ended: done (GW-R32)
            [2026-08-22T10:06:00Z] [gatewright] building → validating: done (GW-R96)
            [2026-08-22T10:07:00Z] [gatewright] approved: 'validator' (d5) was admitted to validating, attempt 1 (GW-R10)
            [2026-08-22T10:07:00Z] [gatewright] 'validator' (d5) ended: failed (GW-R32)
            [2026-08-22T10:07:00Z] [gatewright] validating → debugging: failed; fixes is now 1 (GW-R96)
            [2026-08-22T10:08:00Z] [gatewright] approved: 'debugger' (d6) was admitted to debugging, attempt 1 (GW-R10)
            [2026-08-22T10:08:00Z] [gatewright] 'debugger' (d6) ended: done (GW-R32)
            [2026-08-22T10:08:00Z] [gatewright] debugging → validating: done (GW-R96)
            [2026-08-22T10:09:00Z] [gatewright] approved: 'validator' (d7) was admitted to validating, attempt 1 (GW-R10)
            [2026-08-22T10:09:00Z] [gatewright] 'validator' (d7) ended: failed (GW-R32)
            [2026-08-22T10:09:00Z] [gatewright] validating → debugging: failed; fixes is now 2 (GW-R96)
            [2026-08-22T10:10:00Z] [gatewright] approved: 'debugger' (d8) was admitted to debugging, attempt 1 (GW-R10)
            [2026-08-22T10:10:00Z] [gatewright] 'debugger' (d8) ended: done (GW-R32)
            [2026-08-22T10:10:00Z] [gatewright] debugging → validating: done (GW-R96)
            [2026-08-22T10:11:00Z] [gatewright] approved: 'validator' (d9) was admitted to validating, attempt 1 (GW-R10)
            [2026-08-22T10:11:00Z] [gatewright] 'validator' (d9) ended: passed (GW-R32)
            [2026-08-22T10:11:00Z] [gatewright] validating → linting: passed (GW-R96)
            [2026-08-22T10:12:00Z] [gatewright] the check linting failed (1 command): ansible-lint roles/web: exit 2 after 3.4 s (GW-R50)
            [2026-08-22T10:12:00Z] [gatewright] linting → escalate: failed; fixes is full (GW-R97)
            [2026-08-22T10:13:00Z] [gatewright] blocked: refused to report the work of 'validator': the run waits for a person (It does not get better. Continue, or stop?) (GW-R17)
        "#]],
    );
}

#[test]
fn the_state_by_one_word() {
    check(
        &to_validating(),
        &ViewFormat::TaskState,
        expect![[r#"
        {
          "state": "validating",
          "previous": "building",
          "task_id": "r-7f3",
          "task": "Write the role web\nand test it",
          "iteration": null,
          "reason": null,
          "started_at": "2026-08-22T10:00:00Z",
          "updated_at": "2026-08-22T10:06:00Z"
        }
    "#]],
    );
}

#[test]
fn every_status_has_its_word() {
    let word = |play: &Play| field(play, &ViewFormat::TaskState, "state");
    let previous = |play: &Play| field(play, &ViewFormat::TaskState, "previous");
    assert_eq!(word(&Play::begin()), r#""gathering""#);
    assert_eq!(previous(&Play::begin()), r#""idle""#);
    assert_eq!(word(&whole_story()), r#""complete""#);
    assert_eq!(previous(&whole_story()), r#""tidying""#);
    let mut play = to_the_limit();
    assert_eq!(word(&play), r#""needs_user_input""#);
    assert_eq!(
        previous(&play),
        r#""validating""#,
        "linting is shown as validating"
    );
    reset(&mut play);
    assert_eq!(word(&play), r#""idle""#);
    play.report("gatherer", &[("context", None)]);
    assert_eq!(word(&play), r#""planning""#);
    let mut play = to_the_limit();
    play.answer("give-up");
    assert_eq!(word(&play), r#""error""#);
    let mut play = to_the_limit();
    play.answer("stop");
    assert_eq!(word(&play), r#""idle""#);
    play.run.standing = Standing::Queued;
    assert_eq!(word(&play), r#""idle""#);
}

#[test]
fn a_loop_with_its_iterations() {
    let mut play = to_validating();
    assert_eq!(field(&play, &looped(), "started_at"), "null");
    play.report("validator", &[("validated", Some("FAIL"))]);
    std::sync::Arc::make_mut(&mut play.run.workers).insert(
        worker_id("a1b2"),
        KnownWorker {
            agent: agent_name("debugger"),
            dispatch: DispatchId(7),
            call: None,
        },
    );
    check(
        &play,
        &looped(),
        expect![[r#"
        {
          "active": true,
          "iteration": 1,
          "max_iterations": 2,
          "implementer_agent_id": "a1b2",
          "completion_promise": "roles/web",
          "started_at": "2026-08-22T10:07:00Z"
        }
    "#]],
    );
    play.report("debugger", &[("fixed", None)]);
    assert_eq!(field(&play, &looped(), "active"), "false");
}

#[test]
fn a_loop_that_waits_is_not_active() {
    let mut play = to_validating();
    play.report("validator", &[("validated", Some("FAIL"))]);
    assert_eq!(field(&play, &looped(), "active"), "true");
    play.run.standing = Standing::Stale;
    assert_eq!(field(&play, &looped(), "active"), "false");
}

#[test]
fn every_session_has_one_line() {
    let mut play = Play::begin();
    for session in ["s-1", "s-2", "s-1"] {
        play.entries.push(Entry {
            at: minutes(1),
            by: Who::Engine,
            rule: Rule::Attach,
            fact: Fact::Attached {
                session: session_id(session),
                process: None,
            },
        });
    }
    assert_eq!(told(&play, &ViewFormat::Sessions), "s-1\ns-2\n");
}
