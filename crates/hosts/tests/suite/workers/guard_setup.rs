//! Our hooks in a worker: what is added to its start.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use expect_test::expect;
use hosts::Program;
use hosts::agent_process::{
    GuardError, GuardInputs, GuardSetup, PersonalSettings, SettingsText, Workplace,
};
use serde_json::json;

fn guard_setup(
    program: Program,
    own: Option<PersonalSettings<'_>>,
) -> Result<GuardSetup, GuardError> {
    program.guard_setup(&GuardInputs {
        program: "/opt/it's/gatewright",
        folder: Path::new("/state/run"),
        personal: own,
        workplace: Workplace::default(),
    })
}

fn on(
    program: Program,
    workplace: Workplace<'_>,
    own: Option<PersonalSettings<'_>>,
) -> Result<GuardSetup, GuardError> {
    program.guard_setup(&GuardInputs {
        program: "/opt/gatewright",
        folder: Path::new("/state/run"),
        personal: own,
        workplace,
    })
}

#[test]
fn codex_is_told_for_its_process_alone_that_a_folder_is_trusted_of_which_nobody_has_said_anything()
{
    let folders = ["/new \"one\"", "/known"].map(PathBuf::from);
    let workplace = Workplace {
        folders: &folders,
        settings: None,
    };
    let own = PersonalSettings {
        folder: Path::new("/home/.codex"),
        settings: Some("[projects.\"/known\"]\ntrust_level = \"untrusted\"\n"),
    };
    let words = on(Program::Codex, workplace, Some(own)).unwrap().arguments;
    let said = words.iter().filter(|word| word.starts_with("projects="));
    let said: Vec<&String> = said.collect();
    assert_eq!(
        said,
        [r#"projects={"/new \"one\""={trust_level="trusted"}}"#]
    );
    let workplace = Workplace {
        folders: &folders[1..],
        settings: None,
    };
    let words = on(Program::Codex, workplace, Some(own)).unwrap().arguments;
    assert!(!words.iter().any(|word| word.starts_with("projects=")));
}

#[test]
fn a_project_that_switches_the_hooks_of_gemini_off_is_named() {
    let file = Path::new("/project/.gemini/settings.json");
    for (settings, is_fine) in [
        (r#"{"hooksConfig": {"enabled": false}}"#, false),
        (r#"{"hooksConfig": {"enabled": false}} // why"#, false),
        (r#"{"hooksConfig": {"disabled": ["x"]}}"#, false),
        (
            r#"{"hooksConfig": {"enabled": true, "disabled": []}}"#,
            true,
        ),
        (r#"{"hooks": {}}"#, true),
        ("[]", true),
        ("{", true),
    ] {
        let workplace = Workplace {
            folders: &[],
            settings: Some(SettingsText {
                file,
                text: settings,
            }),
        };
        let guard_setup = on(Program::Gemini, workplace, None);
        assert_eq!(guard_setup.is_ok(), is_fine, "{settings}");
        let named = Err(GuardError::SwitchedOff(file.to_owned()));
        assert!(is_fine || guard_setup == named, "{settings}");
        // The settings on the command line of Claude Code win over those of a project.
        assert!(on(Program::Claude, workplace, None).is_ok());
    }
}

#[test]
fn claude_gets_its_hooks_as_settings_that_win() {
    let guard_setup = guard_setup(Program::Claude, None).unwrap();
    assert_eq!(guard_setup.files, []);
    let settings: serde_json::Value = serde_json::from_str(&guard_setup.arguments[1]).unwrap();
    assert_eq!(settings["disableAllHooks"], false);
    let hook = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    let expected = json!({
        "type": "command",
        "command": "/opt/it's/gatewright",
        "args": ["hook", "claude", "PreToolUse"],
        "timeout": 10,
        "onFailure": "block",
    });
    assert_eq!(*hook, expected);
    let events: BTreeSet<_> = settings["hooks"].as_object().unwrap().keys().collect();
    expect![[r#"{"ConfigChange", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PreToolUse", "SessionEnd", "SessionStart", "Stop"}"#]]
        .assert_eq(&format!("{events:?}"));
}

/// The hash was taken by the real program: `tests/host/kit` of the command shows that it is.
#[test]
fn codex_gets_its_hooks_and_the_trust_in_them() {
    let guard_setup = guard_setup(Program::Codex, None).unwrap();
    let lines = guard_setup.arguments.join("\n");
    expect![[r#"
        -c
        hooks.SessionStart=[{hooks=[{type="command",command="'/opt/it'\\''s/gatewright' hook codex SessionStart",timeout=10}]}]
        -c
        hooks.PreToolUse=[{hooks=[{type="command",command="'/opt/it'\\''s/gatewright' hook codex PreToolUse",timeout=10}]}]
        -c
        hooks.PostToolUse=[{hooks=[{type="command",command="'/opt/it'\\''s/gatewright' hook codex PostToolUse",timeout=10}]}]
        -c
        hooks.Stop=[{hooks=[{type="command",command="'/opt/it'\\''s/gatewright' hook codex Stop",timeout=10}]}]
        -c
        hooks.SessionEnd=[{hooks=[{type="command",command="'/opt/it'\\''s/gatewright' hook codex SessionEnd",timeout=3}]}]
        -c
        hooks.state={"/<session-flags>/config.toml:session_start:0:0"={trusted_hash="sha256:fae2e7dced93250d45a3107f2fba1309b2616c94806b69b243594b6f662152ac"},"/<session-flags>/config.toml:pre_tool_use:0:0"={trusted_hash="sha256:f52d5ea08be723d73483708dcc79580869cfc87b2e812fcbdd0371acda8b30c4"},"/<session-flags>/config.toml:post_tool_use:0:0"={trusted_hash="sha256:b28e90ef2f45872a39fd2263fa95f3409f0e930596f6a08c3225d0dd1c73a4f6"},"/<session-flags>/config.toml:stop:0:0"={trusted_hash="sha256:2e4c0c50f4a29c82e1506174c47f76289c6329a5529ff65fd96132bd7994ca9a"},"/<session-flags>/config.toml:session_end:0:0"={trusted_hash="sha256:6dc2826907de2799613da96d515c383fd9c625ded788e1aeae2f6e7d409447bb"}}
        --enable
        hooks
        --disable
        unified_exec_tty"#]].assert_eq(&lines);
}

#[test]
fn gemini_gets_a_home_with_the_persons_settings_and_login() {
    let own = PersonalSettings {
        folder: Path::new("/home/dev/.gemini"),
        settings: Some(
            "{ // mine\n \"model\": {\"name\": \"m\"},\n \"hooksConfig\": {\"enabled\": false, \"notifications\": false},\n \"hooks\": {\"BeforeTool\": [{\"hooks\": []}]}}",
        ),
    };
    let guard_setup = guard_setup(Program::Gemini, Some(own)).unwrap();
    let home = "/state/run/gemini".to_owned();
    assert_eq!(
        guard_setup.variables,
        [("GEMINI_CLI_HOME".to_owned(), home)]
    );
    let (path, text) = &guard_setup.files[0];
    assert_eq!(path, Path::new("/state/run/gemini/.gemini/settings.json"));
    let settings: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(settings["model"]["name"], "m");
    let switches = json!({ "enabled": true, "notifications": false });
    assert_eq!(settings["hooksConfig"], switches);
    let groups = settings["hooks"]["BeforeTool"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    let command = r"'/opt/it'\''s/gatewright' hook gemini BeforeTool";
    let ours = json!({ "type": "command", "command": command, "timeout": 10_000 });
    assert_eq!(groups[1], json!({ "hooks": [ours] }));
    let login = (
        "/state/run/gemini/.gemini/oauth_creds.json".into(),
        "/home/dev/.gemini/oauth_creds.json".into(),
    );
    assert!(
        guard_setup.links.contains(&login),
        "{:?}",
        guard_setup.links
    );
}

#[test]
fn settings_that_gemini_could_not_read_either_are_said_to_be_so() {
    for (text, expected) in [
        (
            "{\n  ]",
            "/own/settings.json is not JSON (line 2, column 3): fix or remove the file",
        ),
        (
            "[]",
            "/own/settings.json is JSON but not an object: fix or remove the file",
        ),
    ] {
        let own = PersonalSettings {
            folder: Path::new("/own"),
            settings: Some(text),
        };
        let refused = guard_setup(Program::Gemini, Some(own)).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }
    for text in ["", " \n", "// nothing"] {
        let own = PersonalSettings {
            folder: Path::new("/own"),
            settings: Some(text),
        };
        assert!(guard_setup(Program::Gemini, Some(own)).is_ok(), "{text:?}");
    }
}
