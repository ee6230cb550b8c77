//! Who may begin: calls, names, and the ties between what a host numbers and what was admitted.

use crate::guarded::pipelines::{FLOW, OPEN, PANEL, WAVES};
use crate::guarded::told::{check, tell};

#[test]
fn an_agent_begins_in_its_turn_and_no_other_does() {
    check(
        FLOW,
        &[
            ("ask judge call A", "refuse R11 | refused"),
            ("begins w0 judge", "refuse R22 | refused"),
            ("tool Read by w0 judge", "refuse R22 | refused"),
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            ("begins w1 alpha-writer", "done R41"),
            ("tool Read by w1 alpha-writer", "allow R21 | worked d1"),
            // Its work is taken, so another of its name has none.
            ("begins w2 alpha-writer", "refuse R22 | refused"),
            ("tool Read by w2 alpha-writer", "refuse R22 | refused"),
            ("ask alpha-writer call B", "refuse R12 | refused"),
        ],
    );
}

#[test]
fn a_call_that_is_asked_twice_is_admitted_once() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("ask alpha-writer call A", "allow R10"),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            (
                "failed w1",
                "refuse R37 | ended d1 crashed, retried crashed",
            ),
            // A hook that comes late asks for work that nobody would ever do.
            ("ask alpha-writer call A", "allow R10"),
            (
                "ask alpha-writer call B",
                "allow R10 | admitted d2 alpha-writer",
            ),
        ],
    );
}

#[test]
fn names_are_read_as_the_host_reads_them() {
    for name in [
        "alpha-writer",
        "Alpha-Writer",
        "alpha_writer",
        "ALPHAWRITER",
        "a-l-p-h-a_Writer",
    ] {
        check(
            FLOW,
            &[
                (
                    &format!("ask {name}"),
                    "allow R10 | admitted d1 alpha-writer",
                ),
                (&format!("begins w1 {name}"), "done R41 | began d1 w1"),
            ],
        );
    }
    for name in [
        "alpha-writers",
        "alpha",
        "alpha.writer",
        "plugin:alpha-writer",
    ] {
        check(FLOW, &[(&format!("ask {name}"), "refuse R11 | refused")]);
    }
}

#[test]
fn another_spelling_is_no_way_around_what_an_agent_must_leave() {
    // The host takes both for the same agent, so both owe the map.
    let open = OPEN
        .replace("\"helper-*\"", "\"*\"")
        .replace("\"scout\", ", "");
    for name in ["scout", "Scout", "s_cout"] {
        check(
            &open,
            &[
                (
                    &format!("ask {name} call A"),
                    "allow R10 | admitted d1 scout",
                ),
                (&format!("begins w1 {name}"), "done R41 | began d1 w1"),
                (&format!("tool Read by w1 {name}"), "allow R21 | worked d1"),
                ("stopping w1", "hold R34 | sent back d1"),
            ],
        );
    }
}

#[test]
fn a_name_that_another_stage_knows_is_known_here_as_well() {
    let open = OPEN
        .replace("\"helper-*\"", "\"*\"")
        .replace("agent   = \"session\"", "agent = \"closing-agent\"");
    for name in ["closing-agent", "ClosingAgent", "closing_agent"] {
        let asked = format!("ask {name} call A");
        check(&open, &[(&asked, "allow R10 | admitted d1 closing-agent")]);
    }
}

#[test]
fn nobody_is_called_session() {
    check(
        OPEN,
        &[
            ("lay map 1", ""),
            ("ask scout", "allow R10 | admitted d1 scout"),
            ("returned tools 1 call A", "done R30 | noted"),
            ("begins w1 scout", "done R41 | began d1 w1"),
            ("tool Write by w1 scout", "allow R21 | worked d1"),
            ("lay map 2", ""),
            (
                "stopping w1",
                "done R32 | captured map, ended d1 done, to noting",
            ),
            ("ask session call B", "refuse R11 | refused"),
            ("ask Session call C", "refuse R11 | refused"),
            ("lay notes 1", ""),
            (
                "session pauses",
                "done R32 | admitted d2 session, captured notes, ended d2 done, to over",
            ),
        ],
    );
}

#[test]
fn an_agent_that_begins_takes_the_oldest_work_of_its_name() {
    check(
        OPEN,
        &[
            ("ask helper-x call A", "allow R10 | admitted d1 helper-x"),
            ("ask helper-y call B", "allow R10 | admitted d2 helper-y"),
            ("ask helper-x call C", "allow R10 | admitted d3 helper-x"),
            ("begins w1 helper-y", "done R41 | began d2 w1"),
            ("begins w2 helper-x", "done R41 | began d1 w2"),
            ("begins w3 Helper_X", "done R41 | began d3 w3"),
            ("begins w4 helper-x", "refuse R22 | refused"),
        ],
    );
}

#[test]
fn a_first_tool_call_tells_of_a_beginning_that_nobody_saw() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            (
                "tool Bash by w1 alpha-writer",
                "allow R21 | began d1 w1, worked d1",
            ),
            ("begins w1 alpha-writer", "done R41"),
        ],
    );
}

#[test]
fn two_steps_of_one_agent_begin_at_once_if_both_are_named() {
    check(
        WAVES,
        &[
            ("ask builder call A", "refuse R13 | refused"),
            ("ask builder call A step a", "allow R10 | admitted d1 a"),
            // The only step that is left need not be named, but the worker would not know it.
            ("ask builder call B", "refuse R27 | refused"),
            ("ask builder call B step b", "allow R10 | admitted d2 b"),
            // Another agent is not confused with it; it only has to wait for what it needs.
            ("ask tester call C step c", "refuse R14 | refused"),
            ("begins w1 builder", "done R41 | began d1 w1"),
            ("ask builder call B step a", "allow R10"),
            ("begins w2 builder", "done R41 | began d2 w2"),
            // They started crosswise: the host knows.
            ("launched call A w2", "done R41 | began d1 w2, began d2 w1"),
            ("ask builder call D step a", "refuse R12 | refused"),
        ],
    );
}

#[test]
fn work_of_a_stage_that_was_left_is_another_kind_of_work() {
    let same = FLOW.replace("\"judge\"", "\"alpha-writer\"");
    check(
        &same,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("typed: skip done", "done R67 | overridden done, to judging"),
            // The worker that begins now may be the one that was called for the stage before.
            ("ask alpha-writer call B", "refuse R27 | refused"),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            (
                "ask alpha-writer call B",
                "allow R10 | admitted d2 alpha-writer",
            ),
            ("begins w2 alpha-writer", "done R41 | began d2 w2"),
            ("tool Read by w2 alpha-writer", "allow R21 | worked d2"),
            ("lay verdict 1 APPROVED", ""),
            ("stopping w1", "done R31 | ended d1 late"),
            (
                "stopping w2",
                "done R32 | captured verdict, ended d2 approved, gate judging, to over",
            ),
        ],
    );
}

#[test]
fn the_host_that_tells_which_call_began_whom_is_believed() {
    // Told before anything else was seen.
    check(
        OPEN,
        &[
            ("ask helper-x call A", "allow R10 | admitted d1 helper-x"),
            ("ask helper-x call B", "allow R10 | admitted d2 helper-x"),
            ("launched w2 call B", "done R41 | began d2 w2"),
            ("begins w2 helper-x", "done R41"),
            ("begins w1 helper-x", "done R41 | began d1 w1"),
            ("launched w1 call A", "done R41"),
            ("launched w9 call Z", "done R41"),
        ],
    );
    // Told after each had taken the other's work.
    check(
        OPEN,
        &[
            ("ask helper-x call A", "allow R10 | admitted d1 helper-x"),
            ("ask helper-x call B", "allow R10 | admitted d2 helper-x"),
            ("begins w2 helper-x", "done R41 | began d1 w2"),
            ("begins w1 helper-x", "done R41 | began d2 w1"),
            ("launched w1 call A", "done R41 | began d1 w1, began d2 w2"),
            ("launched w2 call B", "done R41"),
        ],
    );
    // Told after one had taken the other's work, and before the other had begun.
    check(
        OPEN,
        &[
            ("ask helper-x call A", "allow R10 | admitted d1 helper-x"),
            ("ask helper-x call B", "allow R10 | admitted d2 helper-x"),
            ("begins w2 helper-x", "done R41 | began d1 w2"),
            ("launched w2 call B", "done R41 | began d2 w2"),
            ("begins w1 helper-x", "done R41 | began d1 w1"),
            ("launched w1 call A", "done R41"),
        ],
    );
    // Somebody whom nobody called was faster, and loses what was never its own.
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w9 alpha-writer", "done R41 | began d1 w9"),
            ("launched w1 call A", "done R41 | began d1 w1"),
            ("begins w1 alpha-writer", "done R41"),
            ("tool Read by w9 alpha-writer", "refuse R22 | refused"),
            ("stopping w9", "done R42"),
            ("tool Read by w1 alpha-writer", "allow R21 | worked d1"),
        ],
    );
}

#[test]
fn a_worker_whose_work_is_over_takes_no_work_of_others() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            (
                "failed w1",
                "refuse R37 | ended d1 crashed, retried crashed",
            ),
            (
                "ask alpha-writer call B",
                "allow R10 | admitted d2 alpha-writer",
            ),
            ("tool Read by w1 alpha-writer", "refuse R22 | refused"),
            ("begins w1 alpha-writer", "refuse R22 | refused"),
            ("begins w2 alpha-writer", "done R41 | began d2 w2"),
        ],
    );
}

#[test]
fn workers_admit_workers_only_where_they_were_admitted_themselves() {
    check(
        OPEN,
        &[
            ("ask helper-x call A by w9 Explore", "refuse R22 | refused"),
            ("ask helper-x call A", "allow R10 | admitted d1 helper-x"),
            ("begins w1 helper-x", "done R41 | began d1 w1"),
            (
                "ask helper-y call B by w1 helper-x",
                "allow R10 | worked d1, admitted d2 helper-y",
            ),
            ("ask stranger call C by w1 helper-x", "refuse R11 | refused"),
            ("begins w2 helper-y", "done R41 | began d2 w2"),
            ("stopping w1", "done R32 | ended d1 done"),
            ("ask helper-z call D by w1 helper-x", "refuse R22 | refused"),
        ],
    );
}

#[test]
fn only_the_session_that_holds_the_run_is_heard() {
    for line in [
        "s2: ask alpha-writer call A",
        "s2: begins w1 alpha-writer",
        "s2: launched w1 call A",
        "s2: write w1",
        "s2: stopping w1",
        "s2: tool Bash",
        "s2: used by w1 alpha-writer",
        "s2: stop",
        "s2: todo a",
        "s2: unhook",
        "s2: prompt",
        "s2: leaves",
        "s2: remark hello",
    ] {
        check(FLOW, &[(line, "done R04")]);
    }
}

#[test]
fn more_workers_than_are_remembered_can_be_at_work() {
    let calls: Vec<(String, String)> = (1..=80)
        .flat_map(|number| {
            let admitted = format!("allow R10 | admitted d{number} helper-x");
            let began = format!("done R41 | began d{number} w{number}");
            [
                (format!("ask helper-x call C{number}"), admitted),
                (format!("begins w{number} helper-x"), began),
            ]
        })
        .collect();
    let begun = calls
        .iter()
        .map(|(line, came)| (line.as_str(), came.as_str()));
    let last = [
        ("tool Read by w1 helper-x", "allow R21 | worked d1"),
        ("stopping w1", "done R32 | ended d1 done"),
        ("stopping w80", "refuse R36 | ended d80 hollow"),
    ];
    let lines: Vec<(&str, &str)> = begun.chain(last).collect();
    let world = tell(OPEN, &lines, &engine::decide).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(world.run.dispatches.len(), 78);
}

fn panel_with_codex() -> String {
    PANEL.replace(
        "{ agent = \"critic\", leaves = \"two\" }",
        "{ agent = \"critic\", runner = \"codex\", leaves = \"two\" }",
    )
}

#[test]
fn a_session_starts_the_agents_of_its_own_program() {
    check(
        &panel_with_codex(),
        &[
            ("host codex", ""),
            ("ask judge call A", "allow R10 | admitted d1 judge"),
            ("lay one 1 approved", ""),
            (
                "returned call A tools 1",
                "done R32 | captured one, ended d1 approved, reviewer approved",
            ),
            ("ask critic call B", "allow R10 | admitted d2 critic"),
        ],
    );
}

#[test]
fn an_agent_of_another_program_is_not_played_by_the_session() {
    let codex = panel_with_codex();
    check(
        &codex,
        &[
            ("ask judge call A", "allow R10 | admitted d1 judge"),
            ("lay one 1 approved", ""),
            (
                "returned call A tools 1",
                "done R32 | captured one, ended d1 approved, reviewer approved",
            ),
            ("ask critic call B", "refuse R11 | refused"),
            ("begins w2 critic", "refuse R22 | refused"),
            (
                "engine: ask critic call step-1",
                "allow R10 | admitted d2 critic",
            ),
            // A session that stops or comes again has not lost what is not its own.
            ("stop", "allow R90"),
            ("prompt", "done R95"),
            ("arrives process 101", "done R02 | attached s1"),
            ("begins w2 critic", "refuse R22 | refused"),
            ("returned call step-1 tools 1", "done R30 | noted"),
            ("lay two 1 approved", ""),
            (
                "engine: returned call step-1 tools 1",
                "done R32 | captured two, ended d2 approved, reviewer approved, gate reviewing, to over",
            ),
        ],
    );
}
