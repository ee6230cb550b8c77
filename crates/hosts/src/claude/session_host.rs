//! Claude Code as a host of sessions that hold runs.

use super::{answer_record, call_record, invalid_settings, schedule_record, transcript};
use crate::session_host::{
    HookConnection, SessionHost, SessionVariables, SettingsPlaces, WorkerRecords,
};
use crate::settings::{HookRegistration, OnFailure, SettingsFormat};

pub(crate) const SESSION_HOST: SessionHost = SessionHost {
    variables: SessionVariables {
        session: "CLAUDE_CODE_SESSION_ID",
        process: "CLAUDE_PID",
        project: "CLAUDE_PROJECT_DIR",
        env_file: "CLAUDE_ENV_FILE",
        plugin: "CLAUDE_PLUGIN_ROOT",
        own: &[
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_PID",
            "CLAUDE_PROJECT_DIR",
            "CLAUDE_PLUGIN_ROOT",
        ],
        switches: &["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"],
        marks: &[("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli")],
    },
    places: SettingsPlaces {
        folder_variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        user: "settings.json",
        shared: ".claude/settings.json",
        local: ".claude/settings.local.json",
        managed: MANAGED,
        schedules: SCHEDULES,
        protected: &["settings.json", "settings.local.json", SCHEDULES],
        memory: "CLAUDE.md",
    },
    format: FORMAT,
    connection: HookConnection::Socket,
    records: WorkerRecords {
        conversation: transcript::of_worker,
        ends_interrupted: transcript::ends_interrupted,
        origin: transcript::origin_of,
        call: transcript::call,
        own_checkout: transcript::own_checkout,
    },
    preferences: &[
        "$schema",
        "alwaysThinkingEnabled",
        "attribution",
        "autoScrollEnabled",
        "awaySummaryEnabled",
        "companyAnnouncements",
        "editorMode",
        "effortLevel",
        "fastMode",
        "feedbackSurveyRate",
        "includeCoAuthoredBy",
        "includeGitInstructions",
        "language",
        "model",
        "outputStyle",
        "prefersReducedMotion",
        "promptSuggestionEnabled",
        "respectGitignore",
        "showThinkingSummaries",
        "showTurnDuration",
        "spinnerTipsEnabled",
        "spinnerTipsOverride",
        "spinnerVerbs",
        "syntaxHighlightingDisabled",
        "terminalTitleFromRename",
        "theme",
        "verbose",
        "viewMode",
    ],
    question_tool: "AskUserQuestion",
    trial_arguments: &["--init-only"],
    read_record: call_record::read,
    read_answer: answer_record::read,
    read_schedule: schedule_record::read,
    read_schedules: schedule_record::planned,
};

/// The host submits the prompts in this file as if a person had typed them.
const SCHEDULES: &str = "scheduled_tasks.json";

#[cfg(target_os = "macos")]
const MANAGED: &str = "/Library/Application Support/ClaudeCode/managed-settings.json";
#[cfg(not(target_os = "macos"))]
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

pub(crate) const FORMAT: SettingsFormat = SettingsFormat {
    host: "claude",
    registered: &REGISTERED,
    invalid_settings: invalid_settings::find,
};

/// The events, in the order of a session. `closed` events are those where a gate is promised and the
/// host can enforce it; an error of ours never blocks a person's prompt, and a permission that we do not
/// give is asked from the person.
const REGISTERED: [HookRegistration; 14] = [
    open("SessionStart", 10),
    open("UserPromptSubmit", 10),
    closed("UserPromptExpansion", 10),
    closed("PreToolUse", 10),
    open("PermissionRequest", 10),
    open("PostToolUse", 10),
    open("PostToolUseFailure", 10),
    open("SubagentStart", 10),
    open("SubagentStop", 10),
    open("TaskCompleted", 10),
    open("Stop", 10),
    open("StopFailure", 10),
    closed("ConfigChange", 10),
    open("SessionEnd", 5),
];

const fn open(event: &'static str, timeout_seconds: u64) -> HookRegistration {
    HookRegistration {
        event,
        timeout_seconds,
        on_failure: OnFailure::GoOn,
    }
}

const fn closed(event: &'static str, timeout_seconds: u64) -> HookRegistration {
    HookRegistration {
        event,
        timeout_seconds,
        on_failure: OnFailure::Block,
    }
}

#[cfg(test)]
mod tests;
