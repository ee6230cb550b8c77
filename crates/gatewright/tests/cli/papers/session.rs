//! A session of Claude Code, played by its hooks: they are run as the host runs them, and what they
//! answer is what a session hears.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::Project;

pub struct Session<'p> {
    project: &'p Project,
    id: &'static str,
    calls: u32,
    /// Everything that was said to the session, its workers and its person.
    pub heard: String,
}

impl<'p> Session<'p> {
    pub fn new(project: &'p Project, id: &'static str) -> Self {
        Self {
            project,
            id,
            calls: 0,
            heard: String::new(),
        }
    }

    /// The hook is a child of the host, and so it is of this test.
    pub fn hook(&mut self, event: &str, mut payload: Value) -> String {
        payload["session_id"] = json!(self.id);
        payload["cwd"] = json!(self.project.path());
        payload["hook_event_name"] = json!(event);
        let mut command = self.project.child(["hook", "claude", event]);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", self.id)
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("CLAUDE_PROJECT_DIR", self.project.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the hook can be started");
        let mut input = child.stdin.take().expect("the input is a pipe");
        let _ = input.write_all(payload.to_string().as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("the hook ends");
        let said = said(&String::from_utf8_lossy(&output.stdout));
        self.heard.push_str(&said);
        self.heard.push('\n');
        said
    }

    pub fn starts(&mut self, source: &str) {
        self.hook("SessionStart", json!({ "source": source }));
    }

    /// A person types this. Of a slash command the host tells twice, and it counts once.
    pub fn types(&mut self, prompt: &str) {
        self.calls += 1;
        let id = format!("prompt-{}", self.calls);
        self.hook(
            "UserPromptSubmit",
            json!({"prompt": prompt, "prompt_id": id}),
        );
    }

    /// The session uses a tool, or asks to.
    pub fn uses(&mut self, tool: &str, input: Value) -> String {
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        let payload = json!({"tool_name": tool, "tool_use_id": call, "tool_input": input});
        self.hook("PreToolUse", payload)
    }

    pub fn runs(&mut self, line: &str) {
        self.uses("Bash", json!({ "command": line }));
    }

    pub fn asks_for(&mut self, agent: &str) -> String {
        let input = json!({"subagent_type": agent, "description": "a piece of work", "prompt": "go"});
        self.uses("Agent", input)
    }

    /// An agent is asked for and begins; it is told what to do.
    pub fn begins(&mut self, agent: &str) {
        self.asks_for(agent);
        let payload = json!({"agent_id": worker(agent), "agent_type": agent});
        self.hook("SubagentStart", payload);
        self.works(agent, "ls");
    }

    /// A worker runs a line in its shell.
    pub fn works(&mut self, agent: &str, line: &str) {
        self.calls += 1;
        let mut payload = json!({
            "tool_name": "Bash", "tool_use_id": format!("call-{}", self.calls),
            "tool_input": {"command": line}, "agent_id": worker(agent), "agent_type": agent,
        });
        self.hook("PreToolUse", payload.clone());
        payload["tool_response"] = json!({});
        self.hook("PostToolUse", payload);
    }

    /// It wants to end, and says this last.
    pub fn ends(&mut self, agent: &str, reply: &str) {
        let payload = json!({
            "agent_id": worker(agent), "agent_type": agent, "last_assistant_message": reply,
            "stop_hook_active": false, "background_tasks": [],
        });
        self.hook("SubagentStop", payload);
    }

    /// The session has its agent back.
    pub fn has_back(&mut self, agent: &str, reply: &str) {
        let payload = json!({
            "tool_name": "Agent", "tool_use_id": "unnamed", "tool_input": {"subagent_type": agent},
            "tool_response": {
                "status": "completed", "agentId": worker(agent), "totalToolUseCount": 1,
                "content": [{"type": "text", "text": reply}],
            },
        });
        self.hook("PostToolUse", payload);
    }

    /// A whole piece of work.
    pub fn calls(&mut self, agent: &str, reply: &str) {
        self.begins(agent);
        self.ends(agent, reply);
        self.has_back(agent, reply);
    }

    pub fn stops(&mut self) {
        let payload = json!({"stop_hook_active": false, "background_tasks": []});
        self.hook("Stop", payload);
    }

    pub fn stops_while_an_agent_works(&mut self) {
        let task = json!({"id": "a", "type": "subagent", "status": "running"});
        let payload = json!({"stop_hook_active": false, "background_tasks": [task]});
        self.hook("Stop", payload);
    }

    /// A person answers a question that the session put to them.
    pub fn is_answered(&mut self, question: &str, answer: &str) {
        let asked = json!([{"question": question, "header": "h", "options": []}]);
        let payload = json!({
            "tool_name": "AskUserQuestion", "tool_use_id": "asked",
            "tool_input": {"questions": asked.clone()},
            "tool_response": {"questions": asked, "answers": {question: answer}},
        });
        self.hook("PostToolUse", payload);
    }

    pub fn leaves(&mut self, path: &str, text: &str) {
        self.project.write(path, text);
    }

    pub fn is_over(&mut self) {
        self.hook("SessionEnd", json!({"reason": "other"}));
    }
}

/// An id as the host gives them.
fn worker(agent: &str) -> String {
    format!("a-{agent}")
}

/// The texts of an answer, one after the other.
fn said(stdout: &str) -> String {
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else {
        return String::new();
    };
    let specific = &answer["hookSpecificOutput"];
    let texts = [
        &specific["permissionDecisionReason"],
        &answer["reason"],
        &specific["additionalContext"],
        &answer["systemMessage"],
    ];
    let texts: Vec<&str> = texts.iter().filter_map(|text| text.as_str()).collect();
    texts.join("\n")
}
