//! The status of runs that were made by hand.

use std::collections::BTreeMap;

use engine::*;
use expect_test::{Expect, expect};

use super::example::*;
use crate::json::json_text;
use crate::status::StatusView;
use crate::{Freshness, Paint, RunContext, status};

pub(crate) const AROUND: RunContext<'static> = RunContext {
    project: "/home/ann/web",
    now: Time(START.0 + 7_500_000),
    freshness: Freshness::Fresh,
};

fn check_status(run: &Run, text: Expect) {
    text.assert_eq(&status(&pipeline(), run, AROUND).text(Paint::Plain));
}

pub(crate) fn dispatch(number: u32, agent: &str, stage: &str, duty: Duty) -> Dispatch {
    Dispatch {
        id: DispatchId(number),
        duty,
        agent: agent_name(agent),
        stage: stage_name(stage),
        visit: 1,
        attempt: 1,
        session: None,
        call: None,
        worker: None,
        worked: false,
        sent_back: 0,
        started_at: minutes(120),
        paused_at: None,
        service: None,
        conversation: Conversation::Fresh,
        reach: TreeAccess::MayWrite,
        tree: None,
        before: BTreeMap::new(),
    }
}

fn opened(run: &mut Run, dispatch: Dispatch) {
    run.dispatches.insert(dispatch.id, dispatch);
}

/// A run in the middle of a review, with a bit of everything behind it.
pub(crate) fn reviewed() -> Run {
    let mut run = run_in("reviewing");
    run.driver = Driver::Guarded;
    run.position.visit = 9;
    run.touched_at = minutes(122);
    run.counters.insert(counter_name("fixes"), 1);
    let captured = |byte, number| Captured {
        content: hash(byte),
        dispatch: Some(DispatchId(number)),
        commands: Vec::new(),
    };
    run.artifacts
        .insert(artifact_name("plan"), captured(0xa1, 2));
    run.artifacts
        .insert(artifact_name("validated"), captured(0xa2, 5));
    run.approved.insert(artifact_name("plan"), hash(0xa1));
    run.gates
        .insert(stage_name("linting"), Gate::Tree(hash(0x77)));
    let approvals = BTreeMap::from([(0, hash(0x77))]);
    let panel = Panel {
        round: 2,
        turn: Turn::Reviewing { reviewer: 1 },
        approvals,
    };
    run.panels.insert(stage_name("reviewing"), panel);
    opened(
        &mut run,
        dispatch(
            7,
            "codex-reviewer",
            "reviewing",
            Duty::Review { reviewer: 1 },
        ),
    );
    run.session = Some(Binding {
        session: session_id("s-1"),
        state: BindingState::Active,
        process: Some(PROCESS),
        since: None,
    });
    run.used = Usage {
        turns: 12,
        tokens: 34_000,
        cost_cents: 105,
        estimated_cents: None,
    };
    run
}

/// A run in a task graph with a step in every state.
pub(crate) fn building() -> Run {
    let mut run = run_in("building");
    let step = |id: &str, needs: &[&str]| Step {
        id: step_id(id),
        title: format!("Write {id}"),
        agent: agent_name("bash-writer"),
        needs: needs.iter().map(|need| step_id(need)).collect(),
    };
    let member = |step, state| Member {
        strayed_from: None,
        step,
        state,
        retries: 0,
        left: BTreeMap::new(),
        started_at: None,
        ended_at: None,
    };
    let done = Member {
        started_at: Some(minutes(1)),
        ended_at: Some(minutes(4)),
        ..member(step("tasks", &[]), MemberState::Done)
    };
    let working = Member {
        started_at: Some(minutes(120)),
        retries: 1,
        ..member(
            step("handlers", &["tasks"]),
            MemberState::Working {
                dispatch: DispatchId(4),
            },
        )
    };
    let failed = MemberState::Failed {
        fault: Fault::Missing,
        reason: "built.md is not there".to_owned(),
    };
    let members = vec![
        done,
        working,
        member(step("vars", &["tasks"]), MemberState::Pending),
        member(step("docs", &["handlers", "tasks"]), MemberState::Pending),
        member(step("molecule", &[]), failed),
    ];
    run.graphs.insert(stage_name("building"), Graph { members });
    let duty = Duty::Step {
        step: step_id("handlers"),
    };
    opened(&mut run, dispatch(4, "bash-writer", "building", duty));
    run
}

pub(crate) fn overridden() -> Run {
    let mut run = run_in("complete");
    run.overrides.push(Override {
        stage: stage_name("reviewing"),
        outcome: outcome("approved"),
        reason: "the reviewer is on holiday".to_owned(),
        by: "ann".to_owned(),
        at: minutes(30),
    });
    run
}

#[test]
fn a_run_that_has_just_begun() {
    check_status(
        &run_in("gathering"),
        expect![[r#"
            r-7f3 · showcase · running
              task      Write the role web
              params    finish = complete
                        limit = 3
                        target = roles/web
              project   /home/ann/web
              driver    by hand, unwitnessed: nobody saw the agents work
              mode      enforced
              stage     gathering (open)
              counters  fixes 0/2, replans 0/3
              budget    turns 0 of 40, cost 0.00 of 5.00
              started   2026-08-22T10:00:00Z, 2h 5m ago
              updated   2026-08-22T10:00:00Z, 2h 5m ago
        "#]],
    );
}

#[test]
fn a_run_in_review() {
    check_status(
        &reviewed(),
        expect![[r#"
            r-7f3 · showcase · running
              task      Write the role web
              params    finish = complete
                        limit = 3
                        target = roles/web
              project   /home/ann/web
              driver    guarded by hooks
              mode      enforced
              session   s-1 holds the run (process 4242)
              stage     reviewing (review) · attempt 1, retries 0/2
              counters  fixes 1/2, replans 0/3
              review    round 2/3, 'codex-reviewer' reviews; approved by 'code-reviewer'
              working   d7 'codex-reviewer' as reviewer 2 in reviewing, attempt 1, for 5m
              artifacts plan a1a1a1a1 by d2, approved
                        validated a2a2a2a2 by d5
              gates     linting passed on tree 77777777
              budget    turns 12 of 40, tokens 34000, cost 1.05 of 5.00
              started   2026-08-22T10:00:00Z, 2h 5m ago
              updated   2026-08-22T12:02:00Z, 3m ago
        "#]],
    );
}

#[test]
fn a_run_in_a_task_graph() {
    check_status(
        &building(),
        expect![[r#"
            r-7f3 · showcase · running
              task      Write the role web
              params    finish = complete
                        limit = 3
                        target = roles/web
              project   /home/ann/web
              driver    by hand, unwitnessed: nobody saw the agents work
              mode      enforced
              stage     building (steps) · attempt 1, retries 0/2
              counters  fixes 0/2, replans 0/3
              steps     1 of 5 done
                        ✓ tasks     Write tasks · bash-writer · done 3m
                        ● handlers  Write handlers · bash-writer · working 5m (d4), retries 1
                        ○ vars      Write vars · bash-writer · ready
                        · docs      Write docs · bash-writer · waits for handlers
                        ✗ molecule  Write molecule · bash-writer · missing: built.md is not there
              working   d4 'bash-writer' for step handlers in building, attempt 1, for 5m
              budget    turns 0 of 40, cost 0.00 of 5.00
              started   2026-08-22T10:00:00Z, 2h 5m ago
              updated   2026-08-22T10:00:00Z, 2h 5m ago
        "#]],
    );
}

#[test]
fn an_override_is_loud() {
    check_status(
        &overridden(),
        expect![[r#"
            r-7f3 · showcase · completed
            OVERRIDDEN: reviewing skipped as approved by ann at 2026-08-22T10:30:00Z because: the reviewer is on
            holiday
              task      Write the role web
              params    finish = complete
                        limit = 3
                        target = roles/web
              project   /home/ann/web
              driver    by hand, unwitnessed: nobody saw the agents work
              mode      enforced
              stage     complete (end)
              counters  fixes 0/2, replans 0/3
              budget    turns 0 of 40, cost 0.00 of 5.00
              started   2026-08-22T10:00:00Z, 2h 5m ago
              updated   2026-08-22T10:00:00Z, 2h 5m ago
        "#]],
    );
}

#[test]
fn a_run_that_waits_says_why() {
    let mut run = run_in("validating");
    run.position.retries = 2;
    let reason = "validated.md has no field 'status'".to_owned();
    run.standing = Standing::Stuck {
        fault: Fault::Missing,
        reason,
    };
    check_status(
        &run,
        expect![[r#"
            r-7f3 · showcase · waiting: missing: validated.md has no field 'status'
              task      Write the role web
              params    finish = complete
                        limit = 3
                        target = roles/web
              project   /home/ann/web
              driver    by hand, unwitnessed: nobody saw the agents work
              mode      enforced
              stage     validating (agent) · attempt 3, retries 2/2
              counters  fixes 0/2, replans 0/3
              budget    turns 0 of 40, cost 0.00 of 5.00
              started   2026-08-22T10:00:00Z, 2h 5m ago
              updated   2026-08-22T10:00:00Z, 2h 5m ago
        "#]],
    );
}

#[test]
fn an_advisory_and_stale_run_shows_both() {
    let mut definition = definition();
    definition.mode = Mode::Advisory;
    let context = RunContext {
        freshness: Freshness::Stale,
        ..AROUND
    };
    let view = status(
        &Pipeline::from_cache(definition),
        &run_in("planning"),
        context,
    );
    let text = view.text(Paint::Plain);
    assert!(
        text.contains("STALE: nothing happened for 2h 5m; a person decides"),
        "{text}"
    );
    assert!(text.contains("advisory, not enforced"), "{text}");
    assert_eq!(view.json()["stale"], true);
    assert_eq!(view.json()["enforced"], false);
}

#[test]
fn text_and_json_tell_the_same() {
    for run in [run_in("gathering"), reviewed(), building(), overridden()] {
        let view = status(&pipeline(), &run, AROUND);
        let (text, json) = (crate::line(&view.text(Paint::Plain)), view.json());
        assert_eq!(json["run"], run.id.as_str());
        assert_eq!(json["stage"]["name"], run.position.stage.as_str());
        assert!(text.contains(json["status"].as_str().unwrap()));
        for step in json["steps"].as_array().unwrap() {
            assert!(text.contains(step["title"].as_str().unwrap()), "{text}");
        }
        for taken in json["overrides"].as_array().unwrap() {
            assert!(text.contains(taken["reason"].as_str().unwrap()), "{text}");
        }
        for counter in json["counters"].as_array().unwrap() {
            let shown = format!(
                "{} {}/{}",
                counter["name"].as_str().unwrap(),
                counter["used"],
                counter["max"]
            );
            assert!(text.contains(&shown), "{text}");
        }
    }
}

#[test]
fn a_status_as_json() {
    let mut run = overridden();
    run.gates
        .insert(stage_name("linting"), Gate::Tree(hash(0x77)));
    expect![[r#"
        {
          "run": "r-7f3",
          "pipeline": "showcase",
          "definition": "d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0",
          "task": "Write the role web",
          "params": {
            "finish": "complete",
            "limit": "3",
            "target": "roles/web"
          },
          "project": "/home/ann/web",
          "driver": "by_hand",
          "witnessed": false,
          "rehearsal": false,
          "mode": "enforced",
          "enforced": true,
          "status": "completed",
          "reason": null,
          "stale": false,
          "overridden": true,
          "session": null,
          "bypass": null,
          "unjudged": 0,
          "outside": 0,
          "place": null,
          "undelivered": null,
          "unguarded": [],
          "stage": {
            "name": "complete",
            "kind": "end",
            "shown": null,
            "visit": 1,
            "attempt": 1,
            "retries": 0,
            "retry_limit": null,
            "since": "2026-08-22T10:00:00Z"
          },
          "counters": [
            {
              "name": "fixes",
              "used": 0,
              "max": 2
            },
            {
              "name": "replans",
              "used": 0,
              "max": 3
            }
          ],
          "review": null,
          "steps": [],
          "dispatches": [],
          "limits": [],
          "artifacts": [],
          "gates": [
            {
              "stage": "linting",
              "passed_on": {
                "tree": "7777777777777777777777777777777777777777777777777777777777777777"
              }
            }
          ],
          "overrides": [
            {
              "stage": "reviewing",
              "outcome": "approved",
              "reason": "the reviewer is on holiday",
              "by": "ann",
              "at": "2026-08-22T10:30:00Z"
            }
          ],
          "causes": [
            {
              "stage": "complete",
              "outcome": null,
              "along": null,
              "happened": []
            }
          ],
          "budget": [
            {
              "what": "turns",
              "used": 0,
              "limit": 40,
              "estimated": false
            },
            {
              "what": "cost_cents",
              "used": 0,
              "limit": 500,
              "estimated": false
            }
          ],
          "started_at": "2026-08-22T10:00:00Z",
          "updated_at": "2026-08-22T10:00:00Z",
          "age_seconds": 7500,
          "idle_seconds": 7500,
          "liveness": null,
          "rest": null,
          "asks": null,
          "used": {
            "turns": 0,
            "tokens": 0,
            "cost_cents": 0
          },
          "journal": null
        }
    "#]]
    .assert_eq(&json_text(&status(&pipeline(), &run, AROUND).json()));
}

#[test]
fn colour_adds_nothing_but_colour() {
    for run in [run_in("gathering"), reviewed(), building(), overridden()] {
        let view = status(&pipeline(), &run, AROUND);
        let coloured = view.text(Paint::Ansi);
        assert!(coloured.contains("\u{1b}["));
        assert_eq!(crate::safe(&coloured), view.text(Paint::Plain));
    }
}

/// A run that a person lets go unguarded from noon on, for two and a half hours.
pub(crate) fn bypassed() -> Run {
    let mut run = reviewed();
    run.bypass = Some(Bypass {
        until: minutes(270),
        reason: "the hook is\nbeing mended".to_owned(),
        by: "ada".to_owned(),
    });
    run
}

#[test]
fn a_bypass_is_shown_while_it_lasts() {
    for (now, shown) in [
        (
            minutes(125),
            Some("NOT GUARDED until 14:30 UTC, by ada: the hook is being mended"),
        ),
        (
            Time(minutes(270).0 - 1),
            Some("NOT GUARDED until 14:30 UTC, by ada"),
        ),
        (minutes(270), None),
        (minutes(9_000), None),
    ] {
        let view = status(&pipeline(), &bypassed(), RunContext { now, ..AROUND });
        let text = view.text(Paint::Plain);
        assert_eq!(text.contains("NOT GUARDED"), shown.is_some(), "{text}");
        assert!(text.contains(shown.unwrap_or_default()), "{text}");
        assert_eq!(view.json()["bypass"].is_null(), shown.is_none());
    }
    let view = status(&pipeline(), &bypassed(), AROUND).json();
    assert_eq!(view["bypass"]["until"], "2026-08-22T14:30:00Z");
    assert_eq!(view["bypass"]["by"], "ada");
}

#[test]
fn what_nobody_judged_is_shown() {
    for (unjudged, shown) in [
        (0, None),
        (1, Some("1 event was not judged: gatewright history r-7f3")),
        (
            2,
            Some("2 events were not judged: gatewright history r-7f3"),
        ),
    ] {
        let view = StatusView {
            unjudged,
            ..status(&pipeline(), &reviewed(), AROUND)
        };
        let text = view.text(Paint::Plain);
        assert_eq!(text.contains("judged"), shown.is_some(), "{text}");
        assert!(text.contains(shown.unwrap_or_default()), "{text}");
        assert_eq!(view.json()["unjudged"], unjudged);
    }
}
