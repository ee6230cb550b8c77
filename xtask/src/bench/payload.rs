//! Payloads as the host writes them: the session first, what the event is about behind it.

/// The payload of a hook.
#[derive(Clone, Debug)]
pub(super) struct Payload {
    pub event: &'static str,
    /// The members that only this event has, as JSON.
    about: String,
}

/// An agent that was asked for, as the host numbers it.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub agent: &'static str,
    pub number: usize,
}

impl Payload {
    fn new(event: &'static str, about: String) -> Self {
        Self { event, about }
    }

    pub(super) fn session_started() -> Self {
        Self::new("SessionStart", r#""source":"startup""#.to_owned())
    }

    pub(super) fn shell() -> Self {
        let input = r#"{"command":"mkdir -p sub && cd sub && pwd","description":"make it"}"#;
        let about = format!(r#""tool_name":"Bash","tool_input":{input}"#);
        Self::new("PreToolUse", about)
    }

    /// A Write call whose file has so many bytes, in lines as source text has them.
    pub(super) fn write(folder: &str, bytes: usize) -> Self {
        const LINE: &str = r"    let total = parts.iter().sum(); // \u00e9\n";
        let content = LINE.repeat(bytes / LINE.len());
        let input = format!(r#"{{"file_path":"{folder}/src/new.rs","content":"{content}"}}"#);
        let about = format!(r#""tool_name":"Write","tool_input":{input}"#);
        Self::new("PreToolUse", about)
    }

    pub(super) fn agent_requested(worker: &Worker) -> Self {
        let Worker { agent, number } = worker;
        let input = format!(
            r#"{{"description":"work","prompt":"please do it","subagent_type":"{agent}"}}"#
        );
        let call = format!(r#""tool_use_id":"toolu_{number:024x}""#);
        let about = format!(r#""tool_name":"Agent","tool_input":{input},{call}"#);
        Self::new("PreToolUse", about)
    }

    pub(super) fn agent_began(worker: &Worker) -> Self {
        Self::new("SubagentStart", worker.members())
    }

    /// An agent asks for a tool: it is seen to work.
    pub(super) fn tool_requested(worker: &Worker) -> Self {
        let input = r#"{"file_path":"a.txt","content":"a"}"#;
        let members = worker.members();
        let about = format!(r#"{members},"tool_name":"Write","tool_input":{input}"#);
        Self::new("PreToolUse", about)
    }

    /// A person types a slash command.
    pub(super) fn command_typed(name: &str, words: &str) -> Self {
        let about = format!(
            r#""command_name":"{name}","command_args":"{words}","prompt":"/{name} {words}""#
        );
        Self::new("UserPromptExpansion", about)
    }

    /// A tool of an agent has worked.
    pub(super) fn tool_used(worker: &Worker) -> Self {
        let input = r#"{"command":"true","description":"nothing"}"#;
        let response = r#"{"stdout":"","stderr":"","interrupted":false}"#;
        let members = worker.members();
        let about = format!(
            r#"{members},"tool_name":"Bash","tool_input":{input},"tool_response":{response}"#
        );
        Self::new("PostToolUse", about)
    }

    pub(super) fn agent_stopping(worker: &Worker) -> Self {
        let about = format!(
            r#"{},"stop_hook_active":false,"last_assistant_message":"All of it is done, and the tests pass.","background_tasks":[],"session_crons":[]"#,
            worker.members()
        );
        Self::new("SubagentStop", about)
    }

    /// The whole text, for this session in this folder.
    pub(super) fn text(&self, session: &str, folder: &str) -> String {
        let Self { event, about } = self;
        let transcript = format!("/home/dev/.claude/projects/-home-dev-project/{session}.jsonl");
        format!(
            r#"{{"session_id":"{session}","transcript_path":"{transcript}","cwd":"{folder}","prompt_id":"14ace5c3-9822-4e13-9d94-960002589a53","permission_mode":"acceptEdits","effort":{{"level":"medium"}},"hook_event_name":"{event}",{about}}}"#
        )
    }
}

impl Worker {
    fn members(&self) -> String {
        let Self { agent, number } = self;
        format!(r#""agent_id":"a{number:016x}","agent_type":"{agent}""#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_payload_is_json_and_names_its_session_first() {
        let worker = Worker {
            agent: "bash-writer",
            number: 7,
        };
        for payload in [
            Payload::session_started(),
            Payload::shell(),
            Payload::write("/project", 2_000),
            Payload::agent_requested(&worker),
            Payload::agent_began(&worker),
            Payload::tool_requested(&worker),
            Payload::tool_used(&worker),
            Payload::command_typed("go", "and work"),
            Payload::agent_stopping(&worker),
        ] {
            let text = payload.text("a-session", "/project");
            assert!(text.starts_with(r#"{"session_id":"a-session","#), "{text}");
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value["hook_event_name"], payload.event);
        }
    }

    #[test]
    fn a_written_file_is_about_as_long_as_was_asked_for() {
        for bytes in [2_000, 2_000_000] {
            let text = Payload::write("/project", bytes).text("s", "/project");
            let over = text.len().abs_diff(bytes);
            assert!(over < 600, "{bytes}: {}", text.len());
        }
    }
}
