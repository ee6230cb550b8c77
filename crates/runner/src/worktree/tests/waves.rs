//! Four steps in two waves: one conflict, one failure, and no work lost.

use super::*;

#[test]
fn four_steps_in_two_waves_with_a_conflict_and_a_failure() {
    let story = Story::with(&[("list", "1\n2\n3\n4\n5\n6\n"), ("shared", "begin\n")]);
    story
        .project
        .write("notes", "of the person, never committed");

    // The first wave: both began from the same content.
    let [one, two] = ["one-1", "two-1"].map(|name| story.prepare(name));
    write(&one.folder, "list", "one\n2\n3\n4\n5\n6\n");
    write(&one.folder, "one", "1");
    write(&two.folder, "list", "1\n2\n3\n4\n5\nsix\n");
    let [one_left, two_left] = [&one, &two].map(|step| story.worktrees.finish(step).unwrap());
    assert_eq!(story.merge(&one_left), clean(&["list", "one"]));
    assert_eq!(story.merge(&two_left), clean(&["list"]));
    assert_eq!(story.project.read("list"), "one\n2\n3\n4\n5\nsix\n");

    // The second wave sees what the first one did. One of it fails: its work is archived.
    let [three, four, failing] = ["three-1", "four-1", "failing-1"].map(|name| story.prepare(name));
    assert_eq!(tree(&three.folder), story.tree());
    write(&three.folder, "shared", "three\n");
    write(&four.folder, "shared", "four\n");
    write(&four.folder, "four", "4");
    write(&failing.folder, "half", "done");
    let [three_left, four_left] = [&three, &four].map(|step| story.worktrees.finish(step).unwrap());
    assert_eq!(story.merge(&three_left), clean(&["shared"]));
    let before = story.tree();
    assert_eq!(story.merge(&four_left), conflict(&["shared"]));
    assert_eq!(story.tree(), before, "a conflict changes nothing");
    for step in [&four, &failing] {
        story.worktrees.archive(step).unwrap();
        assert!(!step.folder.exists());
    }
    for step in [&one, &two, &three] {
        story.worktrees.discard(step).unwrap();
    }

    let show = |name: &str| story.git(&["show", &format!("refs/gatewright/r-1/{name}")]);
    assert_eq!(show("four-1:shared"), "four\n");
    assert_eq!(show("four-1:four"), "4");
    assert_eq!(show("failing-1:half"), "done");
    assert_eq!(
        story.project.read("notes"),
        "of the person, never committed"
    );

    // A person makes room, and the archived work can still be merged.
    story.project.write("shared", "begin\n");
    let four_left = story.worktrees.left(&four).unwrap().unwrap();
    assert_eq!(story.merge(&four_left), clean(&["four", "shared"]));
    story.worktrees.discard(&four).unwrap();
    let names = story.worktrees.list().unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0].name, "failing-1");
}

#[test]
fn workers_that_end_at_once_are_kept_and_merged_in_turn() {
    let story = Story::with(&[("a", "1")]);
    let names = ["one", "two", "three", "four", "five", "six"];
    let merged: Vec<Merged> = std::thread::scope(|scope| {
        let story = &story;
        let workers = names.map(|name| {
            scope.spawn(move || {
                let snapshot = story.step(name, |folder| write(folder, name, "x"));
                story.merge(&snapshot)
            })
        });
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    for (name, merged) in names.iter().zip(merged) {
        assert_eq!(merged, clean(&[name]));
    }
    assert_eq!(story.tree().lines().count(), 7);
}
