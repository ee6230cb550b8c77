//! Installs a pinned agent program from npm, once, into the target folder.

use std::env::{self, consts};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::failure::Failure;
use crate::output::say;
use crate::workspace::{read, target};

/// An agent program that tests drive.
pub(super) struct Agent {
    /// What people call it.
    pub title: &'static str,
    /// The beginning of its folder's name.
    pub word: &'static str,
    pub version: &'static str,
    pub packages: &'static [Package],
}

/// The package for one platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub platform: &'static str,
    pub name: &'static str,
    /// What follows the version in the package's own.
    pub suffix: &'static str,
    /// Where the program lies in it.
    pub program: &'static str,
    pub integrity: &'static str,
}

impl Agent {
    pub(super) fn is_installed(&self) -> bool {
        self.place().exists()
    }

    fn place(&self) -> PathBuf {
        agents().join(format!("{}-{}", self.word, self.version))
    }

    /// Makes sure that the program is there and is the pinned one.
    pub(super) fn ensure(&self) -> Result<(), Failure> {
        let (agents, place) = (agents(), self.place());
        let package = self.package(consts::OS, consts::ARCH, cfg!(target_env = "musl"))?;
        if place.exists() {
            return self.assert_version(&package, &place);
        }
        fs::create_dir_all(&agents).map_err(Failure::file("make", &agents))?;
        let staging = tempfile::tempdir_in(&agents);
        let staging = staging.map_err(Failure::file("make a folder in", &agents))?;
        let wanted = format!("{}@{}{}", package.name, self.version, package.suffix);
        say(format_args!(
            "set-up: npm install {wanted} into {}",
            place.display()
        ));
        fetch(&wanted, staging.path())?;
        assert_integrity(&package, staging.path())?;
        let fetched = staging.path().join("node_modules").join(package.name);
        self.assert_version(&package, &fetched)?;
        put(&fetched, &place, |folder| {
            self.assert_version(&package, folder)
        })
    }

    fn package(&self, os: &str, arch: &str, musl: bool) -> Result<Package, Failure> {
        let platform = platform(os, arch, musl);
        let mut known = self.packages.iter();
        let known = known.find(|known| known.platform == platform);
        known.copied().ok_or_else(|| {
            Failure::no(format!(
                "{} has no package for {platform}: run the tests on Linux or macOS",
                self.title
            ))
        })
    }

    /// Asks the program itself, in a home of its own: a first start leaves files behind.
    fn assert_version(&self, package: &Package, folder: &Path) -> Result<(), Failure> {
        let home =
            tempfile::tempdir().map_err(Failure::file("make a folder in", &env::temp_dir()))?;
        let mut command = Command::new(folder.join(package.program));
        command
            .arg("--version")
            .env_clear()
            .env("HOME", home.path())
            // Some are scripts, whose interpreter is looked for.
            .envs(env::var_os("PATH").map(|path| ("PATH", path)));
        let said = read(&mut command)?;
        if said.split_whitespace().any(|word| word == self.version) {
            return Ok(());
        }
        Err(Failure::no(format!(
            "{} is {}, not {}: remove the folder and run this again",
            folder.display(),
            said.trim(),
            self.version
        )))
    }
}

pub(super) fn agents() -> PathBuf {
    target().join("agents")
}

fn platform(os: &str, arch: &str, musl: bool) -> String {
    let os = if os == "macos" { "darwin" } else { os };
    let arch = match arch {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}-{arch}{}", if musl { "-musl" } else { "" })
}

fn fetch(wanted: &str, staging: &Path) -> Result<(), Failure> {
    let mut command = Command::new("npm");
    command.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--omit=optional",
        "--prefix",
    ]);
    command.arg(staging).arg(wanted);
    read(&mut command).map(drop)
}

/// npm has compared the package with what its registry says; we compare it with what we say.
fn assert_integrity(package: &Package, staging: &Path) -> Result<(), Failure> {
    let lock = staging.join("node_modules/.package-lock.json");
    let text = fs::read_to_string(&lock).map_err(Failure::file("read", &lock))?;
    let lock: Value = serde_json::from_str(&text).unwrap_or_default();
    let entry = &lock["packages"][format!("node_modules/{}", package.name)];
    match entry["integrity"].as_str() {
        Some(found) if found == package.integrity => Ok(()),
        found => Err(Failure::no(format!(
            "{} for {} is not the package that we know: its hash is {found:?}, not {}",
            package.name, package.platform, package.integrity
        ))),
    }
}

/// Gives the folder its place. Another run may have been faster: then its folder stays, if it is good.
pub(super) fn put(
    fetched: &Path,
    place: &Path,
    assert_good: impl Fn(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match fs::rename(fetched, place) {
        Ok(()) => Ok(()),
        Err(_) if place.exists() => assert_good(place),
        Err(refused) => Err(Failure::file("make", place)(refused)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::claude::CLAUDE;
    use super::super::codex::CODEX;
    use super::super::gemini::GEMINI;
    use super::*;

    #[test]
    fn the_package_is_the_one_of_the_machine() {
        let name = |agent: &Agent, os, arch, musl| {
            let package = agent.package(os, arch, musl).ok()?;
            Some(format!(
                "{}@{}{}",
                package.name, agent.version, package.suffix
            ))
        };
        let claude = |platform| {
            let version = CLAUDE.version;
            Some(format!("@anthropic-ai/claude-code-{platform}@{version}"))
        };
        assert_eq!(name(&CLAUDE, "linux", "x86_64", false), claude("linux-x64"));
        assert_eq!(
            name(&CLAUDE, "linux", "aarch64", true),
            claude("linux-arm64-musl")
        );
        assert_eq!(
            name(&CLAUDE, "macos", "aarch64", false),
            claude("darwin-arm64")
        );
        assert_eq!(name(&CLAUDE, "linux", "riscv64", false), None);
        let codex = |platform| Some(format!("@openai/codex@{}-{platform}", CODEX.version));
        assert_eq!(name(&CODEX, "linux", "x86_64", true), codex("linux-x64"));
        assert_eq!(name(&CODEX, "macos", "x86_64", false), codex("darwin-x64"));
        assert_eq!(name(&CODEX, "windows", "x86_64", false), None);
        let gemini = Some(format!("@google/gemini-cli@{}", GEMINI.version));
        assert_eq!(name(&GEMINI, "linux", "x86_64", false), gemini);
        assert_eq!(name(&GEMINI, "windows", "x86_64", false), None);
    }

    #[test]
    fn a_package_with_another_hash_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("node_modules")).unwrap();
        let lock = r#"{"packages": {"node_modules/@a/b": {"integrity": "sha512-good"}}}"#;
        fs::write(folder.path().join("node_modules/.package-lock.json"), lock).unwrap();
        let package = |name, integrity| Package {
            platform: "linux-x64",
            name,
            suffix: "",
            program: "b",
            integrity,
        };
        assert!(assert_integrity(&package("@a/b", "sha512-good"), folder.path()).is_ok());
        assert!(assert_integrity(&package("@a/b", "sha512-bad"), folder.path()).is_err());
        assert!(assert_integrity(&package("@a/c", "sha512-good"), folder.path()).is_err());
    }

    #[test]
    fn the_slower_of_two_keeps_what_the_faster_has_put() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second, place] =
            ["first", "second", "place"].map(|name| folder.path().join(name));
        for made in [&first, &second] {
            fs::create_dir(made).unwrap();
            fs::write(
                made.join("claude"),
                made.file_name().unwrap().as_encoded_bytes(),
            )
            .unwrap();
        }
        let bad = |_: &Path| Err(Failure::no("bad"));
        assert!(put(&first, &place, bad).is_ok());
        assert!(put(&second, &place, |_| Ok(())).is_ok());
        assert!(put(&second, &place, bad).is_err());
        assert_eq!(fs::read_to_string(place.join("claude")).unwrap(), "first");
        let nowhere = folder.path().join("none/place");
        assert!(put(&second, &nowhere, |_| Ok(())).is_err());
    }
}
