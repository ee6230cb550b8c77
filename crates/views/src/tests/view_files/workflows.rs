//! Formats that tell a task graph.

use engine::*;
use expect_test::expect;

use super::{render, told};

use crate::tests::example::*;
use crate::tests::play::{Play, whole_story};
use crate::tests::runs::building;

const SCHEMA: &str = include_str!("../../../../language/builtin/phases/workflow.schema.json");

fn by_hand(format: &ViewFormat, run: &Run) -> String {
    render(format, &pipeline(), run, &[])
}

fn valid(text: &str) {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let view = serde_json::from_str(text).unwrap();
    if let Err(error) = validator.validate(&view) {
        panic!("{error} at {}\n{text}", error.instance_path());
    }
}

#[test]
fn a_workflow_of_a_whole_run() {
    let text = told(&whole_story(), &ViewFormat::Workflow);
    valid(&text);
    expect![[r#"
        {
          "id": "wf_20260822_100000",
          "task": "Write the role web\nand test it",
          "status": "completed",
          "current_phase": null,
          "phases": [
            {
              "id": "phase_0",
              "title": "Write tasks",
              "agent": "bash-tasks",
              "status": "completed",
              "deliverables": [
                "tasks/main.yml",
                "a handler"
              ],
              "context_for_next": "tasks are there",
              "step": "tasks",
              "attempts": 1,
              "started_at": "2026-08-22T10:06:00Z",
              "completed_at": "2026-08-22T10:06:00Z",
              "duration_seconds": 0,
              "error": null
            },
            {
              "id": "phase_1",
              "title": "Write tests",
              "agent": "bash-tests",
              "status": "completed",
              "deliverables": [
                "tests/test_web.yml"
              ],
              "context_for_next": "{\"note\":1}",
              "step": "tests",
              "attempts": 1,
              "started_at": "2026-08-22T10:07:00Z",
              "completed_at": "2026-08-22T10:07:00Z",
              "duration_seconds": 0,
              "error": null
            }
          ],
          "current_phases": [],
          "progress": 100,
          "started_at": "2026-08-22T10:00:00Z",
          "completed_at": "2026-08-22T10:15:00Z",
          "duration_seconds": 900,
          "error": null
        }
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_workflow_with_a_phase_in_every_state() {
    let text = by_hand(&ViewFormat::Workflow, &building());
    valid(&text);
    expect![[r#"
        {
          "id": "wf_20260822_100000",
          "task": "Write the role web",
          "status": "active",
          "current_phase": "phase_1",
          "phases": [
            {
              "id": "phase_0",
              "title": "Write tasks",
              "agent": "bash-writer",
              "status": "completed",
              "deliverables": [],
              "context_for_next": "",
              "step": "tasks",
              "attempts": 1,
              "started_at": "2026-08-22T10:01:00Z",
              "completed_at": "2026-08-22T10:04:00Z",
              "duration_seconds": 180,
              "error": null
            },
            {
              "id": "phase_1",
              "title": "Write handlers",
              "agent": "bash-writer",
              "status": "active",
              "deliverables": [],
              "context_for_next": "",
              "step": "handlers",
              "attempts": 2,
              "started_at": "2026-08-22T12:00:00Z",
              "completed_at": null,
              "duration_seconds": null,
              "error": null
            },
            {
              "id": "phase_2",
              "title": "Write vars",
              "agent": "bash-writer",
              "status": "pending",
              "deliverables": [],
              "context_for_next": "",
              "step": "vars",
              "attempts": 0,
              "started_at": null,
              "completed_at": null,
              "duration_seconds": null,
              "error": null
            },
            {
              "id": "phase_3",
              "title": "Write docs",
              "agent": "bash-writer",
              "status": "pending",
              "deliverables": [],
              "context_for_next": "",
              "step": "docs",
              "attempts": 0,
              "started_at": null,
              "completed_at": null,
              "duration_seconds": null,
              "error": null
            },
            {
              "id": "phase_4",
              "title": "Write molecule",
              "agent": "bash-writer",
              "status": "failed",
              "deliverables": [],
              "context_for_next": "",
              "step": "molecule",
              "attempts": 1,
              "started_at": null,
              "completed_at": null,
              "duration_seconds": null,
              "error": "missing: built.md is not there"
            }
          ],
          "current_phases": [
            "phase_1"
          ],
          "progress": 20,
          "started_at": "2026-08-22T10:00:00Z",
          "completed_at": null,
          "duration_seconds": null,
          "error": null
        }
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_workflow_before_its_plan_has_no_phases() {
    let text = told(&Play::begin(), &ViewFormat::Workflow);
    valid(&text);
    let view: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(view["status"], "pending");
    assert_eq!(view["current_phase"], serde_json::Value::Null);
    assert_eq!(view["phases"], serde_json::json!([]));
    assert_eq!(view["progress"], 0);
}

#[test]
fn the_schema_refuses_another_status_and_another_field() {
    let text = told(&whole_story(), &ViewFormat::Workflow);
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (place, value) in [
        ("/status", "done"),
        ("/current_phase", "phase_x"),
        ("/id", "wf_1"),
    ] {
        let mut view: serde_json::Value = serde_json::from_str(&text).unwrap();
        *view.pointer_mut(place).unwrap() = value.into();
        assert!(!validator.is_valid(&view), "{place}");
    }
    let mut view: serde_json::Value = serde_json::from_str(&text).unwrap();
    view["surplus"] = 1.into();
    assert!(!validator.is_valid(&view));
}

#[test]
fn a_report_of_a_whole_run() {
    expect![[r#"
        # Workflow Status: Write the role web and test it

        Status: completed | Current Phase: none

        ## Phases

        - [x] Phase 0: Write tasks → tasks/main.yml, a handler
        - [x] Phase 1: Write tests → tests/test_web.yml
    "#]]
    .assert_eq(&told(&whole_story(), &ViewFormat::WorkflowReport));
}

#[test]
fn a_report_with_a_phase_in_every_state() {
    expect![[r#"
        # Workflow Status: Write the role web

        Status: active | Current Phase: Write handlers

        ## Phases

        - [x] Phase 0: Write tasks
        - [ ] Phase 1: Write handlers
        - [ ] Phase 2: Write vars
        - [ ] Phase 3: Write docs
        - [ ] Phase 4: Write molecule — failed: missing: built.md is not there
    "#]]
    .assert_eq(&by_hand(&ViewFormat::WorkflowReport, &building()));
}

#[test]
fn a_report_says_what_a_run_waits_for() {
    let mut run = building();
    run.standing = Standing::Stale;
    let text = by_hand(&ViewFormat::WorkflowReport, &run);
    assert!(
        text.contains("\n\nwaiting: stale: nothing happened for too long\n\n## Phases"),
        "{text}"
    );
}

#[test]
fn a_report_names_the_phase_before_and_after_the_steps() {
    let mut run = building();
    run.graphs.clear();
    run.position.stage = StageName::parse("reviewing").unwrap();
    let text = by_hand(&ViewFormat::WorkflowReport, &run);
    assert!(text.contains("Current Phase: reviewing\n"), "{text}");
}

#[test]
fn a_task_graph_with_its_waves() {
    expect![[r#"
        {
          "workflow_id": "wf_20260822_100000",
          "task": "Write the role web",
          "current_wave": 0,
          "waves": [
            [
              "tasks",
              "molecule"
            ],
            [
              "handlers",
              "vars"
            ],
            [
              "docs"
            ]
          ],
          "tasks": [
            {
              "id": "tasks",
              "phase": "phase_0",
              "title": "Write tasks",
              "agent": "bash-writer",
              "needs": [],
              "wave": 0,
              "status": "completed"
            },
            {
              "id": "handlers",
              "phase": "phase_1",
              "title": "Write handlers",
              "agent": "bash-writer",
              "needs": [
                "tasks"
              ],
              "wave": 1,
              "status": "active"
            },
            {
              "id": "vars",
              "phase": "phase_2",
              "title": "Write vars",
              "agent": "bash-writer",
              "needs": [
                "tasks"
              ],
              "wave": 1,
              "status": "pending"
            },
            {
              "id": "docs",
              "phase": "phase_3",
              "title": "Write docs",
              "agent": "bash-writer",
              "needs": [
                "handlers",
                "tasks"
              ],
              "wave": 2,
              "status": "pending"
            },
            {
              "id": "molecule",
              "phase": "phase_4",
              "title": "Write molecule",
              "agent": "bash-writer",
              "needs": [],
              "wave": 0,
              "status": "failed"
            }
          ]
        }
    "#]]
    .assert_eq(&by_hand(&ViewFormat::TaskGraph, &building()));
}
