//! Runs that begin or go on in one tree: one at a time, and each says what it waits for.

use std::fs;

use super::fixture::{World, until};

/// One writes, a person agrees, and one looks at it.
const AGREED: &str = r#"
name  = "agreed"
about = "Have a note written and looked at."
start = "writing"

[artifacts.note]
path   = "note.txt"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "agreeing"

[stages.agreeing]
ask    = "Go on?"
on.yes = "reviewing"

[stages.reviewing]
agent   = "critic"
writes  = []
on.done = "complete"

[stages.complete]
end = "completed"
"#;

/// Leaves `met` if two of them work at the same time. Each waits a while for another one, once that is asked for.
const MEETS: &str = r#"
mkdir "$here/busy" 2>/dev/null || touch "$here/met"
turns=0
while [ -e "$here/together" ] && [ ! -e "$here/met" ] && [ $turns -lt 30 ]; do sleep 0.05; turns=$((turns + 1)); done
case $GATEWRIGHT_AGENT in writer) echo "$GATEWRIGHT_RUN $count" > note.txt ;; esac
rmdir "$here/busy" 2>/dev/null
exit 0"#;

fn in_tree(world: &World, run: &str, more: &str) -> String {
    world.line(more).replace("r-test", run)
}

#[test]
fn runs_that_go_on_in_one_tree_take_the_same_turn_as_runs_that_begin() {
    let world = World::with(AGREED, MEETS);
    let first = in_tree(&world, "r-a", "--answer agreeing=yes");
    world.gatewright(&first).succeeds();
    world.gatewright(&in_tree(&world, "r-b", "")).exits(6);
    world.person("reset r-a --reason again", "r-a\n").succeeds();
    world.gatewright("answer r-b yes").succeeds();
    fs::write(world.programs().join("together"), "").unwrap();
    world.gatewright("worker --once");
    assert_eq!(world.status("r-b"), "completed");
    let again = world.history_of("r-a", "admitted");
    assert_eq!(again.len(), 3, "{again:?}");
    assert!(
        !world.programs().join("met").exists(),
        "{:?}",
        world.starts()
    );
}

#[test]
fn whoever_waits_behind_a_run_that_does_not_go_on_by_itself_learns_what_to_type() {
    let waits = r#"while [ ! -e "$here/go" ]; do sleep 0.05; done; echo n > note.txt"#;
    let world = World::with(AGREED, waits);
    let first = world.begin(&world.line(""));
    until("the first works", || world.starts().len() == 1);
    first.kill();
    let second = world.begin(&in_tree(&world, "r-second", ""));
    until("it names the killed run", || {
        let said = second.said();
        said.contains("`gatewright resume r-test`") && said.contains("`gatewright cancel r-test ")
    });
    let queue = world.facts("queue");
    let mut rows = queue.as_array().unwrap().iter();
    let second_row = rows.find(|row| row["run"] == "r-second").unwrap();
    assert_eq!(second_row["waits"]["for"], "tree", "{second_row}");
    assert_eq!(second_row["waits"]["run"], "r-test");
    fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("resume r-test").exits(6);
    until("it names the run that asks", || {
        second.said().contains("`gatewright next r-test`")
    });
    world
        .person("cancel r-test --reason enough", "r-test\n")
        .succeeds();
    second.end().exits(6);
}

#[test]
fn a_run_that_waits_for_a_person_leaves_the_tree_to_one_that_goes_on() {
    let world = World::with(AGREED, MEETS);
    let first = in_tree(&world, "r-a", "--answer agreeing=yes");
    world.gatewright(&first).succeeds();
    let staying = world.begin(&in_tree(&world, "r-b", "--wait"));
    until("it waits", || {
        let ran = world.gatewright("status r-b --json");
        ran.stdout.contains("\"waiting\"")
    });
    world.person("reset r-a --reason again", "r-a\n").succeeds();
    world.gatewright("resume r-a");
    assert_eq!(world.history_of("r-a", "admitted").len(), 3);
    // The other run has written the same file meanwhile.
    world.gatewright("answer r-b yes --with-edits").succeeds();
    staying.end().succeeds();
}
