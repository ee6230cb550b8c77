//! Which changes of a settings file have nothing to do with the guard.

use hosts::DEFAULT_SESSION_HOST;
use hosts::settings::Settings;

use super::host::FORMAT;

/// Would this change touch only matters of taste? Hooks, permissions, variables, plugins, and settings by
/// which the host runs a command (the status line is one) stay as they are, and the file stays valid.
pub fn is_harmless(before: &str, after: &str) -> bool {
    let (Ok(before), Ok(after)) = (
        Settings::parse(before.as_bytes()),
        Settings::parse(after.as_bytes()),
    ) else {
        return false;
    };
    let changed = before.differing_keys(&after);
    let mut changed = changed.iter().map(String::as_str);
    after.invalid_settings(FORMAT).is_empty()
        && changed.all(|key| DEFAULT_SESSION_HOST.preferences.contains(&key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matters_of_taste_may_change_and_nothing_else() {
        let before =
            r#"{"model": "opus", "hooks": {"Stop": []}, "permissions": {"deny": ["Bash"]}}"#;
        for (from, to, expected) in [
            ("\"opus\"", "\"sonnet\"", true),
            ("\"model\": \"opus\", ", "", true),
            (
                "{\"model\"",
                "{ \"outputStyle\": \"Explanatory\", \"model\"",
                true,
            ),
            ("\"opus\"", "4", false),
            ("\"opus\"", "\"opus\",,", false),
            ("\"Stop\": []", "", false),
            ("\"deny\": [\"Bash\"]", "", false),
            ("{\"model\"", "{\"env\": {}, \"model\"", false),
            (
                "{\"model\"",
                "{\"disableAllHooks\": false, \"model\"",
                false,
            ),
            ("{\"model\"", "{\"enabledPlugins\": {}, \"model\"", false),
            ("{\"model\"", "{\"apiKeyHelper\": \"x\", \"model\"", false),
            ("{\"model\"", "{\"cleanupPeriodDays\": 1, \"model\"", false),
            ("{\"model\"", "{\"somethingNew\": 1, \"model\"", false),
            ("{\"model\"", "{\"hooks\": {}, \"model\"", true),
            ("[\"Bash\"]}", "[\"Bash\"]}, \"hooks\": {}", false),
        ] {
            let after = before.replacen(from, to, 1);
            assert_ne!(after, before, "{from}");
            assert_eq!(is_harmless(before, &after), expected, "{after}");
        }
        assert!(is_harmless("", r#"{"model": "opus"}"#));
        assert!(!is_harmless(before, ""));
        assert!(!is_harmless("{", r#"{"model": "opus"}"#));
    }
}
