//! The promises of every store, on each store that there is.

use std::sync::Mutex;

use store::conformance::CASES;
use store::{Access, Backend, Group, Handle, Memory, Sqlite};

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

#[test]
fn a_handle_keeps_every_promise_alone_and_together() {
    for (name, case) in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let handles = [
            Handle::Alone(Sqlite::open(&path.join("alone"), Access::Write).unwrap()),
            Handle::Together(Box::new(Group::open(&path.join("together")).unwrap())),
        ];
        for first in handles {
            let first = Mutex::new(first);
            let open = || Box::new(first.lock().unwrap().for_thread().unwrap()) as Box<dyn Backend>;
            case(&open).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}
