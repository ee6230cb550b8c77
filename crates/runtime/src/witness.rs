//! Witnesses besides the hooks: what they saw and no hook did is unguarded work of the run.
//!
//! Hooks can fall silent: a person or an agent starts the host without them, or settings lose them.
//! Then the host's own record of the conversation still has every tool call.

mod answers;
mod inner_folders;
mod memory;
mod processes;
mod relied_files;
mod relied_settings;
mod scheduled;
mod seen_calls;
mod stamp;
mod transcript;

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Binding, Driver, Happening, Process, RunId, SessionEvent, SessionId, Unguarded, Who};
use hosts::Program;

pub use self::answers::{NotedAnswer, forget_answer, note_answer, noted_answer, recorded_answer};
pub use self::processes::Range;
pub use self::scheduled::{GivenCommand, is_scheduled};
pub use self::seen_calls::{last_sign, note as note_call};

use self::memory::Memory;
use self::transcript::Conversation;
use crate::clock;
use crate::commit;
use crate::failure::Failure;
use crate::file_lock::FileLock;
use crate::state::State;
use crate::workspace::{OpenRun, Workspace};

/// How long one reader waits for another. Who waits in vain leaves the rest to the next event.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often something is recorded again after another process was faster.
const MOST_TRIES: u32 = 50;

/// The folder with what witnesses of a run know.
fn folder(state: &State, run: &RunId) -> PathBuf {
    state.folder().join("witness").join(run.as_str())
}

/// The file of a session in a run.
fn session_file(state: &State, run: &RunId, session: &SessionId) -> PathBuf {
    let mut name = evidence::hash(session.as_str().as_bytes()).to_string();
    name.truncate(32);
    folder(state, run).join(name)
}

/// Reads the witnesses on from where we were, and records what no hook saw. `record` is the host's own
/// record of the conversation, where the caller knows it; `processes` are those to search.
pub fn reconcile(
    workspace: &mut Workspace<'_>,
    mut opened: OpenRun,
    record: Option<&Path>,
    processes: Range,
) -> Result<OpenRun, Failure> {
    let Some(_turn) = turn(workspace, &opened) else {
        return Ok(opened);
    };
    let mut memory = Memory::read(&folder(&workspace.state, &opened.run().id));
    for found in look(workspace, &opened, &mut memory, record, processes) {
        opened = put_on_record(workspace, opened, &found)?;
    }
    memory.write();
    Ok(opened)
}

/// Looks at the files that a new run relies on, before anybody can change them, and at the processes that
/// were there before it.
pub fn begin(workspace: &Workspace<'_>, opened: &OpenRun) {
    if let (Some(_turn), Some((binding, host))) = (turn(workspace, opened), session(opened)) {
        let mut memory = Memory::read(&folder(&workspace.state, &opened.run().id));
        let environment = &workspace.context.environment;
        relied_files::changed(&mut memory, opened, environment, host, clock::now());
        processes::know_others(&mut memory, binding, host);
        memory.write();
    }
}

/// What witnesses saw that is not in the journal yet. Nothing is recorded.
pub fn unrecorded(workspace: &Workspace<'_>, opened: &OpenRun) -> Vec<Unguarded> {
    let mut memory = Memory::read(&folder(&workspace.state, &opened.run().id));
    look(workspace, opened, &mut memory, None, Range::All)
}

fn look(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    memory: &mut Memory,
    record: Option<&Path>,
    processes: Range,
) -> Vec<Unguarded> {
    let Some((binding, host)) = session(opened) else {
        return Vec::new();
    };
    let context = workspace.context;
    let conversation = Conversation::find(&workspace.state, opened, binding, record);
    let calls = conversation.and_then(|conversation| {
        let expect_delay = || context.expect_delay();
        conversation.unguarded(memory, host, &expect_delay)
    });
    let files = relied_files::changed(memory, opened, &context.environment, host, clock::now());
    let nested = processes::nested(memory, binding, host, processes, clock::now());
    calls.into_iter().chain(files).chain(nested).collect()
}

/// Looks for agents that a shell of the session has left behind, and records them.
pub fn look_at_processes(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
) -> Result<OpenRun, Failure> {
    let is_any = session(&opened).is_some_and(|(binding, host)| {
        let looked = processes::agents(binding, host, Range::AfterHost, &[]);
        !looked.agents.is_empty()
    });
    if !is_any {
        return Ok(opened);
    }
    recorded(workspace, opened, |opened, memory| {
        let (binding, host) = session(opened)?;
        processes::nested(memory, binding, host, Range::AfterHost, clock::now())
    })
}

/// Records an agent in another session of a host, which a shell of this run's session has started.
pub fn nested_session(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    agent: &str,
    process: &Process,
) -> Result<OpenRun, Failure> {
    recorded(workspace, opened, |_, memory| {
        processes::told_by_hook(memory, agent, process, clock::now())
    })
}

fn recorded(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    look: impl FnOnce(&OpenRun, &mut Memory) -> Option<Unguarded>,
) -> Result<OpenRun, Failure> {
    let Some(_turn) = turn(workspace, &opened) else {
        return Ok(opened);
    };
    let mut memory = Memory::read(&folder(&workspace.state, &opened.run().id));
    match look(&opened, &mut memory) {
        Some(found) => {
            let opened = put_on_record(workspace, opened, &found)?;
            memory.write();
            Ok(opened)
        }
        None => Ok(opened),
    }
}

/// The session that holds the run, and what we know of its host.
fn session(opened: &OpenRun) -> Option<(&Binding, &'static hosts::SessionHost)> {
    let run = opened.run();
    let host = Program::parse(run.host.as_str())?.session_host()?;
    let binding = run.session.as_ref()?;
    (run.driver == Driver::Guarded).then_some((binding, host))
}

/// One reader at a time, so that nothing is recorded twice.
fn turn(workspace: &Workspace<'_>, opened: &OpenRun) -> Option<FileLock> {
    session(opened)?;
    let folder = folder(&workspace.state, &opened.run().id);
    let expect_delay = || workspace.context.expect_delay();
    let take = || FileLock::take(&folder.join("lock"), PATIENCE, expect_delay).ok();
    take().or_else(|| {
        // Nearly always it is there already.
        let is_missing = !folder.is_dir() && memory::make(&folder).is_ok();
        is_missing.then(take).flatten()
    })
}

fn put_on_record(
    workspace: &mut Workspace<'_>,
    mut opened: OpenRun,
    found: &Unguarded,
) -> Result<OpenRun, Failure> {
    let before = opened.run().unguarded.len();
    for _ in 0..MOST_TRIES {
        let what = Happening::Session(SessionEvent::Unguarded(found.clone()));
        opened = commit::try_once(workspace, opened, &Who::Engine, what)?;
        if opened.run().unguarded.len() > before {
            return Ok(opened);
        }
    }
    let message = format!("run {} changes faster than it can be read", opened.run().id);
    Err(Failure::environment(message).hint("retry"))
}
