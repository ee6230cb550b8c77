//! One call of `cargo test`, and the failed tests once more at the end: the end of a long output
//! says what failed and why.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::output::say;

/// Of what a failed test printed, as much as is repeated.
const MOST_LINES: usize = 15;

/// Runs the tests. The harness prints a dot for a test that passes, and everything of a test that fails.
pub(super) fn run(command: &mut Command) -> Result<(), Failure> {
    let name = "cargo test";
    let mut cargo = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(Failure::program(name))?;
    let output = cargo.stdout.take();
    let failed = output.map_or_else(FailedTests::default, |output| {
        read_on(output, |line| say(line))
    });
    let status = cargo.wait().map_err(Failure::program(name))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::no(format!(
        "{name} failed: {status}{}",
        failed.in_short()
    )))
}

/// Shows each line as it arrives.
fn read_on(output: impl Read, show: impl Fn(&str)) -> FailedTests {
    let mut failed = FailedTests::default();
    let mut lines = BufReader::new(output);
    let mut line = Vec::new();
    while matches!(lines.read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\n');
        show(text);
        failed.read(text);
        line.clear();
    }
    failed
}

/// The tests that failed, each with the beginning of what it printed.
#[derive(Default)]
struct FailedTests {
    tests: Vec<FailedTest>,
    /// Do the next lines belong to the last of them?
    is_inside: bool,
}

struct FailedTest {
    name: String,
    printed: Vec<String>,
}

impl FailedTests {
    fn read(&mut self, line: &str) {
        let heading = line.strip_prefix("---- ");
        if let Some(name) = heading.and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.tests.push(FailedTest {
                name: name.to_owned(),
                printed: Vec::new(),
            });
            self.is_inside = true;
        } else if line == "failures:" || line.starts_with("test result:") {
            self.is_inside = false;
        } else if let Some(test) = self.tests.last_mut().filter(|_| self.is_inside) {
            test.printed.push(line.to_owned());
        }
    }

    fn in_short(&self) -> String {
        let mut text = String::new();
        for FailedTest { name, printed } in &self.tests {
            text.push_str(&format!("\nfailed test: {name}"));
            let lines = printed.iter().filter(|line| !line.trim().is_empty());
            for line in lines.take(MOST_LINES) {
                text.push_str(&format!("\n    {line}"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_are_told_with_the_beginning_of_their_output() {
        let long = "    more\n".repeat(2 * MOST_LINES);
        let output = format!(
            "running 3 tests\n..F\nfailures:\n\n---- gate::refuses stdout ----\nexpected no\n{long}\n\
             ---- gate::admits stdout ----\nexpected yes\n\nfailures:\n    gate::admits\n    gate::refuses\n\n\
             test result: FAILED. 1 passed; 2 failed\nrunning 1 test\n."
        );
        let failed = read_on(output.as_bytes(), |_| ());
        let names: Vec<_> = failed.tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["gate::refuses", "gate::admits"]);
        assert_eq!(failed.tests[1].printed, ["expected yes", ""]);
        let lines = failed.in_short().lines().count();
        assert_eq!(lines, 1 + (1 + MOST_LINES) + 2);
    }

    #[test]
    fn a_command_that_fails_without_a_failed_test_fails() {
        let failure = run(&mut Command::new("false")).unwrap_err();
        assert!(!failure.to_string().contains("failed test:"));
        run(&mut Command::new("true")).unwrap();
    }
}
