//! Values for which Claude Code ignores a whole settings file, hooks included, without a message.
//!
//! Each was observed with 2.1.325. An invalid hook inside `hooks` costs only that hook.

use crate::settings::{InvalidSetting, Node, STATUS_LINE, Value, kind};

/// The type that a setting must have.
#[derive(Clone, Copy)]
enum ExpectedType {
    Object,
    List,
    Text,
    TextOrList,
    /// A whole number of days, at least one.
    Days,
    Flag,
    FlagOrNothing,
    FlagOrObject,
    Mode,
    Command,
}

impl ExpectedType {
    fn accepts(self, node: &Node) -> bool {
        match self {
            Self::Object => matches!(node.kind, Value::Object(_)),
            Self::List => matches!(node.kind, Value::List(_)),
            Self::Text => matches!(node.kind, Value::Text(_)),
            Self::TextOrList => matches!(node.kind, Value::Text(_) | Value::List(_)),
            Self::Days => node
                .number()
                .is_some_and(|days| days >= 1.0 && days.fract() == 0.0),
            Self::Flag => matches!(node.kind, Value::Flag(_)),
            Self::FlagOrNothing => matches!(node.kind, Value::Flag(_) | Value::Nothing),
            Self::FlagOrObject => matches!(node.kind, Value::Flag(_) | Value::Object(_)),
            Self::Mode => node.text().is_some_and(|word| MODES.contains(&word)),
            Self::Command => node.text() == Some("command"),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::List => "a list",
            Self::Text => "a text",
            Self::TextOrList => "a text or a list",
            Self::Days => "a whole number from 1",
            Self::Flag | Self::FlagOrNothing => "true or false",
            Self::FlagOrObject => "an object or true or false",
            Self::Mode => "a permission mode",
            Self::Command => "\"command\"",
        }
    }
}

const MODES: [&str; 7] = [
    "acceptEdits",
    "auto",
    "bypassPermissions",
    "default",
    "dontAsk",
    "manual",
    "plan",
];

/// Every setting whose type we know, by its path of keys.
const VALUES: [(ExpectedType, &[&str]); 11] = [
    (
        ExpectedType::Flag,
        &[
            "disableAllHooks",
            "alwaysThinkingEnabled",
            "includeCoAuthoredBy",
            "includeGitInstructions",
            "autoMemoryEnabled",
            "fastMode",
            "prefersReducedMotion",
            "respectGitignore",
            "showThinkingSummaries",
            "spinnerTipsEnabled",
            "syntaxHighlightingDisabled",
            "terminalTitleFromRename",
            "verbose",
        ],
    ),
    (
        ExpectedType::FlagOrNothing,
        &[
            "allowManagedHooksOnly",
            "enableAllProjectMcpServers",
            "skipWebFetchPreflight",
        ],
    ),
    (ExpectedType::FlagOrObject, &["attribution"]),
    (
        ExpectedType::Object,
        &[
            "hooks",
            "env",
            "autoMode",
            "enabledPlugins",
            "fileSuggestion",
            "modelOverrides",
            "permissions",
            "sandbox",
            "skillOverrides",
            "spinnerVerbs",
            "statusLine",
            "worktree",
        ],
    ),
    (
        ExpectedType::Text,
        &[
            "$schema",
            "model",
            "agent",
            "apiKeyHelper",
            "autoMemoryDirectory",
            "autoUpdatesChannel",
            "awsAuthRefresh",
            "awsCredentialExport",
            "defaultShell",
            "gcpAuthRefresh",
            "language",
            "minimumVersion",
            "otelHeadersHelper",
            "outputStyle",
            "plansDirectory",
        ],
    ),
    (ExpectedType::Days, &["cleanupPeriodDays"]),
    (
        ExpectedType::List,
        &[
            "allowedHttpHookUrls",
            "availableModels",
            "claudeMdExcludes",
            "companyAnnouncements",
            "httpHookAllowedEnvVars",
            "permissions.allow",
            "permissions.deny",
            "permissions.ask",
            "permissions.additionalDirectories",
        ],
    ),
    (
        ExpectedType::TextOrList,
        &["enabledMcpjsonServers", "disabledMcpjsonServers"],
    ),
    (ExpectedType::Mode, &["permissions.defaultMode"]),
    (ExpectedType::Command, &["statusLine.type"]),
    (ExpectedType::Text, &["statusLine.command"]),
];

pub(super) fn find(root: &Node) -> Vec<InvalidSetting> {
    let values = VALUES.iter();
    let values = values.flat_map(|(wanted, paths)| paths.iter().map(move |path| (wanted, path)));
    let wrong = values.filter_map(|(wanted, path)| {
        let mut names = path.split('.');
        let node = names.try_fold(root, |node, name| node.get(name))?;
        (!wanted.accepts(node)).then(|| InvalidSetting {
            at: (*path).to_owned(),
            found: kind(node),
            wanted: wanted.words(),
        })
    });
    wrong.chain(lacking(root)).collect()
}

/// A status line needs both of its values.
fn lacking(root: &Node) -> impl Iterator<Item = InvalidSetting> {
    let line = root.get(STATUS_LINE);
    let line = line.filter(|line| line.members().is_some());
    let parts = [("type", "\"command\""), ("command", "a text")].into_iter();
    let lacking = parts.filter(move |(name, _)| line.is_some_and(|line| line.get(name).is_none()));
    lacking.map(|(name, wanted)| InvalidSetting {
        at: format!("{}.{name}", STATUS_LINE),
        found: "missing",
        wanted,
    })
}

#[cfg(test)]
mod tests {
    use super::super::session_host::FORMAT;
    use crate::settings::Settings;

    fn check(rows: &[(&str, &[&str])]) {
        for (text, expected) in rows {
            let invalid_settings = Settings::parse(text.as_bytes())
                .unwrap()
                .invalid_settings(&FORMAT);
            let told: Vec<_> = invalid_settings.iter().map(ToString::to_string).collect();
            assert_eq!(told, *expected, "{text}");
        }
    }

    #[test]
    fn a_value_that_drops_the_file_is_told() {
        check(&[
            ("{}", &[]),
            (r#"{"fooBar": 1, "hooks": {"Stop": null, "Nope": 3}}"#, &[]),
            (r#"{"env": {"A": 1}, "permissions": {"allow": [1]}}"#, &[]),
            (r#"{"hooks": []}"#, &["`hooks` is a list, not an object"]),
            (r#"{"hooks": null}"#, &["`hooks` is null, not an object"]),
            (
                r#"{"attribution": false, "enabledMcpjsonServers": "x", "cleanupPeriodDays": 1}"#,
                &[],
            ),
            (
                r#"{"attribution": [], "enabledMcpjsonServers": 1, "cleanupPeriodDays": 0}"#,
                &[
                    "`attribution` is a list, not an object or true or false",
                    "`cleanupPeriodDays` is a number, not a whole number from 1",
                    "`enabledMcpjsonServers` is a number, not a text or a list",
                ],
            ),
            (
                r#"{"disableAllHooks": "no", "env": []}"#,
                &[
                    "`disableAllHooks` is a text, not true or false",
                    "`env` is a list, not an object",
                ],
            ),
            (
                r#"{"permissions": {"allow": "x", "defaultMode": "yolo"}}"#,
                &[
                    "`permissions.allow` is a text, not a list",
                    "`permissions.defaultMode` is a text, not a permission mode",
                ],
            ),
            (
                r#"{"statusLine": "x"}"#,
                &["`statusLine` is a text, not an object"],
            ),
            (
                r#"{"statusLine": {"command": 1}}"#,
                &[
                    "`statusLine.command` is a number, not a text",
                    "`statusLine.type` is missing, not \"command\"",
                ],
            ),
        ]);
    }
}
