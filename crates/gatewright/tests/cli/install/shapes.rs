//! Settings and ignore files of every shape: hooks go in, all else stays, and every byte comes back.

use testkit::Project;

use super::fixture::{LOCAL, PROGRAM, init, json, project, tree, uninit};

fn shapes() -> Vec<Option<String>> {
    let older = format!(
        r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "/old/gatewright", "args": ["hook", "claude", "Stop"]}}]}}]}}, "statusLine": {{"type": "command", "command": "{PROGRAM} statusline"}}}}"#
    );
    let deep = "{\"a\": {\"b\": {\"c\": [{\"d\": [[{}]]}]}}, \"z\": null}\n";
    let other = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [{ \"type\": \"command\", \"command\": \"./check.sh\" }]\n      }\n    ],\n    \"SessionStart\": []\n  }\n}\n";
    let huge = format!(
        "{{\"permissions\": {{\"allow\": [{}]}}}}",
        vec!["\"Bash(npm run test:*)\""; 30_000].join(", ")
    );
    let texts = [
        "",
        "\n",
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        "{\n\n\n}",
        "{\"model\":\"opus\"}",
        "{\"model\": \"opus\", \"hooks\": {}}",
        "{\n  \"model\": \"opus\"\n}",
        "{\n  \"model\": \"opus\"\n}\n\n",
        "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t}\n}\n",
        "{\r\n  \"model\": \"opus\"\r\n}\r\n",
        "{\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}",
        "\u{feff}{\n  \"model\": \"opus\"\n}\n",
        "  {\"model\" : \"\\u00fc ü 🚪 \\\"quoted\\\"\"}  ",
        "{\n    \"statusLine\": {\n        \"type\": \"command\",\n        \"command\": \"mine\"\n    }\n}\n",
        "{\"env\": {\"A\": \"b\"}, \"unknown\": [1, 2.5e-3, true, null, \"]}\"]}\n",
        "{\"hooks\": {\"Nope\": 3, \"Stop\": [\"x\", {}, {\"hooks\": 5}]}}\n",
        "{\"hooks\": {\"Stop\": []}, \"hooks\": {\"Stop\": [{\"hooks\": []}]}}\n",
        deep,
        other,
        &older,
        &huge,
    ];
    let mut shapes: Vec<Option<String>> =
        texts.iter().map(|text| Some((*text).to_owned())).collect();
    shapes.push(None);
    shapes
}

#[test]
fn every_shape_comes_back_byte_for_byte() {
    for shape in shapes() {
        let shown: String = shape
            .iter()
            .flat_map(|text| text.chars())
            .take(120)
            .collect();
        let project = project();
        if let Some(text) = &shape {
            project.write(LOCAL, text);
        }
        let before = tree(&project.path());
        init(&project, &[]).succeeds();
        assert_hooks(&project, &shown);
        let installed = tree(&project.path());
        let again = init(&project, &[]).succeeds();
        assert_eq!(again.stdout.lines().count(), 1, "{shown}\n{again}");
        assert_eq!(tree(&project.path()), installed, "{shown}");
        uninit(&project).succeeds();
        assert_eq!(tree(&project.path()), before, "{shown}");
    }
}

fn assert_hooks(project: &Project, shown: &str) {
    let text = project.read(LOCAL);
    let settings: serde_json::Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    let groups = settings["hooks"]["PreToolUse"].as_array().unwrap();
    let ours = groups
        .iter()
        .find(|group| group["hooks"][0]["command"] == PROGRAM);
    let hook = &ours.unwrap_or_else(|| panic!("{shown}\n{text}"))["hooks"][0];
    let root = project.path().canonicalize().unwrap();
    let arguments = serde_json::json!([
        "hook",
        "claude",
        "PreToolUse",
        "--state",
        project.state(),
        "--project",
        root,
        "--always",
        ".gatewright/context-first.toml",
    ]);
    assert_eq!(hook["args"], arguments);
    assert_eq!(hook["onFailure"], "block");
    assert_eq!(hook["timeout"], 10);
}

#[test]
fn other_hooks_and_keys_stay() {
    let project = project();
    let mine = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\" }] }]\n  },\n  \"odd\": 1\n}\n";
    project.write(LOCAL, mine);
    init(&project, &[]).succeeds();
    let settings = json(&project, LOCAL);
    assert_eq!(settings["hooks"]["Stop"][0]["hooks"][0]["command"], "mine");
    assert_eq!(settings["hooks"]["Stop"][1]["hooks"][0]["command"], PROGRAM);
    assert_eq!(
        (&settings["model"], &settings["odd"]),
        (&"opus".into(), &1.into())
    );
    let text = project.read(LOCAL);
    assert!(text.starts_with("{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\" }] }, {"));
}

#[test]
fn an_ignore_file_of_any_shape_comes_back() {
    for text in [
        None,
        Some(&b""[..]),
        Some(b"target\n"),
        Some(b"target"),
        Some(b"target\r\n"),
        Some(b"\xff\xfe odd\n"),
        Some(b"/.claude/settings.local.json\n"),
        Some(b".claude/settings.local.json"),
    ] {
        let project = project();
        if let Some(text) = text {
            project.write(".gitignore", text);
        }
        let before = tree(&project.path());
        init(&project, &[]).succeeds();
        let ignored = project.git(["status", "--porcelain", "--untracked-files=all"]);
        assert!(
            !ignored.stdout.contains("settings.local.json"),
            "{text:?}\n{ignored}"
        );
        // A line that is there already is not written again.
        let lines = std::fs::read(project.path().join(".gitignore")).unwrap();
        let lines = String::from_utf8_lossy(&lines).into_owned();
        let named = lines.matches("settings.local.json").count();
        assert_eq!(named, 1, "{text:?}\n{lines}");
        uninit(&project).succeeds();
        assert_eq!(tree(&project.path()), before, "{text:?}");
    }
    let outside = Project::new(PROGRAM);
    init(&outside, &[]).succeeds();
    assert!(!outside.path().join(".gitignore").exists());
}
