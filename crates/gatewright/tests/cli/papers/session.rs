//! A session of Claude Code, played by its hooks: they are run as the host runs them, and what they
//! answer is what a session hears.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Project, Ran};

use crate::answer_record::{self, BY_PERSON};

pub(super) struct Session<'p> {
    project: &'p Project,
    id: &'static str,
    /// How many calls and prompts there were: each has a number of its own.
    calls: u32,
    /// Which workers have begun, the latest last.
    workers: Vec<(String, String)>,
    /// Everything that was said to the session, its workers and its person.
    pub heard: String,
}

impl<'p> Session<'p> {
    pub(super) fn new(project: &'p Project, id: &'static str) -> Self {
        Self {
            project,
            id,
            calls: 0,
            workers: Vec::new(),
            heard: String::new(),
        }
    }

    /// Runs the hook with this payload, to which the session is added.
    pub(super) fn hook(&mut self, event: &str, mut payload: Value) -> String {
        payload["session_id"] = json!(self.id);
        payload["cwd"] = json!(self.project.path());
        payload["hook_event_name"] = json!(event);
        payload["transcript_path"] = json!(self.record());
        let ran = self.fed(event, &payload.to_string());
        let said = said(&ran.stdout);
        self.heard.push_str(&said);
        self.heard.push('\n');
        said
    }

    /// Runs the hook with this input, as it was written for a reader. The hook is a child of the host,
    /// and so it is of this test.
    pub(super) fn fed(&self, event: &str, input: &str) -> Ran {
        let input = input
            .replace("2f1fc5dc-…", self.id)
            .replace("/home/ada/hello", self.project.path().to_str().unwrap());
        let mut command = self.project.child(["hook", "claude", event]);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", self.id)
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("CLAUDE_PROJECT_DIR", self.project.path());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the hook can be started");
        let mut pipe = child.stdin.take().expect("the input is a pipe");
        let _ = pipe.write_all(input.as_bytes());
        drop(pipe);
        Ran::from(child.wait_with_output().expect("the hook ends"))
    }

    pub(super) fn starts(&mut self, source: &str) {
        self.hook("SessionStart", json!({ "source": source }));
    }

    /// A person types this. Of a slash command the host tells twice, under one number.
    pub(super) fn types(&mut self, prompt: &str) {
        self.calls += 1;
        let id = format!("prompt-{}", self.calls);
        let payload = json!({"prompt": prompt, "prompt_id": id});
        self.hook("UserPromptSubmit", payload.clone());
        let Some(command) = prompt.strip_prefix('/') else {
            return;
        };
        let (name, arguments) = command.split_once(' ').unwrap_or((command, ""));
        let mut payload = payload;
        payload["expansion_type"] = json!("slash_command");
        payload["command_name"] = json!(name);
        payload["command_args"] = json!(arguments);
        self.hook("UserPromptExpansion", payload);
    }

    /// The session uses a tool, or asks to.
    pub(super) fn uses(&mut self, tool: &str, input: Value) -> String {
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        let payload = json!({"tool_name": tool, "tool_use_id": call, "tool_input": input});
        self.hook("PreToolUse", payload)
    }

    pub(super) fn runs(&mut self, line: &str) {
        self.uses("Bash", json!({ "command": line }));
    }

    pub(super) fn asks_for(&mut self, agent: &str) -> String {
        let input =
            json!({"subagent_type": agent, "description": "a piece of work", "prompt": "go"});
        self.uses("Agent", input)
    }

    /// Requests and starts an agent; the agent gets its briefing.
    pub(super) fn begins(&mut self, agent: &str) {
        self.asks_for(agent);
        let worker = format!("a-{agent}-{}", self.calls);
        self.workers.push((agent.to_owned(), worker));
        let payload = json!({"agent_id": self.worker(agent), "agent_type": agent});
        self.hook("SubagentStart", payload);
        self.works(agent, "ls");
    }

    /// The latest worker of this name; one that never began has an id, too.
    fn worker(&self, agent: &str) -> String {
        let mut known = self.workers.iter().rev();
        let known = known.find(|(name, _)| name == agent);
        known.map_or_else(|| format!("a-{agent}"), |(_, worker)| worker.clone())
    }

    /// A worker runs a line in its shell.
    pub(super) fn works(&mut self, agent: &str, line: &str) {
        self.calls += 1;
        let mut payload = json!({
            "tool_name": "Bash", "tool_use_id": format!("call-{}", self.calls),
            "tool_input": {"command": line}, "agent_id": self.worker(agent), "agent_type": agent,
        });
        self.hook("PreToolUse", payload.clone());
        payload["tool_response"] = json!({});
        self.hook("PostToolUse", payload);
    }

    /// The agent tries to stop, with this last message.
    pub(super) fn ends(&mut self, agent: &str, reply: &str) {
        let payload = json!({
            "agent_id": self.worker(agent), "agent_type": agent, "last_assistant_message": reply,
            "stop_hook_active": false, "background_tasks": [],
        });
        self.hook("SubagentStop", payload);
    }

    /// The session has its agent back.
    pub(super) fn has_back(&mut self, agent: &str, reply: &str) {
        let payload = json!({
            "tool_name": "Agent", "tool_use_id": "unnamed", "tool_input": {"subagent_type": agent},
            "tool_response": {
                "status": "completed", "agentId": self.worker(agent), "totalToolUseCount": 1,
                "content": [{"type": "text", "text": reply}],
            },
        });
        self.hook("PostToolUse", payload);
    }

    /// A whole piece of work.
    pub(super) fn calls(&mut self, agent: &str, reply: &str) {
        self.begins(agent);
        self.ends(agent, reply);
        self.has_back(agent, reply);
    }

    pub(super) fn stops(&mut self) {
        let payload = json!({"stop_hook_active": false, "background_tasks": []});
        self.hook("Stop", payload);
    }

    pub(super) fn stops_while_an_agent_works(&mut self) {
        let task = json!({"id": "a", "type": "subagent", "status": "running"});
        let payload = json!({"stop_hook_active": false, "background_tasks": [task]});
        self.hook("Stop", payload);
    }

    /// A person answers a question that the session put to them. Afterwards the host writes it down.
    pub(super) fn is_answered(&mut self, question: &str, answer: &str) {
        let asked = json!([{"question": question, "header": "h", "options": []}]);
        let told = json!({"questions": asked.clone(), "answers": {question: answer}});
        let payload = json!({
            "tool_name": "AskUserQuestion", "tool_use_id": "asked",
            "tool_input": {"questions": asked},
            "tool_response": told,
        });
        self.hook("PostToolUse", payload);
        let line = answer_record::line("asked", &told, BY_PERSON);
        std::fs::write(self.record(), line).expect("written");
    }

    /// The host's own record of the conversation.
    fn record(&self) -> PathBuf {
        self.project.home().join(format!("{}.jsonl", self.id))
    }

    /// A file that somebody leaves in the project.
    pub(super) fn leaves(&mut self, path: &str, text: &str) {
        self.project.write(path, text);
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    /// What a command of ours prints, which the session runs in its shell.
    fn command<const N: usize>(&self, words: [&str; N]) -> String {
        let ran = self.project.run(words);
        format!("{}{}", ran.stdout, ran.stderr)
    }

    /// The session runs the commands of a check, as Gatewright tells it to.
    pub(super) fn checks(&mut self) {
        let told = self.command(["check"]);
        self.heard.push_str(&told);
    }

    pub(super) fn is_over(&mut self) {
        self.hook("SessionEnd", json!({"reason": "other"}));
    }
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
