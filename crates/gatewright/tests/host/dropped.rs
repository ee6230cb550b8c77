//! Settings for which the host ignores a whole file, hooks included: the program itself is asked which these
//! are, and what it says is compared with our table and with `doctor`, in both directions.
//!
//! `EVERY_SETTING=1` also starts a session for each setting of the program with each of four values.

use std::collections::BTreeSet;
use std::fs;

use hosts::DEFAULT_SESSION_HOST;
use hosts::settings::Settings;
use serde_json::{Map, Value, json};
use testkit::claude::{self, Claude};

use crate::stage::Stage;

const LOCAL: &str = ".claude/settings.local.json";

/// A value of every type, and some of a right type that do not fit.
const VALUES: [&str; 12] = [
    "null",
    "true",
    "-7.5",
    "5",
    "\"\"",
    "\"zzz\"",
    "[]",
    "[5]",
    "[\"zzz\"]",
    "{}",
    "{\"zzz\": 5}",
    "{\"zzz\": \"a\"}",
];

/// Objects in the settings, with the members that they need.
const OBJECTS: [(&str, &str); 19] = [
    ("attribution", "{}"),
    ("autoMode", "{}"),
    ("breakReminder", "{}"),
    ("fileSuggestion", r#"{"type": "command", "command": "x"}"#),
    ("permissions", "{}"),
    ("quietHours", "{}"),
    ("remote", "{}"),
    ("remoteTools", "{}"),
    ("sandbox", "{}"),
    ("sandbox.credentials", "{}"),
    ("sandbox.credentials.sigv4", "{}"),
    ("sandbox.filesystem", "{}"),
    ("sandbox.network", "{}"),
    ("sandbox.network.tlsTerminate", "{}"),
    ("sandbox.ripgrep", r#"{"command": "x"}"#),
    ("spinnerVerbs", r#"{"mode": "append", "verbs": []}"#),
    ("statusLine", r#"{"type": "command", "command": "x"}"#),
    ("voice", "{}"),
    ("worktree", "{}"),
];

/// The host reads no longer file.
const MOST_BYTES: usize = 1_900_000;

/// Every word of the program behind which a colon stands: all names of settings are among them.
fn words() -> Vec<String> {
    let program = fs::read(claude::program()).expect("the program can be read");
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$".contains(byte);
    let pieces = program.split(|byte| *byte == b':');
    let words = pieces.filter_map(|piece| {
        let length = piece.iter().rev().take_while(|byte| is_word(byte)).count();
        let word = str::from_utf8(&piece[piece.len() - length..]).ok()?;
        let is_name = (2..50).contains(&length) && !word.starts_with(|c: char| c.is_ascii_digit());
        is_name.then(|| word.to_owned())
    });
    // A hook outside of its place costs the file, whatever else is in it.
    let places = ["hooks", "PreToolUse", "PermissionRequest"];
    let words: BTreeSet<String> = words
        .filter(|word| !places.contains(&word.as_str()))
        .collect();
    words.into_iter().collect()
}

/// These members, in as many objects as the host's limit needs.
fn objects(words: &[String], base: &Map<String, Value>, value: &Value) -> Vec<Map<String, Value>> {
    let mut all = vec![base.clone()];
    let mut length = 0;
    for word in words {
        let member = word.len() + value.to_string().len() + 6;
        if length + member > MOST_BYTES {
            all.push(base.clone());
            length = 0;
        }
        length += member;
        let last = all.last_mut().expect("there is one");
        last.insert(word.clone(), value.clone());
    }
    all
}

/// A document with this value at this path.
fn at(path: &str, value: Value) -> Value {
    let names = path.split('.').filter(|name| !name.is_empty());
    names
        .rev()
        .fold(value, |value, name| json!({ name: value }))
}

/// The paths at which the host says that this file does not load. What it ignores alone does not count.
fn rejected_by_host(stage: &Stage, claude: &Claude, document: &Value) -> BTreeSet<String> {
    stage.project.write(LOCAL, document.to_string());
    let file = stage.path(LOCAL);
    let before = format!("- {} › ", file.display());
    let told = claude.run(["doctor"]).stdout;
    let lines = told.lines().filter_map(|line| line.strip_prefix(&before));
    let faults = lines.filter_map(|line| line.split_once(": "));
    let alone = ["ignored", "was removed", "While it is present"];
    faults
        .filter(|(_, says)| !alone.iter().any(|word| says.contains(word)))
        .map(|(path, _)| path.to_owned())
        .collect()
}

fn rejected_by_us(document: &Value) -> BTreeSet<String> {
    let settings = Settings::parse(document.to_string().as_bytes()).expect("settings");
    let faults = settings.invalid_settings(&DEFAULT_SESSION_HOST.format);
    faults.into_iter().map(|fault| fault.at).collect()
}

/// The members of the object at this path in which something is wrong.
fn members(faults: &BTreeSet<String>, path: &str) -> BTreeSet<String> {
    let below = |fault: &String| {
        let rest = fault.strip_prefix(path)?.trim_start_matches('.');
        rest.split('.').next().map(str::to_owned)
    };
    faults.iter().filter_map(below).collect()
}

fn compare(
    stage: &Stage,
    claude: &Claude,
    path: &str,
    members_of: Map<String, Value>,
    value: &Value,
) {
    let document = at(path, Value::Object(members_of));
    let theirs = members(&rejected_by_host(stage, claude, &document), path);
    let ours = members(&rejected_by_us(&document), path);
    let missed: Vec<_> = theirs.difference(&ours).take(20).collect();
    let invented: Vec<_> = ours.difference(&theirs).take(20).collect();
    assert!(
        missed.is_empty() && invented.is_empty(),
        "{value} in members of {path:?}: the host rejects {missed:?}, and only we reject {invented:?}"
    );
}

#[test]
fn the_table_rejects_what_the_program_rejects() {
    let stage = Stage::bare([]);
    let claude = stage.claude();
    let words = words();
    assert!(words.len() > 10_000, "{}", words.len());
    for value in VALUES {
        let value: Value = serde_json::from_str(value).expect("JSON");
        for members in objects(&words, &Map::new(), &value) {
            // An alias is ignored where the setting itself is.
            let mut members = members;
            members.remove("allowedMarketplaces");
            compare(&stage, &claude, "", members, &value);
        }
    }
    for (path, base) in OBJECTS {
        let base: Map<String, Value> = serde_json::from_str(base).expect("JSON");
        let value = json!(-7.5);
        for members in objects(&words, &base, &value) {
            compare(&stage, &claude, path, members, &value);
        }
    }
}

/// What is merged into the settings that `init` wrote.
const ROWS: [&str; 34] = [
    "{}",
    r#"{"permissions": {"disableBypassPermissionsMode": true}}"#,
    r#"{"permissions": {"additionalDirectories": [5]}}"#,
    r#"{"permissions": {"defaultMode": "yolo"}}"#,
    r#"{"permissions": {"allow": [5], "defaultMode": "plan"}}"#,
    r#"{"sandbox": {"excludedCommands": "zzz"}}"#,
    r#"{"sandbox": {"network": 5}}"#,
    r#"{"sandbox": {"credentials": {"files": [{"path": "x", "mode": "hide"}]}}}"#,
    r#"{"enabledMcpjsonServers": [5]}"#,
    r#"{"enabledMcpjsonServers": "one"}"#,
    r#"{"companyAnnouncements": [5]}"#,
    r#"{"strictKnownMarketplaces": "zzz"}"#,
    r#"{"strictKnownMarketplaces": [{"source": "github"}]}"#,
    r#"{"strictKnownMarketplaces": [{"source": "github", "repo": "a/b"}]}"#,
    r#"{"forceLoginOrgUUID": 5}"#,
    r#"{"statusLine": 5}"#,
    r#"{"outputStyle": []}"#,
    r#"{"enabledPlugins": "x"}"#,
    r#"{"enabledPlugins": {"x@y": 5}}"#,
    r#"{"spinnerTipsEnabled": "yes"}"#,
    r#"{"theme": 5, "somethingNew": [5], "allowedMcpServers": 5, "teammateMode": 5}"#,
    r#"{"env": {"A": 5, "PreToolUse": "x"}}"#,
    r#"{"hooks": {"PreToolUse": [{"matcher": 5, "hooks": []}]}}"#,
    r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "nope"}]}]}}"#,
    r#"{"hooks": {"PermissionRequest": [5]}}"#,
    r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true", "more": 5}]}]}}"#,
    r#"{"hooks": {"PostToolUse": [5], "Nonsense": 5}}"#,
    r#"{"hooks": {"Stop": [{"PreToolUse": 5, "hooks": []}]}}"#,
    r#"{"PreToolUse": [{"hooks": []}]}"#,
    r#"{"PreToolUse": []}"#,
    r#"{"x": {"PermissionRequest": 5}}"#,
    r#"{"cleanupPeriodDays": 0}"#,
    r#"{"quietHours": {"start": "25:00"}}"#,
    r#"{"skillOverrides": {"x": "maybe"}}"#,
];

/// Every setting of the program with each of four values.
fn every_row(stage: &Stage, claude: &Claude) -> Vec<String> {
    let words = words();
    let value = json!(-7.5);
    let documents = objects(&words, &Map::new(), &value).into_iter();
    let names = documents.flat_map(|it| rejected_by_host(stage, claude, &Value::Object(it)));
    let names: BTreeSet<String> = names.collect();
    let values = ["5", "\"zzz\"", "{\"a\": 5}", "[5]"];
    let rows = names
        .iter()
        .flat_map(|name| values.map(|value| format!("{{\"{name}\": {value}}}")));
    rows.collect()
}

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

/// Does a session of the host call our hooks with these settings?
fn calls_us(stage: &Stage, claude: &Claude) -> bool {
    let seen = stage.project.state().join("seen");
    let _ = fs::remove_dir_all(&seen);
    claude
        .run(DEFAULT_SESSION_HOST.trial_arguments.to_vec())
        .succeeds();
    fs::read_dir(&seen).is_ok_and(|mut files| files.next().is_some())
}

#[test]
fn doctor_is_red_where_the_host_calls_no_hook_and_nowhere_else() {
    let stage = Stage::always_on([]);
    let claude = stage.claude();
    let ours: Value = serde_json::from_str(&stage.project.read(LOCAL)).expect("JSON");
    let mut rows: Vec<String> = ROWS.map(str::to_owned).into();
    if std::env::var_os("EVERY_SETTING").is_some() {
        rows.extend(every_row(&stage, &claude));
    }
    let mut wrong = Vec::new();
    for row in rows {
        let mut settings = ours.clone();
        merge(&mut settings, serde_json::from_str(&row).expect("JSON"));
        stage.project.write(LOCAL, settings.to_string());
        let guarded = calls_us(&stage, &claude);
        let green = stage.project.run(["doctor"]).code == Some(0);
        if guarded != green {
            wrong.push(format!(
                "{row}: the hooks are called: {guarded}, doctor is green: {green}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The host reads no file of more than two mebibytes.
#[test]
fn a_file_that_is_too_long_for_the_host_is_red() {
    let stage = Stage::always_on([]);
    let claude = stage.claude();
    let ours = stage.project.read(LOCAL);
    for (length, expected) in [(2 * 1024 * 1024, true), (2 * 1024 * 1024 + 1, false)] {
        let filled = format!("{ours}{}", " ".repeat(length - ours.len()));
        stage.project.write(LOCAL, filled);
        assert_eq!(calls_us(&stage, &claude), expected, "{length}");
        let green = stage.project.run(["doctor"]).code == Some(0);
        assert_eq!(green, expected, "{length}");
    }
}

/// Variables with which the host starts sessions without hooks. It obeys them in the person's own settings alone.
#[test]
fn doctor_is_red_where_a_variable_switches_the_hooks_off_and_nowhere_else() {
    let stage = Stage::always_on([]);
    let claude = stage.claude();
    let user = stage.project.home().join(".claude/settings.json");
    let shared = stage.path(".claude/settings.json");
    let names = &DEFAULT_SESSION_HOST.variables.switches;
    let others = ["CLAUDE_CODE_RESTRICTED", "CLAUDE_CODE_PERSONAL_HOOKS_OFF"];
    for name in names.iter().chain(&others) {
        for (file, obeyed) in [(&user, names.contains(name)), (&shared, false)] {
            for file in [&user, &shared] {
                fs::write(file, "{}").expect("written");
            }
            let text = json!({"env": {*name: "1"}}).to_string();
            fs::write(file, text).expect("written");
            let file = file.display();
            assert_eq!(calls_us(&stage, &claude), !obeyed, "{name} in {file}");
            let ran = stage.project.run(["doctor"]);
            assert_eq!(ran.code == Some(0), !obeyed, "{name} in {file}: {ran}");
        }
    }
}
