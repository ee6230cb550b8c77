//! What the host has written down about its workers, where no hook reports it.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::Duration;

use engine::{Duty, Happening, WorkEvent, WorkerId};
use hosts::{DEFAULT_SESSION_HOST, Payload, What};
use runtime::failure::Failure;

use super::guarded_session::Guarded;

/// How much of the end of a record is read. The line about an interruption is short.
const TAIL: u64 = 16 * 1024;

/// How often a hook looks for an interruption that the host has yet to write, and how long it waits between.
const LOOKS: u32 = 25;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A worker that the person interrupted is over. The host reports no end of it, so its record is read
/// when the session turns to something else.
pub(super) fn end_interrupted(
    guarded: &mut Guarded<'_, '_>,
    payload: &Payload,
) -> Result<(), Failure> {
    let turns = matches!(
        payload.what,
        What::PromptSubmitted { .. }
            | What::CommandTyped { .. }
            | What::StopRequested { .. }
            | What::AgentRequested { actor: None, .. }
    );
    let Some(session) = payload.transcript.as_deref().filter(|_| turns) else {
        return Ok(());
    };
    let session = Path::new(session);
    for worker in workers(guarded) {
        let interrupted = is_interrupted(session, &worker)
            || (would_be_busy(guarded, &payload.what, &worker)
                && is_interrupted_soon(guarded, session, &worker));
        if interrupted {
            guarded.submit(Happening::Work(WorkEvent::Interrupted { worker }))?;
        }
    }
    Ok(())
}

/// Does the session call an agent whose one worker is not known to be over? That is refused, so it is worth
/// a moment: the host writes its records some time after the person's key.
fn would_be_busy(guarded: &Guarded<'_, '_>, what: &What, worker: &WorkerId) -> bool {
    let What::AgentRequested { agent, .. } = what else {
        return false;
    };
    let (Ok(agent), Some(open)) = (agent, guarded.opened.run().work_of(worker)) else {
        return false;
    };
    match open.duty {
        Duty::Work | Duty::Review { .. } | Duty::Fix { .. } => agent.is_same(open.agent.as_str()),
        // Several workers of one agent work at once.
        Duty::Open | Duty::Step { .. } => false,
    }
}

fn is_interrupted_soon(guarded: &Guarded<'_, '_>, session: &Path, worker: &WorkerId) -> bool {
    guarded.workspace.context.expect_delay();
    (0..LOOKS).any(|_| {
        thread::sleep(BETWEEN_LOOKS);
        is_interrupted(session, worker)
    })
}

/// Two workers of one agent that start at once are told apart by the host's record of what started each.
/// Where a call returned to its session, a hook has reported that already.
pub(super) fn bind(guarded: &mut Guarded<'_, '_>, payload: &Payload) -> Result<(), Failure> {
    let (What::ToolRequested {
        actor: Some(actor), ..
    }
    | What::AgentStopping { actor, .. }) = &payload.what
    else {
        return Ok(());
    };
    let Some(session) = payload.transcript.as_deref() else {
        return Ok(());
    };
    let run = guarded.opened.run();
    let Some(own) = run.work_of(&actor.id) else {
        return Ok(());
    };
    let mut others = run.dispatches.values().filter(|open| open.id != own.id);
    if !others.any(|open| open.agent == own.agent && open.session == own.session) {
        return Ok(());
    }
    let records = &DEFAULT_SESSION_HOST.records;
    let origin = fs::read_to_string((records.origin)(Path::new(session), &actor.id));
    let call = origin.ok().and_then(|origin| (records.call)(&origin));
    let Some(call) = call.filter(|call| own.call.as_ref() != Some(call)) else {
        return Ok(());
    };
    let worker = actor.id.clone();
    let launched = Happening::Work(WorkEvent::Launched { call, worker });
    guarded.submit(launched).map(drop)
}

/// A worker may have a checkout of its own from the host, and writes nowhere else. Its briefing names that
/// folder, and its artifacts are read there.
pub(super) fn enter_checkout(guarded: &mut Guarded<'_, '_>, payload: &Payload, worker: &WorkerId) {
    let folder = payload.cwd.as_deref().map(Path::new);
    let own = folder.and_then(|it| (DEFAULT_SESSION_HOST.records.own_checkout)(it, worker));
    guarded.workspace.host_checkout = own.and_then(|own| own.to_str().map(str::to_owned));
}

/// The workers of this session that have not ended.
fn workers(guarded: &Guarded<'_, '_>) -> Vec<WorkerId> {
    let open = guarded.opened.run().dispatches.values();
    let own = open.filter(|open| open.session.as_ref() == Some(&guarded.session));
    own.filter_map(|open| open.worker.clone()).collect()
}

fn is_interrupted(session: &Path, worker: &WorkerId) -> bool {
    let records = &DEFAULT_SESSION_HOST.records;
    let tail = tail(&(records.conversation)(session, worker));
    tail.is_some_and(|tail| (records.ends_interrupted)(&tail))
}

/// The end of a file; none if it cannot be read, because then nothing is known.
fn tail(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
