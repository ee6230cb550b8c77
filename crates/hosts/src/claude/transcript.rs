//! What Claude Code writes down about its agents, next to the record of their session.

use std::path::{Path, PathBuf};

use engine::{CallId, WorkerId};
use serde_json::Value;

/// The texts with which an interrupted conversation ends all begin like this.
const INTERRUPTED: &str = "[Request interrupted by user";

/// The record of an agent's conversation: one JSON object a line.
pub(super) fn of_worker(session: &Path, worker: &WorkerId) -> PathBuf {
    let name = format!("agent-{worker}.jsonl");
    session.with_extension("").join("subagents").join(name)
}

/// Does the conversation end with an interruption by the person?
pub(super) fn ends_interrupted(tail: &str) -> bool {
    let last = tail.lines().rfind(|line| !line.trim().is_empty());
    let last: Option<Value> = last.and_then(|line| serde_json::from_str(line).ok());
    last.is_some_and(|last| {
        let content = last.pointer("/message/content");
        let text = content.and_then(|content| {
            let first = content.pointer("/0/text").and_then(Value::as_str);
            content.as_str().or(first)
        });
        last["type"] == "user" && text.is_some_and(|text| text.starts_with(INTERRUPTED))
    })
}

/// The file that says how an agent was started.
pub(super) fn origin_of(session: &Path, worker: &WorkerId) -> PathBuf {
    of_worker(session, worker).with_extension("meta.json")
}

/// The call that started the agent.
pub(super) fn call(origin: &str) -> Option<CallId> {
    let origin: Value = serde_json::from_str(origin).ok()?;
    CallId::parse(origin.get("toolUseId")?.as_str()?).ok()
}

/// The checkout that an agent with `isolation: worktree` gets, if it works in it.
pub(super) fn own_checkout(folder: &Path, worker: &WorkerId) -> Option<PathBuf> {
    let name = format!("agent-{worker}");
    let own = folder.ancestors().find(|folder| {
        let parent = folder.parent();
        folder.ends_with(&name) && parent.is_some_and(|it| it.ends_with(".claude/worktrees"))
    });
    own.map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_ends_interrupted_when_its_last_line_says_so() {
        let interrupted = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#;
        let plain = r#"{"type":"user","message":{"role":"user","content":"[Request interrupted by user]"}}"#;
        let quoted = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#;
        let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"[Request interrupted by user]"}]}}"#;
        for (tail, ends) in [
            (interrupted.to_owned(), true),
            (format!("{plain}\n\n"), true),
            (format!("cut off\"}}\n{interrupted}\n"), true),
            (format!("{interrupted}\n{quoted}\n"), false),
            (quoted.to_owned(), false),
            (result.to_owned(), false),
            (interrupted[..40].to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(ends_interrupted(&tail), ends, "{tail}");
        }
    }

    #[test]
    fn an_agent_is_found_beside_its_session() {
        let worker = WorkerId::parse("a7c1").unwrap();
        let session = Path::new("/home/ada/.claude/projects/-p/51e0.jsonl");
        let folder = Path::new("/home/ada/.claude/projects/-p/51e0/subagents");
        assert_eq!(of_worker(session, &worker), folder.join("agent-a7c1.jsonl"));
        assert_eq!(
            origin_of(session, &worker),
            folder.join("agent-a7c1.meta.json")
        );
        let own = Path::new("/p/.claude/worktrees/agent-a7c1");
        assert_eq!(
            own_checkout(&own.join("src"), &worker).as_deref(),
            Some(own)
        );
        for other in ["/p/.claude/worktrees/agent-b8", "/p/agent-a7c1", "/p"] {
            assert_eq!(own_checkout(Path::new(other), &worker), None);
        }
        let call = call(r#"{"agentType":"writer","toolUseId":"toolu_1","spawnDepth":1}"#);
        assert_eq!(call, CallId::parse("toolu_1").ok());
    }
}
