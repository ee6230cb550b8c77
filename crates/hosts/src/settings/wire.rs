//! The JSON names in settings: the only place that knows how to write a hook.

use super::hooks::{HookCommand, HookInvocation, HookRegistration, OnFailure};
use super::layout::Json;
use super::tree::{Node, Value};

pub(crate) const HOOKS: &str = "hooks";
pub(super) const STATUS_LINE: &str = "statusLine";
pub(super) const PLUGINS: &str = "enabledPlugins";
pub(super) const DISABLE_ALL: &str = "disableAllHooks";
pub(super) const ENV: &str = "env";
pub(super) const PERMISSIONS: &str = "permissions";
pub(super) const ALLOW: &str = "allow";
/// The events before a tool at which a hook may answer in its place.
pub(crate) const BEFORE_TOOL: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// A hook as we write it.
pub(super) fn entry(command: &HookCommand, registered: &HookRegistration) -> Json {
    let mut members = vec![("type", Json::text("command"))];
    match command {
        HookCommand::Exec { program, arguments } => {
            let arguments = arguments.iter().map(Json::text).collect();
            members.push(("command", Json::text(program)));
            members.push(("args", Json::List(arguments)));
        }
        HookCommand::Shell(line) => members.push(("command", Json::text(line))),
    }
    members.push(("timeout", Json::Number(registered.timeout_seconds)));
    if registered.on_failure == OnFailure::Block {
        members.push(("onFailure", Json::text("block")));
    }
    Json::Object(members)
}

/// A group without a matcher, which covers every tool: names of tools may change. It is on one line, so
/// that the file stays short.
pub(super) fn group(entry: Json) -> Json {
    let group = Json::Object(vec![(HOOKS, Json::List(vec![entry]))]);
    Json::OneLine(Box::new(group))
}

/// The list of groups for an event without others.
pub(super) fn only(group: Json) -> Json {
    Json::OneLine(Box::new(Json::List(vec![group])))
}

/// All our hooks, for a file with nothing else.
pub(super) fn hooks(call: &HookInvocation) -> Json {
    let registered = call.format.registered.iter();
    let all: Vec<_> = registered.map(|it| it.event).collect();
    hooks_at(call, &all)
}

/// Our hooks at these events.
pub(super) fn hooks_at(call: &HookInvocation, events: &[&str]) -> Json {
    let all = call.format.registered.iter();
    let wanted = all.filter(|it| events.contains(&it.event));
    let groups = wanted.map(|it| (it.event, only(call.group(it))));
    Json::Object(groups.collect())
}

pub(super) fn status_line(command: String) -> Json {
    Json::Object(vec![
        ("type", Json::text("command")),
        ("command", Json::Text(command)),
    ])
}

/// The command line of a hook; `None` if it is of another type.
pub(super) fn command(hook: &Node) -> Option<HookCommand> {
    if hook.get("type")?.text()? != "command" {
        return None;
    }
    let command = hook.get("command")?.text()?.to_owned();
    match hook.get("args").and_then(Node::elements) {
        None => Some(HookCommand::Shell(command)),
        Some(arguments) => {
            let arguments = arguments.iter().filter_map(Node::text);
            Some(HookCommand::Exec {
                program: command,
                arguments: arguments.map(str::to_owned).collect(),
            })
        }
    }
}

pub(super) fn timeout(hook: &Node) -> Option<f64> {
    hook.get("timeout")?.number()
}

pub(super) fn on_failure(hook: &Node) -> OnFailure {
    match hook.get("onFailure").and_then(Node::text) {
        Some("block") => OnFailure::Block,
        Some(_) | None => OnFailure::GoOn,
    }
}

/// Why the host does not call a hook for every event, or does not wait for it.
pub(super) fn limits(group: &Node, hook: &Node) -> Vec<String> {
    let matcher = group
        .get("matcher")
        .and_then(|matcher| match matcher.text() {
            Some("" | "*") => None,
            Some(matcher) => Some(format!("its matcher is {matcher:?}")),
            None => Some("its matcher is not a text".to_owned()),
        });
    let condition = hook.get("if").map(|_| "it has an `if`".to_owned());
    let background = ["async", "asyncRewake"].into_iter();
    let background = background.filter(|name| hook.get(name).is_some_and(Node::is_true));
    let background = background.map(|name| format!("it is `{name}`, so nobody waits for it"));
    let malformed = malformed(hook).map(|name| format!("`{name}` does not fit, so it is ignored"));
    matcher
        .into_iter()
        .chain(condition)
        .chain(background)
        .chain(malformed)
        .collect()
}

/// The first member of a hook for whose type the host ignores the hook.
fn malformed(hook: &Node) -> Option<&'static str> {
    let mut typed = TYPED.into_iter();
    let found = typed.find(|(name, fits)| hook.get(name).is_some_and(|node| !fits(node)));
    found.map(|(name, _)| name)
}

/// The members of a hook, and what each must be. Our hooks need no other shell.
type TypedMember = (&'static str, fn(&Node) -> bool);
const TYPED: [TypedMember; 11] = [
    ("if", is_text),
    ("statusMessage", is_text),
    ("rewakeMessage", is_text),
    ("rewakeSummary", is_text),
    ("async", is_flag),
    ("asyncRewake", is_flag),
    ("once", is_flag),
    ("timeout", |node| node.number().is_some_and(|it| it > 0.0)),
    ("args", |node| {
        node.elements().is_some_and(|all| all.iter().all(is_text))
    }),
    ("onFailure", |node| {
        matches!(node.text(), Some("block" | "continue"))
    }),
    ("shell", |node| node.text() == Some("bash")),
];

fn is_text(node: &Node) -> bool {
    node.text().is_some()
}

fn is_flag(node: &Node) -> bool {
    matches!(node.kind, Value::Flag(_))
}

/// Does the matcher of a group name this tool, as a name or in a pattern? A group for every tool names
/// none: loggers and scanners have such hooks.
pub(super) fn names_tool(group: &Node, tool: &str) -> bool {
    let matcher = group.get("matcher").and_then(Node::text);
    let mut words = matcher.unwrap_or_default().split(['|', ',', '(', ')']);
    words.any(|word| {
        let word: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
        word.len() >= SHORTEST_NAME && tool.contains(&word)
    })
}

/// A shorter part of a name is in many names.
const SHORTEST_NAME: usize = 3;

pub(super) fn status_line_command(root: &Node) -> Option<&str> {
    root.get(STATUS_LINE)?.get("command")?.text()
}

/// The text that the host makes of a value in `env`, as JavaScript does.
pub(super) fn variable(node: &Node) -> String {
    match &node.kind {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Nothing => "null".to_owned(),
        Value::Object(_) => "[object Object]".to_owned(),
        Value::List(elements) => {
            let parts = elements.iter().map(|element| match element.kind {
                Value::Nothing => String::new(),
                _ => variable(element),
            });
            parts.collect::<Vec<_>>().join(",")
        }
    }
}

/// The type of a value, in words.
pub(crate) fn kind(node: &Node) -> &'static str {
    match node.kind {
        Value::Object(_) => "an object",
        Value::List(_) => "a list",
        Value::Text(_) => "a text",
        Value::Number(_) => "a number",
        Value::Flag(_) => "true or false",
        Value::Nothing => "null",
    }
}
