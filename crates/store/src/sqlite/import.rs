//! Stores an imported run in one transaction.

use super::Sqlite;
use super::table::RunValues;
use super::write::WriteTransaction;
use crate::chain::{self, Tip};
use crate::import::{Backup, Import, noted};
use crate::record::RunOrigin;
use crate::{Error, StoredRun};

pub(super) fn import(
    sqlite: &mut Sqlite,
    backup: &Backup,
    import: &Import<'_>,
) -> Result<StoredRun, Error> {
    let addition = noted(backup, import)?;
    let (run, tip, at) = (&addition.run, addition.tip, import.at());
    let writing = WriteTransaction::begin(sqlite)?;
    if writing.reader().columns(&run.id)?.is_some() {
        return Err(Error::RunExists {
            run: run.id.clone(),
        });
    }
    let nothing = Tip {
        version: 0,
        head: chain::root(&run.id),
    };
    let head = writing.head(&run.id, nothing)?;
    let (table, status) = (writing.table(), (import.status)(run));
    table.add_definition(run.definition, &backup.files, Some(import.compiled))?;
    let present = RunValues {
        origin: RunOrigin {
            project: import.project,
            worktree: import.worktree,
            pipeline: import.compiled.name.as_str(),
        },
        run,
        tip,
        status: &status,
        updated_at: at,
    };
    writing.make_head(&run.id)?;
    // No key of this store started it.
    let number = table.add_run(&present, None)?;
    table.add_lines(number, &backup.lines)?;
    table.add_lines(number, &addition.lines)?;
    table.hold(number, &backup.contents(), &backup.named(), at)?;
    writing.commit_with_heads(&[(head, run.id.clone(), tip)])?;
    Ok(StoredRun {
        version: tip.version,
        head: tip.head,
        project: import.project.to_owned(),
        home: import.worktree.to_owned(),
        pipeline: import.compiled.name.clone(),
        run: addition.run,
    })
}
