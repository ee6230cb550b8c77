//! The test binaries of the workspace: built by cargo, and asked which tests they have.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::failure::Failure;
use crate::workspace::{cargo, read, root};

/// One program full of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestBinary {
    /// The folder of its package, below the root of the repository. Tests run there.
    pub package: PathBuf,
    /// What it is made from, as cargo names it: `cli`, or the crate of its unit tests.
    pub target: String,
    pub kind: TargetKind,
    pub program: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// Unit tests of a library or a program.
    Source,
    /// Unit tests of an example.
    Example,
    /// A folder below `tests`.
    Integration,
}

impl TestBinary {
    /// Is this source file a part of it?
    pub(super) fn holds(&self, file: &Path) -> bool {
        let Ok(inside) = file.strip_prefix(&self.package) else {
            return false;
        };
        match self.kind {
            TargetKind::Source => inside.starts_with("src"),
            TargetKind::Example => inside.starts_with("examples"),
            TargetKind::Integration => inside.starts_with(Path::new("tests").join(&self.target)),
        }
    }

    /// A call of it as `cargo test` would make it.
    pub(super) fn command(&self) -> Command {
        let package = root().join(&self.package);
        let mut command = Command::new(&self.program);
        command.current_dir(&package);
        command.env("CARGO_MANIFEST_DIR", &package);
        command
    }

    /// The names of its tests.
    pub(super) fn tests(&self) -> Result<Vec<String>, Failure> {
        let listed = read(self.command().args(["--list", "--format=terse"]))?;
        let tests = listed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"));
        Ok(tests.map(str::to_owned).collect())
    }
}

/// Builds every test binary of the workspace.
pub(super) fn build() -> Result<Vec<TestBinary>, Failure> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-run", "--quiet"]);
    command.arg("--message-format=json-render-diagnostics");
    command.stderr(std::process::Stdio::inherit());
    let printed = read(&mut command)?;
    let messages = printed.lines().map(serde_json::from_str);
    let messages: Vec<Value> = messages
        .collect::<Result<_, _>>()
        .map_err(|problem| Failure::no(format!("cargo test --no-run: {problem}")))?;
    Ok(messages.iter().filter_map(test_binary).collect())
}

/// The test binary that a message of cargo is about.
fn test_binary(message: &Value) -> Option<TestBinary> {
    let program = message["executable"].as_str()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let target = &message["target"];
    let kind = match target["kind"][0].as_str()? {
        "test" => TargetKind::Integration,
        "example" => TargetKind::Example,
        _ => TargetKind::Source,
    };
    Some(TestBinary {
        package: manifest.parent()?.strip_prefix(root()).ok()?.to_owned(),
        target: target["name"].as_str()?.to_owned(),
        kind,
        program: PathBuf::from(program),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(kind: &str, test: bool) -> Value {
        json!({
            "reason": "compiler-artifact",
            "manifest_path": root().join("crates/store/Cargo.toml"),
            "target": { "kind": [kind], "name": "suite" },
            "profile": { "test": test },
            "executable": "/somewhere/suite-1",
        })
    }

    #[test]
    fn cargo_tells_which_binaries_have_tests() {
        let binary = test_binary(&message("test", true)).unwrap();
        assert_eq!(binary.package, Path::new("crates/store"));
        assert_eq!(binary.kind, TargetKind::Integration);
        assert_eq!(test_binary(&message("bin", false)), None);
        assert_eq!(test_binary(&json!({ "reason": "build-finished" })), None);
    }

    #[test]
    fn a_binary_holds_the_files_that_it_is_made_from() {
        let suite = test_binary(&message("test", true)).unwrap();
        assert!(suite.holds(Path::new("crates/store/tests/suite/main.rs")));
        assert!(!suite.holds(Path::new("crates/store/src/lib.rs")));
        assert!(!suite.holds(Path::new("crates/web/tests/suite/main.rs")));
        let unit = test_binary(&message("lib", true)).unwrap();
        assert!(unit.holds(Path::new("crates/store/src/tests.rs")));
        assert!(!unit.holds(Path::new("crates/store/tests/suite/main.rs")));
        let example = test_binary(&message("example", true)).unwrap();
        assert!(!example.holds(Path::new("crates/store/src/tests.rs")));
    }
}
