//! `watch` and `metrics` on a machine that has joined a fleet: both stores, and a database that goes and comes.

use serde_json::Value;
use testkit::terminal::Terminal;

use super::fixture::{PROGRAM, World, says};
use super::fleet::Fleet;
use super::owners::ASKS;

/// A question waits at home, and one in the fleet.
fn both_ask() -> Fleet {
    let fleet = Fleet::new(ASKS, "echo note > note.txt");
    fleet.laptop.run("");
    fleet.queue("f-1", "").succeeds();
    let worked = fleet.laptop.gatewright("worker --fleet --once");
    assert_eq!(fleet.laptop.status("f-1"), "waiting", "{worked}");
    fleet
}

fn total(printed: &str) -> Value {
    let figures: Value = serde_json::from_str(printed).unwrap();
    figures["runs"]["total"].clone()
}

fn watch(world: &World) -> Terminal {
    let mut command = world.project.at_home("sh");
    command.args(["-c", &format!("'{PROGRAM}' watch")]);
    let terminal = Terminal::open(&command);
    terminal.resize(100, 30);
    terminal
}

#[test]
fn one_picture_and_the_figures_have_the_runs_of_both_stores_while_the_database_is_there() {
    let fleet = both_ask();
    let laptop = &fleet.laptop;
    let has_both = || {
        let picture = laptop.gatewright("watch --once").succeeds().stdout;
        says(&picture, "2 runs wait for you");
        says(&picture, "r-test");
        says(&picture, "f-1");
        assert!(!picture.contains("cannot read"), "{picture}");
        for line in ["metrics --json", "metrics --all --json"] {
            let figures = laptop.gatewright(line).succeeds();
            assert_eq!(total(&figures.stdout), 2, "{figures}");
        }
    };
    has_both();
    let selected = laptop.gatewright("watch --once --select f-").succeeds();
    says(&selected.stdout, "f-1");
    laptop.gatewright("watch --once --select f-none").exits(3);

    fleet.server.crash();
    let picture = laptop.gatewright("watch --once").succeeds().stdout;
    says(&picture, "1 run waits for you");
    says(&picture, "r-test");
    says(&picture, "cannot read the runs of the fleet");
    assert!(!picture.contains("f-1"), "{picture}");
    let figures = laptop.gatewright("metrics --json");
    assert_eq!(total(&figures.stdout), 1, "{figures}");
    assert_eq!(figures.stderr.lines().count(), 1, "{figures}");
    says(&figures.stderr, "cannot read the runs of the fleet");
    figures.exits(4);

    fleet.server.start_again();
    has_both();
}

#[test]
fn a_run_of_the_fleet_is_answered_on_the_screen_which_outlives_the_database() {
    let fleet = Fleet::new(ASKS, "echo note > note.txt");
    fleet.queue("f-1", "").succeeds();
    fleet.laptop.gatewright("worker --fleet --once").succeeds();
    let terminal = watch(&fleet.laptop);
    says(&terminal.wait_for("press a to answer"), "f-1");
    fleet.server.crash();
    let screen = terminal.wait_for("cannot read the runs of the fleet");
    assert!(!screen.contains("press a to answer"), "{screen}");
    fleet.server.start_again();
    terminal.wait_for("press a to answer");
    terminal.press("Enter");
    terminal.wait_for("ANSWER");
    terminal.type_text("yes please do");
    terminal.press("Enter");
    terminal.wait_for("nothing waits for you");
    let answers = fleet.laptop.history_of("f-1", "answered");
    assert_eq!(answers.len(), 1, "{answers:?}");
    says(&answers[0].to_string(), "please do");
    assert_eq!(answers[0]["by"]["kind"], "person", "{answers:?}");
    terminal.type_text("q");
    assert_eq!(terminal.wait_for_end().code, Some(0));
}
