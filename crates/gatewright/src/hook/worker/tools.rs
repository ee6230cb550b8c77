//! Tools by all their names: each program has its own word for the same thing, and a stage says it once.

use std::borrow::Cow;

use engine::Stage;

/// What is one tool under several names. The first one is that of Claude Code.
const SAME: [&[&str]; 11] = [
    &["Agent", "Task", "spawn_agent", "invoke_agent"],
    &["Bash", "run_shell_command", "shell", "exec_command"],
    &["Write", "write_file", "apply_patch"],
    &["Edit", "replace", "apply_patch"],
    &["Read", "read_file", "read_many_files", "view_image"],
    &["Glob", "glob"],
    &["LS", "list_directory"],
    &["Grep", "grep_search", "search_file_content"],
    &["WebFetch", "web_fetch"],
    &["WebSearch", "web_search", "google_web_search"],
    &["TodoWrite", "write_todos", "update_plan"],
];

/// How tools of MCP servers begin, in Claude Code and in Gemini CLI.
const FOREIGN: (&str, &str) = ("mcp__", "mcp_");

/// The name under which this stage forbids the tool, else its own.
pub fn named<'t>(stage: &Stage, tool: &'t str) -> Cow<'t, str> {
    let denied = |name: &str| stage.tools_deny.iter().any(|deny| deny.covers(name));
    let groups = SAME.iter().filter(|names| names.contains(&tool));
    let names = groups.flat_map(|names| names.iter().copied());
    let mut names = [tool].into_iter().chain(names);
    let foreign = || {
        let (usual, short) = FOREIGN;
        let rest = tool
            .strip_prefix(short)
            .filter(|_| !tool.starts_with(usual));
        rest.map(|rest| format!("{usual}{rest}"))
    };
    match names.find(|name| denied(name)) {
        Some(name) => Cow::Borrowed(name),
        None => match foreign().filter(|name| denied(name)) {
            Some(name) => Cow::Owned(name),
            None => Cow::Borrowed(tool),
        },
    }
}

/// The name that Claude Code has for it.
pub fn usual(tool: &str) -> &str {
    let group = SAME.iter().find(|names| names.contains(&tool));
    let first = group.and_then(|names| names.first());
    first.copied().unwrap_or(tool)
}
