//! What a check makes: new untracked files are told apart from a change of sources.

use evidence::check::Ran;

use crate::checks::surroundings;
use crate::world::World;

/// A repository whose check runs this shell line.
fn world(line: &str) -> World {
    let mut world = World::with_git();
    world.act("write src/main.py x; write new.py x");
    world.act("git add src; git commit -q -m sources");
    world.checks(&[&["sh", "-c", line]]);
    world
}

fn made(ran: &Ran) -> Vec<&str> {
    ran.tree.made.keys().map(String::as_str).collect()
}

/// The check runs, and the run remembers what it made.
fn check(world: &mut World) -> Ran {
    let ran = world.check(&surroundings()).unwrap();
    world.run.made.extend(ran.tree.made.clone());
    ran
}

#[test]
fn a_new_file_of_a_check_is_no_change_of_sources() {
    let mut world = world("date +%N > report.xml; mkdir -p out; touch out/log");
    let before = world.tree();
    for _ in 0..2 {
        let ran = check(&mut world);
        assert_eq!(ran.tree.before, ran.tree.after);
        assert_eq!(ran.tree.before, before.hash);
        assert!(ran.changed.is_empty(), "{:?}", ran.changed);
        assert_eq!(world.tree(), before, "a gate on it stays valid");
    }
}

#[test]
fn what_a_check_does_to_a_source_is_a_change() {
    for (line, changed) in [
        ("echo y > src/main.py", "src/main.py"),
        // New work is untracked until somebody commits it.
        ("echo y > new.py", "new.py"),
        ("rm new.py", "new.py"),
        ("touch more.py; git add more.py", "more.py"),
        ("touch .envrc", ".envrc"),
        (
            "mkdir -p .github/workflows; touch .github/workflows/x.yml",
            ".github/workflows/x.yml",
        ),
        ("ln -s /etc link", "link"),
        (
            "i=0; while [ $i -lt 1001 ]; do touch f$i; i=$((i+1)); done",
            "f0",
        ),
    ] {
        let mut world = world(line);
        let ran = check(&mut world);
        assert_ne!(ran.tree.before, ran.tree.after, "{line}");
        assert_eq!(
            ran.changed.first().map(String::as_str),
            Some(changed),
            "{line}"
        );
        assert_eq!(made(&ran), [""; 0], "{line}");
    }
}

#[test]
fn a_file_of_a_check_that_somebody_else_writes_counts() {
    let mut world = world("echo made > plugin.py");
    check(&mut world);
    let passed = world.tree();
    world.act("write plugin.py evil");
    assert_ne!(world.tree(), passed);
    // The next check makes it again.
    let ran = check(&mut world);
    assert_eq!(ran.tree.before, ran.tree.after);
    assert_eq!(
        (ran.tree.after, world.tree().hash),
        (passed.hash, passed.hash)
    );
    // Who tracks it makes it a source.
    world.act("git add plugin.py");
    assert_ne!(world.tree(), passed);
}
