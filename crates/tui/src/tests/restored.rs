//! A panic while the terminal is taken: it is given back before anybody reads the message.

use std::process::Command;

use testkit::terminal::Terminal as PersonsTerminal;
use views::Paint;

use crate::terminal::Terminal;

/// Set in the process that panics at a terminal.
const PANICS: &str = "TUI_TEST_PANICS";

const MESSAGE: &str = "the screen broke on purpose";

#[test]
fn a_panic_gives_the_terminal_back_without_a_keeper() {
    if std::env::var_os(PANICS).is_some() {
        let taken = Terminal::take(Paint::Plain, |_| Ok(None));
        assert!(taken.is_ok(), "no terminal");
        panic!("{MESSAGE}");
    }
    let program = std::env::current_exe().unwrap();
    let name = "tests::restored::a_panic_gives_the_terminal_back_without_a_keeper";
    let mut command = Command::new("sh");
    let line = format!(
        "echo before; '{}' --exact {name} --nocapture; stty -a; sleep 600",
        program.display()
    );
    command.args(["-c", &line]).env(PANICS, "1");
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let terminal = PersonsTerminal::open(&command);
    let screen = terminal.wait_for("iexten");
    for expected in ["before", MESSAGE] {
        assert!(screen.contains(expected), "{expected}\n{screen}");
    }
    let modes: Vec<&str> = screen.split_whitespace().collect();
    for mode in ["icanon", "echo", "isig"] {
        assert!(modes.contains(&mode), "{mode}\n{screen}");
    }
}
