//! One hook payload of Codex, read into what it says.
//!
//! Its payloads are Claude Code's but for its tools: a patch is a tool of its own, and an agent is
//! started by another one.

use engine::Actor;

use super::wire::{self, ToolInput};
use crate::claude::{self, Event};
use crate::payload::{Background, Payload, Unreadable, What};

/// How a patch names the files that it changes.
const CHANGES: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

pub fn read(named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), Unreadable> {
    let (event, payload) = claude::read(named, stdin)?;
    let What::ToolRequested { tool, actor, .. } = &payload.what else {
        return Ok((event, payload));
    };
    let call: wire::Call<'_> = claude::input(stdin)?;
    let what = match tool.as_str() {
        "spawn_agent" => spawned(&call, actor.clone()),
        tool => requested(tool, &call.tool_input, actor.clone()),
    };
    Ok((event, Payload { what, ..payload }))
}

fn spawned(call: &wire::Call<'_>, actor: Option<Actor>) -> What {
    let agent = claude::owned(call.tool_input.agent_type);
    let id = claude::owned(call.tool_use_id);
    What::AgentRequested {
        agent: claude::agent_name(agent.as_deref().unwrap_or(claude::UNNAMED)),
        step: None,
        call: id.and_then(|id| engine::CallId::parse(&id).ok()),
        actor,
        background: Background::Unsaid,
    }
}

/// A patch stands where a command would, and may also stand in one.
fn requested(tool: &str, input: &ToolInput<'_>, actor: Option<Actor>) -> What {
    let text = claude::text(input.command).unwrap_or_default();
    let command = match tool {
        "apply_patch" => None,
        _ => input.command.map(|_| claude::beginning(&text).to_owned()),
    };
    What::ToolRequested {
        tool: tool.to_owned(),
        actor,
        paths: patched(&text),
        command,
    }
}

/// The files that a patch changes, wherever it stands in the text.
fn patched(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let named = lines.filter_map(|line| {
        let mut marks = CHANGES.iter();
        marks.find_map(|mark| line.strip_prefix(mark))
    });
    named.map(|path| path.trim().to_owned()).collect()
}
