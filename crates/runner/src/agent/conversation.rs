//! Conversations: which one to resume, and what it had used before.

use std::collections::BTreeSet;
use std::path::Path;

use engine::{AgentName, Conversation, Dispatch, DispatchId, Fact, Usage, WorkerId};
use hosts::{Program, UsageScope};
use runtime::failure::Failure;
use runtime::state::State;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use runtime::worker_log::LogReader;

/// The worker id that the run stores. It has the program's name, because programs choose their ids
/// independently.
pub fn worker(program: Program, id: &str) -> Option<WorkerId> {
    WorkerId::parse(&format!("{}:{id}", program.word())).ok()
}

fn id_of(program: Program, worker: &WorkerId) -> Option<&str> {
    let (runner, id) = worker.as_str().split_once(':')?;
    (runner == program.word()).then_some(id)
}

/// How a person opens the conversation of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationCommand {
    pub dispatch: DispatchId,
    pub agent: AgentName,
    /// A line for a shell: the programs look for a conversation in the folder where it began.
    pub command: String,
}

/// The conversations of the workers that we started, as far as the run remembers, the latest last.
pub fn commands(state: &State, opened: &OpenRun) -> Vec<ConversationCommand> {
    let run = opened.run();
    let logs = LogReader::all(state, &run.id);
    let known = run.workers.iter().filter_map(|(worker, known)| {
        let (runner, id) = worker.as_str().split_once(':')?;
        let program = Program::parse(runner)?;
        let log = logs.iter().find(|log| log.head.dispatch == known.dispatch);
        let folder = log.map_or(opened.stored.worktree(), |log| &log.head.folder);
        Some(ConversationCommand {
            dispatch: known.dispatch,
            agent: known.agent.clone(),
            command: opened_in(folder, program, id),
        })
    });
    let mut commands: Vec<ConversationCommand> = known.collect();
    commands.sort_by_key(|it| it.dispatch);
    commands
}

/// A folder that was removed with its worktree is made again: the program needs its name alone.
fn opened_in(folder: &str, program: Program, id: &str) -> String {
    let is_there = Path::new(folder).is_dir();
    let (folder, id) = (hosts::shell_word(folder), hosts::shell_word(id));
    let opens = program.opens_with().join(" ");
    if is_there {
        format!("cd {folder} && {opens} {id}")
    } else {
        format!("mkdir -p {folder} && cd {folder} && {opens} {id}")
    }
}

/// The conversation to resume: the agent's latest one with this program. An attempt after a failed
/// one starts a new conversation, because the old one may be what failed.
pub fn earlier(opened: &OpenRun, dispatch: &Dispatch, program: Program) -> Option<String> {
    if dispatch.conversation == Conversation::Fresh || dispatch.attempt > 1 {
        return None;
    }
    let run = opened.run();
    let known = run.workers.iter().filter(|(worker, known)| {
        let idle = run.work_of(worker).is_none();
        idle && known.agent.is_same(dispatch.agent.as_str())
    });
    let known = known.filter_map(|(worker, known)| Some((id_of(program, worker)?, known.dispatch)));
    let latest = known.max_by_key(|(_, dispatch)| *dispatch);
    latest.map(|(id, _)| id.to_owned())
}

/// What this conversation had used before, for a program that counts the whole conversation again.
pub fn used_before(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    program: Program,
    id: &str,
) -> Result<Usage, Failure> {
    let mut used = Usage::default();
    if program.usage_scope() == UsageScope::Process {
        return Ok(used);
    }
    let worker = worker(program, id);
    let mut theirs: BTreeSet<DispatchId> = BTreeSet::new();
    workspace
        .store
        .walk(&opened.run().id, u64::MAX, &mut |stored| {
            let fact = &stored.entry.fact;
            if let Fact::Began {
                dispatch,
                worker: who,
            } = fact
                && Some(who) == worker.as_ref()
            {
                theirs.insert(*dispatch);
            }
            if let Fact::Ended {
                dispatch, usage, ..
            }
            | Fact::CutShort { dispatch, usage } = fact
                && theirs.contains(dispatch)
            {
                used.tokens = used.tokens.saturating_add(usage.tokens);
                used.cost_cents = used.cost_cents.saturating_add(usage.cost_cents);
            }
            Ok(())
        })?;
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_opened_also_when_its_folder_is_gone() {
        let here = tempfile::tempdir().unwrap();
        let there = here.path().to_str().unwrap();
        let gone = format!("{there}/gone");
        assert_eq!(
            opened_in(there, Program::Codex, "7"),
            format!("cd {there} && codex resume 7")
        );
        assert_eq!(
            opened_in(&gone, Program::Codex, "7"),
            format!("mkdir -p {gone} && cd {gone} && codex resume 7")
        );
    }

    #[test]
    fn an_id_belongs_to_its_program() {
        let known = worker(Program::Codex, "01a1-2").unwrap();
        assert_eq!(known.as_str(), "codex:01a1-2");
        assert_eq!(id_of(Program::Codex, &known), Some("01a1-2"));
        assert_eq!(id_of(Program::Gemini, &known), None);
        let host = WorkerId::parse("a1b2c3").unwrap();
        assert_eq!(id_of(Program::Codex, &host), None);
    }
}
