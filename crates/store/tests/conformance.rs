//! The promises of every store, on each store that there is.

use store::conformance::CASES;
use store::{Access, Backend, Group, Memory, Sqlite};

#[test]
fn sqlite_keeps_every_promise() {
    for (name, case) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let open = || Box::new(Sqlite::open(&path, Access::Write).unwrap()) as Box<dyn Backend>;
        case(&open).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn memory_keeps_every_promise() {
    for (name, case) in CASES {
        let memory = Memory::new();
        let open = || Box::new(memory.clone()) as Box<dyn Backend>;
        case(&open).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_group_keeps_every_promise() {
    for (name, case) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let group = Group::open(&folder.path().join("state")).unwrap();
        let open = || Box::new(group.clone()) as Box<dyn Backend>;
        case(&open).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
