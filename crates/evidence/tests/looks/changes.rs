//! The change since a run began: paths and lines, from git's own objects, and what cannot be measured.

use engine::{Change, ChangeNeed, Hash, LineCount, Needs};

use crate::world::{World, git};

/// Records the base, and keeps its content as the store does.
fn recorded(world: &mut World) -> Option<Hash> {
    let needs = Needs {
        base: true,
        ..Needs::default()
    };
    let looked = world.look(&needs).unwrap();
    for content in looked.contents {
        world.contents.insert(content.hash, content.bytes);
    }
    looked.evidence.base
}

fn change(world: &World, base: Option<Hash>) -> Change {
    let needs = Needs {
        change: Some(ChangeNeed { base, lines: true }),
        ..Needs::default()
    };
    world.look(&needs).unwrap().evidence.change.unwrap()
}

fn seen(paths: &[&str], lines: u32) -> Change {
    let paths = paths.iter().map(|path| String::from(*path)).collect();
    Change::of(paths, LineCount::Counted(lines))
}

#[test]
fn files_and_lines_are_counted_since_the_run_began() {
    let mut world = World::with_git();
    world.write("long.txt", "one\ntwo\nthree\nfour\n");
    world.write("doomed.txt", "a\nb\n");
    world.commit();
    let base = recorded(&mut world);
    assert_eq!(change(&world, base), Change::none());

    world.write("long.txt", "one\n2\nthree\nfour\n");
    world.write("new/file.txt", "x\ny\nz\n");
    world.remove("doomed.txt");
    let paths = ["doomed.txt", "long.txt", "new/file.txt"];
    assert_eq!(change(&world, base), seen(&paths, 2 + 2 + 3));

    // A commit in between hides nothing.
    world.commit();
    assert_eq!(change(&world, base), seen(&paths, 2 + 2 + 3));
}

#[test]
fn what_was_changed_before_the_run_is_not_its_change() {
    let mut world = World::with_git();
    world.write("tracked.txt", "tracked\nby a person\n");
    world.write("notes.txt", "a note\n");
    let base = recorded(&mut world);
    world.write("new.txt", "x\n");
    assert_eq!(change(&world, base), seen(&["new.txt"], 1));
}

#[test]
fn what_tools_and_checks_leave_behind_is_not_a_change() {
    let mut world = World::with_git();
    world.write(".pytest_cache/v/lastfailed", "old\n");
    let base = recorded(&mut world);
    world.write(".pytest_cache/v/lastfailed", "new\n");
    world.write("src/__pycache__/a.pyc", [0, 1, 2]);
    world.write("target/debug/app", [0, 1, 2]);
    assert_eq!(change(&world, base), Change::none());

    // A check made a report. It does not count as a change until somebody else writes to it.
    let report = "<passed/>\n";
    world.write("report.xml", report);
    let content = evidence::hash(report.as_bytes());
    world.run.made.insert(String::from("report.xml"), content);
    assert_eq!(change(&world, base), Change::none());
    world.write("report.xml", "mine\n");
    assert_eq!(change(&world, base), seen(&["report.xml"], 1));
    world.remove("report.xml");

    // What git tracks is a source, wherever it lies.
    git(&world.root(), ["add", "-f", "src/__pycache__/a.pyc"]);
    let Change::Seen { files: 1, .. } = change(&world, base) else {
        panic!("a tracked file counts");
    };
}

#[test]
fn litter_that_the_pipeline_names_is_not_a_change() {
    let mut world = World::with_git();
    let base = recorded(&mut world);
    world.write("out/log.txt", "x\n");
    assert_eq!(change(&world, base), seen(&["out/log.txt"], 1));
    world.definition.litter = vec![engine::PathGlob::new("out/**")];
    assert_eq!(change(&world, base), Change::none());
}

#[test]
fn lines_of_a_file_that_no_commit_has_as_it_was_are_not_counted() {
    let mut world = World::with_git();
    world.write("tracked.txt", "tracked\nby a person\n");
    let base = recorded(&mut world);
    world.write("tracked.txt", "tracked\nby an agent\n");
    let Change::Seen {
        files: 1,
        lines: LineCount::Unseen(reason),
        ..
    } = change(&world, base)
    else {
        panic!("one file, whose lines cannot be counted");
    };
    assert!(reason.contains("tracked.txt"), "{reason}");
}

#[test]
fn nobody_can_replace_the_old_text() {
    let mut world = World::with_git();
    let base = recorded(&mut world);
    world.write("tracked.txt", "anything\nelse\n");
    let honest = change(&world, base);
    assert_ne!(honest, Change::none());
    // Git would show the new text in place of the old one.
    let old = git_says(&world, &["rev-parse", "HEAD:tracked.txt"]);
    let new = git_says(&world, &["hash-object", "-w", "tracked.txt"]);
    git(&world.root(), ["replace", old.trim(), new.trim()]);
    assert_eq!(change(&world, base), honest);
}

#[test]
fn what_is_no_text_has_no_lines() {
    let mut world = World::with_git();
    let base = recorded(&mut world);
    world.write("image.bin", [0, 1, 2]);
    let uncounted = |change: &Change| {
        matches!(
            change,
            Change::Seen {
                files: 1,
                lines: LineCount::Unseen(_),
                ..
            }
        )
    };
    assert!(uncounted(&change(&world, base)));
    world.remove("image.bin");
    world.link("link", "/etc/passwd");
    assert!(uncounted(&change(&world, base)));
}

#[test]
fn what_cannot_be_measured_is_evidence_and_no_error() {
    let mut without_git = World::new();
    assert_eq!(recorded(&mut without_git), None);
    let unseen = |change: &Change| matches!(change, Change::Unseen { .. });
    assert!(unseen(&change(&without_git, None)));

    let mut world = World::with_git();
    assert!(unseen(&change(&world, None)), "nothing was recorded");
    assert!(unseen(&change(&world, Some(Hash([7; 32])))), "it is lost");

    let base = recorded(&mut world);
    for number in 0..=Change::MOST_PATHS {
        world.write(&format!("many/{number}"), "x\n");
    }
    assert!(unseen(&change(&world, base)), "too many files changed");
    world.remove("many");
    std::fs::remove_file(world.root().join(".git/HEAD")).unwrap();
    assert!(unseen(&change(&world, base)), "git fails");
}

#[test]
fn a_repository_without_a_commit_counts_new_files() {
    let mut world = World::new();
    git(&world.root(), ["init", "-q"]);
    let base = recorded(&mut world);
    world.write("first.txt", "x\ny\n");
    assert_eq!(change(&world, base), seen(&["first.txt"], 2));
}

fn git_says(world: &World, words: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    let output = command.current_dir(world.root()).args(words).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}
