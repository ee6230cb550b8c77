//! The payloads of the three programs, in the shapes in which they were captured, and what each of
//! them takes for a no.

use serde_json::{Value, json};
use testkit::Ran;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Claude,
    Codex,
    Gemini,
}

impl Host {
    pub(super) const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The host of this runner. A script has none, and may start any.
    pub(super) fn parse(runner: &str) -> Self {
        let found = Self::ALL.into_iter().find(|host| host.word() == runner);
        found.unwrap_or(Self::Claude)
    }

    /// Would the host hold the tool back? Codex and Gemini do so for certain only by the code, with
    /// a reason; Claude Code also by a deny.
    pub(super) fn honours(self, ran: &Ran) -> bool {
        let by_code = ran.code == Some(2) && !ran.stderr.trim().is_empty();
        let denied = ran.stdout.contains(r#""permissionDecision":"deny""#);
        by_code || self == Self::Claude && ran.code == Some(0) && denied
    }

    pub(super) fn before(self) -> &'static str {
        match self {
            Self::Claude | Self::Codex => "PreToolUse",
            Self::Gemini => "BeforeTool",
        }
    }

    pub(super) fn after(self) -> &'static str {
        match self {
            Self::Claude | Self::Codex => "PostToolUse",
            Self::Gemini => "AfterTool",
        }
    }

    /// Before this tool is used, with this input.
    pub(super) fn asks(self, tool: &str, input: &Value) -> Value {
        let mut payload = json!({
            "hook_event_name": self.before(),
            "transcript_path": "/home/dev/transcript.jsonl",
            "tool_name": tool,
            "tool_input": input,
        });
        match self {
            Self::Claude => {
                payload["permission_mode"] = json!("default");
                payload["prompt_id"] = json!("b0fe0f8d-b157-4fd2-bd39-e1dcb6b4e20e");
                payload["tool_use_id"] = json!("toolu_scripted_000001");
            }
            Self::Codex => {
                payload["permission_mode"] = json!("bypassPermissions");
                payload["turn_id"] = json!("01a1e0b0-5545-72d1-abef-d05203543239");
                payload["model"] = json!("fake-model");
                payload["tool_use_id"] = json!("call_1_0");
            }
            Self::Gemini => payload["timestamp"] = json!("2026-11-15T19:37:51.204Z"),
        }
        payload
    }

    pub(super) fn shell(self, command: &str) -> Value {
        let input = json!({"command": command});
        match self {
            Self::Claude | Self::Codex => self.asks("Bash", &input),
            Self::Gemini => self.asks("run_shell_command", &input),
        }
    }

    /// Before a file is written.
    pub(super) fn write(self, path: &str) -> Value {
        match self {
            Self::Claude => self.asks("Write", &json!({"file_path": path, "content": "x"})),
            Self::Codex => {
                let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
                self.asks("apply_patch", &json!({"command": patch}))
            }
            Self::Gemini => self.asks("write_file", &json!({"file_path": path, "content": "x"})),
        }
    }

    /// Before a file is read.
    pub(super) fn read(self, path: &str) -> Value {
        match self {
            Self::Claude => self.asks("Read", &json!({"file_path": path})),
            Self::Codex => self.asks("view_image", &json!({"path": path})),
            Self::Gemini => self.asks("read_file", &json!({"absolute_path": path})),
        }
    }

    /// Before an agent of the worker's own is called.
    pub(super) fn agent(self, name: &str) -> Value {
        match self {
            Self::Claude => self.asks(
                "Agent",
                &json!({"subagent_type": name, "prompt": "p", "description": "d"}),
            ),
            Self::Codex => self.asks(
                "spawn_agent",
                &json!({"message": "please", "agent_type": name}),
            ),
            Self::Gemini => self.asks(
                "invoke_agent",
                &json!({"agent_name": name, "prompt": "please"}),
            ),
        }
    }

    /// After a tool was used.
    pub(super) fn used(self, tool: &str, input: &Value) -> Value {
        let mut payload = self.asks(tool, input);
        payload["hook_event_name"] = json!(self.after());
        payload["tool_response"] = json!({"stdout": "", "stderr": ""});
        payload
    }
}
