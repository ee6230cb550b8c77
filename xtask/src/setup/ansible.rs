//! Installs the pinned `ansible-core` and `ansible-lint` from PyPI, once, into the target folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::agent::{agents, put};
use crate::failure::Failure;
use crate::output::say;
use crate::workspace::read;

/// The version of `ansible-core`. The test kit looks for the same.
const VERSION: &str = include_str!("../../../crates/testkit/src/ansible/version.txt").trim_ascii();

/// Every package with its version and the hashes of its files, whichever index hands them out.
const REQUIREMENTS: &str = include_str!("ansible-requirements.txt");

/// The copy of the requirements that an installation keeps; it is written last.
const MARK: &str = "requirements.txt";

pub(super) fn is_installed() -> bool {
    place().exists()
}

fn place() -> PathBuf {
    agents().join(format!("ansible-{VERSION}"))
}

/// Makes sure that the programs are there and are the pinned ones.
pub(super) fn ensure() -> Result<(), Failure> {
    let (agents, place) = (agents(), place());
    if place.exists() {
        return assert_good(&place);
    }
    fs::create_dir_all(&agents).map_err(Failure::file("make", &agents))?;
    // The scripts of a virtual environment know its path, so it stays where it is made, by its real
    // path, and a link gives it its name.
    let agents = fs::canonicalize(&agents).map_err(Failure::file("find", &agents))?;
    let made = tempfile::Builder::new()
        .prefix("ansible-made-")
        .tempdir_in(&agents)
        .map_err(Failure::file("make a folder in", &agents))?;
    let name = made.path().file_name().map(PathBuf::from);
    let name = name.unwrap_or_default();
    say(format_args!(
        "set-up: pip install ansible-core {VERSION} and ansible-lint into {}",
        place.display()
    ));
    install(made.path())?;
    let link = agents.join(&name).with_extension("link");
    symlink(&name, &link).map_err(Failure::file("make", &link))?;
    put(&link, &place, assert_good)?;
    let ours = fs::read_link(&place).is_ok_and(|linked| linked == name);
    if ours {
        let _ = made.keep();
    }
    Ok(())
}

fn install(folder: &Path) -> Result<(), Failure> {
    read(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let wanted = folder.join("wanted.txt");
    fs::write(&wanted, REQUIREMENTS).map_err(Failure::file("write", &wanted))?;
    let mut pip = Command::new(folder.join("bin/python3"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input"]);
    pip.args(["--disable-pip-version-check", "--no-deps"]);
    // What is built at installation could be anything: only finished files, each by its hash.
    pip.args(["--only-binary", ":all:", "--require-hashes"]);
    read(pip.arg("--requirement").arg(&wanted))?;
    read(&mut asked(folder))?;
    let mark = folder.join(MARK);
    fs::rename(&wanted, &mark).map_err(Failure::file("make", &mark))
}

/// Both programs start.
fn asked(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("bin/ansible-lint"));
    command.args(["--version", "--offline"]);
    command.env("HOME", folder);
    command
}

fn assert_good(folder: &Path) -> Result<(), Failure> {
    let mark = folder.join(MARK);
    let kept = fs::read_to_string(&mark).map_err(Failure::file("read", &mark))?;
    if kept == REQUIREMENTS && read(&mut asked(folder)).is_ok() {
        return Ok(());
    }
    Err(Failure::no(format!(
        "{} is not what we want: remove it and run this again",
        folder.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned_and_has_a_hash() {
        let lines = REQUIREMENTS.replace("\\\n", " ");
        let packages: Vec<&str> = lines
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect();
        for package in &packages {
            assert!(package.contains("=="), "{package}");
            assert!(package.contains("--hash=sha256:"), "{package}");
        }
        for wanted in [&format!("ansible-core=={VERSION} "), "ansible-lint=="] {
            let has_it = packages.iter().any(|line| line.starts_with(wanted));
            assert!(has_it, "{wanted}");
        }
    }

    #[test]
    fn an_installation_of_other_packages_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert!(assert_good(folder.path()).is_err());
        fs::write(folder.path().join(MARK), "ansible-core==1.0").unwrap();
        assert!(assert_good(folder.path()).is_err());
    }
}
