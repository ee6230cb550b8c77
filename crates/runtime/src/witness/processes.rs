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
    /// Without those that a look at all found outside of the session. A number may be used again, so this
    /// is only for looks between two others.
    New,
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
    let looked = agents(binding, host, range, &memory.others);
    if range == Range::All {
        memory.others = looked.others;
    }
    let found: Vec<String> = looked
        .agents
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

/// Remembers the processes outside of the session, which a look at new ones leaves out.
pub(super) fn know_others(memory: &mut Memory, binding: &Binding, host: &SessionHost) {
    memory.others = agents(binding, host, Range::All, &memory.others).others;
}

/// What a look at processes found.
#[derive(Default)]
pub(super) struct LookedAt {
    pub agents: Vec<(&'static str, Process)>,
    /// The processes outside of the session, sorted.
    others: Vec<u32>,
}

/// The agents that the session's shells have started and that are at work. Those that we started
/// ourselves are guarded.
pub(super) fn agents(
    binding: &Binding,
    host: &SessionHost,
    range: Range,
    others: &[u32],
) -> LookedAt {
    let Some(holder) = binding.process else {
        return LookedAt::default();
    };
    let among = |id: u32| match range {
        Range::All => true,
        Range::New => others.binary_search(&id).is_err(),
        Range::AfterHost => id > holder.id,
    };
    let session = binding.session.as_str();
    let (ids, mut others) = process::search(host.variables.session, session, among);
    others.sort_unstable();
    let agents = ids.into_iter().filter_map(|id| {
        let agent = conversation(&ancestors::process(id)?)?;
        let is_ours = id == holder.id || process::has_variable(id, CALL_VARIABLE);
        let process = process::find(id).filter(|_| !is_ours)?;
        Some((agent, process))
    });
    LookedAt {
        agents: agents.collect(),
        others,
    }
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
