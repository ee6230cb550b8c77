//! The faults of the first implementations, as far as the engine decides them: each is a test here.

use engine::{Fact, MemberState, Next, Reply, WorkResult, needs};
use std::fmt::Write;

use crate::guarded::pipelines::{FLOW, OPEN, PANEL, WAVES};
use crate::guarded::told::{check, tell};
use crate::guarded::words;
use crate::guarded::world::World;

// Seed 000: another session of the same repository was held back from stopping.
#[test]
fn only_the_session_that_holds_the_run_is_held() {
    check(
        FLOW,
        &[
            ("s2: stop", "done R04"),
            ("stop", "hold R91 | held 1"),
            ("s2: stop", "done R04"),
        ],
    );
}

// Seed 000: after the last of three attempts the stop was held still.
#[test]
fn when_the_attempts_are_spent_the_run_waits_and_the_session_may_stop() {
    let mut lines = Vec::new();
    let calls: Vec<(String, String, String)> = (1..=3)
        .map(|number| {
            let came = if number < 3 { "retried" } else { "stuck" };
            (
                format!("ask alpha-writer call C{number}"),
                format!("allow R10 | admitted d{number} alpha-writer"),
                format!("refuse R37 | ended d{number} crashed, {came} crashed"),
            )
        })
        .collect();
    let failed: Vec<String> = (1..=3)
        .map(|number| format!("failed call C{number}"))
        .collect();
    for ((ask, admitted, ended), failed) in calls.iter().zip(&failed) {
        lines.push((ask.as_str(), admitted.as_str()));
        lines.push((failed.as_str(), ended.as_str()));
    }
    lines.push(("# in writing, waiting", ""));
    lines.push(("stop", "allow R90"));
    check(FLOW, &lines);
}

const JUDGING: [(&str, &str); 6] = [
    (
        "ask alpha-writer call A",
        "allow R10 | admitted d1 alpha-writer",
    ),
    ("lay draft 1", ""),
    (
        "returned call A tools 3 w1",
        "done R32 | captured draft, ended d1 done, to judging",
    ),
    ("ask judge call B", "allow R10 | admitted d2 judge"),
    ("begins w2 judge", "done R41 | began d2 w2"),
    ("tool Read by w2 judge", "allow R21 | worked d2"),
];

fn judging(lines: &[(&str, &str)]) {
    let lines: Vec<_> = JUDGING.iter().chain(lines).copied().collect();
    check(FLOW, &lines);
}

// Seed 000: "NOT APPROVED" holds the word "APPROVED", and completed the pipeline.
#[test]
fn not_approved_is_no_approval() {
    judging(&[
        ("lay verdict 1 NOT APPROVED", ""),
        ("stopping w2", "hold R33 | sent back d2"),
        (
            "returned call B tools 3 w2",
            "refuse R33 | ended d2 missing, retried missing",
        ),
        ("# in judging, running", ""),
    ]);
}

// Seed 000: the end of an Explore agent that had nothing to do with it moved the phase on.
#[test]
fn the_end_of_an_unrelated_agent_moves_nothing() {
    judging(&[
        ("lay verdict 1 APPROVED", ""),
        ("begins w9 passer-by", "refuse R22 | refused"),
        ("stopping w9", "done R30 | noted"),
        ("returned call X tools 9 w9", "done R30 | noted"),
        ("notified call X tools 9 w9", "done R30 | noted"),
        ("# in judging, running", ""),
    ]);
}

// Seed 000: a bundle that an earlier run had left days ago was taken for this run's.
#[test]
fn what_an_earlier_run_left_is_missing_in_this_one() {
    check(
        FLOW,
        &[
            ("lay draft 1", ""),
            ("wait 260000", ""),
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            ("tool Read by w1 alpha-writer", "allow R21 | worked d1"),
            ("stopping w1", "hold R35 | sent back d1"),
            ("stopping w1", "hold R35 | sent back d1"),
            (
                "stopping w1",
                "refuse R35 | ended d1 missing, retried missing",
            ),
        ],
    );
}

// Seed 000: three agents ended without a single tool use; the model wrote the work itself, set the
// state to completed, and reported an approval.
#[test]
fn hollow_workers_and_a_busy_session_complete_nothing() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            ("tool Write touches draft", "refuse R24 | refused"),
            ("tool Bash touches draft", "refuse R24 | refused"),
            ("tool Write touches state", "refuse R23 | refused"),
            // The session wrote it all the same, in words that nobody can read.
            ("lay draft 1", ""),
            (
                "stopping w1",
                "refuse R36 | ended d1 hollow, retried hollow",
            ),
            ("ask judge call B", "refuse R11 | refused"),
            ("model: report judge", "refuse R66 | refused"),
            ("model: skip done", "refuse R66 | refused"),
            (
                "ask alpha-writer call C",
                "allow R10 | admitted d2 alpha-writer",
            ),
            ("lay draft 2", ""),
            (
                "returned call C tools 0",
                "refuse R36 | ended d2 hollow, retried hollow",
            ),
            (
                "ask alpha-writer call D",
                "allow R10 | admitted d3 alpha-writer",
            ),
            ("lay draft 3", ""),
            (
                "returned call D tools 0",
                "refuse R36 | ended d3 hollow, stuck hollow",
            ),
            ("# in writing, waiting", ""),
        ],
    );
}

// Seed 000: the message that held the stop told the model how to abort the pipeline.
#[test]
fn no_refusal_teaches_the_way_around() {
    let lines = [
        "stop",
        "ask judge call A",
        "tool Write touches state",
        "tool Write touches draft",
        "tool Bash door claude",
        "tool Bash door workflow",
        "unhook",
        "begins w9 judge",
        "write w9 call M",
        "model: reset",
        "model: bypass 60",
    ];
    let ways = [
        "bypass",
        "reset",
        "cancel",
        "skip",
        "active",
        "uninit",
        "disable",
        "settings.json",
        "ttl",
    ];
    for line in lines {
        let mut world = World::begun(FLOW);
        let event = words::event(&world, line);
        let evidence = world.look(&needs(&world.pipeline, &world.run, &event));
        let decision = engine::decide(&world.pipeline, &world.run, &event, &evidence);
        let (Reply::Refuse(refusal) | Reply::Hold(refusal)) = decision.reply else {
            panic!("{line} is not refused");
        };
        let taught = ways.iter().find(|way| refusal.reason.contains(**way));
        assert_eq!(taught, None, "{line}: {}", refusal.reason);
        let legal = |next: &Next| matches!(next, Next::Agent { .. });
        assert!(refusal.next.iter().all(legal), "{line}: {:?}", refusal.next);
    }
}

// Seeds 000 and 001: SubagentStop was trusted alone; it can be missing, doubled or late.
#[test]
fn either_witness_suffices_and_both_count_once() {
    let stop = "stopping w2";
    let result = "returned call B tools 3 w2";
    let well = "done R32 | captured verdict, ended d2 approved, gate judging, to over";
    for witnesses in [
        vec![stop],
        vec![result],
        vec![stop, result],
        vec![result, stop],
        vec![stop, stop, result, result],
    ] {
        let mut lines = vec![("lay verdict 1 APPROVED", ""), (witnesses[0], well)];
        lines.extend(witnesses[1..].iter().map(|line| (*line, "done R42")));
        judging(&lines);
    }
}

// Seed 002: input that could not be read was approved.
#[test]
fn a_call_for_nobody_is_refused() {
    check(FLOW, &[("tool Agent door ???", "refuse R11 | refused")]);
}

// Seed 002: twenty completions at once left one line of history.
#[test]
fn twenty_ends_leave_twenty_lines() {
    let mut lines: Vec<(String, String)> = Vec::new();
    for number in 1..=20 {
        lines.push((
            format!("ask helper-x call C{number}"),
            format!("allow R10 | admitted d{number} helper-x"),
        ));
    }
    for number in (1..=20).rev() {
        lines.push((
            format!("returned call C{number} tools 1"),
            format!("done R32 | ended d{number} done"),
        ));
    }
    let lines: Vec<(&str, &str)> = lines
        .iter()
        .map(|(line, came)| (line.as_str(), came.as_str()))
        .collect();
    let world = tell(OPEN, &lines, &engine::decide).unwrap_or_else(|wrong| panic!("{wrong}"));
    let ended = |fact: &Fact| matches!(fact, Fact::Ended { .. });
    let ends = world.journal.iter().filter(|entry| ended(&entry.fact));
    assert_eq!(ends.count(), 20);
    assert!(world.run.dispatches.is_empty());
}

// Seed 002: to begin again from COMPLETE was approved, and never moved: nothing went on.
#[test]
fn a_completed_run_begins_again_and_moves() {
    check(
        OPEN,
        &[
            ("ask scout call A", "allow R10 | admitted d1 scout"),
            ("lay map 1", ""),
            (
                "returned call A tools 1",
                "done R32 | captured map, ended d1 done, to noting",
            ),
            ("lay notes 1", ""),
            (
                "session pauses",
                "done R32 | admitted d2 session, captured notes, ended d2 done, to over",
            ),
            ("# in over, completed", ""),
            ("ask helper-x call B", "refuse R11 | refused"),
            (
                "ask scout call C",
                "allow R10 | task began, admitted d3 scout",
            ),
            ("begins w3 scout", "done R41 | began d3 w3"),
            // It owes nothing here, so its work is seen by its tools, or it would be hollow.
            ("tool Read by w3 scout", "allow R21 | worked d3"),
            ("stopping w3", "done R32 | ended d3 done, to noting"),
            ("# in noting, running", ""),
        ],
    );
}

// Seed 002: every start of a session wiped the state, after a compaction too.
#[test]
fn a_session_that_starts_again_finds_its_run() {
    judging(&[
        ("arrives process 100", "done R02"),
        ("arrives process 100", "done R02"),
        (
            "arrives process 101",
            "done R02 | ended d2 dropped, attached s1",
        ),
        ("# in judging, running", ""),
    ]);
}

// Seed 002: an agent that failed moved the state on all the same.
#[test]
fn an_agent_that_failed_moves_nothing() {
    judging(&[
        ("lay verdict 1 APPROVED", ""),
        (
            "failed call B w2",
            "refuse R37 | ended d2 crashed, retried crashed",
        ),
        ("# in judging, running", ""),
    ]);
}

// Seed 002: there was one state for all, so another session's progress counted for mine.
#[test]
fn anothers_progress_does_not_count() {
    check(
        FLOW,
        &[
            ("s2: ask alpha-writer call A", "done R04"),
            ("lay draft 1", ""),
            ("s2: returned call A tools 3 w1", "done R04"),
            (
                "ask alpha-writer call B",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("s2: returned call B tools 3 w1", "done R04"),
            ("s2: stopping w1", "done R04"),
            ("# in writing, running", ""),
        ],
    );
}

// Seed 003: a review was a file, whatever it had looked at: one approval satisfied another gate.
#[test]
fn approvals_of_two_trees_are_no_approval() {
    check(
        PANEL,
        &[
            ("ask judge call A", "allow R10 | admitted d1 judge"),
            ("lay one 1 approved", ""),
            (
                "returned call A tools 1",
                "done R32 | captured one, ended d1 approved, reviewer approved",
            ),
            ("edit src/main.rs", ""),
            ("ask critic call B", "allow R10 | admitted d2 critic"),
            ("lay two 1 approved", ""),
            (
                "returned call B tools 1",
                "done R32 | captured two, ended d2 approved, reviewer approved, round",
            ),
            // In the second round the files of the first are old.
            ("ask judge call C", "allow R10 | admitted d3 judge"),
            ("begins w3 judge", "done R41 | began d3 w3"),
            ("tool Read by w3 judge", "allow R21 | worked d3"),
            ("stopping w3", "hold R35 | sent back d3"),
        ],
    );
}

// Seed 003: two of three reviewers said "rejected", and a later version counted that as approval.
#[test]
fn what_a_reviewer_says_is_an_approval_or_it_is_none() {
    for word in ["rejected", "APPROVED", "approved!", "not approved", "lgtm"] {
        let laid = format!("lay one 1 {word}");
        check(
            PANEL,
            &[
                ("ask judge call A", "allow R10 | admitted d1 judge"),
                (&laid, ""),
                (
                    "returned call A tools 1",
                    "refuse R33 | ended d1 missing, retried missing",
                ),
            ],
        );
    }
}

// Seed 003: a pattern or a promise in the output ended the loop.
#[test]
fn words_are_no_work() {
    // Whatever it said last, it left no draft.
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            (
                "returned call A tools 7 w1",
                "refuse R34 | ended d1 missing, retried missing",
            ),
            ("# in writing, running", ""),
        ],
    );
}

// Seed 003: a lock was a process id, and ids are used again.
#[test]
fn a_process_is_its_number_and_its_beginning() {
    check(
        FLOW,
        &[
            ("arrives process 100/8", "inject R02 | attached s1"),
            ("process 100 dies", ""),
            ("s2: arrives process 200", "refuse R03"),
            ("process 100/8 dies", ""),
            (
                "s2: arrives process 200",
                "inject R02 | detached s1, attached s2",
            ),
        ],
    );
}

// Seed 004: whatever returned from the Task tool marked the present phase as completed.
#[test]
fn an_end_is_matched_to_its_own_step() {
    check(
        WAVES,
        &[
            ("ask builder call A step a", "allow R10 | admitted d1 a"),
            ("begins w1 builder", "done R41 | began d1 w1"),
            ("ask builder call B step b", "allow R10 | admitted d2 b"),
            ("begins w2 builder", "done R41 | began d2 w2"),
            ("lay report@a 1", ""),
            ("lay report@b 2", ""),
            ("returned call X tools 3 w9", "done R30 | noted"),
            (
                "failed call B w2",
                "refuse R37 | ended d2 crashed, retried b crashed",
            ),
            (
                "returned call A tools 3 w1",
                "done R32 | captured report, ended d1 done",
            ),
            ("ask tester call C step c", "refuse R14 | refused"),
        ],
    );
}

/// Twelve steps without needs, and a thirteenth that needs them all.
fn twelve() -> String {
    let mut steps = String::new();
    let mut needs = Vec::new();
    for number in 1..=12 {
        let _ = writeln!(
            steps,
            "{{ id = \"p{number}\", title = \"P\", agent = \"worker-{number}\" }},"
        );
        needs.push(format!("\"p{number}\""));
    }
    let needs = needs.join(", ");
    let _ = writeln!(
        steps,
        "{{ id = \"last\", title = \"L\", agent = \"closer\", needs = [{needs}] }}"
    );
    format!(
        "name = \"twelve\"\nabout = \"Many.\"\nstart = \"building\"\n\
         [stages.building]\nsteps = [{steps}]\non.done = \"over\"\non.failed = \"given_up\"\n\
         [stages.over]\nend = \"completed\"\n[stages.given_up]\nend = \"failed\"\n"
    )
}

// Seed 004: the first completion ended the workflow, and of twelve at once eight were recorded.
#[test]
fn twelve_steps_at_once_are_twelve_and_their_order_holds() {
    let mut lines = vec![(
        String::from("ask closer call L"),
        String::from("refuse R14 | refused"),
    )];
    for number in 1..=12 {
        lines.push((
            format!("ask worker-{number} call C{number}"),
            format!("allow R10 | admitted d{number} p{number}"),
        ));
    }
    for number in [7, 1, 12, 3, 9, 2, 11, 4, 10, 5, 8, 6] {
        lines.push((
            format!("returned call C{number} tools 1"),
            format!("done R32 | ended d{number} done"),
        ));
        lines.push((String::from("# in building, running"), String::new()));
    }
    lines.push((
        String::from("ask closer call L"),
        String::from("allow R10 | admitted d13 last"),
    ));
    let lines: Vec<(&str, &str)> = lines
        .iter()
        .map(|(line, came)| (line.as_str(), came.as_str()))
        .collect();
    let world = tell(&twelve(), &lines, &engine::decide).unwrap_or_else(|wrong| panic!("{wrong}"));
    let graph = world.run.graphs.values().next().unwrap();
    let done = graph
        .members
        .iter()
        .filter(|member| member.state == MemberState::Done);
    assert_eq!(done.count(), 12);
    let outcome = |fact: &Fact| {
        matches!(
            fact,
            Fact::Ended {
                result: WorkResult::Outcome(_),
                ..
            }
        )
    };
    let ends = world.journal.iter().filter(|entry| outcome(&entry.fact));
    assert_eq!(ends.count(), 12);
}
