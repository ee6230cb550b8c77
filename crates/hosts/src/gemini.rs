//! Gemini CLI: its hooks, its command line, and what its output says.
//!
//! Measured with 0.61.0. `tests/gemini` has recorded output.

mod guard_setup;
mod hook;
mod process;
mod wire;

use crate::descriptor::{
    Abilities, ConversationIds, Descriptor, HookDescriptor, ProcessDescriptor, ToolNames,
    UsageScope,
};
use crate::hook::exit_code;
use crate::recognition::{Conversations, Recognition};
use crate::version::Version;

/// The differences from other programs.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "Gemini CLI",
    recognition: Recognition {
        name: "gemini",
        package: "@google/gemini-cli",
        package_folder: Some("gemini-cli"),
        versions_folder: None,
        variables: &["GEMINI_CLI", "GEMINI_SESSION_ID"],
        conversations: Conversations::AllBut(&[
            "mcp",
            "extensions",
            "extension",
            "skills",
            "hooks",
        ]),
    },
    tested: Version([0, 61, 0]),
    // Earlier versions do not let us choose the id of a conversation.
    oldest: Version([0, 37, 0]),
    abilities: Abilities {
        blocks_tools: true,
        resumes_exactly: true,
        reports_usage: true,
        reports_cost: false,
        limits_cost: false,
    },
    session_host: None,
    tools: ToolNames {
        agent: &["invoke_agent"],
        skill: &[],
        workflow: &[],
        message: &[],
        shell: &["run_shell_command"],
        write: &["write_file"],
        edit: &["replace"],
        read: &["read_file", "read_many_files"],
        find_files: &["glob"],
        list_folder: &["list_directory"],
        search_text: &["grep_search", "search_file_content"],
        fetch: &["web_fetch"],
        search_web: &["google_web_search"],
        to_do_list: &["write_todos"],
        only_read: &[],
        foreign_prefix: "mcp_",
    },
    process: ProcessDescriptor {
        settings_variables: &SETTINGS_VARIABLES,
        login_variables: &LOGIN_VARIABLES,
        ids: ConversationIds::Ours,
        usage_scope: UsageScope::Process,
        personal_settings: Some(guard_setup::PERSONAL_SETTINGS),
        project_settings: &[".gemini/settings.json"],
        own_folder: None,
        arguments: process::arguments,
        guard_setup: guard_setup::guard_setup,
        read_line: process::read_line,
        opens_with: &["gemini", "--resume"],
        failure_of_exit_code: process::service_failure,
    },
    hooks: HookDescriptor {
        event: hook::event,
        read: hook::read,
        write: |event, answer| exit_code::write(event, hook::word(event), answer),
        imitates_host: |_| false,
        undecided: exit_code::undecided,
    },
};

/// Where it keeps its settings, and which service it calls.
const SETTINGS_VARIABLES: [&str; 10] = [
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_VERTEX_BASE_URL",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_PROJECT_ID",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_APPLICATION_CREDENTIALS",
];

const LOGIN_VARIABLES: [&str; 2] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];
