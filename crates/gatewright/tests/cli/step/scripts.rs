//! The runner `command`: a script of the definition, run as it was trusted.

use std::fs;

use super::fixture::World;

const SCRIPTED: &str = r#"
name  = "scripted"
about = "Have a script count."
start = "counting"

[artifacts.count]
from   = "reply"
format = "json"
outcome = { field = "status", values = { good = "done" } }

[stages.counting]
agent   = "counter"
runner  = "command"
prompt  = "count.sh"
model   = "abacus"
leaves  = ["count"]
on.done = "complete"

[stages.complete]
end = "completed"
"#;

fn world(script: &str) -> World {
    let world = World::unstarted(SCRIPTED);
    world.project.write("count.sh", script);
    world
}

const GOOD: &str = "#!/bin/sh\ncat > briefing\nenv | grep GATEWRIGHT | grep -v -e _CALL= -e _START= | sort > told\necho '{\"status\": \"good\"}'\n";

#[test]
fn a_script_reads_its_briefing_and_what_it_prints_is_its_last_message() {
    let world = world(GOOD);
    world.start().succeeds();
    world.step().succeeds();
    assert_eq!(world.stage(), "complete");
    let briefing = world.project.read("briefing");
    assert!(briefing.contains("'counter'"), "{briefing}");
    assert!(!briefing.contains("#!/bin/sh"), "{briefing}");
    assert_eq!(
        world.project.read("told"),
        "GATEWRIGHT_AGENT=counter\nGATEWRIGHT_MODEL=abacus\nGATEWRIGHT_RUN=r-test\nGATEWRIGHT_STAGE=counting\n"
    );
    let left = world.project.state().join("working");
    assert_eq!(fs::read_dir(left).unwrap().count(), 0);
}

#[test]
fn a_script_that_was_changed_afterwards_is_not_run() {
    let world = world(GOOD);
    world.start().succeeds();
    world.project.write(
        "count.sh",
        "#!/bin/sh\ntouch evil\necho '{\"status\": \"good\"}'\n",
    );
    world.step().succeeds();
    assert!(!world.project.path().join("evil").exists());
    assert!(world.project.path().join("briefing").exists());
}

#[test]
fn a_script_is_shown_before_it_is_trusted() {
    let world = world(GOOD);
    let shown = world.project.trust("pipeline.toml").stdout;
    assert!(shown.contains("runner command"), "{shown}");
    assert!(shown.contains("count.sh"), "{shown}");
}

#[test]
fn a_script_that_fails_has_crashed_and_is_not_sent_back() {
    for (script, reason) in [
        ("#!/bin/sh\necho oh >&2\nexit 7\n", "exit code 7: oh"),
        ("#!/bin/sh\necho '{\"status\": \"bad\"}'\n", "is \"bad\""),
        ("#!/no/such/program\n", "GW-R37"),
    ] {
        let world = world(script);
        world.start().succeeds();
        let ran = world.step().exits(1);
        assert!(ran.stderr.contains(reason), "{script}\n{ran}");
        assert_eq!(world.history("ended").len(), 1);
        assert_eq!(world.history("sent_back").len(), 0);
    }
}

#[test]
fn a_script_says_what_runs_it_and_has_a_name() {
    let silent = world("echo '{}'\n");
    let nameless = World::unstarted(&SCRIPTED.replace("prompt  = \"count.sh\"\n", ""));
    for world in [silent, nameless] {
        world.project.person(["trust", "pipeline.toml"], "yes\n");
        let ran = world
            .run("start pipeline.toml --task try --by-hand")
            .exits(1);
        assert!(ran.stderr.contains("GW-L266"), "{ran}");
    }
}

/// No name of a program tells that a script acts for an agent, so we do.
#[test]
fn a_script_is_an_agent_for_what_it_starts() {
    let world = World::unstarted(SCRIPTED);
    let program = env!("CARGO_BIN_EXE_gatewright");
    let state = world.project.state_home();
    let cancels = format!(
        "XDG_STATE_HOME='{}' '{program}' cancel r-test --reason 'I say so' > said 2>&1",
        state.display()
    );
    let script = format!("#!/bin/sh\n{cancels}\necho '{{\"status\": \"good\"}}'\n");
    world.project.write("count.sh", script);
    world.start().succeeds();
    world.step().succeeds();
    let said = world.project.read("said");
    assert!(said.contains("GW-R66"), "{said}");
    assert_eq!(world.stage(), "complete");
}
