//! The runner `command`: scripts of the definition, started by the orchestrator as they were trusted.

use super::fixture::{ONE, WRITES, World, says};

const SCRIPT: &str =
    "#!/bin/sh\ncat > briefing\necho \"$GATEWRIGHT_AGENT in $GATEWRIGHT_STAGE\" > note.txt\n";

/// `ONE`, whose agent is a script of the definition.
fn scripted(script: &str) -> World {
    let world = World::new(testkit::Project::with_git(super::fixture::PROGRAM), WRITES);
    world.project.write("write.sh", script);
    world.pipeline(&ONE.replace(
        "leaves  =",
        "runner  = \"command\"\nprompt  = \"write.sh\"\nleaves  =",
    ));
    world
}

const RUN: &str = "run pipeline.toml --task try --id r-test";

#[test]
fn a_script_of_the_definition_works_in_a_headless_run() {
    let world = scripted(SCRIPT);
    world.gatewright(RUN).succeeds();
    assert_eq!(world.project.read("note.txt"), "writer in writing\n");
    let briefing = world.project.read("briefing");
    says(&briefing, "'writer'");
    says(&briefing, "r-test");
}

#[test]
fn a_script_that_fails_is_tried_again_as_it_was_trusted() {
    let world =
        scripted("#!/bin/sh\n[ -e second ] || { touch second; exit 3; }\necho x > note.txt\n");
    let ran = world.gatewright(RUN).succeeds();
    says(&ran.stderr, "crashed");
    says(&ran.stderr, "exit code 3");
    assert_eq!(world.history("retried").len(), 1);
}
