//! The project: one answer from every subfolder and worktree, and no identity by mere claim.

use std::fs;
use std::path::{Path, PathBuf};

use evidence::{Error, Project};

use crate::world::{World, git};

fn find(from: impl AsRef<Path>) -> Project {
    Project::find(from.as_ref()).unwrap()
}

fn folder(path: PathBuf) -> PathBuf {
    fs::create_dir_all(&path).unwrap();
    path
}

fn key(path: impl AsRef<Path>) -> String {
    path.as_ref().to_str().map(String::from).unwrap()
}

#[test]
fn every_subfolder_has_the_same_answer() {
    let world = World::with_git();
    let (root, deep) = (world.root(), folder(world.root().join("a/b/c")));
    assert_eq!(find(&root).root, root);
    assert_eq!(find(&root).key, key(root.join(".git")));
    assert!(find(&root).is_git());
    for from in [
        deep,
        root.join("a"),
        root.join(".git"),
        root.join(".git/refs/heads"),
    ] {
        assert_eq!(find(&from), find(&root), "{}", from.display());
    }
}

#[test]
fn a_link_to_the_project_is_the_project() {
    let world = World::with_git();
    let link = world.outside().join("link");
    std::os::unix::fs::symlink(world.root(), &link).unwrap();
    assert_eq!(find(link), find(world.root()));
}

#[test]
fn a_worktree_belongs_to_the_project_with_its_own_root() {
    let world = World::with_git();
    let worktree = world.outside().join("worktree");
    git(
        &world.root(),
        ["worktree", "add", "-q", worktree.to_str().unwrap()],
    );
    let inside = folder(worktree.join("deep/er"));
    assert_eq!(find(&inside).key, find(world.root()).key);
    assert_eq!(find(&inside).root, worktree);
}

#[test]
fn a_worktree_inside_the_project_has_its_own_root_too() {
    let world = World::with_git();
    git(&world.root(), ["worktree", "add", "-q", ".trees/one"]);
    let worktree = world.root().join(".trees/one");
    assert_eq!(find(&worktree).root, worktree);
    assert_eq!(find(&worktree).key, find(world.root()).key);
}

#[test]
fn a_worktree_of_a_bare_repository_belongs_to_it() {
    let world = World::with_git();
    let bare = world.outside().join("bare.git");
    git(
        &world.outside(),
        ["clone", "-q", "--bare", "project", "bare.git"],
    );
    let worktree = world.outside().join("worktree");
    git(&bare, ["worktree", "add", "-q", worktree.to_str().unwrap()]);
    assert_eq!(find(&bare).key, key(&bare));
    assert_eq!(find(&bare).root, bare);
    assert_eq!(find(bare.join("refs")).root, bare);
    assert_eq!(find(&worktree).key, key(&bare));
    assert_eq!(find(&worktree).root, worktree);
}

#[test]
fn a_hidden_bare_repository_and_its_worktrees_are_one_project() {
    let world = World::with_git();
    let top = folder(world.outside().join("top"));
    git(
        &world.outside(),
        ["clone", "-q", "--bare", "project", "top/.bare"],
    );
    fs::write(top.join(".git"), "gitdir: ./.bare\n").unwrap();
    git(&top, ["worktree", "add", "-q", "main-tree"]);
    assert_eq!(find(&top).key, key(top.join(".bare")));
    assert_eq!(find(top.join("main-tree")).key, key(top.join(".bare")));
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let world = World::with_git();
    git(&world.outside(), ["clone", "-q", "project", "library"]);
    git(
        &world.root(),
        ["submodule", "--quiet", "add", "../library", "sub"],
    );
    let sub = find(world.root().join("sub"));
    assert_eq!(sub.root, world.root().join("sub"));
    assert_eq!(sub.key, key(world.root().join(".git/modules/sub")));
}

#[test]
fn a_repository_without_a_commit_is_one() {
    let world = World::new();
    git(&world.root(), ["init", "-q"]);
    let deep = folder(world.root().join("a"));
    assert_eq!(find(deep).key, key(world.root().join(".git")));
}

#[test]
fn without_git_it_is_the_folder_or_the_nearest_known_one() {
    let world = World::new();
    let deep = folder(world.root().join("a/b"));
    assert_eq!(find(&deep).key, key(&deep));
    assert!(!find(&deep).is_git());
    let is_known = |found: &str| found == key(world.root());
    assert_eq!(
        Project::find_among(&deep, is_known).unwrap(),
        find(world.root())
    );
}

#[test]
fn what_is_installed_stays_with_its_folder() {
    let world = World::new();
    let deep = folder(world.root().join("a/b"));
    let (plain, git_key) = (key(world.root()), key(world.root().join(".git")));
    let installed = |known: &str| {
        let found = Project::find_installed(&deep, |key| key == known).unwrap();
        (found.root, found.key)
    };
    let alone = (deep.clone(), key(&deep));
    // Before `git init`, and after `.git` has gone.
    assert_eq!(installed(&plain), (world.root(), plain.clone()));
    assert_eq!(installed(&git_key), (world.root(), git_key.clone()));
    assert_eq!(installed("elsewhere"), alone);
    git(&world.root(), ["init", "-q"]);
    for known in [&plain, &git_key] {
        assert_eq!(installed(known), (world.root(), git_key.clone()), "{known}");
    }
    // A repository inside an installed folder is a project of its own.
    git(&deep, ["init", "-q"]);
    assert_eq!(installed(&plain).0, deep);
    // What is installed in a folder around a repository does not reach into it.
    assert_eq!(installed(&key(world.outside())).0, deep);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let error = Project::find(&World::new().root().join("nowhere")).unwrap_err();
    assert!(
        matches!(&error, Error::Folder { path, .. } if path.ends_with("nowhere")),
        "{error}"
    );
}

#[test]
fn paths_that_are_not_text_have_keys_of_their_own() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let named =
        |name: &[u8]| find(folder(world.root().join(std::ffi::OsStr::from_bytes(name)))).key;
    let keys = [
        named(b"\xff"),
        named(b"\xfe"),
        named(b"\\xff"),
        named("\u{fffd}".as_bytes()),
    ];
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len(), "{keys:?}");
}

/// Plants something in `project/src` of a repository, and beside it in `other`.
fn planted(plant: impl Fn(&World, &Path)) -> (World, Project, Project) {
    let world = World::with_git();
    let inside = folder(world.root().join("src"));
    let other = folder(world.outside().join("other"));
    plant(&world, &inside);
    plant(&world, &other);
    (world, find(inside), find(other))
}

#[test]
fn planting_a_git_takes_no_folder_out_of_its_project_and_no_other_into_it() {
    type Plant = fn(&World, &Path);
    let plants: &[(&str, Plant)] = &[
        ("an empty folder", |_, at| drop(folder(at.join(".git")))),
        ("a folder without HEAD", |_, at| {
            folder(at.join(".git/objects"));
            folder(at.join(".git/refs"));
        }),
        ("an empty file", |_, at| {
            fs::write(at.join(".git"), "").unwrap()
        }),
        ("nonsense", |_, at| {
            fs::write(at.join(".git"), "nonsense").unwrap()
        }),
        ("a dangling file", |_, at| {
            fs::write(at.join(".git"), "gitdir: /nowhere").unwrap()
        }),
        ("a file with our repository", |world, at| {
            fs::write(
                at.join(".git"),
                format!("gitdir: {}/.git", world.root().display()),
            )
            .unwrap();
        }),
        ("a link to our repository", |world, at| {
            std::os::unix::fs::symlink(world.root().join(".git"), at.join(".git")).unwrap();
        }),
        ("a folder that shares ours", |world, at| {
            folder(at.join(".git"));
            fs::write(at.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            let common = format!("{}/.git", world.root().display());
            fs::write(at.join(".git/commondir"), common).unwrap();
            fs::write(at.join(".git/gitdir"), format!("{}/.git", at.display())).unwrap();
        }),
        ("the worktree of somebody else", |world, at| {
            let worktree = world.outside().join("worktree");
            if !worktree.exists() {
                git(
                    &world.root(),
                    ["worktree", "add", "-q", worktree.to_str().unwrap()],
                );
            }
            fs::copy(worktree.join(".git"), at.join(".git")).unwrap();
        }),
        ("a bare repository's files", |_, at| {
            folder(at.join("objects"));
            folder(at.join("refs"));
            fs::write(at.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }),
    ];
    for (name, plant) in plants {
        let (world, inside, other) = planted(plant);
        let project = find(world.root());
        assert_eq!(inside, project, "{name}");
        assert_ne!(other.key, project.key, "{name}");
        assert_eq!(other.root, world.outside().join("other"), "{name}");
    }
}

#[test]
fn a_worktree_that_was_moved_by_hand_is_a_project_of_its_own() {
    let world = World::with_git();
    let (worktree, moved) = (
        world.outside().join("worktree"),
        world.outside().join("moved"),
    );
    git(
        &world.root(),
        ["worktree", "add", "-q", worktree.to_str().unwrap()],
    );
    fs::rename(&worktree, &moved).unwrap();
    assert_eq!(find(&moved).key, key(&moved));
    git(&moved, ["worktree", "repair", "-q"].iter().take(2));
    assert_eq!(find(&moved).key, find(world.root()).key);
}

#[test]
fn a_git_folder_kept_elsewhere_still_lists_the_files() {
    let world = World::new();
    git(
        &world.outside(),
        ["init", "-q", "--separate-git-dir", "kept.git", "apart"],
    );
    let project = find(world.outside().join("apart"));
    assert_eq!(project.key, key(world.outside().join("apart")));
    assert!(project.is_git());
}
