//! Signs of life: what the lease, the processes and the witnesses say about those who work on a run.

use engine::{
    BindingState, Dispatch, Driver, Process, ProcessState, Run, RunId, Status, Time, Usage,
};
use store::{Backend as _, Lease, QueueMark};
use views::facts::{InboxEntry, Liveness, OwnerSign, Signs, WorkerSign};
use views::{Owner, Untrusted};

use crate::failure::Failure;
use crate::lease_holder;
use crate::state::State;
use crate::work_record::Record;
use crate::workspace::{OpenRun, Workspace, as_of};
use crate::{clock, live_workers, rest, witness, worker_log, worker_output};

/// The signs of a run. `run` is as of `now`: see `workspace::as_of`.
pub fn of(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    run: &Run,
    now: Time,
) -> Result<Signs, Failure> {
    let status = engine::status(&opened.pipeline, run);
    let found = match run.driver {
        Driver::Headless if status == Status::Queued => queued(workspace, run)?,
        // Otherwise the status says enough.
        _ if status != Status::Running => OwnerSigns::unknown(run),
        Driver::Headless => headless(workspace, run)?,
        Driver::Guarded => guarded(&workspace.state, run),
        Driver::ByHand => OwnerSigns::unknown(run),
    };
    let rest = rest::of(workspace, &opened.stored, &status, now)?;
    Ok(Signs {
        status,
        now,
        waits_since: InboxEntry::since(run),
        owner: found.owner,
        last_sign: found.last.min(now),
        rest,
    })
}

/// Does anybody take the run on by itself? What cannot be read is not claimed.
pub fn owner(workspace: &Workspace<'_>, opened: &OpenRun) -> Owner {
    let now = clock::now();
    let run = as_of(&opened.pipeline, opened.run(), now);
    let liveness = of(workspace, opened, &run, now).map(|signs| Liveness::of(&signs));
    match liveness {
        // A worker takes up what nobody drives, unless it is a run of a fleet.
        Ok(Liveness::OwnerLost { .. }) if is_taken_up(workspace) => Owner::There,
        Ok(Liveness::OwnerLost { .. }) => Owner::Lost,
        Ok(
            Liveness::Live { .. }
            | Liveness::Quiet { .. }
            | Liveness::Rests { .. }
            | Liveness::WaitsForYou { .. }
            | Liveness::Queued
            | Liveness::Over,
        )
        | Err(_) => Owner::There,
    }
}

fn is_taken_up(workspace: &Workspace<'_>) -> bool {
    workspace.store.fleet().is_none() && live_workers::count(&workspace.state) > 0
}

/// What those who are at work did last. The work that rests has nobody.
pub fn workers(state: &State, run: &Run) -> Vec<WorkerSign> {
    let at_work = run.dispatches.values().filter(|it| it.paused_at.is_none());
    at_work.map(|it| worker(state, &run.id, it)).collect()
}

fn worker(state: &State, run: &RunId, dispatch: &Dispatch) -> WorkerSign {
    let tail = worker_log::tail(state, run, dispatch.id);
    let latest = tail.as_ref().and_then(worker_output::latest_of);
    let call = dispatch.call.as_ref();
    let record = call.and_then(|call| Record::read(state, call));
    WorkerSign {
        dispatch: dispatch.id,
        at: latest.as_ref().map_or(dispatch.started_at, |it| it.at),
        tool: latest
            .as_ref()
            .and_then(|it| it.tool.as_ref())
            .map(Untrusted::new),
        words: latest
            .as_ref()
            .and_then(|it| it.words.as_ref())
            .map(Untrusted::new),
        used: record.map_or(Usage::default(), |record| record.used),
    }
}

struct OwnerSigns {
    owner: OwnerSign,
    last: Time,
}

impl OwnerSigns {
    fn unknown(run: &Run) -> Self {
        Self {
            owner: OwnerSign::Unknown,
            last: run.touched_at,
        }
    }

    fn nobody(run: &Run) -> Self {
        Self {
            owner: OwnerSign::Nobody,
            last: run.touched_at,
        }
    }
}

/// The orchestrator by its lease, and those who work by their output. While nobody works, the renewals of the lease are
/// the sign: a check, a pause or a place in a queue is not silence.
fn headless(workspace: &Workspace<'_>, run: &Run) -> Result<OwnerSigns, Failure> {
    let Some(lease) = workspace.store.lease(&run.id)? else {
        return queued(workspace, run);
    };
    let renewed = lease_holder::renewed_at(&lease);
    let owner = holder(&lease);
    let workers = workers(&workspace.state, run);
    let worked = workers.iter().map(|it| it.at).max();
    let last = match owner {
        OwnerSign::Alive => worked.unwrap_or(renewed).max(run.touched_at),
        OwnerSign::Stopped
        | OwnerSign::Expired
        | OwnerSign::Gone
        | OwnerSign::Nobody
        | OwnerSign::InQueue
        | OwnerSign::SetAside
        | OwnerSign::Unknown => renewed.max(run.touched_at),
    };
    Ok(OwnerSigns { owner, last })
}

/// Nobody drives it: in a fleet the queue says whether somebody will.
fn queued(workspace: &Workspace<'_>, run: &Run) -> Result<OwnerSigns, Failure> {
    let Some(fleet) = workspace.store.fleet() else {
        return Ok(OwnerSigns::nobody(run));
    };
    let owner = match fleet.queue_mark(&run.id)? {
        Some(QueueMark::Waits) => OwnerSign::InQueue,
        Some(QueueMark::SetAside) => OwnerSign::SetAside,
        None => OwnerSign::Nobody,
    };
    Ok(OwnerSigns {
        owner,
        last: run.touched_at,
    })
}

fn holder(lease: &Lease) -> OwnerSign {
    let process = lease_holder::process_here(lease);
    match process.as_ref().map(process_sign) {
        Some(sign @ (OwnerSign::Gone | OwnerSign::Stopped)) => sign,
        // A process of another machine, or one that the system shows as alive: the renewals tell more.
        Some(_) | None if lease.is_expired => OwnerSign::Expired,
        Some(_) | None => OwnerSign::Alive,
    }
}

/// The session by its process; the last sign is the last event, the last call that a hook saw, or the last line that
/// the host wrote into its record of the conversation.
fn guarded(state: &State, run: &Run) -> OwnerSigns {
    let Some(binding) = &run.session else {
        return OwnerSigns::nobody(run);
    };
    let seen = witness::last_sign(state, &run.id, &binding.session);
    let owner = match (binding.state, &binding.process) {
        (BindingState::Ended, _) => OwnerSign::Nobody,
        (BindingState::Active, Some(process)) => process_sign(process),
        (BindingState::Active, None) => OwnerSign::Unknown,
    };
    OwnerSigns {
        owner,
        last: seen.map_or(run.touched_at, |seen| seen.max(run.touched_at)),
    }
}

fn process_sign(process: &Process) -> OwnerSign {
    match evidence::process::state(process) {
        ProcessState::Gone => OwnerSign::Gone,
        ProcessState::Alive if evidence::process::is_stopped(process) => OwnerSign::Stopped,
        ProcessState::Alive => OwnerSign::Alive,
    }
}
