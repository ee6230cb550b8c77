//! Agents that work inside a session without its host: found among the processes that the session
//! started, by the variable that all of them inherit.

use engine::{Binding, Process, Time, Unguarded, Witness};
use evidence::process;
use hosts::{SessionHost, known_agents};

use super::memory::Memory;
use crate::caller::ancestors::{self, Ancestor};
use crate::watchdog::CALL_VARIABLE;

/// The processes to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    All,
    /// Those that began after the session's host, as far as their numbers show it.
    AfterHost,
}

/// The agents that were not known yet.
pub(super) fn nested(
    memory: &mut Memory,
    binding: &Binding,
    host: &SessionHost,
    range: Range,
    now: Time,
) -> Option<Unguarded> {
    let found: Vec<String> = agents(binding, host, range)
        .into_iter()
        .filter(|(_, process)| memory.learn(process))
        .map(|(agent, process)| told(agent, &process))
        .collect();
    (!found.is_empty()).then(|| Unguarded {
        witness: Witness::Processes,
        what: found.join("; "),
        from: now,
        until: now,
    })
}

/// The agents that the session's shells have started and that are at work. Those that we started
/// ourselves are guarded.
pub(super) fn agents(
    binding: &Binding,
    host: &SessionHost,
    range: Range,
) -> Vec<(&'static str, Process)> {
    let Some(holder) = binding.process else {
        return Vec::new();
    };
    let above = match range {
        Range::All => 0,
        Range::AfterHost => holder.id,
    };
    let session = binding.session.as_str();
    let ids = process::with_variable_above(host.variables.session, session, above);
    let agents = ids.into_iter().filter_map(|id| {
        let agent = conversation(&ancestors::process(id)?)?;
        let is_ours = id == holder.id || process::has_variable(id, CALL_VARIABLE);
        let process = process::find(id).filter(|_| !is_ours)?;
        Some((agent, process))
    });
    agents.collect()
}

/// An agent whose own hooks told us of it.
pub(super) fn told_by_hook(
    memory: &mut Memory,
    agent: &str,
    process: &Process,
    now: Time,
) -> Option<Unguarded> {
    memory.learn(process).then(|| Unguarded {
        witness: Witness::Processes,
        what: told(agent, process),
        from: now,
        until: now,
    })
}

fn told(agent: &str, process: &Process) -> String {
    format!(
        "{agent} was started inside the session (process {})",
        process.id
    )
}

/// The agent with which this process talks. A host runs its own file under other names, too, so the
/// name with which it was called counts.
fn conversation(process: &Ancestor) -> Option<&'static str> {
    let (first, rest) = process.words.split_first()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    let words: Vec<String> = rest
        .iter()
        .filter(|word| !word.is_empty())
        .cloned()
        .collect();
    known_agents::conversation(name, &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_talks_is_told_from_one_that_does_not() {
        for (line, expected) in [
            ("claude -p hi", Some("claude")),
            ("/opt/claude", Some("claude")),
            (
                "node /m/@anthropic-ai/claude-code/cli.js -p hi",
                Some("claude"),
            ),
            ("codex exec hi", Some("codex")),
            ("claude --version", None),
            ("claude mcp list", None),
            ("rg --files", None),
            ("bash -c claude", None),
            ("", None),
        ] {
            let process = Ancestor {
                words: line.split(' ').map(str::to_owned).collect(),
                ..Ancestor::default()
            };
            assert_eq!(conversation(&process), expected, "{line}");
        }
    }
}
