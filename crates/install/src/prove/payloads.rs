//! Writes the hook payloads that Claude Code sends.
//!
//! The shapes are those of recorded payloads, with the fields that a hook could read.

use std::path::{Path, PathBuf};

use engine::{DispatchId, StepId};
use hosts::Event;
use serde_json::{Map, Value, json};

/// The input of one hook call.
#[derive(Clone, Debug)]
pub struct HookPayload {
    pub event: Event,
    /// In a few words, for people.
    pub what: String,
    pub bytes: Vec<u8>,
}

/// An agent at work, with the host's ids.
#[derive(Clone, Debug)]
pub(super) struct SimulatedWorker {
    pub agent: String,
    pub call: String,
    pub id: String,
    pub step: Option<StepId>,
    /// The model that the call names, as the session is asked to.
    pub model: Option<String>,
    /// Its dispatch, if another program than the host runs it.
    pub dispatch: Option<DispatchId>,
    /// Whether such a worker has used a tool.
    pub has_worked: bool,
}

/// Writes the payloads of one session.
#[derive(Clone, Debug)]
pub(super) struct PayloadWriter {
    pub session: String,
    pub project: PathBuf,
    /// Changes with every prompt of a person.
    pub prompt: u32,
}

/// Whether agents work in the background when the session stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Background {
    Nobody,
    Somebody,
}

impl PayloadWriter {
    fn payload(&self, event: Event, what: String, fields: Value) -> HookPayload {
        let transcript = self.record();
        let mut object = json!({
            "session_id": self.session,
            "transcript_path": transcript.to_string_lossy(),
            "cwd": self.project.to_string_lossy(),
            "prompt_id": format!("prompt-{}", self.prompt),
            "permission_mode": "default",
            "hook_event_name": event.word(),
        });
        if let (Value::Object(all), Value::Object(fields)) = (&mut object, fields) {
            all.extend(fields);
        }
        let what = if what.is_empty() {
            event.word().to_owned()
        } else {
            format!("{} {what}", event.word())
        };
        HookPayload {
            event,
            what,
            bytes: object.to_string().into_bytes(),
        }
    }

    /// The host's own record of the conversation.
    pub(super) fn record(&self) -> PathBuf {
        let name = format!("{}.jsonl", self.session);
        self.project.with_file_name(name)
    }

    pub(super) fn session_start(&self, source: &str) -> HookPayload {
        let what = format!("({source})");
        self.payload(Event::SessionStart, what, json!({ "source": source }))
    }

    pub(super) fn command(&self, name: &str, arguments: &str) -> HookPayload {
        let typed = format!("/{name} {arguments}");
        let fields = json!({
            "expansion_type": "slash_command",
            "command_name": name,
            "command_args": arguments,
            "command_source": "projectSettings",
            "prompt": typed.trim_end(),
        });
        let what = format!("{:?}", typed.trim_end());
        self.payload(Event::UserPromptExpansion, what, fields)
    }

    pub(super) fn agent(&self, worker: &SimulatedWorker) -> HookPayload {
        let fields = json!({
            "tool_name": "Agent",
            "tool_input": agent_input(worker),
            "tool_use_id": worker.call,
        });
        let step = worker.step.as_ref();
        let step = step.map_or(String::new(), |step| format!(" for step {step}"));
        self.payload(
            Event::PreToolUse,
            format!("Agent '{}'{step}", worker.agent),
            fields,
        )
    }

    pub(super) fn agent_began(&self, worker: &SimulatedWorker) -> HookPayload {
        let what = format!("'{}'", worker.agent);
        self.payload(Event::SubagentStart, what, actor(worker))
    }

    /// `reply` is the last message of the agent.
    pub(super) fn agent_stops(&self, worker: &SimulatedWorker, reply: Option<&str>) -> HookPayload {
        let mut fields = actor(worker);
        fields["stop_hook_active"] = Value::Bool(false);
        fields["background_tasks"] = json!([]);
        if let Some(reply) = reply {
            fields["last_assistant_message"] = reply.into();
        }
        self.payload(Event::SubagentStop, format!("'{}'", worker.agent), fields)
    }

    pub(super) fn agent_returned(
        &self,
        worker: &SimulatedWorker,
        reply: Option<&str>,
        tool_uses: u64,
    ) -> HookPayload {
        let content = reply.map(|reply| json!({ "type": "text", "text": reply }));
        let content: Vec<Value> = content.into_iter().collect();
        let fields = json!({
            "tool_name": "Agent",
            "tool_input": agent_input(worker),
            "tool_response": {
                "status": "completed",
                "agentId": worker.id,
                "agentType": worker.agent,
                "harnessNoteCount": 0,
                "harnessTailCount": 0,
                "content": content,
                "totalDurationMs": 1,
                "totalTokens": 1,
                "totalToolUseCount": tool_uses,
            },
            "tool_use_id": worker.call,
        });
        self.payload(
            Event::PostToolUse,
            format!("Agent '{}'", worker.agent),
            fields,
        )
    }

    pub(super) fn agent_failed(&self, worker: &SimulatedWorker) -> HookPayload {
        let fields = json!({
            "tool_name": "Agent",
            "tool_input": agent_input(worker),
            "tool_use_id": worker.call,
            "error": "Agent terminated early due to an API error",
            "is_interrupt": false,
        });
        self.payload(
            Event::PostToolUseFailure,
            format!("Agent '{}'", worker.agent),
            fields,
        )
    }

    pub(super) fn tool(
        &self,
        by: Option<&SimulatedWorker>,
        tool: &str,
        input: &Value,
    ) -> HookPayload {
        self.around_tool(Event::PreToolUse, by, tool, input)
    }

    pub(super) fn tool_used(
        &self,
        by: Option<&SimulatedWorker>,
        tool: &str,
        input: &Value,
    ) -> HookPayload {
        self.around_tool(Event::PostToolUse, by, tool, input)
    }

    fn around_tool(
        &self,
        event: Event,
        by: Option<&SimulatedWorker>,
        tool: &str,
        input: &Value,
    ) -> HookPayload {
        let mut fields = by.map_or_else(|| json!({}), actor);
        fields["tool_name"] = tool.into();
        fields["tool_input"] = input.clone();
        fields["tool_use_id"] = format!("toolu_prove_{tool}").into();
        if event == Event::PostToolUse {
            fields["tool_response"] = json!({ "type": "create" });
        }
        let who = by.map_or(String::new(), |worker| format!(" by '{}'", worker.agent));
        let touched = ["file_path", "command"];
        let touched = touched.iter().find_map(|name| input.get(name)?.as_str());
        let touched = touched.map_or(String::new(), |touched| format!(" {}", self.short(touched)));
        self.payload(event, format!("{tool}{who}{touched}"), fields)
    }

    /// Removes the path of the sandbox.
    fn short(&self, text: &str) -> String {
        let project = format!("{}/", self.project.display());
        text.replace(&project, "")
    }

    pub(super) fn answered(&self, answered: &AnsweredQuestion<'_>) -> HookPayload {
        let told = answered.told();
        let fields = json!({
            "tool_name": "AskUserQuestion",
            "tool_input": told,
            "tool_response": told,
            "tool_use_id": answered.call,
        });
        let AnsweredQuestion {
            question, answer, ..
        } = answered;
        let what = format!("AskUserQuestion {question:?} {answer:?}");
        self.payload(Event::PostToolUse, what, fields)
    }

    pub(super) fn stop(&self, background: Background) -> HookPayload {
        let (tasks, what) = match background {
            Background::Nobody => (json!([]), ""),
            Background::Somebody => {
                let task = json!({ "id": "a1", "type": "subagent", "status": "running" });
                (json!([task]), "(agents at work in the background)")
            }
        };
        let fields = json!({
            "stop_hook_active": false,
            "last_assistant_message": "That is all.",
            "background_tasks": tasks,
        });
        self.payload(Event::Stop, what.to_owned(), fields)
    }

    pub(super) fn config_changed(&self, file: &Path) -> HookPayload {
        let fields = json!({
            "source": "local_settings",
            "file_path": file.to_string_lossy(),
        });
        self.payload(Event::ConfigChange, String::new(), fields)
    }

    /// A payload that no host sends.
    pub(super) fn raw(event: Event, what: &str, bytes: Vec<u8>) -> HookPayload {
        HookPayload {
            event,
            what: format!("{} {what}", event.word()),
            bytes,
        }
    }
}

/// A question of the session that has an answer.
pub(super) struct AnsweredQuestion<'a> {
    pub call: String,
    pub question: &'a str,
    pub labels: &'a [&'a str],
    pub answer: &'a str,
}

/// Who answered a question of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnsweredBy {
    Person,
    /// A hook of another program.
    Hook,
}

impl AnsweredQuestion<'_> {
    fn told(&self) -> Value {
        let labels = self.labels.iter();
        let options = labels.map(|label| json!({ "label": label, "description": label }));
        let asked = json!([{
            "question": self.question,
            "header": "Question",
            "options": options.collect::<Vec<_>>(),
            "multiSelect": false,
        }]);
        let mut answers = Map::new();
        answers.insert(self.question.to_owned(), self.answer.into());
        json!({ "questions": asked, "answers": answers })
    }

    /// The line that the host writes into its record after the hooks.
    pub(super) fn record_line(&self, by: AnsweredBy) -> String {
        let decision = match by {
            AnsweredBy::Person => json!({ "decision": "accept", "source": "user_temporary" }),
            AnsweredBy::Hook => {
                json!({ "decision": "accept", "source": "hook", "reasonType": "hook" })
            }
        };
        let result = json!({ "type": "tool_result", "tool_use_id": self.call });
        let line = json!({
            "type": "user",
            "message": { "role": "user", "content": [result] },
            "toolUseResult": self.told(),
            "permissionDecision": decision,
        });
        format!("{line}\n")
    }
}

fn actor(worker: &SimulatedWorker) -> Value {
    json!({ "agent_id": worker.id, "agent_type": worker.agent })
}

fn agent_input(worker: &SimulatedWorker) -> Value {
    let prompt = match &worker.step {
        Some(step) => format!("step: {step}\nDo it."),
        None => "Do it.".to_owned(),
    };
    let mut input = json!({
        "description": "a piece of work",
        "prompt": prompt,
        "subagent_type": worker.agent,
    });
    if let Some(model) = &worker.model {
        input["model"] = model.as_str().into();
    }
    input
}
