//! The picture of a headless run while it goes on, on terminals of every size.

use engine::*;
use expect_test::{Expect, expect};

use super::example::*;
use super::runs::{overridden, reviewed};
use crate::layout::width;
use crate::progress::{AtWork, LiveState, TerminalSize, progress};
use crate::test_random::TestRandom;
use crate::{Paint, Untrusted, is_forbidden};

const NOW: Time = Time(START.0 + 7_500_000);
const WIDE: TerminalSize = TerminalSize {
    columns: 100,
    rows: 40,
};

fn at_work(number: u32, agent: &str, action: &str) -> AtWork {
    AtWork {
        dispatch: DispatchId(number),
        agent: agent_name(agent),
        step: None,
        runner: "claude".to_owned(),
        model: Some(Untrusted::new("opus")),
        attempt: 1,
        elapsed: Seconds(125),
        action: (!action.is_empty()).then(|| Untrusted::new(action)),
        said: None,
        refused: 0,
        usage: Usage {
            turns: 3,
            tokens: 1200,
            cost_cents: 7,
            estimated_cents: None,
        },
    }
}

fn live(visited: &[&str], at_work: Vec<AtWork>) -> LiveState {
    LiveState {
        visited: visited.iter().map(|name| stage_name(name)).collect(),
        at_work,
        ..LiveState::default()
    }
}

fn picture(run: &Run, live: LiveState, room: TerminalSize) -> String {
    let lines = progress(&pipeline(), run, NOW, live).lines(room, Paint::Plain);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn check(run: &Run, live: LiveState, room: TerminalSize, expected: Expect) {
    expected.assert_eq(&picture(run, live, room));
}

fn building() -> Run {
    let mut run = run_in("building");
    run.driver = Driver::Headless;
    run.used.turns = 12;
    run.counters.insert(counter_name("replans"), 2);
    run
}

fn two_at_work() -> LiveState {
    let mut second = at_work(8, "python-expert", "Edit src/auth.py");
    second.step = Some(step_id("tests"));
    second.attempt = 2;
    let workers = vec![at_work(7, "bash-expert", "Bash cargo test"), second];
    live(&["gathering", "planning", "approving", "building"], workers)
}

#[test]
fn all_that_happens_is_on_one_screen() {
    check(
        &building(),
        two_at_work(),
        WIDE,
        expect![[r#"
            r-7f3 showcase · running · 2h 5m
              Write the role web

              ✓ gathering, planning, approving
              ● building (steps) · 2h 5m
              ○ validating → linting → reviewing → tidying → complete

                d7 'bash-expert' · claude, opus · 2m 5s · turns 3, tokens 1200, cost 0.07
                  Bash cargo test
                d8 'python-expert' for step tests · claude, opus · 2m 5s · attempt 2
                  turns 3, tokens 1200, cost 0.07
                  Edit src/auth.py

              budget  turns 18 of 40 · tokens 2400 · cost 0.14 of 5.00
              loops   replans 2 of 3
        "#]],
    );
}

#[test]
fn a_review_shows_its_round() {
    // The run has been in tidying and was sent back: it lies ahead again.
    let visited = live(&["gathering", "planning", "tidying"], Vec::new());
    check(
        &reviewed(),
        visited,
        WIDE,
        expect![[r#"
            r-7f3 showcase · running · 2h 5m
              Write the role web

              ✓ gathering, planning
              ● reviewing (review) · 2h 5m
              ○ tidying → complete

              budget  turns 12 of 40 · tokens 34000 · cost 1.05 of 5.00
              loops   fixes 1 of 2 · round 2 of 3
        "#]],
    );
}

#[test]
fn what_a_run_waits_for_is_always_there() {
    let mut pausing = live(&[], Vec::new());
    pausing.pause = Some(Untrusted::new("until 12:10 UTC: the service says wait"));
    check(
        &building(),
        pausing,
        WIDE,
        expect![[r#"
            r-7f3 showcase · running · 2h 5m
              Write the role web

              ● building (steps) · 2h 5m
              ○ validating → linting → reviewing → tidying → complete

              budget  turns 12 of 40 · cost 0.00 of 5.00
              loops   replans 2 of 3
              waits   until 12:10 UTC: the service says wait
        "#]],
    );
    let asked = live(&["gathering"], Vec::new());
    check(
        &run_in("approving"),
        asked,
        WIDE,
        expect![[r#"
        r-7f3 showcase · waiting · 2h 5m
          Write the role web

          ✓ gathering
          ● approving (ask) · 2h 5m
          ○ building → validating → linting → reviewing → tidying → complete

          budget  turns 0 of 40 · cost 0.00 of 5.00
          waits   for a person: Is this the plan?
    "#]],
    );
}

#[test]
fn the_end_is_a_picture_too() {
    let visited = live(&["gathering", "planning", "complete"], Vec::new());
    check(
        &overridden(),
        visited,
        WIDE,
        expect![[r#"
            r-7f3 showcase · completed · 2h 5m
              Write the role web

              ✓ gathering, planning
              ✓ complete (end) · 2h 5m

              budget  turns 0 of 40 · cost 0.00 of 5.00
        "#]],
    );
}

#[test]
fn a_narrow_terminal_cuts_every_line() {
    let room = TerminalSize {
        columns: 30,
        rows: 40,
    };
    check(
        &building(),
        two_at_work(),
        room,
        expect![[r#"
            r-7f3 showcase · running · 2h…
              Write the role web

              ✓ …ring, planning, approving
              ● building (steps) · 2h 5m
              ○ validating → linting → re…

                d7 'bash-expert' · claude…
                  turns 3, tokens 1200, c…
                  Bash cargo test
                d8 'python-expert' for st…
                  turns 3, tokens 1200, c…
                  Edit src/auth.py

              budget  turns 18 of 40 · to…
              loops   replans 2 of 3
        "#]],
    );
}

#[test]
fn a_low_terminal_keeps_what_is_needed_most() {
    let rows = |rows| TerminalSize { columns: 60, rows };
    check(
        &building(),
        two_at_work(),
        rows(8),
        expect![[r#"
            r-7f3 showcase · running · 2h 5m
              ✓ gathering, planning, approving
              ● building (steps) · 2h 5m
                d7 'bash-expert' · claude, opus · 2m 5s
                d8 'python-expert' for step tests · claude, opus · 2m 5…
              budget  turns 18 of 40 · tokens 2400 · cost 0.14 of 5.00
              loops   replans 2 of 3
        "#]],
    );
    check(
        &building(),
        two_at_work(),
        rows(4),
        expect![[r#"
            r-7f3 showcase · running · 2h 5m
              ● building (steps) · 2h 5m
                2 at work
        "#]],
    );
    let crowd = (1..=9).map(|number| at_work(number, "bash-expert", "Read a"));
    let crowd = live(&[], crowd.collect());
    check(
        &building(),
        crowd,
        rows(7),
        expect![[r#"
            r-7f3 showcase · running · 2h 5m
              ● building (steps) · 2h 5m
                d1 'bash-expert' · claude, opus · 2m 5s
                d2 'bash-expert' · claude, opus · 2m 5s
                d3 'bash-expert' · claude, opus · 2m 5s
                … and 6 more at work
        "#]],
    );
}

#[test]
fn no_text_from_outside_breaks_the_picture() {
    let mut random = TestRandom::new(23);
    for _ in 0..500 {
        let mut run = building();
        run.task = random.hostile_text(80);
        let crowd = (0..random.below(6)).map(|_| {
            let mut worker = at_work(1, "bash-expert", &random.hostile_text(60));
            worker.model = Some(Untrusted::new(random.hostile_text(10)));
            worker
        });
        let crowd: Vec<AtWork> = crowd.collect();
        let room = TerminalSize {
            columns: 2 + random.below(90),
            rows: 1 + random.below(20),
        };
        let view = progress(&pipeline(), &run, NOW, live(&["planning"], crowd));
        let lines = view.lines(room, Paint::Plain);
        assert!(lines.len() < room.rows.max(2), "{room:?} {lines:?}");
        for line in lines {
            assert!(width(&line) <= room.columns, "{room:?} {line:?}");
            assert!(
                !line.chars().any(is_forbidden) && !line.contains('\n'),
                "{line:?}"
            );
        }
    }
}

/// A task graph with a step that is over, one at work and one that waits, and all that a worker may show.
fn with_steps() -> (Run, LiveState) {
    let mut run = building();
    let stage = run.position.stage.clone();
    let member = |id: &str, title: &str, needs: &[&str], state: MemberState| Member {
        step: Step {
            id: step_id(id),
            title: title.to_owned(),
            needs: needs.iter().map(|it| step_id(it)).collect(),
            agent: agent_name("python-expert"),
        },
        started_at: (state != MemberState::Pending).then_some(START),
        ended_at: (state == MemberState::Done).then_some(Time(START.0 + 65_000)),
        state,
        retries: 0,
        left: std::collections::BTreeMap::new(),
        strayed_from: None,
    };
    let dispatch = DispatchId(8);
    let members = vec![
        member("api", "Write the interface", &[], MemberState::Done),
        member(
            "tests",
            "Test it",
            &["api"],
            MemberState::Working { dispatch },
        ),
        member(
            "page",
            "Draw the page",
            &["api", "tests"],
            MemberState::Pending,
        ),
    ];
    run.graphs.insert(stage, Graph { members });
    let mut live = two_at_work();
    live.spent.insert(stage_name("gathering"), Seconds(75));
    live.keys = Some("l look · a answer · s skip · q stop");
    live.at_work[1].said = Some(Untrusted::new("The tests are red\nas they should be"));
    live.at_work[1].refused = 2;
    (run, live)
}

#[test]
fn steps_have_their_titles_their_times_and_what_they_wait_for() {
    let (run, live) = with_steps();
    let room = TerminalSize {
        columns: 80,
        rows: 24,
    };
    check(
        &run,
        live,
        room,
        expect![[r#"
            r-7f3 showcase · running · 2h 5m
              Write the role web

              ✓ gathering 1m 15s, planning, approving
              ● building (steps) · 1 of 3 steps done · 2h 5m
              ○ validating → linting → reviewing → tidying → complete

                d7 'bash-expert' · claude, opus · 2m 5s · turns 3, tokens 1200, cost 0.07
                  Bash cargo test
                d8 'python-expert' for step tests: Test it · claude, opus · 2m 5s · 2 refus…
                  turns 3, tokens 1200, cost 0.07
                  Edit src/auth.py
                  says: The tests are red as they should be
                ✓ api: Write the interface · 1m 5s
                ○ page: Draw the page · waits for tests

              budget  turns 18 of 40 · tokens 2400 · cost 0.14 of 5.00
              loops   replans 2 of 3
              keys    l look · a answer · s skip · q stop
        "#]],
    );
}

#[test]
fn on_a_small_terminal_the_important_lines_stay() {
    let (run, live) = with_steps();
    let room = TerminalSize {
        columns: 40,
        rows: 12,
    };
    check(
        &run,
        live,
        room,
        expect![[r#"
            r-7f3 showcase · running · 2h 5m
              ✓ …thering 1m 15s, planning, approving
              ● building (steps) · 1 of 3 steps don…
              ○ validating → linting → reviewing →…
                d7 'bash-expert' · claude, opus · 2…
                  turns 3, tokens 1200, cost 0.07
                  Bash cargo test
                d8 'python-expert' for step tests:…
              budget  turns 18 of 40 · tokens 2400…
              loops   replans 2 of 3
              l look · a answer · s skip · q stop
        "#]],
    );
}
