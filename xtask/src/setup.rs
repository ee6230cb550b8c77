//! Sets the machine up for the tests: what they need is installed, or said with the command that installs it.

mod agent;
mod ansible;
mod claude;
mod codex;
mod gemini;

use std::process::Command;

pub(crate) use claude::VERSION as CLAUDE_VERSION;
pub(crate) use codex::VERSION as CODEX_VERSION;

use agent::Agent;

use crate::failure::Failure;
use crate::output::say;
use crate::workspace::{is_installed, read, succeed};

/// What tests call, and the Debian package that has it.
#[derive(Clone, Copy)]
struct Tool {
    sign: Sign,
    package: &'static str,
}

/// How it shows that something is installed.
#[derive(Clone, Copy)]
enum Sign {
    /// A program on the search path.
    Program(&'static str),
    /// A module that Python can load.
    Module(&'static str),
    /// A file at its place.
    File(&'static str),
}

const TOOLS: [Tool; 2] = [
    Tool {
        sign: Sign::Program("git"),
        package: "git",
    },
    Tool {
        sign: Sign::Program("strace"),
        package: "strace",
    },
];

/// Interactive sessions of the host are driven in it.
const TERMINAL: Tool = Tool {
    sign: Sign::Program("tmux"),
    package: "tmux",
};

/// The page is opened and clicked in it.
const BROWSER: Tool = Tool {
    sign: Sign::Program("chromium"),
    package: "chromium",
};

/// Machines share runs in it. Debian does not put its programs on the search path.
const SERVER: Tool = Tool {
    sign: Sign::File("/usr/lib/postgresql/15/bin/initdb"),
    package: "postgresql-15",
};

/// It fetches the agent programs.
const FETCHER: Tool = Tool {
    sign: Sign::Program("npm"),
    package: "npm",
};

/// Gemini CLI needs version 20 or newer. The other agents do not need it.
const NODE: Tool = Tool {
    sign: Sign::Program("node"),
    package: "nodejs",
};

/// It runs the linters of Ansible, which want version 3.11 or newer.
const PYTHON: Tool = Tool {
    sign: Sign::Program("python3"),
    package: "python3",
};

/// Checks run the real test programs of these languages.
const TEST_PROGRAMS: [Tool; 3] = [
    NODE,
    Tool {
        sign: Sign::File("/usr/bin/pytest"),
        package: "python3-pytest",
    },
    Tool {
        sign: Sign::Program("go"),
        package: "golang-go",
    },
];

/// It gives them a folder of their own.
const ENVIRONMENTS: Tool = Tool {
    sign: Sign::Module("ensurepip"),
    package: "python3-venv",
};

/// They make and mount file systems, and cut their power.
const DISK_TOOLS: [Tool; 4] = [
    Tool {
        sign: Sign::Program("mkfs.ext4"),
        package: "e2fsprogs",
    },
    Tool {
        sign: Sign::Program("mkfs.xfs"),
        package: "xfsprogs",
    },
    Tool {
        sign: Sign::Program("mount"),
        package: "mount",
    },
    DATABASES,
];

/// It edits a store as a forger does.
const DATABASES: Tool = Tool {
    sign: Sign::Module("sqlite3"),
    package: "python3",
};

const AGENTS: [Agent; 3] = [claude::CLAUDE, codex::CODEX, gemini::GEMINI];

/// Makes sure that all is there which the tests need: the tools, the pinned agent programs, and the
/// linters of Ansible.
pub(crate) fn ensure_all() -> Result<(), Failure> {
    let mut tools = Vec::from(TOOLS);
    tools.extend([TERMINAL, BROWSER, SERVER, PYTHON]);
    tools.extend(TEST_PROGRAMS);
    if !AGENTS.iter().all(Agent::is_installed) {
        tools.push(FETCHER);
    }
    if !ansible::is_installed() {
        tools.push(ENVIRONMENTS);
    }
    ensure(&tools)?;
    AGENTS.iter().try_for_each(Agent::ensure)?;
    ansible::ensure()
}

/// Makes sure that all is there which `test --quick` needs.
pub(crate) fn ensure_quick() -> Result<(), Failure> {
    let mut tools = Vec::from(TOOLS);
    tools.extend([TERMINAL, SERVER, PYTHON]);
    tools.extend(TEST_PROGRAMS);
    ensure(&tools)
}

/// Makes sure that all is there with which the power of a file system is cut.
pub(crate) fn ensure_disks() -> Result<(), Failure> {
    ensure(&DISK_TOOLS)
}

/// Makes sure that a store can be edited.
pub(crate) fn ensure_databases() -> Result<(), Failure> {
    ensure(&[DATABASES])
}

/// Makes sure that a PostgreSQL can be started.
pub(crate) fn ensure_server() -> Result<(), Failure> {
    ensure(&[SERVER])
}

/// Makes sure that every tool is there. A test is never left out because its tool is missing.
pub(crate) fn ensure_tools() -> Result<(), Failure> {
    ensure(&TOOLS)
}

fn ensure(tools: &[Tool]) -> Result<(), Failure> {
    let packages = missing(tools, is_there);
    if packages.is_empty() {
        return Ok(());
    }
    let install = install_command(&packages);
    if !is_installed("apt-get") || !is_root()? {
        return Err(Failure::no(format!(
            "{} missing: run `{install}`",
            packages.join(" and ")
        )));
    }
    say(format_args!("set-up: {install}"));
    succeed(Command::new("apt-get").args(["update", "--quiet"]))?;
    if packages.contains(&SERVER.package) {
        install_packages(&["postgresql-common"])?;
        refuse_clusters()?;
    }
    install_packages(&packages)?;
    match missing(tools, is_there).as_slice() {
        [] => Ok(()),
        still => Err(Failure::no(format!(
            "{} still missing after `{install}`",
            still.join(" and ")
        ))),
    }
}

fn install_packages(packages: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("apt-get");
    command
        .args(["install", "-y", "--no-install-recommends"])
        .args(packages);
    succeed(command.env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Debian starts a server as a service when it installs one. The tests start their own.
fn refuse_clusters() -> Result<(), Failure> {
    let path = std::path::Path::new("/etc/postgresql-common/createcluster.conf");
    let before = std::fs::read_to_string(path).map_err(Failure::file("read", path))?;
    let after = format!("{before}\ncreate_main_cluster = false\n");
    std::fs::write(path, after).map_err(Failure::file("write", path))
}

fn missing(tools: &[Tool], is_there: impl Fn(Sign) -> bool) -> Vec<&'static str> {
    let missing = tools.iter().filter(|tool| !is_there(tool.sign));
    missing.map(|tool| tool.package).collect()
}

fn is_there(sign: Sign) -> bool {
    match sign {
        Sign::Program(program) => is_installed(program),
        Sign::File(path) => std::path::Path::new(path).exists(),
        Sign::Module(module) => {
            let load = format!("import {module}");
            read(Command::new("python3").args(["-c", &load])).is_ok()
        }
    }
}

fn install_command(packages: &[&str]) -> String {
    format!(
        "apt-get update && apt-get install -y --no-install-recommends {}",
        packages.join(" ")
    )
}

fn is_root() -> Result<bool, Failure> {
    Ok(read(Command::new("id").arg("-u"))?.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_installed() {
        assert_eq!(missing(&TOOLS, |_| true), Vec::<&str>::new());
        let git = |sign| matches!(sign, Sign::Program("git"));
        assert_eq!(missing(&TOOLS, git), ["strace"]);
        assert_eq!(missing(&TOOLS, |_| false), ["git", "strace"]);
        assert_eq!(missing(&[ENVIRONMENTS], |_| false), ["python3-venv"]);
    }

    #[test]
    fn a_file_that_is_not_at_its_place_is_missing() {
        assert!(is_there(Sign::File("/etc/passwd")));
        assert!(!is_there(Sign::File("/etc/no file of this name")));
    }

    #[test]
    fn a_module_that_python_does_not_have_is_missing() {
        assert!(is_there(Sign::Module("sys")));
        assert!(!is_there(Sign::Module("no_module_of_this_name")));
    }

    #[test]
    fn the_command_names_every_package() {
        let command = install_command(&["git", "strace"]);
        assert!(
            command.ends_with("apt-get install -y --no-install-recommends git strace"),
            "{command}"
        );
    }
}
