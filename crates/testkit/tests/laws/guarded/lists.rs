//! What moves nothing: the host's own list, settings that change, remarks, and what nobody judged.

use crate::guarded::pipelines::{FLOW, WAVES};
use crate::guarded::told::check;

#[test]
fn a_list_that_is_ahead_of_the_graph_is_refused() {
    check(
        WAVES,
        &[
            ("todo a: first", "refuse R28 | refused"),
            ("todo b", "refuse R28 | refused"),
            ("todo something else, bake a cake", "done R21"),
            ("todo apple: not a step", "done R21"),
            ("ask builder call A step a", "allow R10 | admitted d1 a"),
            ("todo a: first", "refuse R28 | refused"),
            ("lay report@a 1", ""),
            (
                "returned call A tools 1",
                "done R32 | captured report, ended d1 done",
            ),
            ("todo a: first", "done R21"),
            ("todo a: first, b: second, c: third", "refuse R28 | refused"),
        ],
    );
    check(FLOW, &[("todo writing", "done R21")]);
}

#[test]
fn hooks_stay_while_a_session_holds_a_run() {
    check(
        FLOW,
        &[
            ("unhook", "refuse R25 | refused"),
            ("leaves", "done R02 | detached s1"),
            ("unhook", "done R04"),
        ],
    );
}

#[test]
fn remarks_and_what_nobody_judged_leave_a_line_and_move_nothing() {
    check(
        FLOW,
        &[
            ("remark the turn failed", "done R99 | noted"),
            ("unevaluated a stop", "done R100 | unevaluated"),
            ("leaves", "done R02 | detached s1"),
            // It arrives late, and the run must show it all the same.
            ("unevaluated a stop", "done R100 | unevaluated"),
            ("remark the turn failed", "done R04"),
            ("# in writing, running", ""),
        ],
    );
}
