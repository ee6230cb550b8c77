//! Claude Code: its hook payloads, our answers, and what its Bash calls could get around.
//!
//! Measured with 2.1.325. `tests/claude-code` has recorded payloads.

mod answer_record;
mod call_record;
mod invalid_settings;
mod notification;
pub mod plugin;
mod process;
mod question;
mod read;
mod schedule_record;
pub(crate) mod session_host;
mod settings_shape;
mod settings_table;
pub mod statusline;
mod step;
mod transcript;
mod wire;
mod write;

use crate::descriptor::{
    Abilities, ConversationIds, Descriptor, HookDescriptor, ProcessDescriptor, ToolNames,
    UsageScope,
};
use crate::hook::Event;
use crate::recognition::{Conversations, Recognition};
use crate::version::Version;

/// The differences from other programs.
pub const DESCRIPTOR: Descriptor = Descriptor {
    title: "Claude Code",
    recognition: Recognition {
        name: "claude",
        package: "@anthropic-ai/claude-code",
        package_folder: Some("claude-code"),
        versions_folder: Some("claude/versions"),
        variables: &[
            "CLAUDECODE",
            "CLAUDE_PID",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_ENV_FILE",
        ],
        conversations: Conversations::AllBut(&[
            "mcp",
            "plugin",
            "plugins",
            "agents",
            "auto-mode",
            "gateway",
            "import",
            "logs",
            "purge",
            "rm",
            "stop",
            "kill",
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
    tested: Version([2, 1, 325]),
    // In earlier versions a tool call passed when a hook crashed.
    oldest: Version([2, 1, 295]),
    abilities: Abilities {
        blocks_tools: true,
        resumes_exactly: true,
        reports_usage: true,
        reports_cost: true,
        limits_cost: true,
    },
    session_host: Some(&session_host::SESSION_HOST),
    tools: ToolNames {
        agent: &["Agent", "Task"],
        skill: &["Skill"],
        workflow: &["Workflow"],
        message: &["SendMessage"],
        shell: &["Bash"],
        write: &["Write"],
        edit: &["Edit"],
        read: &["Read"],
        find_files: &["Glob"],
        list_folder: &["LS"],
        search_text: &["Grep"],
        fetch: &["WebFetch"],
        search_web: &["WebSearch"],
        to_do_list: &["TodoWrite"],
        only_read: &[
            "Read",
            "Glob",
            "Grep",
            "LS",
            "WebFetch",
            "WebSearch",
            "ToolSearch",
            "TaskList",
            "TaskGet",
        ],
        foreign_prefix: "mcp__",
    },
    process: ProcessDescriptor {
        settings_variables: &SETTINGS_VARIABLES,
        login_variables: &LOGIN_VARIABLES,
        ids: ConversationIds::Ours,
        usage_scope: UsageScope::Process,
        personal_settings: None,
        project_settings: &[],
        own_folder: Some((
            ".claude/",
            "Write files in `.claude/` with your Write tool: shell commands cannot.",
        )),
        arguments: process::arguments,
        guard_setup: process::guard_setup,
        read_line: process::read_line,
        opens_with: &["claude", "--resume"],
        failure_of_exit_code: |_| None,
    },
    hooks: HookDescriptor {
        event: Event::parse,
        read: read::read,
        write: write::write,
        imitates_host: notification::is_imitated,
        undecided: write::undecided,
    },
};

/// Where it keeps its settings, and which service it calls.
const SETTINGS_VARIABLES: [&str; 22] = [
    "CLAUDE_CONFIG_DIR",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "ANTHROPIC_VERTEX_BASE_URL",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "ANTHROPIC_FOUNDRY_BASE_URL",
    "ANTHROPIC_FOUNDRY_RESOURCE",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_MAX_RETRIES",
    "AWS_REGION",
    "AWS_PROFILE",
    "CLOUD_ML_REGION",
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "IS_SANDBOX",
];

const LOGIN_VARIABLES: [&str; 10] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
];
