//! The live view at a real terminal: what it shows, its keys, another size, and a terminal that is left as it was.

mod asleep;
mod crowded;
mod slow_version;
mod typed_early;

use std::fs;
use std::process::Command;

use testkit::terminal::Terminal;

use super::fixture::{ONE, PROGRAM, World, says, until};

/// Works until `go` is there.
const WAITS: &str = r#"echo "I look around"
echo $$ > "$here/works"
while [ ! -e "$here/go" ]; do sleep 0.05; done
echo "note $count" > note.txt"#;

/// A person types this line of shell at a terminal of their own.
fn at_terminal(world: &World, line: &str) -> Terminal {
    let mut command = world.project.at_home("sh");
    command.args(["-c", line]);
    Terminal::open(&command)
}

fn run(world: &World) -> String {
    format!("'{PROGRAM}' {}", world.line(""))
}

/// How often the head of the picture stands on the screen.
fn pictures(screen: &str) -> usize {
    let lines = screen.lines();
    lines
        .filter(|line| line.starts_with("r-test one · "))
        .count()
}

#[test]
fn another_size_leaves_no_stale_picture() {
    let world = World::with(ONE, WAITS);
    let terminal = at_terminal(&world, &run(&world));
    terminal.resize(80, 24);
    terminal.wait_for("l look · a");
    // A screen that grows again brings back what had left it at the top.
    for (columns, rows) in [(40, 20), (100, 5), (60, 30), (30, 6), (80, 24)] {
        terminal.resize(columns, rows);
        let settled = |screen: &str| {
            let width = screen.lines().map(|line| line.chars().count()).max();
            pictures(screen) == 1
                && width <= Some(usize::from(columns))
                && screen.contains("writing (agent)")
                && (rows < 10 || screen.contains("q stop"))
        };
        terminal.wait_until(settled);
    }
    fs::write(world.programs().join("go"), "").unwrap();
    let ended = terminal.wait_for_end();
    assert_eq!(ended.code, Some(0), "{}", ended.screen);
    assert_eq!(pictures(&ended.screen), 1, "{}", ended.screen);
}

#[test]
fn a_key_looks_closer_and_a_key_stops_and_the_terminal_is_as_before() {
    let world = World::with(ONE, WAITS);
    let line = format!("{}; echo code $?; stty -a; sleep 600", run(&world));
    let terminal = at_terminal(&world, &line);
    terminal.wait_for("l look · a");
    until("it works", || !world.noted("works").is_empty());
    terminal.type_text("l");
    terminal.wait_for("'writer' lately:");
    terminal.wait_for("I look around");
    terminal.type_text("a");
    terminal.wait_for("nothing is asked now");
    terminal.type_text("q");
    let screen = terminal.wait_for("iexten");
    says(&screen, "code 130");
    let modes: Vec<&str> = screen.split_whitespace().collect();
    assert!(
        modes.contains(&"icanon") && modes.contains(&"echo"),
        "{screen}"
    );
    assert_eq!(world.status("r-test"), "running");
}

#[test]
fn a_stage_is_skipped_by_a_key_with_a_reason_and_a_confirmation() {
    let world = World::with(ONE, WAITS);
    let terminal = at_terminal(&world, &run(&world));
    terminal.wait_for("l look · a");
    until("it works", || !world.noted("works").is_empty());
    terminal.type_text("s");
    terminal.wait_for("Why?");
    terminal.type_text("it is done by hand");
    terminal.press("Enter");
    terminal.wait_for("Type r-test to skip");
    terminal.type_text("r-test");
    terminal.press("Enter");
    let ended = terminal.wait_for_end();
    assert_eq!(ended.code, Some(0), "{}", ended.screen);
    let overridden = world.history("overridden");
    assert_eq!(overridden.len(), 1, "{overridden:?}");
    says(&overridden[0].to_string(), "it is done by hand");
}

#[test]
fn a_terminal_whose_program_was_killed_is_put_back() {
    let world = World::with(ONE, WAITS);
    let file = world.programs().join("pid");
    let line = format!(
        "sh -c 'echo $$ > \"$0\"; exec \"$@\"' '{}' {}; while stty -a | grep -q -e -icanon; do sleep 0.05; done; stty -a; sleep 600",
        file.display(),
        run(&world)
    );
    let terminal = at_terminal(&world, &line);
    terminal.wait_for("l look · a");
    let id = world.noted("pid").remove(0);
    let killed = Command::new("kill").args(["-9", &id]).status().unwrap();
    assert!(killed.success());
    let screen = terminal.wait_for("iexten");
    let modes: Vec<&str> = screen.split_whitespace().collect();
    assert!(
        modes.contains(&"icanon") && modes.contains(&"echo"),
        "{screen}"
    );
}

#[test]
fn without_a_person_at_both_ends_no_key_is_taken() {
    let world = World::with(ONE, WAITS);
    let line = format!("{} > out.txt", run(&world));
    let terminal = at_terminal(&world, &line);
    let screen = terminal.wait_for("writing (agent)");
    until("it works", || !world.noted("works").is_empty());
    assert!(!screen.contains("l look"), "{screen}");
    terminal.type_text("q");
    fs::write(world.programs().join("go"), "").unwrap();
    assert_eq!(terminal.wait_for_end().code, Some(0));
}

/// The picture of an ended stage shows how long it took, by the journal.
#[test]
fn a_stage_that_has_ended_keeps_the_time_that_it_took() {
    let two = ONE.replace("on.done = \"complete\"", "on.done = \"again\"");
    assert_ne!(two, ONE);
    let two = format!(
        "{two}\n[stages.again]\nagent = \"writer\"\nleaves = [\"note\"]\non.done = \"complete\"\n"
    );
    let script = r#"echo "note $count" > note.txt
if [ "$count" = 1 ]; then sleep 2.2; fi
if [ "$count" = 2 ]; then while [ ! -e "$here/go" ]; do sleep 0.05; done; fi"#;
    let world = World::with(&two, script);
    let terminal = at_terminal(&world, &run(&world));
    let spent = |screen: &str| {
        let (_, after) = screen.rsplit_once("writing ")?;
        after.split(['s', '\n']).next()?.parse::<u64>().ok()
    };
    terminal.wait_until(|screen| screen.contains("again (agent)") && spent(screen).is_some());
    let screen = terminal.wait_for("again (agent)");
    assert!(
        spent(&screen).is_some_and(|seconds| seconds >= 2),
        "{screen}"
    );
    fs::write(world.programs().join("go"), "").unwrap();
    assert_eq!(terminal.wait_for_end().code, Some(0));
}

#[test]
fn the_last_words_of_a_script_and_the_time_that_it_takes_are_shown_while_it_works() {
    let limited = ONE.replace(
        "start = \"writing\"",
        "start = \"writing\"\nbudget = { time = \"1h\" }",
    );
    let world = World::with(&limited, WAITS);
    let terminal = at_terminal(&world, &run(&world));
    terminal.wait_for("says: I look around");
    terminal.wait_for("time 2s of 1h");
    fs::write(world.programs().join("go"), "").unwrap();
    assert_eq!(terminal.wait_for_end().code, Some(0));
}
