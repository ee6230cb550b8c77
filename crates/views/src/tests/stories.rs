//! Stories: whole runs through the real engine, told by every view.

use engine::*;
use expect_test::expect;

use super::example::*;
use super::facts::entry;
use super::play::{Play, whole_story};
use super::runs::{AROUND, bypassed};
use crate::{AgentNames, Paint, Verification, history, refusal_in, status, summary, why};

#[test]
fn a_whole_run_told_as_history() {
    expect![[r#"
        #   TIME                  WHO         RULE    WHAT
         1  2026-08-22T10:00:00Z  ann         GW-R01  the run started at gathering (by hand, unwitnessed): Write the role web and test it
         2  2026-08-22T10:01:00Z  ann         GW-R10  'gatherer' (d1) was admitted to gathering, attempt 1
         3  2026-08-22T10:01:00Z  ann         GW-R32  captured context as 00000000, written by 'gatherer' (d1)
         4  2026-08-22T10:01:00Z  ann         GW-R32  'gatherer' (d1) ended: done
         5  2026-08-22T10:01:00Z  ann         GW-R96  gathering → planning: after gatherer
         6  2026-08-22T10:02:00Z  ann         GW-R11  refused to report the work of 'validator': 'validator' may not work in planning
         7  2026-08-22T10:03:00Z  ann         GW-R10  'planner' (d2) was admitted to planning, attempt 1
         8  2026-08-22T10:03:00Z  ann         GW-R32  captured plan as 02020202, written by 'planner' (d2)
         9  2026-08-22T10:03:00Z  ann         GW-R32  'planner' (d2) ended: done
        10  2026-08-22T10:03:00Z  ann         GW-R96  planning → approving: done
        11  2026-08-22T10:04:00Z  ann         GW-R60  approving was answered: yes
        12  2026-08-22T10:04:00Z  ann         GW-R60  approved plan as 02020202
        13  2026-08-22T10:04:00Z  ann         GW-R96  approving → building: yes
        14  2026-08-22T10:05:00Z  gatewright  GW-R85  2 steps of building planned: tasks, tests
        15  2026-08-22T10:06:00Z  ann         GW-R10  'bash-tasks' (d3) was admitted to building for step tasks, attempt 1
        16  2026-08-22T10:06:00Z  ann         GW-R32  captured built for step tasks as 05050505, written by 'bash-tasks' (d3)
        17  2026-08-22T10:06:00Z  ann         GW-R32  'bash-tasks' (d3) ended: done
        18  2026-08-22T10:07:00Z  ann         GW-R10  'bash-tests' (d4) was admitted to building for step tests, attempt 1
        19  2026-08-22T10:07:00Z  ann         GW-R32  captured built for step tests as 06060606, written by 'bash-tests' (d4)
        20  2026-08-22T10:07:00Z  ann         GW-R32  'bash-tests' (d4) ended: done
        21  2026-08-22T10:07:00Z  ann         GW-R96  building → validating: done
        22  2026-08-22T10:08:00Z  ann         GW-R10  'validator' (d5) was admitted to validating, attempt 1
        23  2026-08-22T10:08:00Z  ann         GW-R32  captured validated as 07070707, written by 'validator' (d5)
        24  2026-08-22T10:08:00Z  ann         GW-R32  'validator' (d5) ended: passed
        25  2026-08-22T10:08:00Z  ann         GW-R96  validating → linting: passed
        26  2026-08-22T10:09:00Z  gatewright  GW-R50  the check linting failed (1 command): ansible-lint roles/web: exit 2 after 3.4 s
        27  2026-08-22T10:09:00Z  gatewright  GW-R96  linting → debugging: failed; fixes is now 1
        28  2026-08-22T10:10:00Z  ann         GW-R10  'debugger' (d6) was admitted to debugging, attempt 1
        29  2026-08-22T10:10:00Z  ann         GW-R32  captured fixed as 09090909, written by 'debugger' (d6)
        30  2026-08-22T10:10:00Z  ann         GW-R32  'debugger' (d6) ended: done
        31  2026-08-22T10:10:00Z  ann         GW-R96  debugging → validating: done
        32  2026-08-22T10:11:00Z  ann         GW-R10  'validator' (d7) was admitted to validating, attempt 1
        33  2026-08-22T10:11:00Z  ann         GW-R32  captured validated as 0a0a0a0a, written by 'validator' (d7)
        34  2026-08-22T10:11:00Z  ann         GW-R32  'validator' (d7) ended: passed
        35  2026-08-22T10:11:00Z  ann         GW-R96  validating → linting: passed
        36  2026-08-22T10:12:00Z  gatewright  GW-R50  the check linting passed (1 command)
        37  2026-08-22T10:12:00Z  gatewright  GW-R50  linting passed on tree 77777777
        38  2026-08-22T10:12:00Z  gatewright  GW-R96  linting → reviewing: passed
        39  2026-08-22T10:12:00Z  gatewright  GW-R80  round 1 of reviewing started
        40  2026-08-22T10:13:00Z  ann         GW-R10  'code-reviewer' (d8) was admitted to reviewing as reviewer 1, attempt 1
        41  2026-08-22T10:13:00Z  ann         GW-R32  captured first_verdict as 0c0c0c0c, written by 'code-reviewer' (d8)
        42  2026-08-22T10:13:00Z  ann         GW-R32  'code-reviewer' (d8) ended: approved
        43  2026-08-22T10:13:00Z  ann         GW-R80  reviewer 1 ('code-reviewer') approved 77777777
        44  2026-08-22T10:14:00Z  ann         GW-R10  'codex-reviewer' (d9) was admitted to reviewing as reviewer 2, attempt 1
        45  2026-08-22T10:14:00Z  ann         GW-R32  captured second_verdict as 0d0d0d0d, written by 'codex-reviewer' (d9)
        46  2026-08-22T10:14:00Z  ann         GW-R32  'codex-reviewer' (d9) ended: approved
        47  2026-08-22T10:14:00Z  ann         GW-R80  reviewer 2 ('codex-reviewer') approved 77777777
        48  2026-08-22T10:14:00Z  ann         GW-R80  reviewing passed on tree 77777777
        49  2026-08-22T10:14:00Z  ann         GW-R96  reviewing → tidying: approved
        50  2026-08-22T10:15:00Z  ann         GW-R10  'session' (d10) was admitted to tidying, attempt 1
        51  2026-08-22T10:15:00Z  ann         GW-R32  'session' (d10) ended: done
        52  2026-08-22T10:15:00Z  ann         GW-R96  tidying → complete: done
    "#]].assert_eq(&whole_story().told());
}

/// A reader of the top of the page has read this.
#[test]
fn a_page_opens_with_what_was_not_guarded_or_judged() {
    let entries = [
        Fact::Bypassed {
            until: minutes(270),
            reason: "we fix it".to_owned(),
        },
        Fact::Unevaluated {
            what: "use 'Read'".to_owned(),
        },
    ]
    .map(entry);
    let numbered: Vec<(u64, &Entry)> = (7..).zip(&entries).collect();
    let run = engine::Run {
        unjudged: 1,
        ..bypassed()
    };
    let page = summary(&pipeline(), &run, &numbered, AROUND, Verification::NotRun);
    let (top, rest) = page.split_once("## Task").unwrap();
    for said in [
        "| session | s-1 holds the run (process 4242) |",
        "**NOT GUARDED until 14:30 UTC, by ada: the hook is being mended**",
        "**1 event was not judged**",
    ] {
        assert!(top.contains(said), "{top}");
    }
    for said in [
        "## Route\n\n- NOT GUARDED until 2026-08-22T14:30:00Z because: we fix it",
        "## Not judged\n\n- NOT JUDGED, ",
    ] {
        assert!(rest.contains(said), "{rest}");
    }
}

#[test]
fn a_whole_run_told_as_a_page() {
    let play = whole_story();
    let page = summary(
        &play.pipeline,
        &play.run,
        &play.numbered(),
        AROUND,
        Verification::NotRun,
    );
    expect![[r#"
        # Run r-7f3 of showcase

        | | |
        | --- | --- |
        | status | completed |
        | stage | complete |
        | project | /home/ann/web |
        | driver | by hand, unwitnessed: nobody saw the agents work |
        | mode | enforced |
        | definition | d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0 |
        | started | 2026-08-22T10:00:00Z |
        | updated | 2026-08-22T10:15:00Z |
        | finish | complete |
        | limit | 3 |
        | target | roles/web |

        ## Task

        > Write the role web
        > and test it

        ## Route

        - the run started at gathering (by hand, unwitnessed): Write the role web and test it — ann, 2026-08-22T10:00:00Z, entry 1
        - gathering → planning: after gatherer — ann, 2026-08-22T10:01:00Z, entry 5
        - planning → approving: done — ann, 2026-08-22T10:03:00Z, entry 10
        - approving → building: yes — ann, 2026-08-22T10:04:00Z, entry 13
        - building → validating: done — ann, 2026-08-22T10:07:00Z, entry 21
        - validating → linting: passed — ann, 2026-08-22T10:08:00Z, entry 25
        - linting → debugging: failed; fixes is now 1 — gatewright, 2026-08-22T10:09:00Z, entry 27
        - debugging → validating: done — ann, 2026-08-22T10:10:00Z, entry 31
        - validating → linting: passed — ann, 2026-08-22T10:11:00Z, entry 35
        - linting → reviewing: passed — gatewright, 2026-08-22T10:12:00Z, entry 38
        - reviewing → tidying: approved — ann, 2026-08-22T10:14:00Z, entry 49
        - tidying → complete: done — ann, 2026-08-22T10:15:00Z, entry 52

        ## Checks

        - the check linting failed (1 command): ansible-lint roles/web: exit 2 after 3.4 s — gatewright, 2026-08-22T10:09:00Z, entry 26
          - ansible-lint roles/web: exit 2 after 3.4 s
            ```text
            roles/web/tasks/main.yml:3: no-changed-when
            1 failure
            ```
        - the check linting passed (1 command) — gatewright, 2026-08-22T10:12:00Z, entry 36
          - ansible-lint roles/web: exit 0 after 3.4 s

        ## Reviews

        - round 1 of reviewing started — gatewright, 2026-08-22T10:12:00Z, entry 39
        - reviewer 1 ('code-reviewer') approved 77777777 — ann, 2026-08-22T10:13:00Z, entry 43
        - reviewer 2 ('codex-reviewer') approved 77777777 — ann, 2026-08-22T10:14:00Z, entry 47

        ## Answers

        - approving was answered: yes — ann, 2026-08-22T10:04:00Z, entry 11

        ## Refused

        - refused to report the work of 'validator': 'validator' may not work in planning — ann, 2026-08-22T10:02:00Z, entry 6

        ## Artifacts

        - built `0606060606060606060606060606060606060606060606060606060606060606`
        - context `0000000000000000000000000000000000000000000000000000000000000000`
        - first_verdict `0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c`
        - fixed `0909090909090909090909090909090909090909090909090909090909090909`
        - plan `0202020202020202020202020202020202020202020202020202020202020202`
        - second_verdict `0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d`
        - validated `0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a`

        ## Verification

        Not verified here. Run `gatewright verify r-7f3`.
    "#]].assert_eq(&page);
}

#[test]
fn the_end_of_a_run_told_as_status() {
    let play = whole_story();
    expect![[r#"
        r-7f3 · showcase · completed
          task      Write the role web and test it
          params    finish = complete
                    limit = 3
                    target = roles/web
          project   /home/ann/web
          driver    by hand, unwitnessed: nobody saw the agents work
          mode      enforced
          stage     complete (end)
          counters  fixes 1/2, replans 0/3
          What led here, the latest last:
          - `tidying` ended with `done`. 'session' worked there.
          artifacts built 06060606 by d4
                    context 00000000 by d1
                    first_verdict 0c0c0c0c by d8
                    fixed 09090909 by d6
                    plan 02020202 by d2, approved
                    second_verdict 0d0d0d0d by d9
                    validated 0a0a0a0a by d7
          gates     linting passed on tree 77777777, maybe changed since
                    reviewing passed on tree 77777777, maybe changed since
          budget    turns 0 of 40, cost 0.00 of 5.00
          started   2026-08-22T10:00:00Z, 2h 5m ago
          updated   2026-08-22T10:15:00Z, 1h 50m ago
    "#]]
    .assert_eq(&status(&play.pipeline, &play.run, AROUND).text(Paint::Plain));
}

#[test]
fn a_decision_is_explained_with_its_evidence() {
    let play = whole_story();
    let failed = |entry: &Entry| {
        matches!(
            &entry.fact,
            Fact::Checked {
                verdict: CheckVerdict::Failed,
                ..
            }
        )
    };
    let place = play.entries.iter().position(failed).unwrap();
    let group = play
        .decisions
        .iter()
        .find(|range| range.contains(&place))
        .unwrap();
    let numbered = play.numbered();
    let number = place as u64 + 1;
    let view = why(
        number,
        &numbered[group.clone()],
        &AgentNames::of(&play.entries),
    )
    .unwrap();
    expect![[r#"
        entry 26 · GW-R50: a check passes when every command exits with 0
          what      the check linting failed (1 command): ansible-lint roles/web: exit 2 after 3.4 s
          who       gatewright
          when      2026-08-22T10:09:00Z

        evidence
          26        the check linting failed (1 command): ansible-lint roles/web: exit 2 after 3.4 s
                    (GW-R50)
                    tree    7777777777777777777777777777777777777777777777777777777777777777
                    $ ansible-lint roles/web: exit 2 after 3.4 s
                      roles/web/tasks/main.yml:3: no-changed-when
                      1 failure

        result
          27        linting → debugging: failed; fixes is now 1 (GW-R96)
    "#]]
    .assert_eq(&view.text(Paint::Plain));
    let json = view.json();
    assert_eq!(json["rule"]["code"], "GW-R50");
    assert_eq!(json["evidence"][0]["fact"]["results"][0]["code"], 2);
    assert_eq!(json["consequences"][0]["fact"]["counted"]["value"], 1);
    assert_eq!(why(9_999, &numbered, &AgentNames::default()), None);
}

#[test]
fn a_refused_step_names_the_right_one() {
    let mut play = Play::begin();
    play.report("gatherer", &[("context", None)]);
    let Reply::Refuse(refused) = play.report("validator", &[]) else {
        panic!("not refused")
    };
    expect!["GW-R11 refused: 'validator' may not work in planning; run r-7f3 is in planning; next: 'planner'"].assert_eq(&refusal_in(&play.pipeline, &play.run, &refused));
}

#[test]
fn an_escalation_goes_back_to_where_the_run_was_going() {
    let mut play = Play::begin();
    let fails: &[(&str, Option<&str>)] = &[("validated", Some("FAIL"))];
    play.report("gatherer", &[("context", None)]);
    play.report("planner", &[("plan", Some("ready")), ("questions", None)]);
    play.answer("yes");
    play.plan();
    play.report("bash-tasks", &[("built", None)]);
    play.report("bash-tests", &[("built", None)]);
    for _ in 0..2 {
        play.report("validator", fails);
        play.report("debugger", &[("fixed", None)]);
    }
    play.report("validator", fails);
    play.stands_in("escalate");
    let before = play.entries.len();
    play.answer("continue");
    play.stands_in("debugging");
    let moves = history(play.numbered().into_iter().skip(before - 1)).text(Paint::Plain);
    expect![[r#"
        #   TIME                  WHO  RULE    WHAT
        40  2026-08-22T10:11:00Z  ann  GW-R97  validating → escalate: failed; fixes is full
        41  2026-08-22T10:12:00Z  ann  GW-R60  escalate was answered: continue
        42  2026-08-22T10:12:00Z  ann  GW-R98  escalate → debugging: continue; fixes is reset; fixes is now 1
    "#]].assert_eq(&moves);
}
