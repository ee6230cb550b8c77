//! A terminal of a test's own: keys, screen, end, and nothing left behind.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot look at its processes has failed"
)]

use std::fs;
use std::process::Command;

use testkit::terminal::Terminal;
use testkit::{Project, until};

/// A line of shell in a terminal, in a project of its own.
fn open(project: &Project, line: &str) -> Terminal {
    Terminal::open(&project.shell(line))
}

#[test]
fn keys_reach_the_program_and_its_words_reach_the_screen() {
    let project = Project::new("sh");
    let terminal = open(&project, "read -r line; echo \"got: $line\"; exit 3");
    terminal.type_text("it's a \"line\" with #{odd} $things; and ü");
    terminal.press("Enter");
    let ended = terminal.wait_for_end();
    assert_eq!(ended.code, Some(3));
    assert!(
        ended
            .screen
            .contains("got: it's a \"line\" with #{odd} $things; and ü"),
        "{ended:?}"
    );
}

#[test]
fn the_program_is_at_a_terminal_and_its_environment_is_what_was_set() {
    let project = Project::new("sh");
    let terminal = open(
        &project,
        "test -t 0 && test -t 1 && tty; env > variables; pwd -P; sleep 60",
    );
    let screen = terminal.wait_for("project");
    assert!(screen.contains("/dev/"), "{screen}");
    let variables = project.read("variables");
    let names = variables.lines().filter_map(|line| line.split('=').next());
    for name in names {
        let strange =
            name.starts_with("TMUX") || name.starts_with("CARGO") || name.starts_with("TERM_");
        assert!(!strange, "{name} is set:\n{variables}");
    }
    assert!(variables.contains("TERM=screen-256color"), "{variables}");
}

#[test]
fn the_program_is_no_child_of_the_test() {
    let project = Project::new("sh");
    let terminal = open(&project, "sleep 60");
    let mut process = terminal.process();
    while process > 1 {
        assert_ne!(process, std::process::id());
        process = parent(process);
    }
}

fn parent(process: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    rest.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_signal_ends_the_program_and_is_told_apart_from_an_exit() {
    let project = Project::new("sh");
    let terminal = open(&project, "echo ready; exec sleep 60");
    terminal.wait_for("ready");
    terminal.terminate();
    assert_eq!(terminal.wait_for_end().code, None);
}

#[test]
fn what_leaves_the_screen_is_kept() {
    let project = Project::new("sh");
    let terminal = open(&project, "seq 1 500; echo last; sleep 60");
    let screen = terminal.wait_for("last");
    assert!(!screen.lines().any(|line| line == "1"), "{screen}");
    assert!(terminal.scroll().lines().any(|line| line == "1"));
}

#[test]
fn a_terminal_that_goes_takes_everything_with_it() {
    let project = Project::new("sh");
    let line = "setsid sh -c 'echo $$ > far; exec sleep 600' & echo $$ > near; sleep 600";
    let terminal = open(&project, line);
    let read = |name| fs::read_to_string(project.path().join(name)).unwrap_or_default();
    until("both are there", || {
        read("near").ends_with('\n') && read("far").ends_with('\n')
    });
    let processes = ["near", "far"].map(|name| read(name).trim().parse().unwrap());
    assert!(processes.into_iter().all(is_alive));
    drop(terminal);
    until("both have ended", || !processes.into_iter().any(is_alive));
}

/// A process that has ended and that nobody has asked about yet is not alive.
fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
#[should_panic(expected = "the screen still shows")]
fn what_does_not_go_is_a_failure() {
    let terminal = Terminal::open(Command::new("sh").args(["-c", "echo stays; exec sleep 60"]));
    terminal.wait_for("stays");
    terminal.kill();
    terminal.wait_for_end();
    terminal.wait_until_gone("stays");
}
