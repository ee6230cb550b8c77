//! The audit of a run: its hash chain, then every decision and every cache against the pinned bytes.

use engine::{Audit, Definition, Fact, Pipeline, RunId};
use store::{Backend, Fault, FaultKind, Files, StoredRun, Verification};

use crate::definition;
use crate::failure::Failure;
use crate::workspace::Workspace;

/// Verifies a run. What is found makes the store read-only.
pub fn verify(workspace: &Workspace<'_>, run: &RunId) -> Result<Verification, Failure> {
    let mut verification = workspace.store.verify(run)?;
    if !verification.intact {
        return Ok(verification);
    }
    if let Some(fault) = find_fault(workspace, run)? {
        let what = format!("run {run}, entry {}: {}", fault.number, fault.kind);
        workspace.store.mark_damaged(&what)?;
        verification.intact = false;
        verification.faults.push(fault);
    }
    Ok(verification)
}

/// Why the store is read-only, if it is.
pub fn store_damage(workspace: &Workspace<'_>) -> Result<Option<String>, Failure> {
    Ok(workspace.store.damage()?)
}

/// The definition of these bytes, if this version accepts them.
pub fn compile(files: &Files) -> Option<Definition> {
    let compiled = definition::compile_pinned(&definition::unpinned(files)).ok()?;
    Some(compiled.pipeline.definition().clone())
}

fn find_fault(workspace: &Workspace<'_>, run: &RunId) -> Result<Option<Fault>, Failure> {
    let store = &workspace.store;
    let Some(stored) = store.run(run)? else {
        return Ok(None);
    };
    let hash = stored.run.definition;
    let Some(definition) = store.definition(hash)?.as_ref().and_then(compile) else {
        return Ok(None);
    };
    if store
        .compiled(hash)?
        .is_some_and(|cached| cached != definition)
    {
        let detail = format!("the compiled definition {hash} was altered");
        return Ok(Some(fault(1, FaultKind::Altered, detail)));
    }
    let pipeline = Pipeline::from_cache(definition);
    match replay(workspace, run, &pipeline)? {
        Some(found) => Ok(Some(found)),
        None => listed_status(workspace, &stored, &pipeline),
    }
}

/// The first entry that no rule gives.
fn replay(
    workspace: &Workspace<'_>,
    run: &RunId,
    pipeline: &Pipeline,
) -> Result<Option<Fault>, Failure> {
    let store = &workspace.store;
    let mut audit = Audit::new(pipeline);
    let (mut found, mut decision) = (None, 0);
    store.walk(run, u64::MAX, &mut |stored| {
        if found.is_some() {
            return Ok(());
        }
        if decision != stored.decision {
            decision = stored.decision;
            audit.decision();
        }
        let judged = audit.entry(&stored.entry).map_err(|damage| damage.what);
        let judged = judged.and_then(|()| match &stored.entry.fact {
            Fact::Restored { entry, state, .. } => {
                let then = store.folded_at(run, *entry).ok();
                let same = then.is_some_and(|then| engine::is_same_point(state, &then));
                let wrong = || format!("it restores what entry {entry} did not have");
                same.then_some(()).ok_or_else(wrong)
            }
            _ => Ok(()),
        });
        found = judged
            .err()
            .map(|why| fault(stored.number, FaultKind::Unfounded, why));
        Ok(())
    })?;
    Ok(found)
}

/// The list shows a status without decoding the run.
fn listed_status(
    workspace: &Workspace<'_>,
    stored: &StoredRun,
    pipeline: &Pipeline,
) -> Result<Option<Fault>, Failure> {
    let summary = workspace.store.summary(&stored.run.id)?;
    let status = engine::status(pipeline, &stored.run);
    // Another version may word the reason in another way.
    let agrees = |word: &str| word == status.word();
    // A hook may have written since the run was read.
    let differs =
        summary.is_some_and(|row| row.version == stored.version && !agrees(row.status.word()));
    let detail = || String::from("the list shows another status than the journal has");
    Ok(differs.then(|| fault(stored.version, FaultKind::StateMismatch, detail())))
}

fn fault(number: u64, kind: FaultKind, detail: String) -> Fault {
    Fault {
        number,
        kind,
        detail,
    }
}
