//! Steps that cannot happen where the run is, each with what to write instead.

use super::told;

fn check(scenario: &str, message: &str, hint: &str) {
    let told = told(scenario);
    assert!(
        told.contains(&format!("error[GW-S10]: {message}\n")),
        "{scenario}\n{told}"
    );
    assert!(
        told.contains(&format!("= help: {hint}\n")),
        "{scenario}\n{told}"
    );
}

#[test]
fn work_ends_as_its_artifact_can_tell() {
    let told = "`text` states how this work ends";
    check("start\nwriter works", told, "say one of: poor, ready");
    check("start\nwriter works done", told, "say one of: poor, ready");
    check(
        "start\nwriter begins\nwriter ends stop",
        told,
        "say one of: poor, ready",
    );
}

#[test]
fn an_old_artifact_was_there_before() {
    check(
        "start\nwriter begins\nwriter leaves an old artifact",
        "there is no old file of `text`",
        "write `given old text` above the step that starts",
    );
    let told =
        told("given old text\nstart\nwriter begins\nwriter leaves an old artifact\n  rule GW-R35");
    assert!(told.ends_with("1 passed, 0 failed\n"), "{told}");
}

#[test]
fn what_is_not_watched_cannot_stray_or_print() {
    let hint = "only a stage with `writes` checks the changed files";
    check("start\nwriter strays", "work in write cannot stray", hint);
    let hint = "only a check with `fails_on` reads the output";
    let steps = "start\nwriter works ready\ncheck prints its failure";
    check(steps, "look has no `fails_on`", hint);
}

#[test]
fn a_check_runs_in_a_check() {
    let hint = "name the stage whose check ran late: `check of STAGE …`";
    check("start\ncheck passes", "write is not a check", hint);
    let told = told("start\ncheck of look passes\n  rule GW-R52");
    assert!(told.ends_with("1 passed, 0 failed\n"), "{told}");
}

#[test]
fn what_was_refused_at_the_start_does_not_go_on() {
    check(
        "start limit=many\n  reply refuse\nwriter begins",
        "there is no run: it was refused at the start",
        "end the scenario with the refusal",
    );
}

#[test]
fn steps_and_checkpoints_must_have_been_made() {
    check(
        "start\nrestore first because \"x\"",
        "unknown point `first`",
        "write `checkpoint first` further up",
    );
    check(
        "start\nrestore @look because \"x\"",
        "unknown point `@look`",
        "let the run go through look further up",
    );
    check(
        "start\nstep \"s1\" begins",
        "no step `s1` is planned here",
        "say who works: `AGENT with step s1 …`",
    );
}
