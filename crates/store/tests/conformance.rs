//! The promises of every store, on each store that there is.

use store::conformance::CASES;
use store::{Access, Backend, Memory, Sqlite};

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
