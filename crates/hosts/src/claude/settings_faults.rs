//! Values for which Claude Code drops a whole settings file, hooks included, and says nothing.
//!
//! Each line was seen to do so in 2.1.325. What is wrong inside `hooks` costs only that one hook.

use crate::settings::{Fault, Node, STATUS_LINE, Value, kind};

/// What a value must be.
#[derive(Clone, Copy)]
enum Wanted {
    Object,
    List,
    Text,
    Number,
    Flag,
    Mode,
    Command,
}

impl Wanted {
    fn takes(self, node: &Node) -> bool {
        match (self, &node.kind) {
            (Self::Object, Value::Object(_))
            | (Self::List, Value::List(_))
            | (Self::Text, Value::Text(_))
            | (Self::Number, Value::Number(_))
            | (Self::Flag, Value::Flag(_)) => true,
            (Self::Mode, Value::Text(word)) => MODES.contains(&word.as_str()),
            (Self::Command, Value::Text(word)) => word == "command",
            _ => false,
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

const VALUES: [(&[&str], Wanted); 18] = [
    (&["hooks"], Wanted::Object),
    (&["disableAllHooks"], Wanted::Flag),
    (&["env"], Wanted::Object),
    (&["model"], Wanted::Text),
    (&["apiKeyHelper"], Wanted::Text),
    (&["outputStyle"], Wanted::Text),
    (&["cleanupPeriodDays"], Wanted::Number),
    (&["includeCoAuthoredBy"], Wanted::Flag),
    (&["enabledPlugins"], Wanted::Object),
    (&["permissions"], Wanted::Object),
    (&["permissions", "allow"], Wanted::List),
    (&["permissions", "deny"], Wanted::List),
    (&["permissions", "ask"], Wanted::List),
    (&["permissions", "additionalDirectories"], Wanted::List),
    (&["permissions", "defaultMode"], Wanted::Mode),
    (&["statusLine"], Wanted::Object),
    (&["statusLine", "type"], Wanted::Command),
    (&["statusLine", "command"], Wanted::Text),
];

pub fn find(root: &Node) -> Vec<Fault> {
    let wrong = VALUES.iter().filter_map(|(way, wanted)| {
        let node = way.iter().try_fold(root, |node, name| node.get(name))?;
        (!wanted.takes(node)).then(|| Fault {
            at: way.join("."),
            found: kind(node),
            wanted: wanted.words(),
        })
    });
    wrong.chain(lacking(root)).collect()
}

/// A status line wants both of its values.
fn lacking(root: &Node) -> impl Iterator<Item = Fault> {
    let line = root.get(STATUS_LINE);
    let line = line.filter(|line| line.members().is_some());
    let parts = [("type", "\"command\""), ("command", "a text")].into_iter();
    let lacking = parts.filter(move |(name, _)| line.is_some_and(|line| line.get(name).is_none()));
    lacking.map(|(name, wanted)| Fault {
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
            let faults = Settings::parse(text.as_bytes()).unwrap().faults(&FORMAT);
            let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
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
