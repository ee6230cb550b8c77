//! Acts on the page: the engine judges them as any caller's, and the history says that they were done there.

use serde_json::Value;
use testkit::Project;
use testkit::pipelines::one_check;

use super::server::Served;
use crate::fixture::{PROGRAM, RUN, fact, stage, started, to_the_question};

fn said(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {body}"))
}

#[test]
fn an_answer_on_the_page_moves_the_run_and_is_recorded_as_such() {
    let project = started();
    to_the_question(&project);
    let served = Served::start(&project);
    let home = served.page("");
    assert!(home.body.contains("<title>(1) "), "{}", home.body);
    assert!(home.body.contains("Shall it be reviewed?"), "{}", home.body);
    let answer = r#"{"act":"choose","run":"r-test","stage":"asking","choice":"yes","text":"look at line 1"}"#;
    let done = served.act(answer);
    assert_eq!(done.status, 200, "{done:?}");
    assert_eq!(stage(&project), "reviewing");
    let history = fact(&project, "history r-test");
    let mut entries = history["entries"].as_array().unwrap().iter();
    let answered = entries.find(|entry| entry["fact"]["kind"] == "answered");
    let by = &answered.expect("an answer")["by"];
    assert_eq!(by["kind"], "person", "{by}");
    assert!(by.to_string().contains("on the page"), "{by}");
    let again = served.act(answer);
    assert_eq!(again.status, 409, "a question is answered once: {again:?}");
    assert!(served.page("").body.contains("<title>Inbox"));
}

#[test]
fn what_the_engine_refuses_is_refused_on_the_page_with_its_rule() {
    let project = started();
    let served = Served::start(&project);
    for act in [
        r#"{"act":"retry","run":"r-test"}"#,
        r#"{"act":"choose","run":"r-test","stage":"writing","choice":"yes"}"#,
    ] {
        let refused = served.act(act);
        assert_eq!(refused.status, 409, "{act}: {refused:?}");
        let error = said(&refused.body)["error"].to_string();
        assert!(error.contains("GW-R"), "{error}");
    }
    let unknown = served.act(r#"{"act":"retry","run":"r-nobody"}"#);
    assert_eq!(unknown.status, 404, "{unknown:?}");
    let by_hand = served.act(&format!(r#"{{"act":"resume","run":"{RUN}"}}"#));
    assert_eq!(
        by_hand.status, 409,
        "only headless runs are driven: {by_hand:?}"
    );
}

#[test]
fn a_cancel_needs_a_reason_and_the_id_of_the_run() {
    let project = started();
    let served = Served::start(&project);
    let cancel = |confirm: &str| {
        format!(r#"{{"act":"cancel","run":"{RUN}","reason":"not needed","confirm":"{confirm}"}}"#)
    };
    assert_eq!(served.act(&cancel("yes")).status, 409);
    assert_eq!(fact(&project, "status r-test")["status"], "running");
    assert_eq!(served.act(&cancel(RUN)).status, 200);
    assert_eq!(fact(&project, "status r-test")["status"], "cancelled");
}

#[test]
fn a_run_that_nobody_drives_is_resumed_on_the_page() {
    let project = Project::with_git(PROGRAM);
    // A headless run that needs no agent.
    project.write("checks.toml", one_check("\"true\""));
    project.trust("checks.toml");
    let words = [
        "start",
        "checks.toml",
        "--task",
        "x",
        "--queue",
        "--id",
        RUN,
    ];
    project.run(words).succeeds();
    let served = Served::start(&project);
    let done = served.act(&format!(r#"{{"act":"resume","run":"{RUN}"}}"#));
    assert_eq!(done.status, 200, "{done:?}");
    testkit::until("the run is completed", || {
        fact(&project, "status r-test")["status"] == "completed"
    });
    assert!(
        served
            .page("run/r-test")
            .body
            .contains("<strong>Completed</strong>")
    );
}
