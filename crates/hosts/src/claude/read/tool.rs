//! The payloads around a tool call: before it, after it, and after it failed.

use engine::{Actor, AgentName, StepId, WorkerId};

use super::super::wire::{
    AgentResponse, Answers, Block, Envelope, Question, QuestionResponse, Todo, ToolInput,
};
use super::super::{question, step};
use super::{actor, call};
use crate::hook::field::{self, needed_text, owned};
use crate::hook::{self, Event, Raw, Unreadable, What};
use crate::shell;

pub fn requested(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let tool = needed_text("tool_name", envelope.tool_name)?;
    let nothing = ToolInput::default();
    let input = envelope.tool_input.as_ref().unwrap_or(&nothing);
    let (call, actor) = (call(envelope)?, actor(envelope)?);
    if starts_an_agent(&tool, input) {
        return Ok(What::AgentRequested {
            agent: agent(input),
            step: step(input),
            call,
            actor,
        });
    }
    Ok(match (tool.as_ref(), &actor) {
        ("Workflow", _) => What::WorkflowRequested { actor },
        ("Skill", _) => What::SkillRequested {
            skill: shown(input.skill).trim().trim_start_matches('/').to_owned(),
            call,
            actor,
        },
        ("SendMessage", _) => What::MessageRequested {
            to: shown(input.to.or(input.recipient)),
            call,
            actor,
        },
        // A worker's list is its own; only the session's mirrors the run.
        ("TodoWrite", None) => todos(input).unwrap_or_else(|| ordinary(&tool, input, actor)),
        _ => ordinary(&tool, input, actor),
    })
}

/// The prompt that a scheduling tool would put to the session. When its time has come, it fires the
/// same hooks with the same fields as a prompt that a person types; so it is judged here.
pub fn planted(event: Event, envelope: &Envelope<'_>) -> Option<String> {
    const SCHEDULERS: [&str; 4] = ["Cron", "Schedule", "Wakeup", "Trigger"];
    let tool = hook::text(envelope.tool_name).filter(|_| event == Event::PreToolUse)?;
    let schedules = SCHEDULERS.iter().any(|word| tool.contains(word)) && !is_foreign(&tool);
    let prompt = envelope.tool_input.as_ref().filter(|_| schedules)?.prompt;
    owned(prompt)
}

/// By the payload rather than by the name: the tool was renamed once already.
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

/// A text, or whatever else is there as it was written: it is shown to somebody and matches nothing.
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

/// The files that a call would write. What a foreign tool does is told by its name alone, and a name
/// can lie: the tree and the artifacts are looked at anyway.
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

pub fn used(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let tool = needed_text("tool_name", envelope.tool_name)?;
    let told = match tool.as_ref() {
        "Agent" | "Task" => agent_told(envelope)?,
        "AskUserQuestion" => question_answered(envelope),
        _ => None,
    };
    match told {
        Some(what) => Ok(what),
        None => plainly_used(&tool, envelope),
    }
}

pub fn failed(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let tool = needed_text("tool_name", envelope.tool_name)?;
    match tool.as_ref() {
        "Agent" | "Task" => Ok(What::AgentFailed {
            call: call(envelope)?,
            worker: None,
            reason: shown(envelope.error),
        }),
        _ => plainly_used(&tool, envelope),
    }
}

fn plainly_used(tool: &str, envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    Ok(What::ToolUsed {
        tool: tool.to_owned(),
        actor: actor(envelope)?,
    })
}

/// Did the call begin a worker, or bring one back? An answer of another shape tells nothing: then
/// other witnesses decide.
fn agent_told(envelope: &Envelope<'_>) -> Result<Option<What>, Unreadable> {
    let Some(response) = hook::shape::<AgentResponse<'_>>(envelope.tool_response) else {
        return Ok(None);
    };
    let worker = hook::text(response.agent_id).and_then(|id| WorkerId::parse(&id).ok());
    let call = call(envelope)?;
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

/// The agent's own words, without the blocks that the host puts around them.
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

fn question_answered(envelope: &Envelope<'_>) -> Option<What> {
    let input = envelope.tool_input.as_ref()?;
    let response = hook::shape::<QuestionResponse<'_>>(envelope.tool_response);
    let given = response
        .and_then(|response| response.answers)
        .or(input.answers);
    let given: Answers = hook::shape(given)?;
    let questions: Vec<Question> = hook::shape(input.questions).unwrap_or_default();
    let answers = question::answers(&questions, given);
    (!answers.is_empty()).then_some(What::QuestionAnswered { answers })
}
