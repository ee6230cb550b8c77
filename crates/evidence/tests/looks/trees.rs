//! The tree: the same files give the same hash, and every change that counts gives another.

use std::fs;

use engine::{Format, Needs};
use evidence::{Error, tree};

use crate::world::{World, git};

/// A name, what is done, and the paths that must then differ.
type Change = (&'static str, &'static str, &'static [&'static str]);

/// Each change must show as exactly these paths, and a cache must change nothing.
fn check(world: fn() -> World, changes: &[Change]) {
    for (name, change, expected) in changes {
        let mut world = world();
        let before = with_and_without_cache(&mut world);
        world.act(change);
        let after = with_and_without_cache(&mut world);
        let changed = tree::changed(&before.manifest, &after.manifest).unwrap();
        assert_eq!(changed, *expected, "{name}");
        assert_eq!(before.hash == after.hash, expected.is_empty(), "{name}");
    }
}

fn with_and_without_cache(world: &mut World) -> tree::Tree {
    world.caches = true;
    let cached = world.tree();
    world.caches = false;
    let plain = world.tree();
    assert_eq!(plain, cached);
    assert_eq!(plain.hash, evidence::hash(&plain.manifest));
    plain
}

pub(crate) fn repository() -> World {
    let mut world = World::with_git();
    world.declare("report", ".task/{run}/{step}.json", Format::Text);
    world.declare_param("target", Some("roles/web"));
    world.declare("bundle", "./{target}.bundle.md", Format::Text);
    world.declare_view("STATE.md");
    world.declare_view(".shown/{run}/state.json");
    world.act("write .gitignore *.log\\nbuild/\\n; write src/main.rs fn; write src/lib.rs");
    world.act("link current src");
    world.commit();
    world
}

#[test]
fn what_counts_in_a_repository() {
    check(
        repository,
        &[
            ("nothing", "", &[]),
            ("the same bytes again", "write src/main.rs fn", &[]),
            ("an edit", "write src/main.rs nf", &["src/main.rs"]),
            ("a new file", "write src/new.rs", &["src/new.rs"]),
            ("a deletion", "remove src/main.rs", &["src/main.rs"]),
            (
                "a rename",
                "rename src/main.rs src/x.rs",
                &["src/main.rs", "src/x.rs"],
            ),
            ("a mode", "executable src/main.rs", &["src/main.rs"]),
            ("a commit", "git commit -q --allow-empty -m more", &[]),
            (
                "the index alone",
                "write src/main.rs x; git add -A; write src/main.rs fn",
                &[],
            ),
            ("an ignored file", "write build/out.o x", &[]),
            ("an ignored log", "write src/a.log x", &[]),
            (
                "an ignored file that is tracked",
                "write k.log; git add -f k.log",
                &["k.log"],
            ),
            (
                "a rule to ignore",
                "write .gitignore *.log\\nbuild/\\nx",
                &[".gitignore"],
            ),
            (
                "a link to another place",
                "remove current; link current lib",
                &["current"],
            ),
            (
                "a link for a file",
                "remove src/lib.rs; link src/lib.rs x",
                &["src/lib.rs"],
            ),
            (
                "a file for a link",
                "remove current; write current src",
                &["current"],
            ),
            (
                "a link for a folder",
                "rename src OUT/src; link src OUT/src",
                &["src", "src/lib.rs", "src/main.rs"],
            ),
            (
                "a file for a folder",
                "remove src; write src x",
                &["src", "src/lib.rs", "src/main.rs"],
            ),
            (
                "a folder for a file",
                "remove src/lib.rs; write src/lib.rs/mod.rs",
                &["src/lib.rs", "src/lib.rs/mod.rs"],
            ),
            (
                "a pipe for a file",
                "remove src/lib.rs; pipe src/lib.rs",
                &["src/lib.rs"],
            ),
            ("an empty folder", "folder empty", &[]),
        ],
    );
}

#[test]
fn views_and_artifacts_do_not_count() {
    check(
        repository,
        &[
            ("a view", "write STATE.md x", &[]),
            ("a view of a run", "write .shown/r-1/state.json x", &[]),
            (
                "a view of another run",
                "write .shown/r-2/state.json x",
                &[],
            ),
            ("an artifact", "write .task/r-1/s-1.json x", &[]),
            (
                "an artifact of another run",
                "write .task/r-2/s-9.json x",
                &[],
            ),
            (
                "an artifact with a parameter",
                "write roles/web.bundle.md x",
                &[],
            ),
            (
                "one deeper",
                "write .task/r-1/x/s.json x",
                &[".task/r-1/x/s.json"],
            ),
            (
                "one beside",
                "write .task/r-1/s-1.txt x",
                &[".task/r-1/s-1.txt"],
            ),
            (
                "nothing for an id",
                "write .task/r-1/.json x",
                &[".task/r-1/.json"],
            ),
            ("one below a view", "write STATE.md/x x", &["STATE.md/x"]),
            (
                "another's bundle",
                "write roles/db.bundle.md x",
                &["roles/db.bundle.md"],
            ),
        ],
    );
}

/// The same repository with sources in folders that have the names of litter.
fn littered() -> World {
    let mut world = repository();
    world.definition.litter = vec![engine::PathGlob::new("reports/**")];
    world.act(
        "write lib/target/deep.rs x; write app/Cargo.toml x; write data/__pycache__/kept.pyc x",
    );
    world.commit();
    world
}

#[test]
fn what_tools_leave_behind_does_not_count() {
    check(
        littered,
        &[
            (
                "python's cache",
                "write src/__pycache__/m.cpython-312.pyc x",
                &[],
            ),
            ("a compiled module", "write src/m.pyc x", &[]),
            ("a test cache", "write .pytest_cache/v/lastfailed x", &[]),
            (
                "type and lint caches",
                "write .mypy_cache/a x; write b/.ruff_cache/a x",
                &[],
            ),
            (
                "coverage",
                "write .coverage x; write coverage/lcov.info x; write .nyc_output/a x",
                &[],
            ),
            (
                "a build",
                "write target/debug/app x; write app/target/debug/app x",
                &[],
            ),
            (
                "a cache of modules",
                "write node_modules/.cache/a x; write .gradle/a x",
                &[],
            ),
            ("a desktop's file", "write src/.DS_Store x", &[]),
            ("what the pipeline names", "write reports/junit.xml x", &[]),
        ],
    );
}

#[test]
fn a_source_is_never_litter() {
    check(
        littered,
        &[
            (
                "a tracked file of that name",
                "write data/__pycache__/kept.pyc y",
                &["data/__pycache__/kept.pyc"],
            ),
            (
                "one that somebody adds",
                "write x.pyc x; git add -f x.pyc",
                &["x.pyc"],
            ),
            (
                "a build folder with sources",
                "write lib/target/new.rs x",
                &["lib/target/new.rs"],
            ),
            (
                "a folder that no tool made",
                "write src/target/new.rs x; write src/coverage/x.rs x",
                &["src/coverage/x.rs", "src/target/new.rs"],
            ),
            (
                "modules",
                "write node_modules/left-pad/index.js x",
                &["node_modules/left-pad/index.js"],
            ),
            (
                "a file with the name of a folder",
                "write htmlcov x; write target x",
                &["htmlcov", "target"],
            ),
            (
                "one beside what the pipeline names",
                "write reports.xml x",
                &["reports.xml"],
            ),
        ],
    );
}

#[test]
fn a_script_that_a_check_runs_counts_wherever_it_lies() {
    let world = || {
        let mut world = littered();
        world.checks(&[
            &["sh", "./target/test.sh"],
            &["cargo", "--target-dir", "target"],
        ]);
        world.act("write target/test.sh x; write target/debug/app x");
        world
    };
    check(
        world,
        &[
            (
                "the script",
                "write target/test.sh true",
                &["target/test.sh"],
            ),
            ("what lies next to it", "write target/debug/app y", &[]),
        ],
    );
}

#[test]
fn without_git_only_names_that_no_source_has_are_litter() {
    check(
        folder,
        &[
            (
                "caches",
                "write a/__pycache__/x.pyc x; write .pytest_cache/x x",
                &[],
            ),
            (
                "ordinary words",
                "write target/x x; write coverage/x x",
                &["coverage/x", "target/x"],
            ),
        ],
    );
}

#[test]
fn rules_that_hide_files_count_although_they_are_outside_the_tree() {
    check(
        repository,
        &[
            ("a comment", "write .git/info/exclude # nothing\\n\\n", &[]),
            (
                "a rule that hides a new file",
                "write .git/info/exclude evil.rs; write evil.rs x",
                &[".git/info/exclude"],
            ),
            (
                "a rule by a setting of the repository",
                "write ../rules evil.rs; git config core.excludesFile OUT/rules; write evil.rs x",
                &[".git/core.excludesFile"],
            ),
        ],
    );
}

#[test]
fn git_s_own_marks_hide_no_change() {
    check(
        repository,
        &[
            (
                "assumed unchanged",
                "git update-index --assume-unchanged src/main.rs; write src/main.rs evil",
                &["src/main.rs"],
            ),
            (
                "skipped in the worktree",
                "git update-index --skip-worktree src/main.rs; write src/main.rs evil",
                &["src/main.rs"],
            ),
            (
                "another worktree",
                "folder ../other; git config core.worktree OUT/other",
                &[],
            ),
        ],
    );
}

#[test]
fn another_worktree_of_the_project_is_another_tree() {
    check(
        repository,
        &[
            ("a worktree inside", "git worktree add -q .trees/one", &[]),
            (
                "work in it",
                "git worktree add -q .trees/one; write .trees/one/src/main.rs x",
                &[],
            ),
            (
                "one that only claims to be",
                "write fake/.git gitdir: OUT/project/.git; write fake/evil x",
                &["fake/evil"],
            ),
        ],
    );
}

fn folder() -> World {
    let mut world = World::new();
    world.declare("report", "report.md", Format::Text);
    world.declare_view("STATE.md");
    world.act("write a/b.txt b; write c.txt c; link link c.txt");
    world
}

#[test]
fn what_counts_in_a_plain_folder() {
    check(
        folder,
        &[
            ("nothing", "", &[]),
            ("an edit", "write a/b.txt B", &["a/b.txt"]),
            ("a new file", "write a/d/e.txt", &["a/d/e.txt"]),
            ("a deletion", "remove a", &["a/b.txt"]),
            ("a mode", "executable c.txt", &["c.txt"]),
            ("a link", "remove link; link link a", &["link"]),
            ("a link to a folder is not walked", "link up ..", &["up"]),
            ("something of git's", "write a/.git/x x", &[]),
            (
                "a view and an artifact",
                "write STATE.md x; write report.md x",
                &[],
            ),
        ],
    );
}

fn nested() -> World {
    let world = World::with_git();
    git(&world.outside(), ["clone", "-q", "project", "library"]);
    world.act("git submodule --quiet add ../library sub");
    world.act("git submodule --quiet add ../library deep/sub");
    world.commit();
    world.act("folder own; git -C own init -q; write own/.gitignore *.log");
    world
}

#[test]
fn repositories_inside_count_with_their_files() {
    check(
        nested,
        &[
            ("nothing", "", &[]),
            (
                "an edit in a submodule",
                "write sub/tracked.txt x",
                &["sub/tracked.txt"],
            ),
            ("a new file in a submodule", "write sub/new x", &["sub/new"]),
            (
                "another commit in a submodule",
                "git -C sub commit -q --allow-empty -m more",
                &["sub"],
            ),
            (
                "a submodule is gone",
                "remove sub",
                &["sub", "sub/tracked.txt"],
            ),
            (
                "a file in a repository that nobody added",
                "write own/x x",
                &["own/x"],
            ),
            ("an ignored one there", "write own/x.log x", &[]),
            (
                "a commit there",
                "git -C own commit -q --allow-empty -m more",
                &[],
            ),
            (
                "a rule there that hides",
                "write own/.git/info/exclude evil; write own/evil x",
                &["own/.git/info/exclude"],
            ),
            (
                "a new repository to hide in",
                "folder hide; git -C hide init -q; write hide/evil.rs x",
                &["hide/evil.rs"],
            ),
            (
                "a submodule whose repository is broken",
                "write sub/.git gitdir: /nowhere; write sub/evil x",
                &["sub", "sub/evil"],
            ),
            (
                "a link for a submodule",
                "rename sub OUT/sub; link sub OUT/sub",
                &["sub", "sub/tracked.txt"],
            ),
            (
                "a link for the folder above one",
                "rename deep other; link deep other",
                &[
                    "deep",
                    "deep/sub",
                    "deep/sub/tracked.txt",
                    "other/sub/tracked.txt",
                ],
            ),
        ],
    );
}

#[test]
fn the_same_tree_has_the_same_hash_from_everywhere() {
    let mut world = repository();
    let expected = world.tree();
    assert_eq!(world.tree_from(&world.root().join("src")), expected);
    let worktree = world.outside().join("worktree");
    git(
        &world.root(),
        ["worktree", "add", "-q", worktree.to_str().unwrap()],
    );
    assert_eq!(world.tree_from(&worktree), expected);
    git(&world.outside(), ["clone", "-q", "project", "clone"]);
    assert_eq!(world.tree_from(&world.outside().join("clone")), expected);
    world.caches = true;
    assert_eq!(world.tree(), expected);
    assert_eq!(world.tree(), expected);
    assert_eq!(world.tree_from(&worktree), expected);
    fs::write(worktree.join("src/main.rs"), "other").unwrap();
    assert_ne!(world.tree_from(&worktree), expected);
    assert_eq!(world.tree(), expected);
}

#[test]
fn only_manifests_are_compared() {
    let manifest = folder().tree().manifest;
    assert_eq!(tree::changed(&manifest, &manifest), Some(Vec::new()));
    for other in [
        &b""[..],
        b"x",
        b"gatewright tree 2\n",
        b"gatewright tree 1\nnonsense\n",
        b"\xff",
    ] {
        assert_eq!(tree::changed(other, &manifest), None);
        assert_eq!(tree::changed(&manifest, other), None);
    }
}

#[test]
fn the_engine_s_needs_are_answered() {
    let mut world = repository();
    let plain = world
        .look(&Needs {
            tree: true,
            ..Needs::default()
        })
        .unwrap();
    assert!(plain.evidence.tree.is_some() && plain.contents.is_empty());
    let kept = world
        .look(&Needs {
            keep_tree: true,
            ..Needs::default()
        })
        .unwrap();
    assert_eq!(kept.evidence.tree, plain.evidence.tree);
    let old = kept.contents[0].hash;
    let needs = Needs {
        changed_since: Some(old),
        ..Needs::default()
    };
    assert_eq!(
        world.look(&needs).unwrap().evidence.changed,
        Some(Vec::new())
    );
    world.write("src/main.rs", "x");
    // An older version may have kept no list of that tree: nobody can name the paths, and the tree differs.
    let unnamed = world.look(&needs).unwrap().evidence;
    assert_eq!(unnamed.changed, None);
    assert!(unnamed.tree.is_some_and(|tree| tree != old));
    world.contents.insert(old, b"nonsense".to_vec());
    let error = world.look(&needs).unwrap_err();
    assert!(matches!(error, Error::NotAManifest { .. }), "{error}");
    world.contents.insert(old, kept.contents[0].bytes.clone());
    let changed = world.look(&needs).unwrap().evidence.changed;
    assert_eq!(changed, Some(vec![String::from("src/main.rs")]));
}
