//! The state folder: private, ours, reached through no link, and told when it is gone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use store::conformance::test_run::{TestRun, note};
use store::{Access, Backend, Error, Sqlite};
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("deep/state");
    (root, path)
}

fn with_run(path: &Path) -> TestRun {
    let test_run = TestRun::new("r-1").unwrap();
    let mut store = Sqlite::open(path, Access::Write).unwrap();
    test_run.begin(&mut store).unwrap();
    test_run
}

fn refused(path: &Path, access: Access) -> Error {
    Sqlite::open(path, access).err().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn what_others_could_read_is_closed() {
    let (_root, path) = place();
    with_run(&path);
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(path.join("store.db"), Permissions::from_mode(0o644)).unwrap();
    Sqlite::open(&path, Access::Read).unwrap();
    assert_eq!((mode(&path), mode(&path.join("store.db"))), (0o700, 0o600));
}

#[test]
fn what_others_could_write_is_refused() {
    for name in ["", "store.db", "store.db-wal", "queue.lock"] {
        let (_root, path) = place();
        with_run(&path);
        let open = path.join(name);
        let closed = mode(&open);
        fs::set_permissions(&open, Permissions::from_mode(closed | 0o020)).unwrap();
        for access in [Access::Read, Access::Write] {
            let error = refused(&path, access);
            assert!(
                matches!(error, Error::OpenToOthers { .. }),
                "{name}: {error}"
            );
        }
        fs::set_permissions(&open, Permissions::from_mode(closed)).unwrap();
        Sqlite::open(&path, Access::Write).unwrap();
    }
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a folder away.
        return;
    }
    for name in ["", "store.db"] {
        let (_root, path) = place();
        with_run(&path);
        std::os::unix::fs::chown(path.join(name), Some(12_345), None).unwrap();
        let error = refused(&path, Access::Read);
        assert!(matches!(error, Error::Foreign { .. }), "{name}: {error}");
    }
}

#[test]
fn a_link_in_place_of_the_folder_is_not_followed() {
    let (root, path) = place();
    with_run(&path);
    let link = root.path().join("link");
    symlink(&path, &link).unwrap();
    for access in [Access::Read, Access::Write] {
        let error = refused(&link, access);
        assert!(matches!(error, Error::Symlink { .. }), "{error}");
    }
    // A link further up is the user's own arrangement.
    let above = root.path().join("above");
    symlink(path.parent().unwrap(), &above).unwrap();
    Sqlite::open(&above.join("state"), Access::Write).unwrap();
}

#[test]
fn a_dangling_link_makes_nothing_elsewhere() {
    let (root, _) = place();
    let (link, target) = (root.path().join("link"), root.path().join("target"));
    symlink(&target, &link).unwrap();
    let error = refused(&link, Access::Write);
    assert!(matches!(error, Error::Symlink { .. }), "{error}");
    assert!(!target.exists());
}

#[test]
fn a_link_in_place_of_a_file_is_not_followed() {
    for name in ["store.db", "store.db-wal", "store.db-shm", "queue.lock"] {
        for there in [true, false] {
            let (root, path) = place();
            with_run(&path);
            let elsewhere = root.path().join("elsewhere");
            if there {
                fs::rename(path.join(name), &elsewhere).unwrap();
            } else {
                fs::remove_file(path.join(name)).unwrap();
            }
            symlink(&elsewhere, path.join(name)).unwrap();
            let error = refused(&path, Access::Write);
            assert!(matches!(error, Error::Symlink { .. }), "{name}: {error}");
            assert_eq!(elsewhere.exists(), there, "{name}");
        }
    }
}

#[test]
fn a_link_in_place_of_a_head_is_not_followed() {
    let (root, path) = place();
    let test_run = with_run(&path);
    let victim = root.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::remove_file(path.join("heads/r-1")).unwrap();
    symlink(&victim, path.join("heads/r-1")).unwrap();
    let mut store = Sqlite::open(&path, Access::Write).unwrap();
    let error = test_run
        .add(&mut store, 1, &[note("through a link")])
        .unwrap_err();
    assert!(matches!(error, Error::Symlink { .. }), "{error}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");

    fs::rename(path.join("heads"), root.path().join("moved")).unwrap();
    symlink(root.path().join("moved"), path.join("heads")).unwrap();
    let error = test_run
        .add(&mut store, 1, &[note("through a link")])
        .unwrap_err();
    assert!(matches!(error, Error::WrongType { .. }), "{error}");
}

#[test]
fn something_else_in_place_of_the_folder_or_a_file_is_refused() {
    let (root, path) = place();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    for access in [Access::Read, Access::Write] {
        let error = refused(&file, access);
        assert!(matches!(error, Error::WrongType { .. }), "{error}");
    }
    fs::create_dir_all(path.join("store.db")).unwrap();
    let error = refused(&path, Access::Write);
    assert!(matches!(error, Error::WrongType { .. }), "{error}");
}

#[test]
fn a_store_that_is_not_there_is_told_and_not_made_by_a_reader() {
    let (_root, path) = place();
    let error = refused(&path, Access::Read);
    assert!(matches!(error, Error::Absent { .. }), "{error}");
    assert!(!path.exists());
    fs::create_dir_all(&path).unwrap();
    let error = refused(&path, Access::Read);
    assert!(matches!(error, Error::Absent { .. }), "{error}");
    assert_eq!(walk(&path), Vec::<PathBuf>::new());
}

#[test]
fn a_folder_that_vanished_takes_no_acknowledged_write() {
    let (_root, path) = place();
    let test_run = with_run(&path);
    let mut store = Sqlite::open(&path, Access::Write).unwrap();
    fs::remove_dir_all(&path).unwrap();
    let error = test_run
        .add(&mut store, 1, &[note("into the void")])
        .unwrap_err();
    assert!(matches!(error, Error::Vanished { .. }), "{error}");
    assert!(!path.exists());

    // Another store has taken its place meanwhile.
    with_run(&path);
    let error = test_run
        .add(&mut store, 1, &[note("into the void")])
        .unwrap_err();
    assert!(matches!(error, Error::Vanished { .. }), "{error}");
    let fresh = Sqlite::open(&path, Access::Read).unwrap();
    assert_eq!(fresh.run(&test_run.id).unwrap().unwrap().version, 1);
}

#[test]
fn many_may_make_the_store_at_once() {
    let (_root, path) = place();
    let begin = |number: usize| {
        let test_run = TestRun::new(&format!("r-{number}")).unwrap();
        test_run
            .begin(&mut Sqlite::open(&path, Access::Write).unwrap())
            .unwrap();
    };
    std::thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || begin(number));
        }
    });
    let store = Sqlite::open(&path, Access::Read).unwrap();
    assert_eq!(store.runs(None).unwrap().len(), 16);
    assert!(!path.join("damaged").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    // Nobody, not even root, makes a folder here.
    let error = refused(Path::new("/proc/self/state"), Access::Write);
    let told = matches!(error, Error::Vanished { .. } | Error::NotWritable { .. });
    assert!(told, "{error}");
}
