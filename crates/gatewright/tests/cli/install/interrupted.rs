//! Two at once, and one that is killed: the next one finishes what was begun.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::fixture::{LOCAL, init, json, project, tree, uninit};

#[test]
fn of_many_at_once_each_leaves_the_same() {
    let project = project();
    project.write(LOCAL, "{\n  \"model\": \"opus\"\n}\n");
    let before = tree(&project.path());
    thread::scope(|scope| {
        let running: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| init(&project, &[])))
            .collect();
        for ran in running {
            ran.join().unwrap().succeeds();
        }
    });
    let groups = json(&project, LOCAL)["hooks"]["PreToolUse"].clone();
    assert_eq!(groups.as_array().unwrap().len(), 1);
    let again = init(&project, &[]).succeeds();
    assert_eq!(again.stdout.lines().count(), 1, "{again}");
    uninit(&project).succeeds();
    assert_eq!(tree(&project.path()), before);
}

#[test]
fn whenever_it_is_killed_the_next_one_finishes_it() {
    let whole = project();
    init(&whole, &["multi-ai"]).succeeds();
    let names = |project: &testkit::Project| -> Vec<_> {
        let tree = tree(&project.path());
        let inside = tree
            .keys()
            .map(|path| path.strip_prefix(project.path()).unwrap().to_owned());
        inside.collect()
    };
    for wait in 0..16 {
        let project = project();
        project.write(LOCAL, "{\n  \"model\": \"opus\"\n}\n");
        let before = tree(&project.path());
        let mut child = project
            .child(["init", "--yes", "multi-ai"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Time is the subject: it is killed at any moment, not at one that it shows.
        thread::sleep(Duration::from_millis(3 * wait));
        let _ = child.kill();
        child.wait().unwrap();
        init(&project, &["multi-ai"]).succeeds();
        assert_eq!(names(&project), names(&whole), "killed after {wait}");
        uninit(&project).succeeds();
        assert_eq!(tree(&project.path()), before, "killed after {wait}");
    }
}
