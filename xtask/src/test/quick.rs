//! The tests of `--quick`: all that start no agent program and no battery.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;
use tempfile::{Builder, TempDir};

use super::suite;
use crate::failure::Failure;
use crate::workspace::{cargo, read};

/// The test binary with every test that starts a real agent program.
const REAL_AGENTS: &str = "host";

/// Batteries among the tests, which try many cases or start thousands of processes, and what needs more
/// than `--quick` installs.
const LEFT_OUT: [LeftOut; 25] = [
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
        skip: "tests::conformance::postgresql_keeps",
        file: "crates/postgres/src/tests/conformance.rs",
    },
    LeftOut {
        skip: "tests::crashes::",
        file: "crates/postgres/src/tests/crashes.rs",
    },
    LeftOut {
        skip: "tests::driving::",
        file: "crates/postgres/src/tests/driving.rs",
    },
    LeftOut {
        skip: "tests::refusals::",
        file: "crates/postgres/src/tests/refusals.rs",
    },
    LeftOut {
        skip: "tests::roles::",
        file: "crates/postgres/src/tests/roles.rs",
    },
    LeftOut {
        skip: "shipping::",
        file: "crates/gatewright/tests/cli/shipping.rs",
    },
    LeftOut {
        skip: "tests::statements::",
        file: "crates/postgres/src/tests/statements.rs",
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
    /// How the names of these tests begin.
    skip: &'static str,
    /// Where they are.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a test looks whether it is there")
    )]
    file: &'static str,
}

pub(super) fn tests() -> Result<(), Failure> {
    let binaries = test_binaries(&metadata()?);
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast", "--lib", "--bins"]);
    for binary in binaries.iter().filter(|name| *name != REAL_AGENTS) {
        command.args(["--test", binary]);
    }
    command.args(["--quiet", "--"]);
    for left_out in &LEFT_OUT {
        command.args(["--skip", left_out.skip]);
    }
    // Most tests wait for the processes that they start.
    let threads = thread::available_parallelism().map_or(2, usize::from) * 3;
    command.env("RUST_TEST_THREADS", threads.to_string());
    let memory = in_memory(Path::new(MEMORY));
    command.envs(memory.iter().map(|folder| ("TMPDIR", folder.path())));
    suite::run(&mut command)
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

fn metadata() -> Result<Value, Failure> {
    let text = read(cargo().args(["metadata", "--no-deps", "--format-version=1"]))?;
    serde_json::from_str(&text).map_err(|problem| Failure::no(format!("cargo metadata: {problem}")))
}

/// The names of the integration test binaries of the workspace, each once.
fn test_binaries(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let tests = targets.filter(|target| target["kind"][0] == "test");
    let mut names: Vec<_> = tests
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names.dedup();
    names
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
    fn what_is_left_out_is_there() {
        for LeftOut { skip, file } in &LEFT_OUT {
            let text = fs::read_to_string(root().join(file)).unwrap();
            let last = skip.rsplit("::").next().unwrap();
            let is_there = text.contains("#[test]") && text.contains(&format!("fn {last}"));
            assert!(is_there, "{file} has no test {skip}");
        }
    }

    #[test]
    fn every_test_binary_is_known_and_one_has_the_real_agents() {
        let binaries = test_binaries(&metadata().unwrap());
        for name in [REAL_AGENTS, "cli", "headless", "house", "laws", "suite"] {
            assert!(binaries.iter().any(|binary| binary == name), "{binaries:?}");
        }
    }
}
