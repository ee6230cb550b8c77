//! The agent programs that we recognise: those that we can start, and others.

use std::path::Path;

use crate::program::Program;
use crate::recognition::{Conversations, Recognition};
use crate::shell::base_name;

/// Agent programs that we do not start.
const OTHERS: &[Recognition] = &[
    Recognition {
        name: "qwen",
        package: "@qwen-code/qwen-code",
        package_folder: Some("qwen-code"),
        versions_folder: None,
        variables: &["QWEN_CODE"],
        conversations: Conversations::AllBut(&["mcp", "extensions", "auth"]),
    },
    Recognition {
        name: "goose",
        package: "block-goose-cli",
        package_folder: None,
        versions_folder: None,
        variables: &["GOOSE_TERMINAL"],
        conversations: Conversations::Only(&[
            "run", "session", "s", "web", "acp", "recipe", "schedule", "project", "projects",
            "bench",
        ]),
    },
    Recognition {
        name: "copilot",
        package: "@github/copilot",
        package_folder: None,
        versions_folder: None,
        variables: &["COPILOT_CLI", "COPILOT_AGENT", "COPILOT_AGENT_SESSION_ID"],
        conversations: Conversations::WithOptions,
    },
    Recognition {
        name: "cursor-agent",
        package: "cursor-agent",
        package_folder: Some("cursor-agent"),
        versions_folder: None,
        variables: &["CURSOR_AGENT"],
        conversations: Conversations::AllBut(&[
            "login", "logout", "status", "whoami", "about", "update", "upgrade", "mcp", "models",
            "ls",
        ]),
    },
    Recognition {
        name: "opencode",
        package: "opencode-ai",
        package_folder: Some("opencode-ai"),
        versions_folder: None,
        variables: &["OPENCODE", "OPENCODE_PID"],
        conversations: Conversations::AllBut(&[
            "auth",
            "models",
            "upgrade",
            "uninstall",
            "stats",
            "export",
            "import",
            "mcp",
            "debug",
        ]),
    },
    Recognition {
        name: "aider",
        package: "aider-chat",
        package_folder: Some("aider-chat"),
        versions_folder: None,
        variables: &[],
        conversations: Conversations::AllBut(&[
            "--list-models",
            "--models",
            "--check-update",
            "--upgrade",
        ]),
    },
    Recognition {
        name: "amp",
        package: "@sourcegraph/amp",
        package_folder: None,
        versions_folder: None,
        variables: &[],
        conversations: Conversations::AllBut(&[
            "login",
            "logout",
            "update",
            "doctor",
            "mcp",
            "usage",
            "permissions",
        ]),
    },
];

/// Variables of other agent programs, with the name of each.
const OTHER_VARIABLES: [(&str, &str); 6] = [
    ("AGENT_SESSION_ID", "an agent"),
    ("CLINE_ACTIVE", "cline"),
    ("AUGMENT_AGENT", "auggie"),
    ("CRUSH", "crush"),
    ("ANTIGRAVITY_AGENT", "antigravity"),
    ("AI_AGENT", "an agent"),
];

fn all() -> impl Iterator<Item = &'static Recognition> {
    let ours = Program::ALL.into_iter().map(Program::recognition);
    ours.chain(OTHERS)
}

/// The agent program with this command name.
pub fn by_name(name: &str) -> Option<&'static str> {
    all().map(|agent| agent.name).find(|known| *known == name)
}

/// The agent program that sets this variable for its child processes.
pub fn by_variable(variable: &str) -> Option<&'static str> {
    let of_known = all().find(|agent| agent.variables.contains(&variable));
    let mut others = OTHER_VARIABLES.into_iter();
    let other = || others.find_map(|(known, agent)| (known == variable).then_some(agent));
    of_known.map(|agent| agent.name).or_else(other)
}

/// The agent program that an interpreter runs from a folder of this name.
pub fn by_package_folder(folder: &str) -> Option<&'static str> {
    let agent = all().find(|agent| agent.package_folder == Some(folder));
    agent.map(|agent| agent.name)
}

/// The agent program that is installed at this path.
pub fn by_installed_path(program: &str) -> Option<&'static str> {
    let parent = Path::new(program).parent()?;
    let is_there = |folder: &str| parent.ends_with(folder);
    let agent = all().find(|agent| agent.versions_folder.is_some_and(is_there));
    agent.map(|agent| agent.name)
}

/// The agent program with which this command line starts a conversation.
///
/// Only the first argument can turn it into another command: a later one may be the value of an option.
pub fn conversation(name: &str, arguments: &[String]) -> Option<&'static str> {
    let (agent, arguments) = found(name, arguments)?;
    let second = arguments.get(1).map(String::as_str);
    let talks = match (arguments.first().map(String::as_str), &agent.conversations) {
        (Some("--version" | "-v" | "-V" | "--help" | "-h" | "help"), _) => false,
        // `mcp serve` offers its tools to any client.
        (Some("mcp"), Conversations::AllBut(_)) if second == Some("serve") => true,
        (Some(first), Conversations::AllBut(others)) => !others.contains(&first),
        (Some(first), Conversations::Only(these)) => these.contains(&first),
        (Some(first), Conversations::WithOptions) => first.starts_with('-'),
        (None, _) => true,
    };
    talks.then_some(agent.name)
}

/// The agent that a command runs: by its name, its package, or the file that an interpreter runs.
fn found<'a>(name: &str, arguments: &'a [String]) -> Option<(&'static Recognition, &'a [String])> {
    let own =
        all().find(|agent| agent.name == name || base_name(agent.package) == without_version(name));
    if let Some(agent) = own {
        return Some((agent, arguments));
    }
    let place = match name {
        "gh" => arguments.iter().position(|word| word == "copilot")?,
        "node" | "bun" | "deno" => arguments.iter().position(|word| !word.starts_with('-'))?,
        _ if name.starts_with("python") => 1 + arguments.iter().position(|word| word == "-m")?,
        _ => return None,
    };
    let word = arguments.get(place)?;
    let agent = all().find(|agent| {
        word == agent.name
            || word.contains(&format!("{}/", agent.package))
            || base_name(word) == agent.name
    })?;
    Some((agent, arguments.get(place + 1..)?))
}

fn without_version(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}
