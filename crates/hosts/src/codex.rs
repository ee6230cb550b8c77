//! Codex: its hooks, its command line, and what its output says.
//!
//! Measured with 0.166.0. `tests/codex` has recorded output.

mod guard_setup;
mod hook;
mod process;
mod wire;

use crate::descriptor::{
    Abilities, ConversationIds, Descriptor, HookDescriptor, ProcessDescriptor, ToolNames,
    UsageScope,
};
use crate::hook::{Event, exit_code};
use crate::recognition::{Conversations, Recognition};
use crate::version::Version;

/// The differences from other programs.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "Codex",
    recognition: Recognition {
        name: "codex",
        package: "@openai/codex",
        package_folder: None,
        versions_folder: None,
        variables: &[
            "CODEX_SANDBOX",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "CODEX_THREAD_ID",
            "CODEX_SESSION_ID",
            "CODEX_CI",
            "CODEX_MANAGED_BY_NPM",
        ],
        conversations: Conversations::AllBut(&[
            "login",
            "logout",
            "mcp",
            "completion",
            "features",
            "update",
        ]),
    },
    tested: Version([0, 166, 0]),
    // Several earlier versions did not call the hooks of `codex exec`.
    oldest: Version([0, 140, 0]),
    abilities: Abilities {
        blocks_tools: true,
        resumes_exactly: true,
        reports_usage: true,
        reports_cost: false,
        limits_cost: false,
    },
    session_host: None,
    tools: ToolNames {
        agent: &["spawn_agent"],
        skill: &[],
        workflow: &[],
        message: &[],
        shell: &["shell", "exec_command"],
        write: &["apply_patch"],
        edit: &["apply_patch"],
        read: &["view_image"],
        find_files: &[],
        list_folder: &[],
        search_text: &[],
        fetch: &[],
        search_web: &["web_search"],
        to_do_list: &["update_plan"],
        only_read: &[],
        foreign_prefix: "mcp__",
    },
    process: ProcessDescriptor {
        settings_variables: &SETTINGS_VARIABLES,
        login_variables: &LOGIN_VARIABLES,
        ids: ConversationIds::Its,
        usage_scope: UsageScope::Conversation,
        personal_settings: Some(guard_setup::PERSONAL_SETTINGS),
        project_settings: &[".codex/config.toml", ".codex/hooks.json"],
        own_folder: None,
        arguments: process::arguments,
        guard_setup: guard_setup::guard_setup,
        read_line: process::read_line,
        opens_with: &["codex", "resume"],
        failure_of_exit_code: |_| None,
    },
    hooks: HookDescriptor {
        event: Event::parse,
        read: hook::read,
        write: |event, answer| exit_code::write(event, event.word(), answer),
        imitates_host: |_| false,
        undecided: exit_code::undecided,
    },
};

/// Where it keeps its settings, and which service it calls.
const SETTINGS_VARIABLES: [&str; 5] = [
    "CODEX_HOME",
    "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT",
    "CODEX_CA_CERTIFICATE",
];

const LOGIN_VARIABLES: [&str; 4] = [
    "CODEX_API_KEY",
    "CODEX_ACCESS_TOKEN",
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
];
