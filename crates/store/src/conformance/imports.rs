//! Guarantees about runs that come from an export.

use engine::{Entry, Fact, Rule, Time, Who};

use super::contents::captured;
use super::test_run::{TestRun, cancelled, status};
use super::{Checked, Open};
use crate::{Backup, Collect, Error, Import, export};

pub(super) fn a_run_is_imported_once_and_whole(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let hash = open().put_content(b"the plan", Time(1))?;
    test_run.add(&mut *open(), 1, &[captured(hash)?, cancelled()])?;
    let mut exported = Vec::new();
    export(open().as_ref(), &test_run.id, &mut exported)?;
    let backup = Backup::read(&mut exported.as_slice())?;
    assert_eq!(backup.entries().count(), 3);
    let note = Entry {
        at: Time(9),
        by: Who::Engine,
        rule: Rule::Imported,
        fact: Fact::Noted {
            message: "imported".to_owned(),
        },
    };
    let import = Import {
        project: "/elsewhere",
        worktree: "/elsewhere",
        compiled: &test_run.definition,
        notes: std::slice::from_ref(&note),
        secrets: &[],
        status: &status,
    };
    let exists = open().import(&backup, &import);
    assert!(matches!(exists, Err(Error::RunExists { .. })), "{exists:?}");
    open().gc(&Collect {
        before: Time(1_000_000),
        keep: &[],
        shrink: false,
    })?;
    assert_eq!(open().run(&test_run.id)?, None);
    let imported = open().import(&backup, &import)?;
    assert_eq!(
        (imported.version, imported.project.as_str()),
        (4, "/elsewhere")
    );
    let found = open().run(&test_run.id)?.ok_or("the run is gone")?;
    assert_eq!(found, imported);
    assert_eq!(
        open().content(hash)?.as_deref(),
        Some(b"the plan".as_slice())
    );
    assert!(open().verify(&test_run.id)?.intact);
    Ok(())
}
