//! Settings that change while a session is guarded: what harms the guard is vetoed and red, and
//! everything else passes.

use std::fs;

use serde_json::{Value, json};
use testkit::Ran;

use super::seat::Seat;

const LOCAL: &str = ".claude/settings.local.json";
const SHARED: &str = ".claude/settings.json";

/// What is merged into the settings that `init` wrote, and what it is.
type Row = (&'static str, &'static str);

/// A value of a wrong type, for which the host ignores the file with the hooks.
const WRONG_TYPES: [Row; 21] = [
    ("allow is a text", r#"{"permissions": {"allow": "Bash"}}"#),
    ("deny is an object", r#"{"permissions": {"deny": {}}}"#),
    (
        "no such mode",
        r#"{"permissions": {"defaultMode": "yolo"}}"#,
    ),
    ("permissions is a list", r#"{"permissions": []}"#),
    ("env is a list", r#"{"env": []}"#),
    ("env is a text", r#"{"env": "A=b"}"#),
    ("model is a number", r#"{"model": 4}"#),
    ("cleanup is a text", r#"{"cleanupPeriodDays": "30"}"#),
    ("cleanup at once", r#"{"cleanupPeriodDays": 0}"#),
    ("a flag is a text", r#"{"includeCoAuthoredBy": "no"}"#),
    ("the output style is a flag", r#"{"outputStyle": true}"#),
    ("plugins are a list", r#"{"enabledPlugins": ["x@y"]}"#),
    ("the switch is a text", r#"{"disableAllHooks": "false"}"#),
    (
        "a flag for a word",
        r#"{"permissions": {"disableBypassPermissionsMode": true}}"#,
    ),
    (
        "a number among texts",
        r#"{"sandbox": {"network": {"allowedDomains": [5]}}}"#,
    ),
    ("a network is a number", r#"{"sandbox": {"network": 5}}"#),
    (
        "no such marketplace",
        r#"{"strictKnownMarketplaces": [{}]}"#,
    ),
    (
        "a matcher is a number",
        r#"{"hooks": {"PreToolUse": [{"matcher": 5, "hooks": []}]}}"#,
    ),
    (
        "a hook without a command",
        r#"{"hooks": {"PermissionRequest": [{"hooks": [{"type": "command"}]}]}}"#,
    ),
    (
        "a hook outside of hooks",
        r#"{"PreToolUse": [{"hooks": []}]}"#,
    ),
    (
        "a hook in a hook",
        r#"{"hooks": {"Stop": [{"PreToolUse": 5, "hooks": []}]}}"#,
    ),
];

/// Variables that mislead the hooks.
const VARIABLES: [Row; 8] = [
    (
        "another state folder",
        r#"{"env": {"XDG_STATE_HOME": "/tmp/x"}}"#,
    ),
    ("another home", r#"{"env": {"HOME": "/tmp/x"}}"#),
    ("in a list", r#"{"env": {"HOME": ["/tmp/x"]}}"#),
    ("another library", r#"{"env": {"LD_PRELOAD": "/tmp/x.so"}}"#),
    (
        "like a plugin",
        r#"{"env": {"CLAUDE_PLUGIN_ROOT": "/tmp/x"}}"#,
    ),
    ("another process", r#"{"env": {"CLAUDE_PID": "1"}}"#),
    (
        "another project",
        r#"{"env": {"CLAUDE_PROJECT_DIR": "/tmp"}}"#,
    ),
    ("like a worker", r#"{"env": {"GATEWRIGHT_CALL": "c-1"}}"#),
];

/// Hooks of others that may answer a question in the place of a person.
const ANSWERING: [Row; 3] = [
    (
        "before the question",
        r#"{"hooks": {"PreToolUse": [{"matcher": "AskUserQuestion", "hooks": [{"type": "command", "command": "./yes.sh"}]}]}}"#,
    ),
    (
        "among others",
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash|AskUserQuestion", "hooks": [{"type": "http", "url": "http://localhost"}]}]}}"#,
    ),
    (
        "at the permission",
        r#"{"hooks": {"PermissionRequest": [{"matcher": "AskUserQuestion", "hooks": [{"type": "command", "command": "./yes.sh"}]}]}}"#,
    ),
];

/// What people and their tools change on an ordinary day.
const ORDINARY: [Row; 9] = [
    ("nothing", "{}"),
    (
        "a model",
        r#"{"model": "opus", "outputStyle": "Explanatory"}"#,
    ),
    (
        "permissions",
        r#"{"permissions": {"allow": ["Bash(ls:*)"], "defaultMode": "acceptEdits"}}"#,
    ),
    (
        "variables",
        r#"{"env": {"NODE_ENV": "test", "PATH": "/opt/bin", "BASH_ENV": "/x"}}"#,
    ),
    ("a number in a variable", r#"{"env": {"RETRIES": 3}}"#),
    ("an unknown key", r#"{"somethingNew": [1, 2]}"#),
    ("a plugin", r#"{"enabledPlugins": {"x@y": true}}"#),
    (
        "a logger",
        r#"{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "./log.sh"}]}], "Notification": [{"hooks": [{"type": "command", "command": "./bell.sh"}]}]}}"#,
    ),
    (
        "a formatter",
        r#"{"hooks": {"PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "./fmt.sh"}]}]}}"#,
    ),
];

/// Merges objects and appends to lists; everything else is replaced.
fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(more)) => into.extend(more),
        (into, more) => *into = more,
    }
}

/// Changes a settings file, and tells the session that it changed.
fn changed(seat: &Seat, file: &str, more: &str) -> Ran {
    let path = seat.project.path().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let mut settings: Value = serde_json::from_str(&text).expect("JSON");
    merge(&mut settings, serde_json::from_str(more).expect("JSON"));
    seat.project.write(file, settings.to_string());
    told(seat, file)
}

fn told(seat: &Seat, file: &str) -> Ran {
    let path = seat.project.path().join(file);
    let source = if file == LOCAL { "local" } else { "project" };
    let payload = json!({"source": format!("{source}_settings"), "file_path": path});
    seat.hook("ConfigChange", &payload)
}

fn is_red(seat: &Seat) -> bool {
    worst(&seat.project.run(["doctor", "--json"]).stdout) == "red"
}

/// The worst level among what `doctor` says about settings and hooks.
fn worst(said: &str) -> &'static str {
    let facts: Value = serde_json::from_str(said).expect("JSON");
    let findings = facts["findings"].as_array().expect("a list");
    let of_files = |finding: &&Value| {
        ["settings", "hooks"].contains(&finding["topic"].as_str().expect("a text"))
    };
    let levels: Vec<&Value> = findings
        .iter()
        .filter(of_files)
        .map(|it| &it["level"])
        .collect();
    let mut words = ["red", "warn"].into_iter();
    words
        .find(|word| levels.iter().any(|level| *level == word))
        .unwrap_or("ok")
}

#[test]
fn what_harms_the_guard_is_vetoed_and_red() {
    let seat = Seat::enrolled();
    let (local, shared) = (seat.project.read(LOCAL), seat.project.path().join(SHARED));
    let rows = WRONG_TYPES.iter().chain(&VARIABLES).chain(&ANSWERING);
    for (what, more) in rows {
        for file in [LOCAL, SHARED] {
            let ran = changed(&seat, file, more);
            // A wrong type in a file without our hooks costs only that file.
            let harms = file == LOCAL || !WRONG_TYPES.iter().any(|(it, _)| it == what);
            let expected = if harms { Some(2) } else { Some(0) };
            assert_eq!(ran.code, expected, "{what} in {file}: {ran}");
            assert_eq!(
                ran.stderr.contains("GW-R25"),
                harms,
                "{what} in {file}: {ran}"
            );
            let said = seat.project.run(["doctor", "--json"]).stdout;
            let word = if harms { "red" } else { "warn" };
            assert_eq!(worst(&said), word, "{what} in {file}: {said}");
            seat.project.write(LOCAL, &local);
            let _ = fs::remove_file(&shared);
        }
    }
    assert!(!is_red(&seat));
}

/// A plugin brings the hooks, and the file that enables it has a wrong type.
#[test]
fn a_wrong_type_beside_our_plugin_is_vetoed_and_red() {
    let seat = Seat::enrolled();
    let plugin = r#""enabledPlugins": {"gatewright@x": true}"#;
    for (more, vetoed) in [("", false), (r#", "tui": 5"#, true)] {
        seat.project.write(SHARED, format!("{{{plugin}{more}}}"));
        let ran = told(&seat, SHARED);
        assert_eq!(ran.code == Some(2), vetoed, "{more}: {ran}");
        assert_eq!(is_red(&seat), vetoed, "{more}");
    }
}

/// Variables with which the host starts sessions without hooks. It obeys them in a person's own settings.
#[test]
fn a_switch_in_the_settings_of_the_person_is_vetoed_and_red() {
    let seat = Seat::enrolled();
    let user = seat.project.home().join(".claude/settings.json");
    for name in ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"] {
        for (value, is_on) in [("\"1\"", true), ("true", true), ("\"0\"", false)] {
            let text = format!(r#"{{"env": {{"{name}": {value}}}}}"#);
            fs::create_dir_all(user.parent().expect("a folder")).expect("made");
            fs::write(&user, &text).expect("written");
            let payload = json!({"source": "user_settings", "file_path": user});
            let ran = seat.hook("ConfigChange", &payload);
            assert_eq!(ran.code == Some(2), is_on, "{text}: {ran}");
            assert_eq!(is_red(&seat), is_on, "{text}");
            fs::remove_file(&user).expect("removed");
            seat.project.write(SHARED, &text);
            assert_eq!(told(&seat, SHARED).code, Some(0), "{text}");
            assert!(!is_red(&seat), "{text}");
            seat.project.write(SHARED, "{}");
        }
    }
}

/// A hook of ours that the host ignores alone is as good as none.
#[test]
fn a_hook_of_ours_that_the_host_ignores_is_vetoed_and_red() {
    let seat = Seat::enrolled();
    let local = seat.project.read(LOCAL);
    let settings: Value = serde_json::from_str(&local).expect("JSON");
    for (name, value) in [
        ("timeout", json!("10")),
        ("timeout", json!(0)),
        ("onFailure", json!("maybe")),
        ("statusMessage", json!(5)),
        ("once", json!("no")),
        ("shell", json!("powershell")),
    ] {
        let mut settings = settings.clone();
        settings["hooks"]["ConfigChange"][0]["hooks"][0][name] = value.clone();
        seat.project.write(LOCAL, settings.to_string());
        assert_eq!(told(&seat, LOCAL).code, Some(2), "{name}: {value}");
        assert!(is_red(&seat), "{name}: {value}");
    }
    let mut settings = settings.clone();
    settings["hooks"]["ConfigChange"][0]["hooks"][0]["statusMessage"] = json!("a look");
    seat.project.write(LOCAL, settings.to_string());
    assert_eq!(told(&seat, LOCAL).code, Some(0));
    assert!(!is_red(&seat));
}

#[test]
fn what_people_change_passes_and_is_not_red() {
    let seat = Seat::enrolled();
    let local = seat.project.read(LOCAL);
    for (what, more) in ORDINARY {
        for file in [LOCAL, SHARED] {
            let ran = changed(&seat, file, more);
            assert_eq!(ran.code, Some(0), "{what} in {file}: {ran}");
            assert!(ran.stdout.is_empty(), "{what} in {file}: {ran}");
            assert!(!is_red(&seat), "{what} in {file}");
            seat.project.write(LOCAL, &local);
            let _ = fs::remove_file(seat.project.path().join(SHARED));
        }
    }
    let veto = |entry: &Value| entry["rule"] == "GW-R25";
    assert!(!seat.journal().iter().any(veto));
}

#[test]
fn a_fault_that_was_there_before_holds_nobody_up() {
    let seat = Seat::enrolled();
    let (_, preload) = VARIABLES[3];
    seat.project.write(SHARED, preload);
    let ran = changed(&seat, LOCAL, r#"{"model": "opus"}"#);
    assert_eq!(ran.code, Some(0), "{ran}");
    // The file with our hooks is as it was, and broken.
    seat.project.write(SHARED, "{}");
    changed(&seat, LOCAL, r#"{"env": 3}"#);
    let ran = told(&seat, SHARED);
    assert_eq!(ran.code, Some(2), "{ran}");
}

#[test]
fn a_variable_of_a_plugin_does_not_hide_that_the_hooks_are_gone() {
    let seat = Seat::enrolled();
    seat.project
        .write(SHARED, r#"{"env": {"CLAUDE_PLUGIN_ROOT": "/tmp/x"}}"#);
    seat.project.write(LOCAL, r#"{"hooks": {}}"#);
    let mut command = seat.command("ConfigChange");
    command.env("CLAUDE_PLUGIN_ROOT", "/tmp/x");
    let payload = json!({
        "hook_event_name": "ConfigChange", "session_id": super::seat::SESSION,
        "cwd": seat.project.path(), "file_path": seat.project.path().join(LOCAL),
    });
    let ran = super::seat::fed(command, payload.to_string().as_bytes());
    assert_eq!(ran.code, Some(2), "{ran}");
}

fn tool(seat: &Seat, name: &str, input: Value) -> String {
    let payload = json!({
        "hook_event_name": "PreToolUse", "tool_name": name, "tool_use_id": "t1", "tool_input": input,
    });
    seat.hook("PreToolUse", &payload).succeeds().stdout
}

/// What an agent may change of the settings with its tools, and what it may not.
#[test]
fn an_agent_may_change_matters_of_taste_and_nothing_else() {
    let seat = Seat::enrolled();
    seat.project.write(SHARED, "{\"model\": \"opus\"}\n");
    let local = seat.project.read(LOCAL);
    let user = seat.project.home().join(".claude/settings.json");
    let with = |more: &str| local.replacen('{', &format!("{{{more},"), 1);
    let write = |path: &str, text: &str| ("Write", json!({"file_path": path, "content": text}));
    let edit = |path: &str, old: &str, new: &str| {
        let input = json!({"file_path": path, "old_string": old, "new_string": new});
        ("Edit", input)
    };
    let rows = [
        (write(SHARED, r#"{"model": "sonnet"}"#), true),
        (write(SHARED, r#"{"outputStyle": "Explanatory"}"#), true),
        (
            write(user.to_str().expect("a text"), r#"{"theme": "dark"}"#),
            true,
        ),
        (edit(SHARED, "opus", "sonnet"), true),
        (write(LOCAL, &with(r#""model": "opus""#)), true),
        (edit(SHARED, "\"opus\"", "4"), false),
        (edit(SHARED, "not there", "x"), false),
        (edit(LOCAL, "PreToolUse", "PreToolUsed"), false),
        (write(LOCAL, "{}"), false),
        (
            write(LOCAL, &with(r#""permissions": {"allow": ["Bash"]}"#)),
            false,
        ),
        (write(LOCAL, &with(r#""env": {"A": "b"}"#)), false),
        (write(LOCAL, &with(r#""disableAllHooks": true"#)), false),
        (
            write(
                SHARED,
                r#"{"statusLine": {"type": "command", "command": "x"}}"#,
            ),
            false,
        ),
        (write(SHARED, r#"{"enabledPlugins": {"x@y": true}}"#), false),
        (write(SHARED, "{"), false),
        (
            write(".claude/scheduled_tasks.json", r#"{"model": "x"}"#),
            false,
        ),
        (
            write(".claude/scheduled_tasks.json", r#"{"tasks": []}"#),
            false,
        ),
        (write(".gatewright/open.json", r#"{"model": "x"}"#), false),
        (
            (
                "Bash",
                json!({"command": format!("echo '{{}}' > {SHARED}")}),
            ),
            false,
        ),
    ];
    for ((name, input), passes) in rows {
        let said = tool(&seat, name, input.clone());
        let refused = said.contains("GW-R23");
        assert_eq!(refused, !passes, "{name} {input}: {said}");
        assert_eq!(said.is_empty(), passes, "{name} {input}: {said}");
    }
}

/// A question that the run asks, answered in the conversation.
/// Installs a plugin with these hooks, as the host does.
fn plugin(seat: &Seat, hooks: &str, enabled: bool) {
    let home = seat.project.home();
    let folder = home.join(".claude/plugins");
    let cache = folder.join("cache/yes");
    fs::create_dir_all(cache.join("hooks")).expect("made");
    fs::write(cache.join("hooks/hooks.json"), hooks).expect("written");
    let list = json!({"version": 2, "plugins": {"yes@mk": [{"installPath": cache}]}});
    fs::write(folder.join("installed_plugins.json"), list.to_string()).expect("written");
    let settings = json!({"enabledPlugins": {"yes@mk": enabled}});
    seat.project.write(SHARED, settings.to_string());
}

#[test]
fn a_plugin_that_may_answer_is_red() {
    let (_, logger) = ORDINARY[7];
    for (hooks, enabled, expected) in [
        (ANSWERING[0].1, true, true),
        (ANSWERING[0].1, false, false),
        (logger, true, false),
        ("{", true, false),
    ] {
        let seat = Seat::enrolled();
        plugin(&seat, hooks, enabled);
        assert_eq!(is_red(&seat), expected, "{hooks} {enabled}");
    }
}

/// Every setting whose type we know, with a value of its type.
const TYPED: [(&str, &str); 48] = [
    ("disableAllHooks", "false"),
    ("alwaysThinkingEnabled", "true"),
    ("includeCoAuthoredBy", "true"),
    ("includeGitInstructions", "true"),
    ("autoMemoryEnabled", "true"),
    ("fastMode", "true"),
    ("prefersReducedMotion", "true"),
    ("respectGitignore", "true"),
    ("showThinkingSummaries", "true"),
    ("spinnerTipsEnabled", "true"),
    ("syntaxHighlightingDisabled", "true"),
    ("terminalTitleFromRename", "true"),
    ("verbose", "true"),
    ("allowManagedHooksOnly", "false"),
    ("enableAllProjectMcpServers", "true"),
    ("skipWebFetchPreflight", "true"),
    ("attribution", "{}"),
    ("env", "{}"),
    ("autoMode", "{}"),
    ("enabledPlugins", "{}"),
    ("fileSuggestion", r#"{"type": "command", "command": "x"}"#),
    ("modelOverrides", "{}"),
    ("permissions", "{}"),
    ("sandbox", "{}"),
    ("skillOverrides", "{}"),
    ("spinnerVerbs", r#"{"mode": "append", "verbs": []}"#),
    ("worktree", "{}"),
    ("$schema", "\"x\""),
    ("model", "\"x\""),
    ("agent", "\"x\""),
    ("apiKeyHelper", "\"x\""),
    ("autoMemoryDirectory", "\"x\""),
    ("autoUpdatesChannel", "\"rc\""),
    ("awsAuthRefresh", "\"x\""),
    ("awsCredentialExport", "\"x\""),
    ("defaultShell", "\"bash\""),
    ("gcpAuthRefresh", "\"x\""),
    ("language", "\"x\""),
    ("minimumVersion", "\"x\""),
    ("otelHeadersHelper", "\"x\""),
    ("outputStyle", "\"x\""),
    ("plansDirectory", "\"x\""),
    ("cleanupPeriodDays", "30"),
    ("allowedHttpHookUrls", "[]"),
    ("availableModels", "[]"),
    ("claudeMdExcludes", "[]"),
    ("companyAnnouncements", "[]"),
    ("httpHookAllowedEnvVars", "[]"),
];

/// Every such setting with a number in its place is vetoed, and with a value of its type it passes. The number
/// of the only one that is a number is too small.
#[test]
fn every_setting_of_a_known_type_is_judged() {
    let seat = Seat::enrolled();
    let local = seat.project.read(LOCAL);
    for (name, right) in TYPED {
        for (value, vetoed) in [(right, false), ("-7", true)] {
            let more = format!("{{\"{name}\": {value}}}");
            let ran = changed(&seat, LOCAL, &more);
            let expected = if vetoed { Some(2) } else { Some(0) };
            assert_eq!(ran.code, expected, "{more}: {ran}");
            seat.project.write(LOCAL, &local);
        }
    }
}

/// Hooks of others: at each event, for each matcher, of each kind. Only what may answer a question is vetoed.
#[test]
fn every_hook_of_another_program_is_judged() {
    let seat = Seat::enrolled();
    let local = seat.project.read(LOCAL);
    let kinds = [
        r#"{"type": "command", "command": "./x.sh"}"#,
        r#"{"type": "http", "url": "http://localhost"}"#,
        r#"{"type": "prompt", "prompt": "x"}"#,
    ];
    let events = [
        ("PreToolUse", true),
        ("PermissionRequest", true),
        ("PostToolUse", false),
        ("Stop", false),
        ("SessionStart", false),
    ];
    let matchers = [
        ("AskUserQuestion", true),
        ("Edit|AskUserQuestion|Write", true),
        ("Ask.*", true),
        ("Bash", false),
        ("Edit|Write", false),
        ("mcp__.*", false),
    ];
    for kind in kinds {
        for (event, comes_before) in events {
            for (matcher, names_it) in matchers {
                let more = format!(
                    r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}", "hooks": [{kind}]}}]}}}}"#
                );
                let ran = changed(&seat, LOCAL, &more);
                let vetoed = comes_before && names_it;
                assert_eq!(ran.code == Some(2), vetoed, "{more}: {ran}");
                seat.project.write(LOCAL, &local);
            }
        }
    }
}
