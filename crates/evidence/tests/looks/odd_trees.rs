//! Trees that are not as one expects: hostile settings, odd names, caches that are old or false.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use engine::Needs;
use evidence::{Error, tree};

use crate::trees::repository;
use testkit::make_executable;

use crate::world::{World, git};

#[test]
fn a_repository_cannot_start_programs() {
    let world = repository();
    let expected = world.tree();
    let proof = world.outside().join("it-ran");
    let script = world.outside().join("evil");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", proof.display())).unwrap();
    make_executable(&script);
    let evil = script.to_str().unwrap();
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.external",
        "alias.ls-files",
        "credential.helper",
        "uploadpack.packObjectsHook",
    ] {
        git(&world.root(), ["config", setting, evil]);
    }
    git(
        &world.root(),
        [
            "config",
            "core.hooksPath",
            world.outside().to_str().unwrap(),
        ],
    );
    fs::copy(&script, world.outside().join("post-index-change")).unwrap();
    world.write(".git/info/attributes", "* filter=evil diff=evil\n");
    assert_eq!(world.tree(), expected);
    assert!(!proof.exists());
}

#[test]
fn a_merge_that_is_not_done_lists_each_file_once() {
    let world = repository();
    git(&world.root(), ["checkout", "-q", "-b", "side"]);
    world.write("src/main.rs", "side\n");
    world.commit();
    git(&world.root(), ["checkout", "-q", "main"]);
    world.write("src/main.rs", "main\n");
    world.commit();
    // It fails, as it should, so it is not run by `git`.
    let merge = Command::new("git")
        .args(["merge", "-q", "side"])
        .current_dir(world.root())
        .output();
    assert!(!merge.unwrap().status.success());
    let manifest = String::from_utf8(world.tree().manifest).unwrap();
    assert_eq!(manifest.matches("src/main.rs\n").count(), 1, "{manifest}");
}

#[test]
fn names_that_are_not_text_are_told_apart() {
    use std::os::unix::ffi::OsStrExt;
    for make in [World::new, World::with_git] {
        let world = make();
        let before = world.tree();
        for name in [&b"\xff"[..], b"\xfe", b"\\xff", b"a\nfile b", b" x "] {
            fs::write(world.root().join(std::ffi::OsStr::from_bytes(name)), name).unwrap();
        }
        let changed = tree::changed(&before.manifest, &world.tree().manifest).unwrap();
        assert_eq!(
            changed,
            [" x ", "\\\\xff", "\\xfe", "\\xff", "a\\x0afile b"]
        );
    }
}

#[test]
fn a_worktree_beside_a_hidden_bare_repository_is_listed() {
    let world = World::with_git();
    git(
        &world.outside(),
        ["clone", "-q", "--bare", "project", "top/.bare"],
    );
    let top = world.outside().join("top");
    fs::write(top.join(".git"), "gitdir: ./.bare\n").unwrap();
    git(&top, ["worktree", "add", "-q", "main-tree"]);
    let inner = String::from_utf8(world.tree_from(&top.join("main-tree")).manifest).unwrap();
    assert!(inner.contains(" tracked.txt\n"), "{inner}");
    fs::write(top.join("notes"), "x").unwrap();
    let outer = String::from_utf8(world.tree_from(&top).manifest).unwrap();
    assert!(
        outer.contains(" notes\n") && !outer.contains("main-tree"),
        "{outer}"
    );
}

#[test]
fn repositories_too_deep_in_each_other_are_an_error() {
    let world = World::new();
    let mut folder = world.root();
    for _ in 0..11 {
        git(&folder, ["init", "-q"]);
        folder = folder.join("r");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("x"), "").unwrap();
    }
    let error = world
        .look(&Needs {
            tree: true,
            ..Needs::default()
        })
        .unwrap_err();
    assert!(matches!(error, Error::TooDeep { limit: 8, .. }), "{error}");
}

#[test]
fn what_cannot_be_read_is_an_error_and_never_left_out() {
    for (make, locked) in [
        (World::new as fn() -> World, "secret"),
        (World::with_git, "tracked.txt"),
    ] {
        let world = make();
        let path = world.write(locked, "x");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        let looked = world.look(&Needs {
            keep_tree: true,
            ..Needs::default()
        });
        match fs::read(&path) {
            // Some users can read everything, and so can we then.
            Ok(_) => {
                let manifest = looked.unwrap().contents.remove(0).bytes;
                assert!(String::from_utf8(manifest).unwrap().contains(locked));
            }
            Err(_) => {
                let error = looked.unwrap_err();
                assert!(
                    matches!(&error, Error::Unreadable { path, .. } if path == locked),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn a_folder_that_cannot_be_opened_hides_nothing() {
    for make in [World::new, World::with_git] {
        let world = make();
        world.write("locked/evil.rs", "x");
        let folder = world.root().join("locked");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
        let looked = world.look(&Needs {
            keep_tree: true,
            ..Needs::default()
        });
        let is_open = fs::read_dir(&folder).is_ok();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        match looked {
            Ok(mut looked) => {
                let manifest = String::from_utf8(looked.contents.remove(0).bytes).unwrap();
                assert!(is_open && manifest.contains("locked/evil.rs"), "{manifest}");
            }
            Err(error) => assert!(!is_open && error.to_string().contains("locked"), "{error}"),
        }
    }
}

#[test]
fn a_name_too_long_for_the_disk_is_a_file_that_is_not_there() {
    let world = World::with_git();
    let before = world.tree();
    let object = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    let entry = format!("100644,{object},{}", "n".repeat(300));
    git(
        &world.root(),
        ["update-index", "--add", "--cacheinfo", &entry],
    );
    assert_eq!(world.tree(), before);
}

/// A plain folder with files that were modified long ago.
fn settled() -> World {
    let mut world = World::new();
    world.caches = true;
    world.act("write a/b.txt b; write c.txt c");
    ["a/b.txt", "c.txt"]
        .iter()
        .for_each(|name| set_back(&world.root().join(name)));
    world
}

/// Always the same time, so that a change leaves no trace in it.
fn set_back(path: &Path) {
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(old).unwrap();
}

#[test]
fn a_warm_cache_is_used_and_a_damaged_one_is_not() {
    let world = settled();
    let expected = world.tree();
    let cache = world.outside().join("cache");
    // The change time is of this moment, so nothing may be trusted yet.
    assert!(!is_cached(&cache));
    until_cached(&world, &cache);
    assert_eq!(world.tree(), expected);
    let file = cached(&cache).unwrap();
    let bytes = fs::read(&file).unwrap();
    assert!(find(&bytes, b"c.txt").is_some() && find(&bytes, b"a/b.txt").is_some());
    // What the cache says is believed: this shows that it is used at all.
    let (known, other) = (evidence::hash(b"c").0, evidence::hash(b"lie").0);
    fs::write(&file, replaced(&bytes, &known, &other)).unwrap();
    assert_ne!(world.tree(), expected);
    for damage in [
        replaced(&bytes, b"cache 3", b"cache 9"),
        replaced(&bytes, b"c.txt", b""),
        b"\0".to_vec(),
    ] {
        fs::write(&file, damage).unwrap();
        assert_eq!(world.tree(), expected);
    }
    fs::remove_dir_all(&cache).unwrap();
    fs::write(&cache, "a file in the way").unwrap();
    assert_eq!(world.tree(), expected);
}

fn is_cached(cache: &Path) -> bool {
    cached(cache).is_some_and(|file| find(&fs::read(file).unwrap(), b"c.txt").is_some())
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn replaced(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let at = find(bytes, part).unwrap();
    [&bytes[..at], by, &bytes[at + part.len()..]].concat()
}

/// Looks again and again, until the files are old enough to be trusted.
fn until_cached(world: &World, cache: &Path) {
    testkit::until("the look is cached", || {
        world.tree();
        is_cached(cache)
    });
}

/// The one file in the cache folder.
fn cached(folder: &Path) -> Option<std::path::PathBuf> {
    Some(fs::read_dir(folder).ok()?.next()?.unwrap().path())
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    let world = settled();
    until_cached(&world, &world.outside().join("cache"));
    let before = world.tree();
    let path = world.write("c.txt", "d");
    set_back(&path);
    let changed = tree::changed(&before.manifest, &world.tree().manifest).unwrap();
    assert_eq!(changed, ["c.txt"]);
}

/// We look at the files of the last look before git has listed anything.
#[test]
fn what_the_last_look_knew_hides_nothing() {
    let mut world = World::with_git();
    world.caches = true;
    for name in [
        "a", "b", "c", "d", "e", "folder/f", "other/f", "g", "h", "i",
    ] {
        world.write(&format!("{name}.txt"), name);
    }
    world.commit();
    until_cached(&world, &world.outside().join("cache"));
    let mut before = world.tree();
    for change in [
        "write a.txt other",
        "remove b.txt; write b.txt/inside x",
        "remove c.txt; link c.txt a.txt",
        "remove d.txt",
        "executable e.txt",
        "remove folder; link folder other",
        "remove g.txt; git init -q g.txt; write g.txt/inside x",
        "git rm -q --cached h.txt; write .gitignore h.txt",
        "remove i.txt; pipe i.txt",
    ] {
        world.act(change);
        let after = world.tree();
        assert_ne!(after, before, "{change}");
        world.caches = false;
        assert_eq!(after, world.tree(), "{change}");
        world.caches = true;
        before = after;
    }
}

/// The tree, unless it is this one.
fn unless(world: &World, known: &engine::Hash) -> Option<tree::Tree> {
    let root = world.root();
    world.looking(&root, |looking| tree::read_unless(looking, known).unwrap())
}

/// The hash of the tree of the last look, if a later one may say the same without reading anything.
fn last_look(cache: &Path) -> Option<[u8; 32]> {
    let bytes = fs::read(cached(cache)?).unwrap();
    let at = find(&bytes, b"\n").unwrap() + 1 + 32;
    let hash: [u8; 32] = bytes.get(at..at + 32)?.try_into().unwrap();
    (hash != [0; 32]).then_some(hash)
}

/// Looks again and again, until nothing is young any more.
fn until_settled(world: &World) -> engine::Hash {
    let cache = world.outside().join("cache");
    testkit::wait_for("the look is kept", || {
        let tree = world.tree().hash;
        (last_look(&cache) == Some(tree.0)).then_some(tree)
    })
}

#[test]
fn a_tree_as_at_the_last_look_is_the_same_and_every_change_of_it_is_another() {
    let mut world = World::with_git();
    world.caches = true;
    for name in ["a", "b", "c", "d", "folder/e", "g"] {
        world.write(&format!("{name}.txt"), name);
    }
    world.link("link", "a.txt");
    world.commit();
    world.write("untracked.txt", "u");
    for change in [
        "write a.txt other",
        "executable b.txt",
        "remove link; link link b.txt",
        "write folder/new.txt x",
        "write .gitignore untracked.txt",
        "git rm -q --cached g.txt",
        "remove d.txt",
    ] {
        let before = until_settled(&world);
        assert_eq!(unless(&world, &before), None, "before {change}");
        world.act(change);
        let after = unless(&world, &before);
        world.caches = false;
        let expected = world.tree();
        assert!(
            after == (expected.hash != before).then_some(expected),
            "{change}"
        );
        world.caches = true;
    }
    // A tracked file that is gone may come back, which git does not say.
    let gone = world.tree().hash;
    world.write("d.txt", "d");
    assert!(unless(&world, &gone).is_some());
    let before = until_settled(&world);
    world.act("remove c.txt; write c.txt/inside x");
    assert!(unless(&world, &before).is_some());
}

#[test]
fn rules_outside_of_the_tree_and_what_a_run_leaves_out_are_part_of_a_look() {
    let mut world = World::with_git();
    world.caches = true;
    world.write("a.txt", "a");
    world.commit();
    world.write("shown.json", "{}");
    let before = until_settled(&world);
    fs::write(world.root().join(".git/info/exclude"), "nothing\n").unwrap();
    assert!(unless(&world, &before).is_some(), "a rule of git");
    let before = until_settled(&world);
    world.declare_view("shown.json");
    let without = unless(&world, &before).unwrap();
    assert_eq!(without, world.tree(), "a view");
    let made = world.root().join("a.txt");
    assert_eq!(unless(&world, &without.hash), None);
    fs::remove_file(made).unwrap();
    assert!(unless(&world, &without.hash).is_some());
}

#[test]
fn what_the_last_look_says_is_used() {
    let mut world = World::with_git();
    world.caches = true;
    world.write("a.txt", "a");
    world.commit();
    let tree = until_settled(&world);
    let file = cached(&world.outside().join("cache")).unwrap();
    let (bytes, lie) = (fs::read(&file).unwrap(), evidence::hash(b"lie"));
    fs::write(&file, replaced(&bytes, &tree.0, &lie.0)).unwrap();
    assert_eq!(unless(&world, &lie), None);
    assert_eq!(unless(&world, &tree), None, "it is read");
}

/// Several threads look at so many files, each in its part of the cache.
#[test]
fn many_files_are_the_same_tree_with_and_without_a_cache() {
    let mut world = World::new();
    for number in 0..25_000 {
        let folder = world.root().join(format!("f{}", number / 1_000));
        if number % 1_000 == 0 {
            fs::create_dir(&folder).unwrap();
        }
        fs::write(folder.join(number.to_string()), number.to_string()).unwrap();
    }
    world.write("f24/c.txt", "c");
    world.caches = true;
    until_cached(&world, &world.outside().join("cache"));
    let before = world.tree();
    world.act("write f3/3333 changed; remove f17; write f9/new x; remove f24/24999");
    let after = world.tree();
    let changed = tree::changed(&before.manifest, &after.manifest).unwrap();
    assert_eq!(changed.len(), 1_003);
    world.caches = false;
    assert_eq!(after, world.tree());
}

#[test]
fn of_paths_that_others_changed_an_ignored_file_that_is_there_does_not_count() {
    let world = World::with_git();
    world.act("write .gitignore *.log; write src/main.rs fn; write src/gone.rs fn; write new.rs x");
    world.commit();
    world.act("write there.log x; remove src/gone.rs; remove new.rs; write new.rs/inner x");
    let asked = [
        "there.log",
        "gone.log",
        "src/gone.rs",
        "src/main.rs",
        "new.rs",
    ];
    let asked: Vec<Vec<u8>> = asked.map(|path| path.as_bytes().to_vec()).to_vec();
    let counted = world.looking(&world.root(), |looking| {
        tree::which_count(looking, &asked).unwrap()
    });
    // Nobody knows whether git ignored one that is gone.
    let expected = ["gone.log", "new.rs", "src/gone.rs", "src/main.rs"];
    assert_eq!(Vec::from_iter(counted), expected);
}
