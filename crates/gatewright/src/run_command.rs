//! The common part of commands that write: find the run, submit the event, print the result.

use engine::Run;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::idempotency::{self, KeyedCommand};
use runtime::transact::{self, Request};
use runtime::workspace::{OpenRun, Workspace};
use store::{Key, StoredRun};

use crate::arguments::Writing;
use crate::confirm::{self, Question};
use crate::exit::Exit;
use crate::output::Output;
use crate::report;

/// Submits an event that does not depend on the state of the run.
pub(crate) fn submit(
    context: &Context,
    output: &mut Output,
    run: Option<&str>,
    writing: &Writing,
    command: &KeyedCommand<'_>,
    make: impl Fn(&Workspace<'_>, &OpenRun) -> Result<Request, Failure>,
) -> Result<Exit, Failure> {
    let mut workspace = Workspace::for_writing(context)?;
    let stored = find_run::find(&workspace, run)?;
    let key = idempotency::run_key(&workspace, &stored, writing.key.as_ref(), command)?;
    submit_to(&mut workspace, output, stored, &key, make)
}

/// The same after a person has typed the run's id. `lost` says what cannot be undone, if there is anything.
///
/// Invariant: the question comes before we open the run to change it. Nobody waits for a
/// person who thinks.
pub(crate) fn submit_confirmed(
    context: &Context,
    output: &mut Output,
    run: Option<&str>,
    writing: &Writing,
    command: &KeyedCommand<'_>,
    lost: impl FnOnce(&Workspace<'_>, &OpenRun) -> Result<Option<String>, Failure>,
    make: impl Fn(&Workspace<'_>, &OpenRun) -> Result<Request, Failure>,
) -> Result<Exit, Failure> {
    let mut workspace = Workspace::for_writing(context)?;
    let stored = find_run::find(&workspace, run)?;
    let key = idempotency::run_key(&workspace, &stored, writing.key.as_ref(), command)?;
    if let Some(decided) = transact::repeated(&mut workspace, &stored.run.id, Some(&key))? {
        return report::print(&workspace, &decided, output);
    }
    let opened = workspace.opened(stored.clone())?;
    if let Some(lost) = lost(&workspace, &opened)? {
        confirmed(context, opened.run(), command.name, &lost)?;
    }
    submit_to(&mut workspace, output, stored, &key, make)
}

/// Makes the person type the run's id. A caller that will be refused gets no question.
pub(crate) fn confirmed(
    context: &Context,
    run: &Run,
    action: &str,
    lost: &str,
) -> Result<(), Failure> {
    match engine::may_act(&context.who(), engine::held(run)) {
        Ok(()) => confirm::confirm(
            context,
            &Question {
                lost: &views::safe(lost),
                word: run.id.as_str(),
                action: &format!("{action} this run"),
            },
        ),
        Err(_) => Ok(()),
    }
}

fn submit_to(
    workspace: &mut Workspace<'_>,
    output: &mut Output,
    stored: StoredRun,
    key: &Key,
    make: impl Fn(&Workspace<'_>, &OpenRun) -> Result<Request, Failure>,
) -> Result<Exit, Failure> {
    let decided = transact::command(
        workspace,
        &stored.run.id,
        key,
        &mut |workspace, opened, _| make(workspace, opened),
    )?;
    report::print(workspace, &decided, output)
}
