//! The payloads around a tool call: before it, after it, and after it failed.

use engine::{Actor, AgentName, StepId, WorkerId};

use super::super::wire::{
    AgentResponse, Answers, Block, Edit, HookInput, Question, QuestionResponse, Todo, ToolInput,
};
use super::super::{question, step};
use super::{actor, call};
use crate::hook::field::{self, needed_text, owned};
use crate::hook::{self, Event, FileEdit, Message, PayloadError, Raw, Replacement, What};
use crate::shell;

pub(super) fn requested(input: &HookInput<'_>) -> Result<What, PayloadError> {
    let tool = needed_text("tool_name", input.tool_name)?;
    let nothing = ToolInput::default();
    let given = input.tool_input.as_ref().unwrap_or(&nothing);
    let (call, actor) = (call(input)?, actor(input)?);
    if starts_an_agent(&tool, given) {
        return Ok(What::AgentRequested {
            agent: agent(given),
            step: step(given),
            model: owned(given.model),
            call,
            actor,
        });
    }
    Ok(match (tool.as_ref(), &actor) {
        ("Workflow", _) => What::WorkflowRequested { actor },
        ("Skill", _) => What::SkillRequested {
            skill: shown(given.skill).trim().trim_start_matches('/').to_owned(),
            call,
            actor,
        },
        ("SendMessage", _) => What::MessageRequested {
            message: Message {
                to: shown(given.to.or(given.recipient)),
                summary: owned(given.summary),
                text: owned(given.message),
            },
            call,
            actor,
        },
        // Only the to-do list of the session mirrors the run; workers have their own.
        ("TodoWrite", None) => todos(given).unwrap_or_else(|| ordinary(&tool, given, actor)),
        _ => ordinary(&tool, given, actor),
    })
}

/// The prompt that a scheduling tool would submit to the session later. Then it would fire the same
/// hooks with the same fields as a prompt that a person types, so we must judge it now.
pub(super) fn scheduled_prompt(event: Event, input: &HookInput<'_>) -> Option<String> {
    const SCHEDULERS: [&str; 4] = ["Cron", "Schedule", "Wakeup", "Trigger"];
    let tool = hook::text(input.tool_name).filter(|_| event == Event::PreToolUse)?;
    let schedules = SCHEDULERS.iter().any(|word| tool.contains(word)) && !is_foreign(&tool);
    let prompt = input.tool_input.as_ref().filter(|_| schedules)?.prompt;
    owned(prompt)
}

/// What a call makes of the file that it names, if the name is like that of a settings file. A field of
/// another type than expected tells nothing.
pub(super) fn edit(event: Event, input: &HookInput<'_>) -> Option<FileEdit> {
    let given = input.tool_input.as_ref()?;
    let path = owned(given.file_path).filter(|_| event == Event::PreToolUse)?;
    let name = path.rsplit('/').next().unwrap_or_default();
    if !SETTINGS.contains(&name) {
        return None;
    }
    match hook::text(input.tool_name)?.as_ref() {
        "Write" => owned(given.content).map(FileEdit::Written),
        "Edit" => {
            let replacement = Replacement {
                old: owned(given.old_string)?,
                new: owned(given.new_string)?,
                everywhere: match given.replace_all {
                    None => false,
                    Some(raw) => serde_json::from_str(raw.get()).ok()?,
                },
            };
            Some(FileEdit::Replaced(vec![replacement]))
        }
        "MultiEdit" => {
            let edits: Vec<Edit> = serde_json::from_str(given.edits?.get()).ok()?;
            let edits = edits.into_iter().map(|edit| Replacement {
                old: edit.old_string,
                new: edit.new_string,
                everywhere: edit.replace_all,
            });
            Some(FileEdit::Replaced(edits.collect()))
        }
        _ => None,
    }
}

/// The names of settings files.
const SETTINGS: [&str; 2] = ["settings.json", "settings.local.json"];

/// Decided by the payload rather than the name: the tool was renamed once already.
fn starts_an_agent(tool: &str, input: &ToolInput<'_>) -> bool {
    matches!(tool, "Agent" | "Task") || input.subagent_type.is_some() && !is_foreign(tool)
}

/// A tool of an MCP server.
fn is_foreign(tool: &str) -> bool {
    tool.starts_with("mcp__")
}

fn agent(input: &ToolInput<'_>) -> Result<AgentName, String> {
    match (input.subagent_type, hook::text(input.subagent_type)) {
        (None, _) => hook::agent_name(hook::UNNAMED),
        (Some(_), Some(name)) => hook::agent_name(&name),
        (Some(raw), None) => Err(raw.get().to_owned()),
    }
}

fn step(input: &ToolInput<'_>) -> Option<StepId> {
    let description = hook::text(input.description).unwrap_or_default();
    step::step(&description, &hook::text(input.prompt).unwrap_or_default())
}

/// The text of a field, or its raw JSON if it is not a string. For display only.
fn shown(raw: Raw<'_>) -> String {
    let written = || raw.map(|raw| raw.get().to_owned());
    owned(raw).or_else(written).unwrap_or_default()
}

fn todos(input: &ToolInput<'_>) -> Option<What> {
    let todos: Vec<Todo<'_>> = hook::shape(input.todos)?;
    let done = todos
        .iter()
        .filter(|todo| hook::text(todo.status).as_deref() == Some("completed"));
    let done: Vec<_> = done.filter_map(|todo| owned(todo.content)).collect();
    (!done.is_empty()).then_some(What::TodosMarked { done })
}

fn ordinary(tool: &str, input: &ToolInput<'_>, actor: Option<Actor>) -> What {
    let command = if is_foreign(tool) {
        None
    } else {
        input.command
    };
    What::ToolRequested {
        tool: tool.to_owned(),
        actor,
        paths: written_paths(tool, input),
        command: hook::text(command).map(|text| shell::beginning(&text).to_owned()),
    }
}

/// The files that a call would write. For an MCP tool only its name says that it writes, and a name can
/// lie, so the tree and the artifacts are checked as well.
fn written_paths(tool: &str, input: &ToolInput<'_>) -> Vec<String> {
    let named = [input.file_path, input.notebook_path];
    let foreign = [input.path, input.source, input.destination];
    let named: Vec<_> = match tool {
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => named.to_vec(),
        _ if is_foreign(tool) && field::is_writer(tool) => {
            named.into_iter().chain(foreign).collect()
        }
        _ => Vec::new(),
    };
    named.into_iter().filter_map(owned).collect()
}

pub(super) fn used(input: &HookInput<'_>) -> Result<What, PayloadError> {
    let tool = needed_text("tool_name", input.tool_name)?;
    let what = match tool.as_ref() {
        "Agent" | "Task" => agent_result(input)?,
        "AskUserQuestion" => question_answered(input),
        _ => None,
    };
    match what {
        Some(what) => Ok(what),
        None => plainly_used(&tool, input),
    }
}

pub(super) fn failed(input: &HookInput<'_>) -> Result<What, PayloadError> {
    let tool = needed_text("tool_name", input.tool_name)?;
    match tool.as_ref() {
        "Agent" | "Task" => Ok(What::AgentFailed {
            call: call(input)?,
            worker: None,
            reason: shown(input.error),
        }),
        _ => plainly_used(&tool, input),
    }
}

fn plainly_used(tool: &str, input: &HookInput<'_>) -> Result<What, PayloadError> {
    Ok(What::ToolUsed {
        tool: tool.to_owned(),
        actor: actor(input)?,
    })
}

/// Did the call start a worker, or return from one? A response of another shape proves neither: then
/// other witnesses decide.
fn agent_result(input: &HookInput<'_>) -> Result<Option<What>, PayloadError> {
    let Some(response) = hook::shape::<AgentResponse<'_>>(input.tool_response) else {
        return Ok(None);
    };
    let worker = hook::text(response.agent_id).and_then(|id| WorkerId::parse(&id).ok());
    let call = call(input)?;
    let status = hook::text(response.status).unwrap_or_default();
    Ok(match (status.as_ref(), call, worker) {
        ("completed", call, worker) => Some(What::AgentReturned {
            call,
            worker,
            reply: reply(&response),
            tool_uses: hook::shape(response.total_tool_use_count),
            tokens: hook::shape(response.total_tokens),
        }),
        (_, Some(call), Some(worker)) => Some(What::AgentLaunched { call, worker }),
        _ => None,
    })
}

/// The agent's text, without the blocks that the host puts around it.
fn reply(response: &AgentResponse<'_>) -> Option<String> {
    let blocks: Vec<Block<'_>> = hook::shape(response.content)?;
    let count = |raw| hook::shape::<usize>(raw).unwrap_or(0);
    let notes = count(response.harness_note_count).min(blocks.len());
    let tail = blocks
        .len()
        .saturating_sub(count(response.harness_tail_count));
    let own = blocks.get(notes..tail.max(notes))?;
    let texts: Vec<_> = own
        .iter()
        .filter_map(|block| hook::text(block.text))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn question_answered(input: &HookInput<'_>) -> Option<What> {
    let asked = input.tool_input.as_ref()?;
    let response = hook::shape::<QuestionResponse<'_>>(input.tool_response);
    let given = response
        .and_then(|response| response.answers)
        .or(asked.answers);
    let given: Answers = hook::shape(given)?;
    let questions: Vec<Question> = hook::shape(asked.questions).unwrap_or_default();
    let answers = question::answers(&questions, given);
    (!answers.is_empty()).then_some(What::QuestionAnswered { answers })
}
