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
    Number,
    Flag,
    Mode,
    Command,
}

impl ExpectedType {
    fn accepts(self, node: &Node) -> bool {
        match self {
            Self::Object => matches!(node.kind, Value::Object(_)),
            Self::List => matches!(node.kind, Value::List(_)),
            Self::Text => matches!(node.kind, Value::Text(_)),
            Self::Number => matches!(node.kind, Value::Number(_)),
            Self::Flag => matches!(node.kind, Value::Flag(_)),
            Self::Mode => node.text().is_some_and(|word| MODES.contains(&word)),
            Self::Command => node.text() == Some("command"),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::List => "a list",
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Flag => "true or false",
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

const VALUES: [(&[&str], ExpectedType); 18] = [
    (&["hooks"], ExpectedType::Object),
    (&["disableAllHooks"], ExpectedType::Flag),
    (&["env"], ExpectedType::Object),
    (&["model"], ExpectedType::Text),
    (&["apiKeyHelper"], ExpectedType::Text),
    (&["outputStyle"], ExpectedType::Text),
    (&["cleanupPeriodDays"], ExpectedType::Number),
    (&["includeCoAuthoredBy"], ExpectedType::Flag),
    (&["enabledPlugins"], ExpectedType::Object),
    (&["permissions"], ExpectedType::Object),
    (&["permissions", "allow"], ExpectedType::List),
    (&["permissions", "deny"], ExpectedType::List),
    (&["permissions", "ask"], ExpectedType::List),
    (
        &["permissions", "additionalDirectories"],
        ExpectedType::List,
    ),
    (&["permissions", "defaultMode"], ExpectedType::Mode),
    (&["statusLine"], ExpectedType::Object),
    (&["statusLine", "type"], ExpectedType::Command),
    (&["statusLine", "command"], ExpectedType::Text),
];

pub(super) fn find(root: &Node) -> Vec<InvalidSetting> {
    let wrong = VALUES.iter().filter_map(|(path, wanted)| {
        let node = path.iter().try_fold(root, |node, name| node.get(name))?;
        (!wanted.accepts(node)).then(|| InvalidSetting {
            at: path.join("."),
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
