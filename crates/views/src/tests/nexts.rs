//! The next steps of runs that were made by hand.

use std::collections::BTreeMap;

use engine::*;
use expect_test::{Expect, expect};

use super::example::*;
use super::runs::building;
use crate::json::json_text;
use crate::{Paint, next};

fn check_next(run: &Run, text: Expect) {
    let pipeline = pipeline();
    let legal = engine::next(&pipeline, run);
    text.assert_eq(&next(&pipeline, run, &legal).text(Paint::Plain));
}

#[test]
fn the_next_step_by_stage() {
    check_next(
        &run_in("gathering"),
        expect![[r#"
            r-7f3 is in gathering

            any of these agents may work: gatherer, bash-*, python-*
              type      gatewright report r-7f3 --agent AGENT

            a person ends the stage
              type      gatewright finish r-7f3
        "#]],
    );
    check_next(
        &run_in("approving"),
        expect![[r#"
            r-7f3 is in approving

            a person answers: Is this the plan? (words may follow a choice, in quotes)
              type      gatewright answer r-7f3 no
                        gatewright answer r-7f3 yes
        "#]],
    );
    check_next(
        &run_in("clarifying"),
        expect![[r#"
            r-7f3 is in clarifying

            a person answers each question: The planner has questions.
              type      gatewright answer r-7f3 --answer ID=TEXT --answer ID=TEXT …
        "#]],
    );
    check_next(
        &run_in("linting"),
        expect![[r#"
            r-7f3 is in linting

            gatewright runs the commands of linting
              type      gatewright check r-7f3
        "#]],
    );
    check_next(
        &run_in("tidying"),
        expect![[r#"
            r-7f3 is in tidying

            the session does the work itself
              type      gatewright report r-7f3
        "#]],
    );
    check_next(
        &run_in("abandoned"),
        expect![[r#"
            r-7f3 is in abandoned

            the run is over; there is nothing to do
        "#]],
    );
}

#[test]
fn a_worker_of_another_program_is_started_by_a_command() {
    let mut run = run_in("reviewing");
    let panel = Panel {
        round: 2,
        turn: Turn::Reviewing { reviewer: 1 },
        approvals: BTreeMap::new(),
    };
    run.panels.insert(stage_name("reviewing"), panel);
    check_next(
        &run,
        expect![[r#"
            r-7f3 is in reviewing

            'codex-reviewer' reviews as reviewer 2 in round 2 of 3
              type      gatewright step r-7f3
                        gatewright report r-7f3 --agent codex-reviewer
              leave     second_verdict (bundle) in .work/second.md
                          with source_agent, timestamp
                          whose status is CHANGE (needs_changes) or OK (approved)
        "#]],
    );
    run.driver = Driver::Guarded;
    check_next(
        &run,
        expect![[r#"
            r-7f3 is in reviewing

            'codex-reviewer' reviews as reviewer 2 in round 2 of 3 (gatewright starts it)
              type      gatewright step r-7f3
              leave     second_verdict (bundle) in .work/second.md
                          with source_agent, timestamp
                          whose status is CHANGE (needs_changes) or OK (approved)
        "#]],
    );
}

#[test]
fn the_next_worker_knows_what_to_read_and_to_leave() {
    let mut run = run_in("validating");
    let captured = Captured {
        content: hash(0xa1),
        dispatch: Some(DispatchId(2)),
        commands: Vec::new(),
    };
    run.artifacts.insert(artifact_name("plan"), captured);
    check_next(
        &run,
        expect![[r#"
            r-7f3 is in validating

            'validator' works
              type      gatewright report r-7f3 --agent validator
              leave     validated (bundle) in .work/r-7f3/validated.md
                          with source_agent, timestamp
                          whose status is FAIL (failed) or PASS (passed)
              may read  plan (json) in .work/r-7f3/plan.json, captured a1a1a1a1
        "#]],
    );
}

#[test]
fn the_next_steps_of_a_task_graph() {
    check_next(
        &building(),
        expect![[r#"
            r-7f3 is in building

            'bash-writer' is working on step handlers

            'bash-writer' does step vars: Write vars
              type      gatewright report r-7f3 --agent bash-writer --step vars
              leave     built (bundle) in .work/r-7f3/vars.md
        "#]],
    );
}

#[test]
fn a_guarded_run_is_not_told_to_report() {
    let mut run = run_in("validating");
    run.driver = Driver::Guarded;
    check_next(
        &run,
        expect![[r#"
            r-7f3 is in validating

            'validator' works (the session calls it)
              call      call the Agent tool with subagent_type "validator"
              leave     validated (bundle) in .work/r-7f3/validated.md
                          with source_agent, timestamp
                          whose status is FAIL (failed) or PASS (passed)
        "#]],
    );
}

#[test]
fn a_stuck_run_asks_a_person() {
    let mut run = run_in("validating");
    run.standing = Standing::Stuck {
        fault: Fault::Crashed,
        reason: "exit 137".to_owned(),
    };
    check_next(
        &run,
        expect![[r#"
            r-7f3 is in validating

            a person decides: validating failed: crashed: exit 137. Retry it, skip the stage, or cancel the run?
              type      gatewright retry r-7f3
                        gatewright skip r-7f3 --as failed|passed --reason TEXT
                        gatewright cancel r-7f3 --reason TEXT
        "#]],
    );
    run.standing = Standing::Stale;
    check_next(
        &run,
        expect![[r#"
            r-7f3 is in validating

            a person decides: nothing happened for longer than the pipeline allows
              type      gatewright answer r-7f3 continue
                        gatewright reset r-7f3 --reason TEXT
                        gatewright cancel r-7f3 --reason TEXT
        "#]],
    );
}

#[test]
fn the_next_step_as_json() {
    let pipeline = pipeline();
    let run = run_in("validating");
    let legal = engine::next(&pipeline, &run);
    expect![[r#"
        {
          "run": "r-7f3",
          "stage": "validating",
          "causes": [
            {
              "stage": "validating",
              "outcome": null,
              "along": null,
              "happened": []
            }
          ],
          "about": [],
          "change": null,
          "questions": [],
          "rest": null,
          "next": [
            {
              "who": {
                "kind": "agent",
                "agent": "validator"
              },
              "what": "'validator' works",
              "call": null,
              "commands": [
                "gatewright report r-7f3 --agent validator"
              ],
              "reads": [],
              "leaves": [
                {
                  "artifact": "validated",
                  "source": "file",
                  "path": ".work/r-7f3/validated.md",
                  "format": "bundle",
                  "require": [
                    "source_agent",
                    "timestamp"
                  ],
                  "equals": {},
                  "outcome": {
                    "field": "status",
                    "words": {
                      "FAIL": "failed",
                      "PASS": "passed"
                    }
                  },
                  "strict": true,
                  "captured": null,
                  "shown_by": null
                }
              ]
            }
          ]
        }
    "#]]
    .assert_eq(&json_text(&next(&pipeline, &run, &legal).json()));
}
