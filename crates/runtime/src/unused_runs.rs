//! Runs that began with their session and did nothing: they end some time after it.

use engine::{BindingState, Driver, EngineEvent, Happening, ProcessState, SessionEvent, Who};
use evidence::process;
use store::{Backend as _, RunSummary};

use crate::failure::Failure;
use crate::transact::{self, Options, Request, Target};
use crate::workspace::{OpenRun, Workspace};
use crate::{clock, find_run};

/// A session that ended may go on later, with its run. After this long it gets another one.
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// How many runs one session ends when it starts: its host waits.
const MOST_AT_A_START: usize = 20;

/// Ends the unused runs of this project whose session has been over for a day. A new session of an
/// always-on project calls this: there are never more of them than sessions in a day.
pub fn close_old(workspace: &mut Workspace<'_>) -> Result<(), Failure> {
    let before = clock::now().0.saturating_sub(DAY);
    let mut old = find_run::of_project(workspace)?;
    old.retain(|run| run.updated_at.0 < before);
    close_some(workspace, old.into_iter().take(MOST_AT_A_START)).map(drop)
}

/// Ends every unused run whose session is over, and returns how many.
pub fn close_all(workspace: &mut Workspace<'_>) -> Result<u64, Failure> {
    let all = workspace.store.runs(None)?;
    close_some(workspace, all)
}

fn close_some(
    workspace: &mut Workspace<'_>,
    runs: impl IntoIterator<Item = RunSummary>,
) -> Result<u64, Failure> {
    let mut closed = 0;
    let guarded = |run: &RunSummary| run.driver == Driver::Guarded && find_run::is_active(run);
    for summary in runs.into_iter().filter(guarded) {
        let opened = workspace.read(&summary.id)?;
        let opened = if is_gone(&opened) {
            let_go(workspace, opened)?
        } else {
            opened
        };
        let opened = close(workspace, opened)?;
        closed += u64::from(engine::is_over(&opened.pipeline, opened.run()));
    }
    Ok(closed)
}

/// Ends this run, if nobody used it. A run that a person began keeps waiting for them.
fn close(workspace: &mut Workspace<'_>, opened: OpenRun) -> Result<OpenRun, Failure> {
    if !engine::is_unused(&opened.pipeline, opened.run())
        || !began_with_session(workspace, &opened)?
    {
        return Ok(opened);
    }
    submit(
        workspace,
        opened,
        &Who::Engine,
        Happening::Engine(EngineEvent::LeftUnused),
    )
}

/// Does a session hold the run whose process is gone?
fn is_gone(opened: &OpenRun) -> bool {
    let binding = opened.run().session.as_ref();
    let active = binding.filter(|binding| binding.state == BindingState::Active);
    let holder = active.and_then(|binding| binding.process);
    holder.is_some_and(|holder| process::state(&holder) == ProcessState::Gone)
}

/// Its host did not live to say that the session is over. Only a run that nobody used is let go: the
/// others wait for their session.
fn let_go(workspace: &mut Workspace<'_>, opened: OpenRun) -> Result<OpenRun, Failure> {
    let mut released = opened.run().clone();
    let Some(binding) = &mut released.session else {
        return Ok(opened);
    };
    binding.state = BindingState::Ended;
    let session = binding.session.clone();
    if !engine::is_unused(&opened.pipeline, &released) || !began_with_session(workspace, &opened)? {
        return Ok(opened);
    }
    let by = Who::Session(session.clone());
    let ended = Happening::Session(SessionEvent::Ended { session });
    submit(workspace, opened, &by, ended)
}

/// Nobody asked for such a run: the hook began it for its session.
fn began_with_session(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<bool, Failure> {
    let first = workspace.store.journal(&opened.run().id, 1, 1)?;
    let by = first.first().map(|stored| &stored.entry.by);
    Ok(matches!(by, Some(Who::Session(_))))
}

fn submit(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    by: &Who,
    what: Happening,
) -> Result<OpenRun, Failure> {
    let target = Target::Seen(Box::new(opened));
    let options = Options { by, key: None };
    let mut make = |_: &Workspace<'_>, _: &OpenRun, _| Ok(Request::from(what.clone()));
    transact::transact(workspace, target, options, &mut make).map(|decided| decided.opened)
}
