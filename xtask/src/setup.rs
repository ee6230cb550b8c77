//! Sets the machine up for the tests: what they need is installed, or said with the command that installs it.

mod agent;
mod claude;
mod codex;
mod gemini;

use std::process::Command;

pub use claude::VERSION as CLAUDE_VERSION;

use agent::Agent;

use crate::failure::Failure;
use crate::output::say;
use crate::workspace::{is_installed, read, succeed};

/// A program that tests call, and the Debian package that has it.
#[derive(Clone, Copy)]
struct Tool {
    program: &'static str,
    package: &'static str,
}

const TOOLS: [Tool; 2] = [
    Tool {
        program: "git",
        package: "git",
    },
    Tool {
        program: "strace",
        package: "strace",
    },
];

/// Interactive sessions of the host are driven in it.
const TERMINAL: Tool = Tool {
    program: "tmux",
    package: "tmux",
};

/// It fetches the agent programs.
const FETCHER: Tool = Tool {
    program: "npm",
    package: "npm",
};

/// It runs Gemini CLI, which wants version 20 or newer. The other agents need none.
const NODE: Tool = Tool {
    program: "node",
    package: "nodejs",
};

const AGENTS: [Agent; 3] = [claude::CLAUDE, codex::CODEX, gemini::GEMINI];

/// Makes sure that all is there which the tests need: the tools, and the pinned agent programs.
pub fn ensure_all() -> Result<(), Failure> {
    let mut tools = Vec::from(TOOLS);
    tools.extend([TERMINAL, NODE]);
    if !AGENTS.iter().all(Agent::is_installed) {
        tools.push(FETCHER);
    }
    ensure(&tools)?;
    AGENTS.iter().try_for_each(Agent::ensure)
}

/// Makes sure that every tool is there. A test is never left out because its tool is missing.
pub fn ensure_tools() -> Result<(), Failure> {
    ensure(&TOOLS)
}

fn ensure(tools: &[Tool]) -> Result<(), Failure> {
    let packages = missing(tools, is_installed);
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
    let mut command = Command::new("apt-get");
    command
        .args(["install", "-y", "--no-install-recommends"])
        .args(&packages);
    succeed(command.env("DEBIAN_FRONTEND", "noninteractive"))?;
    match missing(tools, is_installed).as_slice() {
        [] => Ok(()),
        still => Err(Failure::no(format!(
            "{} still missing after `{install}`",
            still.join(" and ")
        ))),
    }
}

fn missing(tools: &[Tool], is_installed: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let missing = tools.iter().filter(|tool| !is_installed(tool.program));
    missing.map(|tool| tool.package).collect()
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
        assert_eq!(missing(&TOOLS, |program| program == "git"), ["strace"]);
        assert_eq!(missing(&TOOLS, |_| false), ["git", "strace"]);
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
