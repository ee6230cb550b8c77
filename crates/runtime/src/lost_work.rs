//! Our workers whose process is gone: their work crashed, and the run continues without it.

use engine::{Dispatch, Ending, Fault, Happening, Usage, Who, WorkEvent, WorkRef};

use crate::claim;
use crate::commit;
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace};

/// Is there open work of ours whose process is gone?
pub fn has_lost_work(workspace: &Workspace<'_>, opened: &OpenRun) -> bool {
    lost(workspace, opened).next().is_some()
}

fn lost<'a>(
    workspace: &'a Workspace<'_>,
    opened: &'a OpenRun,
) -> impl Iterator<Item = &'a Dispatch> {
    let open = opened.run().dispatches.values();
    // Only the machine that works on a fleet's run knows its processes.
    let open = open.filter(|_| !workspace.is_elsewhere(opened));
    open.filter(|open| open.session.is_none()).filter(|open| {
        open.call
            .as_ref()
            .is_some_and(|call| claim::is_lost(&workspace.state, call))
    })
}

/// Reports such work to the engine as crashed.
pub fn settle_lost_work(
    workspace: &mut Workspace<'_>,
    mut opened: OpenRun,
) -> Result<OpenRun, Failure> {
    let lost: Vec<Dispatch> = lost(workspace, &opened).cloned().collect();
    for dispatch in lost {
        let reason = format!("the process that ran {} is gone", dispatch.id);
        let what = Happening::Work(WorkEvent::Ended {
            work: WorkRef::Dispatch(dispatch.id),
            ending: Ending::Fault {
                fault: Fault::Crashed,
                reason,
            },
            usage: Usage::default(),
        });
        opened = commit::try_once(workspace, opened, &Who::Engine, what)?;
        if let Some(call) = &dispatch.call {
            claim::remove(&workspace.state, call);
        }
    }
    Ok(opened)
}
