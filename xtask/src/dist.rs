//! `cargo xtask dist`: builds the static release program and proves that it needs no loader.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::elf;
use crate::failure::Failure;
use crate::output::say;
use crate::workspace::{cargo, is_installed, read, rustc, succeed, target};

const HELP: &str = "\
Usage: cargo xtask dist

Builds the program for release, linked statically: for the musl target where it and musl-gcc are
installed, else for the host's own target with the C library linked in. Prints its path and size.";

/// Slower to build than `release`, and faster to run.
const PROFILE: &str = "dist";

/// Static and at a fixed address: nothing is left to do for a loader, which could fail, and no
/// address is relocated at start, which costs time.
pub(crate) const STATIC_FLAGS: [&str; 4] = [
    "-C",
    "target-feature=+crt-static",
    "-C",
    "relocation-model=static",
];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => {
            let program = build()?;
            say(format_args!(
                "{}\n{} bytes, static",
                program.path.display(),
                program.bytes
            ));
            Ok(())
        }
        [help] if help == "--help" || help == "-h" => {
            say(HELP);
            Ok(())
        }
        [unknown, ..] => Err(Failure::usage(
            format!("dist does not know `{unknown}`"),
            HELP,
        )),
    }
}

/// What was built.
pub(crate) struct Program {
    pub path: PathBuf,
    pub bytes: usize,
}

/// Builds it, or finds that it is up to date.
pub(crate) fn build() -> Result<Program, Failure> {
    let triple = triple()?;
    succeed(static_cargo("build", &triple).args(["--package", "gatewright"]))?;
    let path = profile_folder(&triple).join("gatewright");
    let file = fs::read(&path).map_err(Failure::file("read", &path))?;
    match elf::needs_loader(&file) {
        Some(false) => Ok(Program {
            path,
            bytes: file.len(),
        }),
        Some(true) => Err(Failure::no(format!("{} is not static", path.display()))),
        None => Err(Failure::no(format!(
            "{} is not an ELF program",
            path.display()
        ))),
    }
}

/// Where what is built for this target lies.
pub(crate) fn profile_folder(triple: &str) -> PathBuf {
    target().join(triple).join(PROFILE)
}

/// The program as `cargo build` makes it: quick to build, slow to run.
pub(crate) fn build_for_development() -> Result<PathBuf, Failure> {
    succeed(cargo().args(["build", "--quiet", "--package", "gatewright"]))?;
    Ok(target().join("debug").join("gatewright"))
}

/// A cargo that builds or runs what is shipped, statically, for this target.
pub(crate) fn static_cargo(task: &str, triple: &str) -> Command {
    let mut command = cargo();
    command.args([task, "--quiet", "--profile", PROFILE, "--target", triple]);
    command.env("RUSTFLAGS", STATIC_FLAGS.join(" "));
    command
}

/// The target to build for. An explicit one, even if it is the host's: flags without a target
/// would also reach procedural macros, which cannot be static.
pub(crate) fn triple() -> Result<String, Failure> {
    let version = read(rustc().arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or_else(|| Failure::no("rustc -vV names no host"))?;
    let musl = host.replace("-gnu", "-musl");
    Ok(if has_musl(&musl)? {
        musl
    } else {
        host.to_owned()
    })
}

/// The standard library for the target, and the compiler for the C code inside the program.
fn has_musl(triple: &str) -> Result<bool, Failure> {
    let folder = read(rustc().args(["--print", "target-libdir", "--target", triple]))?;
    let Ok(files) = fs::read_dir(folder.trim()) else {
        return Ok(false);
    };
    let names = files
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned());
    let has_std = names.into_iter().any(|name| name.starts_with("libstd-"));
    Ok(has_std && is_installed("musl-gcc"))
}
