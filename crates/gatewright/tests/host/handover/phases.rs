//! A task in one phase: planned, done and verified.

use expect_test::expect_file;
use serde_json::json;
use testkit::model::{Actor, agent_in_foreground, bash, say, write};

use super::transcript::Transcript;
use super::{claude, denied};
use crate::stage::Stage;

#[test]
fn phases_ask_nothing_needless() {
    let plan = json!({ "task": "Say hello", "phases": [
        { "id": "phase_0", "title": "Create hello.md", "agent": "general-purpose", "needs": [] },
    ]});
    let report = json!({
        "status": "completed", "deliverables": ["hello.md"], "context_for_next": "hello.md is there",
    });
    let verdict = json!({ "status": "PASS", "summary": "hello.md is there" });
    let next = || bash("gatewright next");
    let stage = Stage::builtin("phases", []);
    let script = [
        Actor::new(
            "GO-MAIN",
            [
                next(),
                // This is the person's to allow, whatever stands before it.
                bash("gatewright next; python3 -c pass"),
                agent_in_foreground("delegation-orchestrator", "GO-PLAN"),
                next(),
                agent_in_foreground("general-purpose", "step: phase_0\nGO-WORK"),
                next(),
                agent_in_foreground("task-completion-verifier", "GO-VERIFY"),
                next(),
                say("END"),
            ],
        ),
        Actor::new(
            "GO-PLAN",
            [
                write(stage.path(".claude/state/plan.json"), &plan.to_string()),
                say("PLANNED"),
            ],
        ),
        Actor::new(
            "GO-WORK",
            [
                write(stage.path("hello.md"), "hello\n"),
                write(
                    stage.path(".claude/state/phases/phase_0.json"),
                    &report.to_string(),
                ),
                say("DONE"),
            ],
        ),
        Actor::new(
            "GO-VERIFY",
            [
                write(
                    stage.path(".claude/state/verification.json"),
                    &verdict.to_string(),
                ),
                say("PASSED"),
            ],
        ),
    ];
    let stage = stage.scripted(script);
    let session = claude(&stage)
        .ask("/delegate Say hello (GO-MAIN)")
        .succeeds();
    let denied = denied(&session);
    assert_eq!(denied.len(), 1, "{denied:?}");
    assert!(denied[0].contains("python3 -c pass"), "{denied:?}");
    assert_eq!(stage.place(), "complete completed", "{}", stage.history());
    let mut page = Transcript::new(
        "phases",
        "A task in one phase, which is planned, done and verified.",
    );
    page.conversations(
        &stage,
        &[
            ("The session", "GO-MAIN"),
            ("`delegation-orchestrator`, in `planning`", "GO-PLAN"),
            ("`general-purpose`, in `executing`", "GO-WORK"),
            ("`task-completion-verifier`, in `verifying`", "GO-VERIFY"),
        ],
    );
    expect_file!["../../../../../docs/transcripts/phases.md"]
        .assert_eq(&page.finished(&stage, &stage.run()));
}
