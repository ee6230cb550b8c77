//! Other engines: pinned, installed by pip into a folder of the build, and never anywhere else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::loops::{Loop, Who};
use crate::failure::Failure;
use crate::output::complain;
use crate::workspace::{is_installed, read, root, target};

/// The engines, each with the script that leads its loop.
const ENGINES: [(Who, &str); 2] = [
    (Who::LangGraph, "langgraph_loop.py"),
    (Who::Dbos, "dbos_loop.py"),
];

/// What could be installed, and what not.
#[derive(Default)]
pub(super) struct Installed {
    pub loops: Vec<Loop>,
    /// Who is not there, and the command that would install it.
    pub missing: Vec<(Who, String)>,
    pub versions: Vec<String>,
}

pub(super) fn install() -> Result<Installed, Failure> {
    let folder = target().join("bench/engines");
    let python = folder.join("bin/python");
    let scripts = root().join("xtask/bench/engines");
    if let Some(why) = make(&folder, &python, &scripts.join("requirements.txt"))? {
        complain(format_args!("bench: {why}"));
        return Ok(missing(&why));
    }
    let list = fs::read_to_string(scripts.join("requirements.txt"));
    let list = list.map_err(Failure::file("read", &scripts))?;
    let version = read(Command::new(&python).arg("--version"))?;
    Ok(Installed {
        loops: ENGINES
            .iter()
            .map(|(who, script)| Loop::of_peer(*who, &python, &scripts.join(script)))
            .collect(),
        missing: Vec::new(),
        versions: list
            .lines()
            .chain([version.trim()])
            .map(str::to_owned)
            .collect(),
    })
}

fn missing(why: &str) -> Installed {
    let missing = ENGINES.iter().map(|(who, _)| (*who, why.to_owned()));
    Installed {
        missing: missing.collect(),
        ..Installed::default()
    }
}

/// Makes the folder with these packages in it, unless it is there. Says why, if it cannot be made.
fn make(folder: &Path, python: &Path, list: &Path) -> Result<Option<String>, Failure> {
    let wanted = fs::read_to_string(list).map_err(Failure::file("read", list))?;
    let mark = folder.join("installed.txt");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(None);
    }
    if !is_installed("python3") {
        return Ok(Some(
            "install Python with `apt-get install -y python3-venv`".to_owned(),
        ));
    }
    complain("bench: installing the other engines");
    let commands = [
        words(&["python3".into(), "-m".into(), "venv".into(), folder.into()]),
        words(&[
            python.into(),
            "-m".into(),
            "pip".into(),
            "install".into(),
            "--quiet".into(),
            "--requirement".into(),
            list.into(),
        ]),
    ];
    for mut command in commands {
        if let Err(failure) = read(&mut command) {
            complain(failure);
            return Ok(Some(format!("this failed: {}", line(&command))));
        }
    }
    fs::write(&mark, wanted).map_err(Failure::file("write", &mark))?;
    Ok(None)
}

fn words(words: &[PathBuf]) -> Command {
    let mut command = Command::new(words.first().map_or(Path::new(""), PathBuf::as_path));
    command.args(words.iter().skip(1));
    command
}

/// The command as it would be typed.
fn line(command: &Command) -> String {
    let program = [command.get_program()].into_iter();
    let words = program
        .chain(command.get_args())
        .map(|it| it.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_missing_is_told_with_the_command() {
        let command = words(&["pip".into(), "install".into(), "a b".into()]);
        let installed = missing(&format!("this failed: {}", line(&command)));
        assert!(installed.loops.is_empty());
        let told = installed.missing.iter().map(|(_, why)| why.as_str());
        assert!(told.eq(["this failed: pip install a b"; 2]));
    }

    #[test]
    fn every_version_is_pinned_and_every_script_is_there() {
        let folder = root().join("xtask/bench/engines");
        let list = fs::read_to_string(folder.join("requirements.txt")).unwrap();
        assert!(list.lines().all(|line| line.contains("==")), "{list}");
        for (_, script) in ENGINES {
            assert!(folder.join(script).is_file(), "{script}");
        }
    }
}
