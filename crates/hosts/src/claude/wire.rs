//! The shapes of Claude Code's JSON: the only place that knows the names of its fields.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::hook::Raw;

/// A hook's input.
#[derive(Deserialize)]
pub(super) struct HookInput<'a> {
    #[serde(borrow)]
    pub session_id: Raw<'a>,
    pub hook_event_name: Raw<'a>,
    pub cwd: Raw<'a>,
    pub transcript_path: Raw<'a>,
    pub prompt_id: Raw<'a>,
    pub agent_id: Raw<'a>,
    pub agent_type: Raw<'a>,
    pub source: Raw<'a>,
    pub reason: Raw<'a>,
    pub prompt: Raw<'a>,
    pub expansion_type: Raw<'a>,
    pub command_name: Raw<'a>,
    pub command_args: Raw<'a>,
    pub tool_name: Raw<'a>,
    pub tool_use_id: Raw<'a>,
    pub tool_input: Option<ToolInput<'a>>,
    pub tool_response: Raw<'a>,
    pub error: Raw<'a>,
    pub last_assistant_message: Raw<'a>,
    pub background_tasks: Raw<'a>,
    pub task_subject: Raw<'a>,
    pub file_path: Raw<'a>,
}

/// The arguments of tool calls that we use, for all tools.
#[derive(Default, Deserialize)]
pub(super) struct ToolInput<'a> {
    #[serde(borrow)]
    pub subagent_type: Raw<'a>,
    pub model: Raw<'a>,
    pub description: Raw<'a>,
    pub prompt: Raw<'a>,
    pub skill: Raw<'a>,
    pub to: Raw<'a>,
    pub recipient: Raw<'a>,
    pub summary: Raw<'a>,
    pub message: Raw<'a>,
    pub file_path: Raw<'a>,
    pub notebook_path: Raw<'a>,
    pub content: Raw<'a>,
    pub old_string: Raw<'a>,
    pub new_string: Raw<'a>,
    pub replace_all: Raw<'a>,
    pub edits: Raw<'a>,
    pub path: Raw<'a>,
    pub source: Raw<'a>,
    pub destination: Raw<'a>,
    pub command: Raw<'a>,
    pub todos: Raw<'a>,
    pub questions: Raw<'a>,
    pub answers: Raw<'a>,
}

/// One of several edits of a file.
#[derive(Deserialize)]
pub(super) struct Edit {
    pub old_string: String,
    pub new_string: String,
    #[serde(default)]
    pub replace_all: bool,
}

/// The result of the Agent tool.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentResponse<'a> {
    #[serde(borrow)]
    pub status: Raw<'a>,
    pub agent_id: Raw<'a>,
    pub content: Raw<'a>,
    pub total_tool_use_count: Raw<'a>,
    pub total_tokens: Raw<'a>,
    /// How many blocks before and after the agent's text come from the host.
    pub harness_note_count: Raw<'a>,
    pub harness_tail_count: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow)]
    pub text: Raw<'a>,
}

/// The result of the question tool.
#[derive(Deserialize)]
pub(super) struct QuestionResponse<'a> {
    #[serde(borrow)]
    pub questions: Raw<'a>,
    pub answers: Raw<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Question {
    pub question: String,
    #[serde(default)]
    pub multi_select: bool,
    #[serde(default)]
    pub options: Vec<QuestionOption>,
}

#[derive(Deserialize)]
pub(super) struct QuestionOption {
    pub label: String,
}

/// Several labels may come as one text, joined by commas.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum AnswerValue {
    One(String),
    Many(Vec<String>),
}

pub(super) type Answers = BTreeMap<String, AnswerValue>;

#[derive(Deserialize)]
pub(super) struct Todo<'a> {
    #[serde(borrow)]
    pub content: Raw<'a>,
    pub status: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct BackgroundTask<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Raw<'a>,
    pub status: Raw<'a>,
}

/// A status line's input.
#[derive(Deserialize)]
pub(super) struct Statusline<'a> {
    #[serde(borrow)]
    pub session_id: Raw<'a>,
    pub cwd: Raw<'a>,
    pub version: Raw<'a>,
    pub workspace: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct Workspace<'a> {
    #[serde(borrow)]
    pub project_dir: Raw<'a>,
}

/// One line of its own record of a conversation.
#[derive(Deserialize)]
pub(super) struct RecordLine<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Raw<'a>,
    pub timestamp: Raw<'a>,
    pub message: Raw<'a>,
}

/// A line of the record about a scheduled prompt.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScheduleLine<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Raw<'a>,
    pub subtype: Raw<'a>,
    pub uuid: Raw<'a>,
    pub prompt: Raw<'a>,
    pub timestamp: Raw<'a>,
    pub scheduled_fire_id: Raw<'a>,
}

/// A line of the record with the result of a question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AnsweredLine<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Raw<'a>,
    pub message: Raw<'a>,
    pub tool_use_result: Raw<'a>,
    pub permission_decision: Raw<'a>,
}

/// Who decided that a call may run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionRecord<'a> {
    #[serde(borrow)]
    pub decision: Raw<'a>,
    pub source: Raw<'a>,
    pub reason_type: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct RecordMessage<'a> {
    #[serde(borrow)]
    pub content: Raw<'a>,
}

/// A part of a message: a call, the result of one, or a text.
#[derive(Deserialize)]
pub(super) struct RecordPart<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Raw<'a>,
    pub id: Raw<'a>,
    pub name: Raw<'a>,
    pub tool_use_id: Raw<'a>,
    pub is_error: Raw<'a>,
    pub content: Raw<'a>,
    pub text: Raw<'a>,
}
