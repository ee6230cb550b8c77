//! A session in which every task gathers context first.

use expect_test::expect_file;
use testkit::model::{Actor, agent_in_foreground, bash, say, write};

use super::transcript::Transcript;
use super::{claude, denied};
use crate::stage::Stage;

#[test]
fn context_first_asks_nothing_needless() {
    let stage = Stage::always_on([]);
    let expert = "---\nname: bash-expert\ndescription: changes scripts\n---\nChange what you are asked to change.\n";
    stage.project.write(".claude/agents/bash-expert.md", expert);
    let hello = stage.path("hello.sh");
    let script = [
        Actor::new(
            "GO-MAIN",
            [
                bash("gatewright next"),
                agent_in_foreground("context-gatherer", "GO-GATHER"),
                agent_in_foreground("context-refiner", "GO-REFINE"),
                agent_in_foreground("strategic-orchestrator", "GO-PLAN"),
                agent_in_foreground("bash-expert", "GO-WORK"),
                bash("gatewright next"),
                say("END"),
            ],
        ),
        Actor::new(
            "GO-GATHER",
            [bash("ls"), say("GATHERED: there is no script yet")],
        ),
        Actor::new(
            "GO-REFINE",
            [bash("ls"), say("REFINED: hello.sh is to be written")],
        ),
        Actor::new(
            "GO-PLAN",
            [bash("ls"), say("PLAN: bash-expert writes hello.sh")],
        ),
        Actor::new("GO-WORK", [write(hello, "echo hello\n"), say("WRITTEN")]),
    ];
    let stage = stage.scripted(script);
    let session = claude(&stage)
        .ask("Write a script that says hello (GO-MAIN)")
        .succeeds();
    assert_eq!(denied(&session), [""; 0]);
    // The next one gets what the first one found, with the task.
    let refiner = stage.model.told("GO-REFINE");
    assert!(
        refiner.contains("GATHERED: there is no script yet"),
        "{refiner}"
    );
    let planner = stage.model.told("GO-PLAN");
    assert!(
        planner.contains("REFINED: hello.sh is to be written"),
        "{planner}"
    );
    let mut page = Transcript::new(
        "context-first",
        "A task of a session in a project in which every session has a run.",
    );
    page.conversations(
        &stage,
        &[
            ("The session", "GO-MAIN"),
            ("`context-gatherer`, in `IDLE`", "GO-GATHER"),
            ("`context-refiner`, in `GATHERING`", "GO-REFINE"),
            ("`strategic-orchestrator`", "GO-PLAN"),
            ("`bash-expert`, an agent of the project", "GO-WORK"),
        ],
    );
    let page = page.finished(&stage, &stage.run());
    expect_file!["../../../../../docs/transcripts/context-first.md"].assert_eq(&page);
}
