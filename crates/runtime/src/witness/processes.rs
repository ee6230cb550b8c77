//! Agents that work inside a session without its host: found among the processes that the session
//! started, by the variable that all of them inherit.

use engine::{Binding, Process, Time, Unguarded, Witness};
use evidence::process::{self, ListedProcess};
use hosts::{SessionHost, known_agents};

use super::memory::Memory;
use crate::caller::ancestors::{self, Ancestor};
use crate::watchdog::CALL_VARIABLE;

/// The processes to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    All,
    /// Without those that an earlier look found outside of the session.
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
    let looked = agents(binding, host, range, memory.others());
    match range {
        Range::All => memory.set_others(looked.others),
        // To forget those that have ended is not worth a write.
        Range::New if !looked.others.is_empty() => {
            memory.set_others([looked.others, looked.known].concat());
        }
        Range::New | Range::AfterHost => {}
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
    memory.set_others(agents(binding, host, Range::All, &[]).others);
}

/// What a look at processes found.
#[derive(Default)]
pub(super) struct LookedAt {
    pub agents: Vec<(&'static str, Process)>,
    /// The processes outside of the session.
    others: Vec<ListedProcess>,
    /// Those that were not looked at.
    known: Vec<ListedProcess>,
}

/// The agents that the session's shells have started and that are at work. Those that we started
/// ourselves are guarded.
pub(super) fn agents(
    binding: &Binding,
    host: &SessionHost,
    range: Range,
    others: &[ListedProcess],
) -> LookedAt {
    let Some(holder) = binding.process else {
        return LookedAt::default();
    };
    let among = |listed: ListedProcess| match range {
        Range::All => true,
        Range::New => others.binary_search(&listed).is_err(),
        Range::AfterHost => listed.id > holder.id,
    };
    let session = binding.session.as_str();
    let searched = process::search(host.variables.session, session, among);
    let agents = searched.with.iter().filter_map(|ListedProcess { id, .. }| {
        let id = *id;
        let agent = conversation(&ancestors::process(id)?)?;
        let is_ours = id == holder.id || process::has_variable(id, CALL_VARIABLE);
        let process = process::find(id).filter(|_| !is_ours)?;
        Some((agent, process))
    });
    LookedAt {
        agents: agents.collect(),
        others: searched.without,
        known: searched.left_out,
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
    #[cfg(target_os = "linux")]
    use std::os::unix::process::CommandExt as _;
    #[cfg(target_os = "linux")]
    use std::process::{Child, Command};

    use super::*;

    #[cfg(target_os = "linux")]
    fn asleep(called: &str, session: Option<&str>) -> Child {
        let variable = hosts::DEFAULT_SESSION_HOST.variables.session;
        let mut command = Command::new("sleep");
        command.arg0(called).arg("60").env_remove(variable);
        command.envs(session.map(|session| (variable, session)));
        let child = command.spawn().unwrap();
        // A program has begun before the system shows its variables.
        let environ = format!("/proc/{}/environ", child.id());
        while std::fs::read(&environ).is_ok_and(|variables| variables.is_empty()) {
            std::thread::yield_now();
        }
        child
    }

    /// A process that was found outside is not looked at again; another one with its number is.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_number_that_is_used_again_is_a_new_process() {
        let session = engine::SessionId::parse("a-session-of-this-test").unwrap();
        let holder = process::find(std::process::id());
        let binding = Binding {
            session: session.clone(),
            state: engine::BindingState::Active,
            process: holder,
            since: None,
        };
        let host = hosts::DEFAULT_SESSION_HOST;
        let folder = tempfile::tempdir().unwrap();
        let mut memory = Memory::read(folder.path());
        let mut outside = asleep("claude", None);
        let look = |memory: &mut Memory| nested(memory, &binding, host, Range::New, Time(7));
        assert_eq!(look(&mut memory), None);
        let known = |memory: &Memory, id: u32| {
            let mut others = memory.others().iter();
            others.find(|listed| listed.id == id).copied()
        };
        let seen = known(&memory, outside.id()).unwrap();
        memory.write();
        let mut memory = Memory::read(folder.path());
        assert_eq!(known(&memory, outside.id()), Some(seen));
        let mut agent = asleep("claude", Some(session.as_str()));
        let reused = ListedProcess {
            id: agent.id(),
            entry: seen.entry,
        };
        memory.set_others([memory.others(), &[reused]].concat());
        let found = look(&mut memory).unwrap();
        assert!(
            found.what.contains(&agent.id().to_string()),
            "{}",
            found.what
        );
        assert_eq!(look(&mut memory), None);
        for child in [&mut outside, &mut agent] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

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
