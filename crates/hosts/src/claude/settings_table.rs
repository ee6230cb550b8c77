//! The settings of Claude Code that cost a whole file, hooks included, when a value does not fit.
//!
//! Observed with 2.1.325, by giving each setting values of every type. Settings that are not here may have
//! any value: the host ignores a wrong one alone. `host::dropped` compares this table with the program.

mod sandbox;

use super::settings_shape::ValueShape::{
    Any, Either, Flag, Form, List, Nothing, Number, Object, Record, Text, Variants, Word,
};
use super::settings_shape::{Limits, Members, ValueShape, may_have, must_have};
use sandbox::SANDBOX;

const TEXTS: ValueShape = List(&Text);
const FLAG_OR_NOTHING: ValueShape = Either(&[Flag, Nothing]);
const DISABLE: ValueShape = Word(&["disable"]);
const DISABLE_OR_NOTHING: ValueShape = Either(&[DISABLE, Nothing]);
const COMMAND: ValueShape = Word(&["command"]);
const FILLED: ValueShape = Form(|text| !text.is_empty(), "a text that is not empty");
const VARIABLE: ValueShape = Form(is_variable, "the name of a variable");
const TIME: ValueShape = Form(is_time, "a time like \"22:00\"");
const ADDRESS: ValueShape = Form(is_address, "a URL");
const WEB_ADDRESS: ValueShape = Form(
    |text| text.starts_with("http") && is_address(text),
    "an http URL",
);
const PACKAGE: ValueShape = Form(is_package, "the name of a package");
const MARKETPLACE_NAME: ValueShape = Form(
    |text| !text.is_empty() && !text.contains(' '),
    "a name without spaces",
);
const SERVERS: ValueShape = Either(&[TEXTS, Form(is_server, "the name of a server")]);

/// The largest whole number that the host counts exactly.
const MOST: f64 = 9_007_199_254_740_991.0;
const ANY_NUMBER: ValueShape = Number(Limits {
    above: f64::NEG_INFINITY,
    most: f64::INFINITY,
    is_whole: false,
    words: "a number",
});
const WHOLE: ValueShape = Number(Limits {
    above: -MOST - 1.0,
    most: MOST,
    is_whole: true,
    words: "a whole number",
});
const FROM_ZERO: ValueShape = Number(Limits {
    above: -1.0,
    most: MOST,
    is_whole: true,
    words: "a whole number from 0",
});
const FROM_ONE: ValueShape = Number(Limits {
    above: 0.0,
    most: MOST,
    is_whole: true,
    words: "a whole number from 1",
});
const SECONDS: ValueShape = Number(Limits {
    above: 0.0,
    most: f64::INFINITY,
    is_whole: false,
    words: "a number above 0",
});
const RATE: ValueShape = Number(Limits {
    // The next number below zero: zero is accepted.
    above: -f64::MIN_POSITIVE,
    most: 1.0,
    is_whole: false,
    words: "a number from 0 to 1",
});
const FRACTION: ValueShape = Number(Limits {
    above: 0.0,
    most: 1.0,
    is_whole: false,
    words: "a number above 0 and up to 1",
});

/// Every setting at the top of a file.
pub(super) const SETTINGS: ValueShape = Object(&[
    may_have(
        &Flag,
        &[
            "agentPushNotifEnabled",
            "allowAllClaudeAiMcps",
            "allowClaudeInChromeWithManagedMcp",
            "alwaysThinkingEnabled",
            "autoCompactEnabled",
            "autoDreamEnabled",
            "autoMemoryEnabled",
            "autoScrollEnabled",
            "awaySummaryEnabled",
            "axScreenReader",
            "bashEditDiffEnabled",
            "clawdFileProgressEnabled",
            "disableAllHooks",
            "disableReplyCheck",
            "doneMeansMerged",
            "emojiCompletionEnabled",
            "fastMode",
            "fileCheckpointingEnabled",
            "forceRemoteSettingsRefresh",
            "idleCompaction",
            "includeCoAuthoredBy",
            "includeGitInstructions",
            "inputNeededNotifEnabled",
            "precomputeCompactionEnabled",
            "prefersReducedMotion",
            "promptSuggestionEnabled",
            "respectGitignore",
            "respondToBashCommands",
            "showClearContextOnPlanAccept",
            "showMessageTimestamps",
            "showThinkingSummaries",
            "showTurnDuration",
            "spinnerTipsEnabled",
            "switchModelsOnFlag",
            "syntaxHighlightingDisabled",
            "terminalProgressBarEnabled",
            "terminalTitleFromRename",
            "todoFeatureEnabled",
            "totalTokensReminderAfterUserTurn",
            "verbose",
            "voiceEnabled",
            "wheelScrollAccelerationEnabled",
            "workflowKeywordTriggerEnabled",
            "wslInheritsWindowsSettings",
        ],
    ),
    may_have(
        &FLAG_OR_NOTHING,
        &[
            "allowManagedHooksOnly",
            "allowManagedMcpServersOnly",
            "allowManagedPermissionRulesOnly",
            "autoContinueAtUsageLimit",
            "autoUploadSessions",
            "channelsEnabled",
            "disableAgentView",
            "disableArtifact",
            "disableBundledSkills",
            "disableClaudeAiConnectors",
            "disableCommandPluginSources",
            "disableRemoteControl",
            "disableSideloadFlags",
            "disableSkillShellExecution",
            "disableWindowsBashCommandSplit",
            "disableWorkflows",
            "enableAllProjectMcpServers",
            "enableArtifact",
            "enableWorkflows",
            "enforceAvailableModels",
            "fastModePerSessionOptIn",
            "isolatePeerMachines",
            "remoteControlAtStartup",
            "responseComparisonEnabled",
            "skipAutoPermissionPrompt",
            "skipDangerousModePermissionPrompt",
            "skipWebFetchPreflight",
            "skipWorkflowUsageWarning",
            "syncClaudeAiPlugins",
            "syncClaudeAiSkills",
            "useAutoModeDuringPlan",
        ],
    ),
    may_have(
        &Text,
        &[
            "$schema",
            "advisorModel",
            "agent",
            "apiKeyHelper",
            "attributionProject",
            "autoMemoryDirectory",
            "awsAuthRefresh",
            "awsCredentialExport",
            "claudeMd",
            "gcpAuthRefresh",
            "language",
            "minimumVersion",
            "model",
            "otelHeadersHelper",
            "outputStyle",
            "plansDirectory",
            "pluginTrustMessage",
            "prUrlTemplate",
            "processWrapper",
            "proxyAuthHelper",
            "requiredMaximumVersion",
            "requiredMinimumVersion",
            "timeFormat",
            "timeZone",
        ],
    ),
    may_have(
        &TEXTS,
        &[
            "allowedHttpHookUrls",
            "availableModels",
            "claudeMdExcludes",
            "companyAnnouncements",
            "fallbackModel",
            "httpHookAllowedEnvVars",
            "pluginSuggestionMarketplaces",
        ],
    ),
    may_have(&Either(&[Text, TEXTS]), &["forceLoginOrgUUID"]),
    may_have(
        &SERVERS,
        &["disabledMcpjsonServers", "enabledMcpjsonServers"],
    ),
    may_have(&Word(&["latest", "stable", "rc"]), &["autoUpdatesChannel"]),
    may_have(&Word(&["bash", "powershell"]), &["defaultShell"]),
    may_have(&Word(&["chat", "transcript"]), &["defaultView"]),
    may_have(&Word(&["default", "fullscreen"]), &["tui"]),
    may_have(&Word(&["transient", "ask"]), &["daemonColdStart"]),
    may_have(
        &Word(&["first-wins", "merge"]),
        &["managedSourcesBehavior", "parentSettingsBehavior"],
    ),
    may_have(
        &Word(&["unrestricted", "small", "medium", "large"]),
        &["workflowSizeGuideline"],
    ),
    may_have(
        &Word(&["off", "infinite", "fixed", "countdown", "padded-countdown"]),
        &["totalTokensReminder"],
    ),
    may_have(
        &Either(&[Word(&["notify", "quiet", "off"]), Nothing]),
        &["feedbackDrafts"],
    ),
    may_have(
        &DISABLE_OR_NOTHING,
        &["disableAutoMode", "disableDeepLinkRegistration"],
    ),
    may_have(&FROM_ZERO, &["desktopSessionCleanupPeriodDays"]),
    may_have(
        &FROM_ONE,
        &[
            "cleanupPeriodDays",
            "skillListingMaxDescChars",
            "totalTokensReminderBudget",
        ],
    ),
    may_have(&RATE, &["feedbackSurveyRate"]),
    may_have(&FRACTION, &["skillListingBudgetFraction"]),
    may_have(&Record(&Any), &["env"]),
    may_have(&Record(&Text), &["modelOverrides"]),
    may_have(
        &Record(&Word(&["on", "name-only", "user-invocable-only", "off"])),
        &["skillOverrides"],
    ),
    may_have(&Record(&Either(&[Flag, TEXTS])), &["enabledPlugins"]),
    may_have(&Record(&PLUGIN_CONFIGURATION), &["pluginConfigs"]),
    may_have(&Either(&[Flag, ATTRIBUTION]), &["attribution"]),
    may_have(&AUTO_MODE, &["autoMode"]),
    may_have(&BREAK_REMINDER, &["breakReminder"]),
    may_have(&QUIET_HOURS, &["quietHours"]),
    may_have(&PERMISSIONS, &["permissions"]),
    may_have(&FILE_SUGGESTION, &["fileSuggestion"]),
    may_have(&STATUS_LINE, &["statusLine"]),
    may_have(&SPINNER_VERBS, &["spinnerVerbs"]),
    may_have(&VOICE, &["voice"]),
    may_have(&WORKTREE, &["worktree"]),
    may_have(
        &Object(&[may_have(&Text, &["defaultEnvironmentId"])]),
        &["remote"],
    ),
    may_have(
        &Object(&[may_have(&Flag, &["allowUnattendedServing"])]),
        &["remoteTools"],
    ),
    may_have(&SANDBOX, &["sandbox"]),
    may_have(&List(&CHANNEL_PLUGIN), &["allowedChannelPlugins"]),
    may_have(&List(&SSH), &["sshConfigs"]),
    // The first is another name of the second.
    may_have(
        &Either(&[List(&Variants("source", MARKETPLACES)), Nothing]),
        &["allowedMarketplaces", "strictKnownMarketplaces"],
    ),
    may_have(
        &Either(&[List(&Variants("source", BLOCKED_MARKETPLACES)), Nothing]),
        &["blockedMarketplaces"],
    ),
]);

const ATTRIBUTION: ValueShape = Object(&[
    may_have(&Text, &["commit", "pr"]),
    may_have(&Flag, &["sessionUrl"]),
]);

const AUTO_MODE: ValueShape = Object(&[
    may_have(&TEXTS, &["allow", "environment", "hard_deny", "soft_deny"]),
    may_have(&Flag, &["classifyAllShell"]),
]);

const BREAK_REMINDER: ValueShape = Object(&[
    may_have(&Flag, &["enabled"]),
    may_have(&FROM_ONE, &["breakThresholdMinutes", "intervalMinutes"]),
    may_have(&Text, &["message"]),
]);

const QUIET_HOURS: ValueShape = Object(&[
    may_have(&Flag, &["enabled"]),
    may_have(&TIME, &["end", "start"]),
]);

/// A rule that is not a text is removed alone.
const PERMISSIONS: ValueShape = Object(&[
    may_have(&List(&Any), &["allow", "ask", "deny"]),
    may_have(&TEXTS, &["additionalDirectories"]),
    may_have(
        &Word(&[
            "acceptEdits",
            "auto",
            "bypassPermissions",
            "default",
            "dontAsk",
            "manual",
            "plan",
        ]),
        &["defaultMode"],
    ),
    may_have(
        &DISABLE,
        &["disableAutoMode", "disableBypassPermissionsMode"],
    ),
    may_have(
        &Flag,
        &[
            "blockFileToolReadsOutsideWorkingDirectories",
            "blockReadsOutsideWorkingDirectories",
            "blockWritesOutsideWorkingDirectories",
            "denyInsteadOfPrompting",
        ],
    ),
]);

const FILE_SUGGESTION: ValueShape = Object(&[
    must_have(&COMMAND, &["type"]),
    must_have(&Text, &["command"]),
]);

const STATUS_LINE: ValueShape = Object(&[
    must_have(&COMMAND, &["type"]),
    must_have(&Text, &["command"]),
    may_have(&Flag, &["hideVimModeIndicator"]),
    may_have(&ANY_NUMBER, &["padding"]),
]);

const SPINNER_VERBS: ValueShape = Object(&[
    must_have(&Word(&["append", "replace"]), &["mode"]),
    must_have(&TEXTS, &["verbs"]),
]);

const VOICE: ValueShape = Object(&[
    may_have(&Flag, &["autoSubmit", "enabled"]),
    may_have(&Word(&["hold", "tap"]), &["mode"]),
]);

const WORKTREE: ValueShape = Object(&[
    may_have(&Word(&["fresh", "head"]), &["baseRef"]),
    may_have(&TEXTS, &["sparsePaths", "symlinkDirectories"]),
]);

/// A value that a person gave to a plugin or to one of its servers.
const OPTION: ValueShape = Either(&[Text, ANY_NUMBER, Flag, TEXTS]);
const PLUGIN_CONFIGURATION: ValueShape = Object(&[
    may_have(&Record(&OPTION), &["options"]),
    may_have(&Record(&Record(&OPTION)), &["mcpServers"]),
]);

const CHANNEL_PLUGIN: ValueShape = Object(&[must_have(&Text, &["marketplace", "plugin"])]);

const SSH: ValueShape = Object(&[
    must_have(&Text, &["id", "name", "sshHost"]),
    may_have(&Text, &["sshIdentityFile", "startDirectory"]),
    may_have(&WHOLE, &["sshPort"]),
]);

const REPOSITORY: Members = may_have(&Text, &["path", "ref"]);
const SPARSE: Members = may_have(&TEXTS, &["sparsePaths"]);
const BY_URL: &[Members] = &[
    must_have(&ADDRESS, &["url"]),
    may_have(&Record(&Text), &["headers"]),
];
const BY_GITHUB: &[Members] = &[must_have(&Text, &["repo"]), REPOSITORY, SPARSE];
const BY_GIT: &[Members] = &[must_have(&Text, &["url"]), REPOSITORY, SPARSE];
const BY_NPM: &[Members] = &[
    must_have(&PACKAGE, &["package"]),
    may_have(&Text, &["version"]),
    may_have(&WEB_ADDRESS, &["registry"]),
];
const BY_PATH: &[Members] = &[must_have(&Text, &["path"])];
const BY_HOST: &[Members] = &[must_have(&Text, &["hostPattern"])];
const BY_PATTERN: &[Members] = &[must_have(&Text, &["pathPattern"])];
const BY_SETTINGS: &[Members] = &[
    must_have(&MARKETPLACE_NAME, &["name"]),
    must_have(
        &List(&Object(&[
            must_have(&Text, &["name"]),
            must_have(&Record(&Any), &["source"]),
        ])),
        &["plugins"],
    ),
    may_have(&Object(&[must_have(&Text, &["name"])]), &["owner"]),
];
const MARKETPLACES: &[(&str, &[Members])] = &[
    ("url", BY_URL),
    ("github", BY_GITHUB),
    ("git", BY_GIT),
    ("npm", BY_NPM),
    ("file", BY_PATH),
    ("directory", BY_PATH),
    ("skills-dir", &[]),
    ("hostPattern", BY_HOST),
    ("pathPattern", BY_PATTERN),
    ("settings", BY_SETTINGS),
];
const BLOCKED_MARKETPLACES: &[(&str, &[Members])] = &[
    ("pluginDirectory", &[]),
    ("url", BY_URL),
    ("github", BY_GITHUB),
    ("git", BY_GIT),
    ("npm", BY_NPM),
    ("file", BY_PATH),
    ("directory", BY_PATH),
    ("skills-dir", &[]),
    ("hostPattern", BY_HOST),
    ("pathPattern", BY_PATTERN),
    ("settings", BY_SETTINGS),
];

/// The hooks of an event before a tool. At any other event a wrong hook costs only itself.
pub(super) const HOOKS_BEFORE_TOOL: ValueShape = Either(&[Nothing, List(&HOOK_GROUP)]);
/// One group of such hooks.
pub(super) const HOOK_GROUP: ValueShape = Object(&[
    may_have(&Text, &["matcher"]),
    must_have(&List(&Variants("type", HOOK)), &["hooks"]),
]);

const OF_ANY_HOOK: Members = may_have(&Text, &["if", "statusMessage"]);
const TIMEOUT: Members = may_have(&SECONDS, &["timeout"]);
const ONCE: Members = may_have(&Flag, &["once"]);
const ON_FAILURE: Members = may_have(&Word(&["continue", "block"]), &["onFailure"]);
const PROMPT: Members = must_have(&Text, &["prompt"]);
const MODEL: Members = may_have(&Text, &["model"]);
const HOOK: &[(&str, &[Members])] = &[
    (
        "command",
        &[
            must_have(&Text, &["command"]),
            may_have(&TEXTS, &["args"]),
            may_have(&Flag, &["async", "asyncRewake"]),
            may_have(&Text, &["rewakeMessage", "rewakeSummary"]),
            may_have(&Word(&["bash", "powershell"]), &["shell"]),
            ON_FAILURE,
            OF_ANY_HOOK,
            TIMEOUT,
            ONCE,
        ],
    ),
    (
        "prompt",
        &[
            PROMPT,
            MODEL,
            may_have(&Flag, &["continueOnBlock"]),
            OF_ANY_HOOK,
            TIMEOUT,
            ONCE,
        ],
    ),
    ("agent", &[PROMPT, MODEL, OF_ANY_HOOK, TIMEOUT, ONCE]),
    (
        "http",
        &[
            must_have(&ADDRESS, &["url"]),
            may_have(&Record(&Text), &["headers"]),
            may_have(&TEXTS, &["allowedEnvVars"]),
            ON_FAILURE,
            OF_ANY_HOOK,
            TIMEOUT,
            ONCE,
        ],
    ),
    (
        "mcp_tool",
        &[
            must_have(&Text, &["server", "tool"]),
            may_have(&Record(&Any), &["input"]),
            OF_ANY_HOOK,
            TIMEOUT,
            ONCE,
        ],
    ),
];

fn is_variable(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(is_word) && text.starts_with(|c: char| !c.is_ascii_digit())
}

fn is_server(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.chars().all(is_word)
}

fn is_time(text: &str) -> bool {
    let Some((hours, minutes)) = text.split_once(':') else {
        return false;
    };
    let number = |digits: &str, length: std::ops::RangeInclusive<usize>| {
        let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits
            .parse::<u8>()
            .ok()
            .filter(|_| is_digits && length.contains(&digits.len()))
    };
    number(hours, 1..=2).is_some_and(|it| it < 24)
        && number(minutes, 2..=2).is_some_and(|it| it < 60)
}

/// A scheme, and for the web a host.
fn is_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    let host = rest.trim_start_matches('/').split(['/', '?', '#']).next();
    let has_host = host.is_some_and(|host| !host.is_empty() && !host.contains(' '));
    is_scheme && (has_host || !scheme.starts_with("http"))
}

fn is_package(text: &str) -> bool {
    let name = text.strip_prefix('@').map_or(Some(text), |scoped| {
        scoped
            .split_once('/')
            .filter(|(scope, _)| !scope.is_empty())
            .map(|(_, name)| name)
    });
    name.is_some_and(|name| !name.is_empty() && !name.contains(['/', ' '])) && !text.contains(' ')
}
