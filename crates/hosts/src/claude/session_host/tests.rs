//! Settings of every shape take our hooks, keep the rest byte for byte, and give the hooks back.

use serde_json::{Value, json};

use super::*;
use crate::hook::{DEADLINE_SECONDS, Event};
use crate::settings::{HookInvocation, Settings, StatusLine};

const PROGRAM: &str = "/usr/local/bin/gatewright";

fn path() -> HookInvocation {
    FORMAT.call_by_path(PROGRAM)
}

fn settings(text: &str) -> Settings {
    Settings::parse(text.as_bytes()).unwrap()
}

fn installed(text: &str) -> String {
    let installed = settings(text).with_hooks(&path(), PROGRAM, StatusLine::Ours);
    installed.unwrap()
}

fn removed(text: &str) -> String {
    settings(text).without_hooks(PROGRAM).unwrap()
}

/// Shapes that people have. Each takes our hooks by insertions only.
fn shapes() -> Vec<String> {
    let others = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./x"}]}]}}"#;
    let plain: Vec<&str> = vec![
        "{}",
        "{}\n",
        "{ }\n",
        "{\n}\n",
        "{\"model\":\"opus\"}",
        "{\"model\":\"opus\",\"env\":{\"A\":\"b\"}}\n",
        "{\"model\": \"opus\", \"env\": {}}\n",
        "{\n  \"model\": \"opus\"\n}\n",
        "{\n  \"model\": \"opus\"\n}",
        "{\n\t\"model\": \"opus\",\n\t\"hooks\": {}\n}\n",
        "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n  }\r\n}\r\n",
        "{\n    \"hooks\": {\n        \"Stop\": []\n    },\n    \"model\": \"opus\"\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"a\" }\n        ]\n      }\n    ]\n  }\n}\n",
        "{\n  \"hooks\": { \"Stop\": [ { \"hooks\": [] } ] },\n  \"z\": [1, 2,\n 3]\n}\n",
        "\u{feff}{\n  \"model\": \"opus\"\n}\n",
        "\n\n  {\n  \"model\": \"ü🚪\\u00fc\\\"}\"\n}\n\n",
        "{\"a\": {\"b\": {\"c\": [{\"d\": [[]]}]}}, \"hooks\": {\"Nope\": 3, \"Stop\": [\"x\", {}]}}",
        "{\"hooks\": {}, \"hooks\": {\"Stop\": []}}\n",
        "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"mine\"},\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n",
        "{\n  \"empty\": {},\n\n  \"spaced\" :  [ ] ,\n  \"n\": -1.5e+3\n}\n",
        "{\n  \"hooks\":\n  {\n    \"PreToolUse\":\n    [\n    ]\n  }\n}\n",
    ];
    let huge = format!(
        "{{\n  \"permissions\": {{\n    \"allow\": [\n{}\n    ]\n  }}\n}}\n",
        vec!["      \"Bash(npm run test:*)\""; 20_000].join(",\n")
    );
    let mut shapes: Vec<String> = plain.into_iter().map(str::to_owned).collect();
    shapes.push(others.to_owned());
    shapes.push(huge);
    shapes
}

/// Can the old text be had from the new one by leaving out what was inserted?
fn is_kept(old: &str, new: &str) -> bool {
    let mut rest = new.chars();
    old.chars().all(|wanted| rest.any(|found| found == wanted))
}

#[test]
fn every_shape_takes_the_hooks_and_keeps_the_rest() {
    for shape in shapes() {
        let new = installed(&shape);
        let shown: String = shape.chars().take(200).collect();
        let written = settings(&new);
        assert!(written.is_complete(&path(), PROGRAM), "{shown}\n{new}");
        assert!(written.has_status_line(), "{shown}");
        let inside: String = shape.split_whitespace().collect();
        assert!(is_kept(&inside, &new), "{shown}");
        assert!(
            new.ends_with(&shape[shape.trim_end().len() - 1..]),
            "{shown}"
        );
        assert_eq!(
            installed(&new),
            new,
            "a second time changes nothing: {shown}"
        );
        assert_eq!(values(&removed(&new)), values(&shape), "{shown}");
    }
}

/// What stands in a file, without what is empty: that may go with our hooks.
fn values(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text.trim_start_matches("\u{feff}")).unwrap();
    let root = value.as_object_mut().unwrap();
    let is_empty = |value: &Value| *value == json!([]) || *value == json!({});
    if let Some(hooks) = root.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, groups| !is_empty(groups));
    }
    root.retain(|name, value| name != "hooks" || !is_empty(value));
    value
}

/// An empty object or list is opened to take our hooks, and is not closed again.
#[test]
fn a_shape_that_has_nothing_empty_is_given_back_byte_for_byte() {
    let mut given_back = 0;
    for shape in shapes() {
        let whole: Value = serde_json::from_str(shape.trim_start_matches("\u{feff}")).unwrap();
        if values(&shape) == whole && whole != json!({}) {
            let shown: String = shape.chars().take(200).collect();
            assert_eq!(removed(&installed(&shape)), shape, "{shown}");
            given_back += 1;
        }
    }
    assert!(given_back > 12, "{given_back}");
}

/// The shapes that `cst` of `jsonc-parser` gives back with other line breaks: see `settings`.
#[test]
fn blank_lines_and_objects_on_one_line_are_given_back_byte_for_byte() {
    for shape in [
        "{\n\n  \"model\": \"opus\"\n}\n",
        "{\n  \"model\": \"opus\"\n\n}\n",
        "{\n  \"model\": \"opus\"  \n}\n",
        "{\n  \"model\" : \"opus\"\n ,\"n\":2}\n",
        "{\"model\": \"opus\"}",
        "{ \"hooks\": { \"Stop\": [ { \"hooks\": [ 1 ] } ] } }",
        "{\n  \"hooks\": {\"PreToolUse\": [{\"hooks\": [1]}]}\n}\n",
        "{\n  \"hooks\": {\n\n    \"Stop\": [\n\n      {\"hooks\": [1]}\n\n    ]\n\n  }\n}\n",
    ] {
        let new = installed(shape);
        assert!(settings(&new).is_complete(&path(), PROGRAM), "{new}");
        assert_eq!(removed(&new), shape);
    }
}

#[test]
fn nothing_and_space_count_as_no_settings() {
    for text in ["", "\n", "  \r\n"] {
        assert!(settings(&installed(text)).is_complete(&path(), PROGRAM));
        assert!(installed(text).ends_with("\n}\n"));
    }
}

#[test]
fn the_lines_look_like_those_around_them() {
    let short = |text: &str| {
        let new = installed(text);
        let lines = new.split_inclusive('\n').take(15);
        lines.collect::<String>()
    };
    let tabs = "{\n\t\"model\": \"opus\"\n}\n";
    let hook = |event: &str, timeout: &str| {
        format!(
            "\t\t\"{event}\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"{PROGRAM}\", \
             \"args\": [\"hook\", \"claude\", \"{event}\"], \"timeout\": {timeout}}}]}}],\n"
        )
    };
    let begin = format!(
        "{{\n\t\"model\": \"opus\",\n\t\"hooks\": {{\n{}{}",
        hook("SessionStart", "10"),
        hook("UserPromptSubmit", "10")
    );
    assert!(short(tabs).starts_with(&begin), "{}", short(tabs));
    let windows = short("{\r\n  \"a\": 1\r\n}\r\n");
    assert_eq!(
        windows.matches('\n').count(),
        windows.matches("\r\n").count()
    );
    let one_line = installed("{\"a\":1}");
    assert_eq!(one_line.matches('\n').count(), 0);
    assert!(one_line.starts_with("{\"a\":1,\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":"));
}

#[test]
fn hooks_from_another_place_are_replaced_where_they_stand() {
    let old = settings("{\"model\": \"opus\"}\n");
    let elsewhere = FORMAT.call_by_path("/old/place/gatewright");
    let old = old
        .with_hooks(&elsewhere, PROGRAM, StatusLine::Ours)
        .unwrap();
    let expected = old.replace("/old/place/gatewright", PROGRAM);
    assert_eq!(installed(&old), expected);
    let shared = settings(&old).with_hooks(&FORMAT.call_by_name(), PROGRAM, StatusLine::AsItIs);
    assert_eq!(
        settings(&shared.unwrap()).hooks(PROGRAM).len(),
        FORMAT.registered.len()
    );
}

/// The gate of the tools as it must stand in a file.
fn gate() -> Value {
    json!({
        "type": "command",
        "command": PROGRAM,
        "args": ["hook", "claude", "PreToolUse"],
        "timeout": 10,
        "onFailure": "block",
    })
}

/// The groups before a tool that call us, without others' hooks.
fn gates(text: &str) -> Vec<Value> {
    let root: Value = serde_json::from_str(text).unwrap();
    let mut groups = root["hooks"]["PreToolUse"].as_array().unwrap().clone();
    for group in &mut groups {
        let hooks = group["hooks"].as_array_mut().unwrap();
        hooks.retain(|hook| hook["command"] == PROGRAM);
    }
    groups.retain(|group| group["hooks"] != json!([]));
    groups
}

/// An outdated hook of ours, and other people's settings around it.
#[test]
fn hooks_that_do_not_hold_are_mended() {
    let ours = |more: &str| {
        format!(
            r#"{{"type": "command", "command": "{PROGRAM}", "args": ["hook", "claude", "PreToolUse"], "timeout": 10{more}}}"#
        )
    };
    let block = r#", "onFailure": "block""#;
    let group = |matcher: &str, hooks: &str| {
        format!(r#"{{"hooks": {{"PreToolUse": [{{{matcher}"hooks": [{hooks}]}}]}}}}"#)
    };
    let other = r#"{"type": "command", "command": "./other"}"#;
    for text in [
        group("", &ours("")),
        group("", &ours(r#", "onFailure": "ignore""#)),
        group("", &ours(&format!(r#"{block}, "async": true"#))),
        group("", &ours(&format!(r#"{block}, "if": "Bash(git *)""#))),
        group(r#""matcher": "Task", "#, &ours(block)),
        group(r#""matcher": 3, "#, &ours(block)),
        group(r#""matcher": "Task", "#, &format!("{other}, {}", ours(block))),
        group("", &format!("{}, {other}, {}", ours(block), ours(block))),
        group("", &ours(block).replace("10", "\"10\"")),
        group("", &ours(block).replace("10", "600")),
        group("", &ours(block).replace("10", "3")),
        r#"{"hooks": {"MessageDisplay": [{"hooks": [{"type": "command", "command": "gatewright hook claude"}]}]}}"#.to_owned(),
    ] {
        let new = installed(&text);
        let written = settings(&new);
        assert!(written.is_complete(&path(), PROGRAM), "{text}\n{new}");
        assert_eq!(gates(&new), [json!({"hooks": [gate()]})], "{text}\n{new}");
        assert_eq!(new.contains("./other"), text.contains("./other"), "{text}");
        assert!(!new.contains("MessageDisplay"), "{text}");
    }
    let sound = group(r#""matcher": "*", "#, &ours(block).replace("10", "30"));
    let kept = installed(&sound);
    assert!(
        kept.contains(&sound[2..sound.len() - 4]),
        "a sound one stays: {kept}"
    );
}

#[test]
fn only_what_is_ours_is_taken_out() {
    let text = format!(
        r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "a"}}, {{"type": "command", "command": "{PROGRAM}", "args": ["hook"]}}, {{"type": "command", "command": "b"}}]}}]}}, "statusLine": {{"type": "command", "command": "date; gatewright statusline"}}}}"#
    );
    let left = removed(&text);
    let expected = text.replace(
        &format!(r#", {{"type": "command", "command": "{PROGRAM}", "args": ["hook"]}}"#),
        "",
    );
    assert_eq!(left, expected);
    assert_eq!(removed("{\"a\": 1}\n"), "{\"a\": 1}\n");
    for (command, goes) in [
        ("/usr/local/bin/gatewright statusline", true),
        ("'/else where/gatewright' statusline", true),
        (&FORMAT.call_by_name().status_line(), true),
        ("date; gatewright statusline", false),
        ("/usr/local/bin/gatewright statusline; date", false),
        ("/bin/statusline", false),
    ] {
        let line = json!({"type": "command", "command": command});
        let text = json!({"a": 1, "statusLine": line}).to_string();
        assert_eq!(!removed(&text).contains("statusLine"), goes, "{command}");
    }
}

#[test]
fn the_status_line_of_a_person_stays() {
    let mine = "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}";
    assert!(installed(mine).contains("\"command\": \"mine\"}"));
    assert!(!installed(mine).contains("gatewright statusline"));
    let untouched = settings("{}").with_hooks(&path(), PROGRAM, StatusLine::AsItIs);
    assert!(!settings(&untouched.unwrap()).has_status_line());
}

#[test]
fn what_cannot_take_hooks_is_told() {
    for (text, expected) in [
        ("[]", "it is a list, not an object"),
        ("\"x\"", "it is a text, not an object"),
        (
            "{\"a\": 1,}",
            "it is not JSON: trailing comma (line 1, column 9)",
        ),
        (
            "{\n  // mine\n}",
            "it is not JSON: key must be a string (line 2, column 3)",
        ),
        ("{\"hooks\": []}", "`hooks` is a list, not an object"),
        (
            "{\"hooks\": {\"PreToolUse\": {}}}",
            "`hooks.PreToolUse` is an object, not a list",
        ),
    ] {
        let result = Settings::parse(text.as_bytes());
        let result =
            result.and_then(|settings| settings.with_hooks(&path(), PROGRAM, StatusLine::Ours));
        assert_eq!(result.unwrap_err().to_string(), expected, "{text}");
    }
    let latin = Settings::parse(b"{\"a\": \"\xfc\"}").unwrap_err();
    assert_eq!(latin.to_string(), "it is not UTF-8 text");
}

#[test]
fn switches_are_read() {
    let check = |text: &str| {
        let settings = settings(text);
        (
            settings.disables_all_hooks(),
            settings.enables_plugin("gatewright"),
        )
    };
    for (text, expected) in [
        ("{}", (false, false)),
        (r#"{"disableAllHooks": true}"#, (true, false)),
        (r#"{"disableAllHooks": false}"#, (false, false)),
        (
            r#"{"enabledPlugins": {"gatewright@team": true}}"#,
            (false, true),
        ),
        (
            r#"{"enabledPlugins": {"gatewright@team": false, "x@gatewright": true}}"#,
            (false, false),
        ),
    ] {
        assert_eq!(check(text), expected, "{text}");
    }
}

#[test]
fn every_hook_has_time_to_answer_by_itself() {
    for registered in REGISTERED {
        assert_ne!(Event::parse(registered.event), Event::Other);
        let ends_the_session = registered.event == "SessionEnd";
        assert!(
            ends_the_session || registered.timeout_seconds > DEADLINE_SECONDS,
            "{registered:?}"
        );
    }
}
