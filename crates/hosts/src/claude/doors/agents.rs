//! Agent programs, and which of their command lines begin a conversation.

use crate::shell::base_name;

/// An agent program.
struct Agent {
    name: &'static str,
    /// The package that brings it, for those who run a package or a file in one.
    package: &'static str,
    talks: Talks,
}

/// Which first words begin no conversation, or which alone do.
enum Talks {
    /// Always, but for these and the questions for help and version.
    But(&'static [&'static str]),
    /// Another program has the same name: without words, and with these.
    Only(&'static [&'static str]),
    /// Another program has the same name: without words, and with an option.
    WithOptions,
}

const AGENTS: &[Agent] = &[
    Agent {
        name: "claude",
        package: "@anthropic-ai/claude-code",
        talks: Talks::But(&[
            "mcp",
            "plugin",
            "plugins",
            "config",
            "doctor",
            "update",
            "upgrade",
            "install",
            "auth",
            "login",
            "logout",
            "setup-token",
            "migrate-installer",
        ]),
    },
    Agent {
        name: "codex",
        package: "@openai/codex",
        talks: Talks::But(&["login", "logout", "mcp", "completion", "features", "update"]),
    },
    Agent {
        name: "gemini",
        package: "@google/gemini-cli",
        talks: Talks::But(&["mcp", "extensions", "extension", "skills", "hooks"]),
    },
    Agent {
        name: "qwen",
        package: "@qwen-code/qwen-code",
        talks: Talks::But(&["mcp", "extensions", "auth"]),
    },
    Agent {
        name: "goose",
        package: "block-goose-cli",
        talks: Talks::Only(&[
            "run", "session", "s", "web", "acp", "recipe", "schedule", "project", "projects",
            "bench",
        ]),
    },
    Agent {
        name: "copilot",
        package: "@github/copilot",
        talks: Talks::WithOptions,
    },
    Agent {
        name: "cursor-agent",
        package: "cursor-agent",
        talks: Talks::But(&[
            "login", "logout", "status", "whoami", "about", "update", "upgrade", "mcp", "models",
            "ls",
        ]),
    },
    Agent {
        name: "opencode",
        package: "opencode-ai",
        talks: Talks::But(&[
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
    Agent {
        name: "aider",
        package: "aider-chat",
        talks: Talks::But(&["--list-models", "--models", "--check-update", "--upgrade"]),
    },
    Agent {
        name: "amp",
        package: "@sourcegraph/amp",
        talks: Talks::But(&[
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

/// The agent program that this command line begins a conversation with.
///
/// Only the first word can make it something else: an option further on may be another's value.
pub fn conversation(name: &str, arguments: &[String]) -> Option<&'static str> {
    let (agent, arguments) = found(name, arguments)?;
    let second = arguments.get(1).map(String::as_str);
    let talks = match (arguments.first().map(String::as_str), &agent.talks) {
        (Some("--version" | "-v" | "-V" | "--help" | "-h" | "help"), _) => false,
        // It offers its own tools to whoever connects.
        (Some("mcp"), Talks::But(_)) if second == Some("serve") => true,
        (Some(first), Talks::But(others)) => !others.contains(&first),
        (Some(first), Talks::Only(these)) => these.contains(&first),
        (Some(first), Talks::WithOptions) => first.starts_with('-'),
        (None, _) => true,
    };
    talks.then_some(agent.name)
}

/// The agent behind a name: its own, its package's, or that of a file which an interpreter runs.
fn found<'a>(name: &str, arguments: &'a [String]) -> Option<(&'static Agent, &'a [String])> {
    let own = AGENTS
        .iter()
        .find(|agent| agent.name == name || base_name(agent.package) == without_version(name));
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
    let agent = AGENTS.iter().find(|agent| {
        word == agent.name
            || word.contains(&format!("{}/", agent.package))
            || base_name(word) == agent.name
    })?;
    Some((agent, arguments.get(place + 1..)?))
}

fn without_version(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}
