//! The tests of `--quick`: all that start no agent program and no battery.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use tempfile::{Builder, TempDir};

use super::binaries::{self, TestBinary};
use super::suite::{self, Part, Setting};
use crate::failure::Failure;
use crate::workspace::read;

/// The test binary with every test that starts a real agent program.
pub(super) const REAL_AGENTS: &str = "host";

/// Batteries among the tests, which try many cases or start thousands of processes, and what needs more
/// than `--quick` installs.
const LEFT_OUT: [LeftOut; 23] = [
    LeftOut {
        skip: "walk::every_state_of_",
        file: "crates/testkit/tests/laws/walk.rs",
    },
    LeftOut {
        skip: "small::every_word_of_a_host",
        file: "crates/testkit/tests/laws/small.rs",
    },
    LeftOut {
        skip: "causes::every_cause_in_multi_ai",
        file: "crates/testkit/tests/laws/causes.rs",
    },
    LeftOut {
        skip: "odd_trees::a_tree_as_at_the_last_look_is_the_same",
        file: "crates/evidence/tests/looks/odd_trees.rs",
    },
    LeftOut {
        skip: "hook::identity::whatever_happens",
        file: "crates/gatewright/tests/cli/hook/identity.rs",
    },
    LeftOut {
        skip: "hook::strangers::no_call_of_a_stranger",
        file: "crates/gatewright/tests/cli/hook/strangers.rs",
    },
    LeftOut {
        skip: "papers::every_command_of_the_other_pages",
        file: "crates/gatewright/tests/cli/papers.rs",
    },
    LeftOut {
        skip: "battery::chores::tests::",
        file: "xtask/src/battery/chores.rs",
    },
    LeftOut {
        skip: "tests::",
        file: "crates/postgres/src/tests/mod.rs",
    },
    LeftOut {
        skip: "shipping::",
        file: "crates/gatewright/tests/cli/shipping.rs",
    },
    LeftOut {
        skip: "adopting::",
        file: "crates/gatewright/tests/cli/adopting.rs",
    },
    LeftOut {
        skip: "fleet::",
        file: "crates/gatewright/tests/headless/fleet.rs",
    },
    LeftOut {
        skip: "fleet_caps::",
        file: "crates/gatewright/tests/headless/fleet_caps.rs",
    },
    LeftOut {
        skip: "fleet_files::",
        file: "crates/gatewright/tests/headless/fleet_files.rs",
    },
    LeftOut {
        skip: "fleet_hooks::",
        file: "crates/gatewright/tests/headless/fleet_hooks.rs",
    },
    LeftOut {
        skip: "fleet_screens::",
        file: "crates/gatewright/tests/headless/fleet_screens.rs",
    },
    LeftOut {
        skip: "fleet_trouble::",
        file: "crates/gatewright/tests/headless/fleet_trouble.rs",
    },
    LeftOut {
        skip: "prove::builtins::",
        file: "crates/gatewright/tests/cli/prove/builtins.rs",
    },
    LeftOut {
        skip: "prove::broken::",
        file: "crates/gatewright/tests/cli/prove/broken.rs",
    },
    LeftOut {
        skip: "prove::refused::",
        file: "crates/gatewright/tests/cli/prove/refused.rs",
    },
    LeftOut {
        skip: "caller_environment::nothing_that_an_agent_sets",
        file: "crates/gatewright/tests/cli/caller_environment.rs",
    },
    LeftOut {
        skip: "serve::browser::",
        file: "crates/gatewright/tests/cli/serve/browser.rs",
    },
    LeftOut {
        skip: "real_linters::",
        file: "crates/gatewright/tests/headless/real_linters.rs",
    },
];

/// Where Linux has a file system in memory.
const MEMORY: &str = "/dev/shm";

/// What all tests write at the same time is a small part of it.
const ROOM_KILOBYTES: u64 = 2 * 1024 * 1024;

struct LeftOut {
    /// How the names of these tests begin, in the binary that holds the file.
    skip: &'static str,
    file: &'static str,
}

pub(super) fn tests() -> Result<(), Failure> {
    let binaries = binaries::build()?;
    let quick = binaries.into_iter().filter(|it| it.target != REAL_AGENTS);
    let parts = quick.map(part).collect::<Result<Vec<_>, _>>()?;
    let memory = in_memory(Path::new(MEMORY));
    let folder = memory.iter().map(|folder| folder.path().to_string_lossy());
    let setting = Setting {
        // Most tests wait for the processes that they start.
        threads: thread::available_parallelism().map_or(2, usize::from) * 2,
        environment: folder.map(|path| ("TMPDIR", path.into_owned())).collect(),
    };
    suite::run(parts, &setting)
}

fn part(binary: TestBinary) -> Result<Part, Failure> {
    let mut left_out = Vec::new();
    let of_this = |it: &&LeftOut| binary.holds(Path::new(it.file));
    let mut rules = LEFT_OUT.iter().filter(of_this).peekable();
    if rules.peek().is_some() {
        let tests = binary.tests()?;
        for rule in rules {
            left_out.extend(skipped(rule, &tests)?);
        }
    }
    Ok(Part { binary, left_out })
}

/// The tests that a rule leaves out. A rule without one is out of date: it would leave out nothing, unnoticed.
fn skipped(rule: &LeftOut, tests: &[String]) -> Result<Vec<String>, Failure> {
    let tests = tests.iter().filter(|test| test.starts_with(rule.skip));
    let tests: Vec<String> = tests.cloned().collect();
    if tests.is_empty() {
        let LeftOut { skip, file } = rule;
        return Err(Failure::no(format!("{file} has no test `{skip}…`")));
    }
    Ok(tests)
}

/// A temporary folder in memory, if this is a place for one: enough room, and programs can be run from it. Tests
/// make and sync many small files, and `cargo xtask test` does all of it on a disk.
fn in_memory(place: &Path) -> Option<TempDir> {
    let free = read(Command::new("df").arg("-Pk").arg(place)).ok()?;
    let free_kilobytes: u64 = free
        .lines()
        .nth(1)?
        .split_whitespace()
        .nth(3)?
        .parse()
        .ok()?;
    let folder = Builder::new().prefix("xtask-quick-").tempdir_in(place);
    let folder = folder.ok().filter(|_| free_kilobytes >= ROOM_KILOBYTES)?;
    let program = folder.path().join("true");
    fs::copy("/bin/true", &program).ok()?;
    let runs = Command::new(&program).status().ok()?.success();
    fs::remove_file(&program).ok()?;
    runs.then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn a_place_that_is_not_there_is_not_taken() {
        assert!(in_memory(Path::new("/dev/null/nowhere")).is_none());
        assert!(in_memory(Path::new("/proc")).is_none());
    }

    #[test]
    fn what_is_left_out_begins_with_the_rule_and_is_there() {
        let tests = ["shipping::late", "runtime::shipping::log", "other"].map(str::to_owned);
        let rule = |skip| LeftOut { skip, file: "a.rs" };
        assert_eq!(
            skipped(&rule("shipping::"), &tests).unwrap(),
            ["shipping::late"]
        );
        assert!(skipped(&rule("gone::"), &tests).is_err());
        for LeftOut { file, .. } in &LEFT_OUT {
            assert!(root().join(file).is_file(), "{file}");
        }
    }
}
