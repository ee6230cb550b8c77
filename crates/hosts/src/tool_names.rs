//! Tool names across programs: each program has its own name for the same tool, and a stage names it once.

use std::borrow::Cow;

use crate::descriptor::ToolNames;
use crate::hook::What;
use crate::program::Program;

/// The purposes of tools. A tool with two purposes counts as the first.
const USES: [fn(&ToolNames) -> &'static [&'static str]; 11] = [
    |names| names.agent,
    |names| names.shell,
    |names| names.write,
    |names| names.edit,
    |names| names.read,
    |names| names.find_files,
    |names| names.list_folder,
    |names| names.search_text,
    |names| names.fetch,
    |names| names.search_web,
    |names| names.to_do_list,
];

/// Every name of this tool, beginning with the given one. An MCP tool also has the name that
/// [`Program::DEFAULT`] uses.
pub fn all(tool: &str) -> Vec<Cow<'_, str>> {
    let uses = USES.iter().filter(|names| has(names, tool));
    let same = uses.flat_map(|names| programs().flat_map(names));
    let same = same.map(|name| Cow::Borrowed(*name));
    let own = std::iter::once(Cow::Borrowed(tool));
    own.chain(same).chain(usual_foreign(tool)).collect()
}

/// The name that [`Program::DEFAULT`] uses.
pub fn usual(tool: &str) -> &str {
    let mut uses = USES.iter();
    let names = uses.find(|names| has(names, tool));
    let first = names.and_then(|names| names(Program::DEFAULT.tools()).first());
    first.copied().unwrap_or(tool)
}

/// The tool that a payload asks for, by the name that [`Program::DEFAULT`] uses. A payload that asks for
/// no tool is judged as if it asked for one without a name.
pub fn requested(what: &What) -> &str {
    let names = Program::DEFAULT.tools();
    let known = match what {
        What::ToolRequested { tool, .. } => return tool,
        What::AgentRequested { .. } => names.agent,
        What::SkillRequested { .. } => names.skill,
        What::WorkflowRequested { .. } => names.workflow,
        What::MessageRequested { .. } => names.message,
        What::TodosMarked { .. } => names.to_do_list,
        What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
        | What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::AgentReturned { .. }
        | What::AgentFailed { .. }
        | What::AgentNotified { .. }
        | What::AgentBegan { .. }
        | What::AgentStopping { .. }
        | What::ToolUsed { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => &[],
    };
    known.first().copied().unwrap_or(UNNAMED)
}

const UNNAMED: &str = "a tool";

/// Can this tool change a file?
pub fn may_write(tool: &str) -> bool {
    !Program::DEFAULT.tools().only_read.contains(&usual(tool))
}

/// Does this tool run commands?
pub fn is_shell(tool: &str) -> bool {
    programs().any(|names| names.shell.contains(&tool))
}

fn programs() -> impl Iterator<Item = &'static ToolNames> {
    Program::ALL.into_iter().map(Program::tools)
}

fn has(names: &fn(&ToolNames) -> &'static [&'static str], tool: &str) -> bool {
    programs().any(|of| names(of).contains(&tool))
}

fn usual_foreign(tool: &str) -> Option<Cow<'_, str>> {
    let usual = Program::DEFAULT.tools().foreign_prefix;
    let short = programs().find(|names| tool.starts_with(names.foreign_prefix))?;
    let rest = tool.strip_prefix(short.foreign_prefix)?;
    (!tool.starts_with(usual)).then(|| Cow::Owned(format!("{usual}{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_the_names_of_all_programs() {
        for (tool, usual_name, others) in [
            (
                "spawn_agent",
                "Agent",
                "Agent Task spawn_agent invoke_agent",
            ),
            ("Edit", "Edit", "Edit apply_patch replace"),
            (
                "apply_patch",
                "Write",
                "Write apply_patch write_file Edit apply_patch replace",
            ),
            ("mcp_git_push", "mcp_git_push", "mcp__git_push"),
            ("mcp__git_push", "mcp__git_push", ""),
            ("Unheard", "Unheard", ""),
        ] {
            assert_eq!(usual(tool), usual_name);
            let all = all(tool);
            assert_eq!(all[0], tool);
            assert_eq!(all[1..].join(" "), others, "{tool}");
        }
    }

    #[test]
    fn a_payload_asks_for_the_tool_that_a_stage_names() {
        for (what, tool) in [
            (What::WorkflowRequested { actor: None }, "Workflow"),
            (
                What::ToolRequested {
                    tool: "shell".to_owned(),
                    actor: None,
                    paths: Vec::new(),
                    command: None,
                },
                "shell",
            ),
            (What::TodosMarked { done: Vec::new() }, "TodoWrite"),
            (
                What::PromptSubmitted {
                    text: String::new(),
                },
                "a tool",
            ),
        ] {
            assert_eq!(requested(&what), tool, "{what:?}");
        }
    }

    #[test]
    fn only_tools_that_are_known_to_read_cannot_write() {
        for tool in ["Read", "read_many_files", "grep_search", "TaskGet"] {
            assert!(!may_write(tool), "{tool}");
        }
        for tool in ["Write", "apply_patch", "exec_command", "Task", "Unheard"] {
            assert!(may_write(tool), "{tool}");
        }
    }
}
