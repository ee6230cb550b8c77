//! Adds rules to what a settings file allows without a question, and takes them out again.

use super::SettingsError;
use super::edit::JsonText;
use super::layout::Json;
use super::tree::Node;
use super::wire;

/// The rules that the file allows.
pub(super) fn allowed(root: &Node) -> Vec<&str> {
    let list = root
        .get(wire::PERMISSIONS)
        .and_then(|it| it.get(wire::ALLOW));
    let rules = list.and_then(Node::elements).unwrap_or_default();
    rules.iter().filter_map(Node::text).collect()
}

/// The file with these rules, each once.
pub(super) fn with_allowed(text: JsonText, rules: &[String]) -> Result<JsonText, SettingsError> {
    let known: Vec<String> = allowed(&text.root).into_iter().map(str::to_owned).collect();
    let mut new = rules.iter().filter(|rule| !known.contains(rule));
    new.try_fold(text, |text, rule| with_rule(text, rule))
}

fn with_rule(text: JsonText, rule: &str) -> Result<JsonText, SettingsError> {
    let rule = Json::text(rule);
    let Some(permissions) = text.root.get(wire::PERMISSIONS) else {
        let permissions = Json::Object(vec![(wire::ALLOW, Json::List(vec![rule]))]);
        return Ok(text.with_member(&text.root, wire::PERMISSIONS, &permissions));
    };
    if permissions.members().is_none() {
        return Err(SettingsError::wrong(
            wire::PERMISSIONS,
            permissions,
            "an object",
        ));
    }
    match permissions.get(wire::ALLOW) {
        None => Ok(text.with_member(permissions, wire::ALLOW, &Json::List(vec![rule]))),
        Some(list) if list.elements().is_some() => Ok(text.with_element(list, &rule)),
        Some(other) => Err(SettingsError::wrong("permissions.allow", other, "a list")),
    }
}

/// The file without these rules, and without the containers that become empty with them.
pub(super) fn without_allowed(mut text: JsonText, rules: &[String]) -> JsonText {
    while let Some(less) = without_one(&text, rules) {
        text = less;
    }
    text
}

fn without_one(text: &JsonText, rules: &[String]) -> Option<JsonText> {
    let root = &text.root;
    let (permissions_at, permissions) = root.member(wire::PERMISSIONS)?;
    let (allow_at, allow) = permissions.value.member(wire::ALLOW)?;
    let all = allow.value.elements()?;
    let is_ours = |node: &Node| {
        node.text()
            .is_some_and(|it| rules.iter().any(|rule| rule == it))
    };
    let at = all.iter().position(is_ours)?;
    Some(match (all.len(), permissions.value.items().len()) {
        (1, 1) => text.without_item(root, permissions_at),
        (1, _) => text.without_item(&permissions.value, allow_at),
        (_, _) => text.without_item(&allow.value, at),
    })
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    fn rules() -> Vec<String> {
        ["Bash(gatewright next:*)", "Edit(out/plan.json)"]
            .map(str::to_owned)
            .into()
    }

    /// Whatever the file looks like, it comes back byte for byte.
    #[test]
    fn rules_come_and_go() {
        for text in [
            "{}\n",
            "{\n  \"model\": \"opus\"\n}\n",
            "{\"permissions\": {\"allow\": [\"Bash(ls)\"], \"deny\": []}}",
            "{\n\t\"permissions\": {\n\t\t\"deny\": [\n\t\t\t\"Read(.env)\"\n\t\t]\n\t}\n}\n",
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\",\n      \"Read\"\n    ]\n  }\n}\n",
        ] {
            let settings = Settings::parse(text.as_bytes()).unwrap();
            let with = settings.with_allowed(&rules()).unwrap();
            let with = Settings::parse(with.as_bytes()).unwrap();
            for rule in rules() {
                assert!(with.allowed().contains(&rule.as_str()), "{text}");
            }
            assert_eq!(
                with.with_allowed(&rules()).unwrap(),
                with.text.text,
                "{text}"
            );
            assert_eq!(with.without_allowed(&rules()).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_list_of_rules_is_left_alone() {
        for text in [
            "{\"permissions\": []}",
            "{\"permissions\": {\"allow\": \"all\"}}",
        ] {
            let settings = Settings::parse(text.as_bytes()).unwrap();
            assert!(settings.with_allowed(&rules()).is_err(), "{text}");
            assert_eq!(settings.without_allowed(&rules()).unwrap(), text);
        }
    }
}
