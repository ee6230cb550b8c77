//! Runs test binaries, two at a time, and tells the failed tests once more at the end: the end of a long output
//! says what failed and why.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::binaries::TestBinary;
use crate::failure::Failure;
use crate::output::say;

/// Of what a failed test printed, as much as is repeated.
const MOST_LINES: usize = 15;

/// The last tests of a binary leave cores idle, so the next binary already runs beside it.
const AT_ONCE: usize = 2;

/// Binaries that run long begin first. One long test of `laws` leaves a core to others, so it is not the last of them.
const LONGEST: [&str; 5] = ["host", "cli", "laws", "headless", "pg_store"];

/// One binary, and the tests of it that are left out, by their whole names.
pub(super) struct Part {
    pub binary: TestBinary,
    pub left_out: Vec<String>,
}

/// What every call of a test binary gets.
pub(super) struct Setting {
    pub threads: usize,
    pub environment: Vec<(&'static str, String)>,
}

/// Runs every binary, also after one has failed.
pub(super) fn run(mut parts: Vec<Part>, setting: &Setting) -> Result<(), Failure> {
    parts.sort_by_key(|part| {
        let place = LONGEST.iter().position(|name| *name == part.binary.target);
        place.unwrap_or(LONGEST.len())
    });
    let commands = parts
        .iter()
        .map(|part| (part.name(), part.command(setting)));
    run_all(commands.collect())
}

impl Part {
    fn name(&self) -> String {
        format!(
            "{} of {}",
            self.binary.target,
            self.binary.package.display()
        )
    }

    fn command(&self, setting: &Setting) -> Command {
        let mut command = self.binary.command();
        command.arg("--quiet");
        if !self.left_out.is_empty() {
            // Otherwise a name that is a part of another one leaves that out, too.
            command.arg("--exact");
        }
        for test in &self.left_out {
            command.args(["--skip", test]);
        }
        command.env("RUST_TEST_THREADS", setting.threads.to_string());
        command.envs(
            setting
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        );
        command
    }
}

type Named = (String, Command);

fn run_all(commands: VecDeque<Named>) -> Result<(), Failure> {
    let (queue, failures) = (Mutex::new(commands), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((name, command)) = next(&queue) {
                    if let Err(failure) = run_one(&name, command) {
                        lock(&failures).push(failure.with_causes());
                    }
                }
            });
        }
    });
    let failures = failures
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if failures.is_empty() {
        Ok(())
    } else {
        Err(Failure::no(failures.join("\n")))
    }
}

fn next(queue: &Mutex<VecDeque<Named>>) -> Option<Named> {
    lock(queue).pop_front()
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one binary. What it prints comes in one piece when it ends, so that two do not mix.
fn run_one(name: &str, mut command: Command) -> Result<(), Failure> {
    let began = Instant::now();
    let mut process = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(Failure::program(name))?;
    let mut printed = String::new();
    let output = process.stdout.take();
    let failed = output.map_or_else(FailedTests::default, |output| {
        read_on(output, |line| printed.push_str(&format!("{line}\n")))
    });
    let status = process.wait().map_err(Failure::program(name))?;
    let seconds = began.elapsed().as_secs_f32();
    say(format_args!(
        "-- {name}, {seconds:.1} s{}",
        printed.trim_end()
    ));
    if status.success() {
        return Ok(());
    }
    Err(Failure::no(format!(
        "{name} failed: {status}{}",
        failed.in_short()
    )))
}

fn read_on(output: impl Read, mut show: impl FnMut(&str)) -> FailedTests {
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
        let named = |program: &str| (program.to_owned(), Command::new(program));
        let both = VecDeque::from([named("true"), named("false"), named("true")]);
        let failure = run_all(both).unwrap_err().to_string();
        assert!(failure.starts_with("false failed:"), "{failure}");
        assert!(!failure.contains("failed test:"), "{failure}");
        run_all(VecDeque::from([named("true")])).unwrap();
    }
}
