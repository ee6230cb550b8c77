//! Views are written after every change, whole, and never read back.

use std::os::unix::fs::symlink;

use crate::fixture::{SMALL, project, run, start, to_the_question};

const VIEWS: &str = r#"
[views]
status  = "shown/status.json"
summary = "shown/{run}.md"
diagram = "shown/diagram.mmd"
"#;

fn with_views() -> testkit::Project {
    let project = project();
    project.write("viewed.toml", format!("{SMALL}{VIEWS}"));
    start(&project, "viewed.toml").succeeds();
    project
}

#[test]
fn a_run_is_shown_in_files_after_every_change() {
    let project = with_views();
    let stage = || {
        let status: serde_json::Value =
            serde_json::from_str(&project.read("shown/status.json")).unwrap();
        status["stage"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(stage(), "writing");
    to_the_question(&project);
    assert_eq!(stage(), "asking");
    assert!(project.read("shown/r-test.md").contains("write a note"));
    assert!(project.read("shown/diagram.mmd").contains("flowchart"));
}

#[test]
fn an_edited_view_changes_nothing_and_is_written_anew() {
    let project = with_views();
    project.write("shown/status.json", "{\"stage\": {\"name\": \"complete\"}}");
    assert_eq!(crate::fixture::stage(&project), "writing");
    run(&project, "checkpoint r-test here").succeeds();
    assert!(project.read("shown/status.json").contains("\"writing\""));
}

#[test]
fn a_view_is_not_part_of_the_tree() {
    let project = with_views();
    to_the_question(&project);
    let gates = |text: String| text.lines().filter(|line| line.contains("tree")).count();
    assert_eq!(gates(run(&project, "status").succeeds().stdout), 1);
    project.write("shown/status.json", "edited");
    run(&project, "answer yes").succeeds();
    project.write("verdict.json", "{\"status\": \"approved\"}");
    run(&project, "report").succeeds();
    assert_eq!(crate::fixture::status(&project), "completed");
}

#[test]
fn no_view_is_written_through_a_link() {
    let project = project();
    let elsewhere = project.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    symlink(&elsewhere, project.path().join("shown")).unwrap();
    project.write("viewed.toml", format!("{SMALL}{VIEWS}"));
    start(&project, "viewed.toml").succeeds();
    let ran = run(&project, "checkpoint r-test here").succeeds();
    assert!(ran.stderr.contains("`shown` is a symbolic link"), "{ran}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_view_that_nobody_knows_is_refused() {
    let project = project();
    project.write(
        "viewed.toml",
        format!("{SMALL}[views]\nsumary = \"x.md\"\n"),
    );
    let ran = run(&project, "lint viewed.toml").exits(1);
    assert!(ran.stderr.contains("did you mean `summary`?"), "{ran}");
    project.write(
        "outside.toml",
        format!("{SMALL}[views]\nsummary = \"../x.md\"\n"),
    );
    let ran = run(&project, "lint outside.toml").exits(1);
    assert!(ran.stderr.contains("GW-L250"), "{ran}");
}
