//! Values for which Claude Code ignores a whole settings file, hooks included.
//!
//! Observed with 2.1.325: values that do not fit `settings_table`, a hook before a tool that cannot be loaded,
//! and such a hook outside `hooks`, which might guard what the file permits.

use super::settings_table::{HOOKS_BEFORE_TOOL, SETTINGS};
use crate::settings::{BEFORE_TOOL, HOOKS, InvalidSetting, Node, Value, kind};

/// Settings whose names are free, so that one may be called like an event.
const FREE_NAMES: [&str; 7] = [
    "enabledPlugins",
    "env",
    "extraKnownMarketplaces",
    "managedMcpServers",
    "mcpServers",
    "pluginConfigs",
    "skillOverrides",
];

/// How deep the host looks for stray hooks.
const DEPTH: usize = 5;

pub(super) fn find(root: &Node) -> Vec<InvalidSetting> {
    let mut found = SETTINGS.faults(root, "");
    let hooks = root.get(HOOKS);
    let events = BEFORE_TOOL.into_iter();
    let events = events.filter_map(|event| Some((event, hooks?.get(event)?)));
    for (event, node) in events {
        let faults = HOOKS_BEFORE_TOOL.faults(node, &format!("{HOOKS}.{event}"));
        found.extend(faults);
    }
    found.extend(stray(root));
    found
}

/// Hooks before a tool that are not where the host looks for them.
fn stray(root: &Node) -> Option<InvalidSetting> {
    let members = root.members()?.iter();
    let others = members
        .filter(|member| member.name != HOOKS && !FREE_NAMES.contains(&member.name.as_str()));
    let mut others = others.map(|member| (member.name.as_str(), &member.value));
    let outside = others.find_map(|(name, node)| stray_member(name, name, node, DEPTH));
    outside.or_else(|| in_hooks(root))
}

/// The same inside `hooks`, below an event.
fn in_hooks(root: &Node) -> Option<InvalidSetting> {
    let mut events = root.get(HOOKS)?.members()?.iter();
    events.find_map(|event| {
        let at = format!("{HOOKS}.{}", event.name);
        stray_below(&at, &event.value, usize::MAX)
    })
}

fn stray_member(at: &str, name: &str, node: &Node, depth: usize) -> Option<InvalidSetting> {
    let is_empty = node.kind == Value::Nothing || node.elements().is_some_and(<[_]>::is_empty);
    if BEFORE_TOOL.contains(&name) && !is_empty {
        return Some(InvalidSetting {
            at: at.to_owned(),
            found: kind(node),
            wanted: format!("a hook: it is outside `{HOOKS}`"),
        });
    }
    stray_below(at, node, depth.checked_sub(1)?)
}

fn stray_below(at: &str, node: &Node, depth: usize) -> Option<InvalidSetting> {
    if depth == 0 {
        return None;
    }
    match &node.kind {
        Value::Object(members) => members.iter().find_map(|member| {
            let at = format!("{at}.{}", member.name);
            stray_member(&at, &member.name, &member.value, depth)
        }),
        Value::List(elements) => {
            let mut elements = elements.iter();
            elements.find_map(|element| stray_below(at, element, depth - 1))
        }
        Value::Text(_) | Value::Number(_) | Value::Flag(_) | Value::Nothing => None,
    }
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
            (r#"{"fooBar": 1, "hooks": {"Stop": 3, "Nope": 3}}"#, &[]),
            (r#"{"hooks": [], "theme": 3, "allowedMcpServers": 3}"#, &[]),
            (r#"{"env": {"A": 1}, "permissions": {"allow": [1]}}"#, &[]),
            (r#"{"model": 1, "model": "opus"}"#, &[]),
            (
                r#"{"attribution": false, "enabledMcpjsonServers": "x", "cleanupPeriodDays": 1}"#,
                &[],
            ),
            (
                r#"{"attribution": [], "enabledMcpjsonServers": 1, "cleanupPeriodDays": 0}"#,
                &[
                    "`enabledMcpjsonServers` is a number, not a list or the name of a server",
                    "`cleanupPeriodDays` is a number, not a whole number from 1",
                    "`attribution` is a list, not true or false or an object",
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
                r#"{"permissions": {"allow": "x", "disableBypassPermissionsMode": true}}"#,
                &[
                    "`permissions.allow` is a text, not a list",
                    "`permissions.disableBypassPermissionsMode` is true or false, not \"disable\"",
                ],
            ),
            (
                r#"{"statusLine": {"command": 1}}"#,
                &[
                    "`statusLine.type` is missing, not \"command\"",
                    "`statusLine.command` is a number, not a text",
                ],
            ),
            (
                r#"{"sandbox": {"network": {"allowedDomains": ["a", 5]}}}"#,
                &["`sandbox.network.allowedDomains.1` is a number, not a text"],
            ),
        ]);
    }

    #[test]
    fn a_hook_before_a_tool_that_cannot_be_loaded_drops_the_file() {
        let fine = r#"{"type": "command", "command": "x", "timeout": 5, "more": 1}"#;
        for (hooks, drops) in [
            (format!(r#"{{"PreToolUse": [{{"matcher": "Bash", "hooks": [{fine}]}}]}}"#), false),
            (r#"{"PreToolUse": null, "Stop": [{"matcher": 5}]}"#.to_owned(), false),
            (r#"{"PreToolUse": 5}"#.to_owned(), true),
            (r#"{"PermissionRequest": [{"matcher": "Bash"}]}"#.to_owned(), true),
            (r#"{"PreToolUse": [{"matcher": 5, "hooks": []}]}"#.to_owned(), true),
            (r#"{"PreToolUse": [{"hooks": [{"type": "nope"}]}]}"#.to_owned(), true),
            (
                r#"{"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}]}"#.to_owned(),
                true,
            ),
            (r#"{"Stop": [{"PreToolUse": 5, "hooks": []}]}"#.to_owned(), true),
            (r#"{"Nope": {"PreToolUse": [{"hooks": []}]}}"#.to_owned(), true),
        ] {
            let settings = format!(r#"{{"hooks": {hooks}}}"#);
            let settings = Settings::parse(settings.as_bytes()).unwrap();
            let found = settings.invalid_settings(&FORMAT);
            assert_eq!(!found.is_empty(), drops, "{hooks}: {found:?}");
        }
    }

    #[test]
    fn a_hook_before_a_tool_outside_of_hooks_drops_the_file() {
        for (text, drops) in [
            (r#"{"PreToolUse": []}"#, false),
            (r#"{"PreToolUse": null}"#, false),
            (r#"{"PreToolUse": [{"hooks": []}]}"#, true),
            (r#"{"x": [{"y": {"PermissionRequest": 5}}]}"#, true),
            (r#"{"a": {"b": {"c": {"d": {"PreToolUse": 5}}}}}"#, true),
            (
                r#"{"a": {"b": {"c": {"d": {"e": {"PreToolUse": 5}}}}}}"#,
                false,
            ),
            (
                r#"{"env": {"PreToolUse": "x"}, "mcpServers": {"PreToolUse": {}}}"#,
                false,
            ),
        ] {
            let settings = Settings::parse(text.as_bytes()).unwrap();
            let found = settings.invalid_settings(&FORMAT);
            assert_eq!(!found.is_empty(), drops, "{text}: {found:?}");
        }
    }
}
