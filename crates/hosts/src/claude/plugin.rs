//! A Claude Code plugin with our hooks and the files that a pipeline gives to the host.

use serde_json::Value;

use super::session_host::FORMAT;
use crate::settings::{Json, document, hooks_file};

/// The description of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin<'a> {
    /// The host puts it before the names of the plugin's agents and commands, with a colon.
    pub name: &'a str,
    pub version: &'a str,
    pub about: &'a str,
    /// Markdown.
    pub readme: &'a str,
}

/// The path of the manifest in a plugin.
pub const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The list of installed plugins, in the folder of a person's own settings.
pub const INSTALLED: &str = "plugins/installed_plugins.json";

/// The folders in which the list says that this plugin lies. Each project may have its own version.
pub fn folders(list: &[u8], plugin: &str) -> Vec<String> {
    let list: Value = serde_json::from_slice(list).unwrap_or_default();
    let places = list["plugins"][plugin].as_array();
    let places = places.map(Vec::as_slice).unwrap_or_default().iter();
    places
        .filter_map(|place| Some(place["installPath"].as_str()?.to_owned()))
        .collect()
}

/// The files of a plugin that have its hooks: the usual one, the manifest itself, and those that the
/// manifest names.
pub fn hook_files(manifest: &[u8]) -> Vec<String> {
    let manifest: Value = serde_json::from_slice(manifest).unwrap_or_default();
    let named = match &manifest["hooks"] {
        Value::String(path) => vec![path.clone()],
        Value::Array(paths) => {
            let paths = paths.iter().filter_map(Value::as_str);
            paths.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    let usual = [HOOKS, MANIFEST].map(str::to_owned);
    usual.into_iter().chain(named).collect()
}

/// The path of the hooks in a plugin.
const HOOKS: &str = "hooks/hooks.json";

/// The first Claude Code that blocks when a hook fails.
const OLDEST_HOST: &str = ">=2.1.295";

/// The files of a plugin with their paths. `given` are files in `agents/`, `commands/` and `skills/`.
pub fn files(plugin: &Plugin<'_>, given: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let manifest = document(&Json::Object(vec![
        ("name", Json::text(plugin.name)),
        ("version", Json::text(plugin.version)),
        ("description", Json::text(plugin.about)),
        (
            "author",
            Json::Object(vec![("name", Json::text("gatewright"))]),
        ),
        (
            "engines",
            Json::Object(vec![("claude-code", Json::text(OLDEST_HOST))]),
        ),
    ]));
    // Other machines use the plugin, too, where our program has another path or is missing.
    let hooks = hooks_file("Gatewright's gates", &FORMAT.call_by_name());
    let own = [
        (MANIFEST, manifest),
        (HOOKS, hooks),
        ("README.md", plugin.readme.to_owned()),
    ];
    let own = own.map(|(path, text)| (path.to_owned(), text.into_bytes()));
    own.into_iter().chain(given.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hooks_of_an_installed_plugin_are_found() {
        let list =
            br#"{"version": 2, "plugins": {"x@y": [{"installPath": "/a"}, {"scope": "user"}]}}"#;
        assert_eq!(folders(list, "x@y"), ["/a"]);
        assert_eq!(folders(list, "x@z"), [""; 0]);
        assert_eq!(folders(b"{", "x@y"), [""; 0]);
        let usual = [HOOKS, MANIFEST];
        for (manifest, named) in [
            (r#"{"hooks": "./h.json"}"#, &["./h.json"][..]),
            (
                r#"{"hooks": ["./h.json", "./i.json"]}"#,
                &["./h.json", "./i.json"],
            ),
            (r#"{"hooks": {"Stop": []}}"#, &[]),
            ("", &[]),
        ] {
            let expected = [&usual[..], named].concat();
            assert_eq!(hook_files(manifest.as_bytes()), expected, "{manifest}");
        }
    }

    #[test]
    fn a_plugin_has_a_manifest_hooks_and_what_the_pipeline_gives() {
        let plugin = Plugin {
            name: "gatewright",
            version: "1.2.3",
            about: "Says \"no\".",
            readme: "# Gates\n",
        };
        let given = [("agents/a.md".to_owned(), b"x".to_vec())];
        let files = files(&plugin, &given);
        let paths: Vec<_> = files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            paths,
            [
                ".claude-plugin/plugin.json",
                "hooks/hooks.json",
                "README.md",
                "agents/a.md"
            ]
        );
        let manifest: Value = serde_json::from_slice(&files[0].1).unwrap();
        assert_eq!(manifest["description"], "Says \"no\".");
        let hooks: Value = serde_json::from_slice(&files[1].1).unwrap();
        let gate = &hooks["hooks"]["PreToolUse"][0]["hooks"][0];
        assert_eq!(gate["onFailure"], "block");
        let line = gate["command"].as_str().unwrap();
        assert!(line.ends_with("|| exit 0; exec gatewright hook claude PreToolUse"));
    }
}
