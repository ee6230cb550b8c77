//! Views are written after every change, whole, and never read back.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::fixture::{SMALL, facts, project, run, start, to_the_question};

const VIEWS: &str = r#"
[views]
status  = "shown/status.json"
summary = "shown/{run}.md"
diagram = "shown/diagram.mmd"
log     = "shown/run.log"
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

/// What a run is about is its account's business, unless the pipeline says otherwise.
#[test]
fn a_view_is_private_unless_the_pipeline_says_otherwise() {
    let project = project();
    let views = VIEWS.replace(
        "\"shown/status.json\"",
        "{ path = \"shown/status.json\", readers = \"all\" }",
    );
    project.write("viewed.toml", format!("{SMALL}{views}"));
    start(&project, "viewed.toml").succeeds();
    to_the_question(&project);
    let mode = |name: &str| {
        let file = std::fs::metadata(project.path().join("shown").join(name));
        file.unwrap().permissions().mode() & 0o777
    };
    for name in ["r-test.md", "diagram.mmd", "run.log"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!(mode("status.json") & 0o600, 0o600);
    let open = project.path().join("open");
    std::fs::write(&open, "").unwrap();
    let usual = std::fs::metadata(&open).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("status.json"), usual);
    let refused = VIEWS.replace(
        "\"shown/status.json\"",
        "{ path = \"shown/status.json\", readers = \"nobody\" }",
    );
    project.write("refused.toml", format!("{SMALL}{refused}"));
    run(&project, "lint refused.toml").exits(1);
}

#[test]
fn a_fork_is_shown_from_its_beginning() {
    let project = with_views();
    run(&project, "cancel r-test --reason x").succeeds();
    run(&project, "fork r-test --at 1 --id r-fork").succeeds();
    assert!(project.read("shown/r-fork.md").contains("write a note"));
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
    assert!(ran.stderr.contains("`shown`"), "{ran}");
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
    assert!(ran.stderr.contains("`summary`"), "{ran}");
    project.write(
        "outside.toml",
        format!("{SMALL}[views]\nsummary = \"../x.md\"\n"),
    );
    let ran = run(&project, "lint outside.toml").exits(1);
    assert!(ran.stderr.contains("GW-L250"), "{ran}");
}

/// What the program says of the views, once and in one line each.
fn notices(ran: &testkit::Ran) -> Vec<&str> {
    let lines = ran.stderr.lines();
    lines.filter(|line| line.contains("view")).collect()
}

fn noted(project: &testkit::Project) -> Vec<String> {
    let facts = facts(project, ["history", "r-test"]);
    let entries = facts["entries"].as_array().unwrap().clone();
    let views = entries.iter().filter(|entry| entry["rule"] == "GW-R103");
    views.map(ToString::to_string).collect()
}

#[test]
fn an_edited_view_is_told_once_noted_and_written_again() {
    let project = with_views();
    project.write("shown/status.json", "{}");
    let ran = run(&project, "checkpoint r-test here").succeeds();
    let told = notices(&ran);
    assert_eq!(told.len(), 1, "{ran}");
    assert!(told[0].contains("`shown/status.json`"), "{ran}");
    assert_eq!(noted(&project).len(), 1, "{:?}", noted(&project));
    assert!(noted(&project)[0].contains("`shown/status.json`"));
    assert!(project.read("shown/status.json").contains("\"writing\""));
    let ran = run(&project, "checkpoint r-test there").succeeds();
    assert_eq!(notices(&ran), [""; 0]);
    assert_eq!(noted(&project).len(), 1);
}

#[test]
fn a_removed_view_is_told_once_noted_and_written_again() {
    let project = with_views();
    std::fs::remove_dir_all(project.path().join("shown")).unwrap();
    let ran = run(&project, "checkpoint r-test here").succeeds();
    assert_eq!(notices(&ran).len(), 4, "{ran}");
    assert!(ran.stderr.contains("`shown/r-test.md`"), "{ran}");
    assert_eq!(noted(&project).len(), 4);
    assert!(project.read("shown/status.json").contains("\"writing\""));
    assert!(project.read("shown/run.log").contains("`shown/r-test.md`"));
    let ran = run(&project, "checkpoint r-test there").succeeds();
    assert_eq!(notices(&ran), [""; 0]);
}

#[test]
fn a_view_that_was_only_touched_accuses_nobody() {
    let project = with_views();
    for path in ["shown/status.json", "shown/run.log"] {
        let text = project.read(path);
        std::fs::remove_file(project.path().join(path)).unwrap();
        project.write(path, text);
    }
    let ran = run(&project, "checkpoint r-test here").succeeds();
    assert_eq!(notices(&ran), [""; 0]);
    assert_eq!(noted(&project), [""; 0]);
}

/// What is kept about the views is a cache.
#[test]
fn when_nothing_is_known_of_the_views_nobody_is_accused() {
    let project = with_views();
    to_the_question(&project);
    let whole = project.read("shown/run.log");
    let kept = project.state_home().join("gatewright/views/r-test");
    for spoil in ["", "writing\n[]\n{}", "written\n[["] {
        std::fs::write(&kept, spoil).unwrap();
        project.write("shown/run.log", "");
        let ran = run(&project, &format!("checkpoint r-test here{}", spoil.len())).succeeds();
        assert_eq!(notices(&ran), [""; 0], "{spoil:?}");
        assert!(
            project.read("shown/run.log").starts_with(&whole),
            "{spoil:?}"
        );
    }
}

#[test]
fn a_log_grows_and_an_edited_one_is_written_whole() {
    let project = with_views();
    let begun = project.read("shown/run.log");
    assert!(begun.ends_with("write a note (GW-R01)\n"), "{begun}");
    to_the_question(&project);
    let grown = project.read("shown/run.log");
    assert!(grown.starts_with(&begun), "{grown}");
    assert!(
        grown.ends_with("testing → asking: passed (GW-R96)\n"),
        "{grown}"
    );
    project.write("shown/run.log", "nothing happened\n");
    run(&project, "answer no").succeeds();
    let whole = project.read("shown/run.log");
    assert!(whole.starts_with(&grown), "{whole}");
    assert!(
        whole.contains("`shown/run.log`") && whole.contains("GW-R103"),
        "{whole}"
    );
    assert!(whole.contains("asking → stopped: no"), "{whole}");
}

#[test]
fn whoever_comes_at_once_leaves_one_whole_picture_of_all() {
    let project = with_views();
    let names: Vec<String> = (0..12).map(|number| format!("p{number}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            let project = &project;
            scope.spawn(move || project.run(["checkpoint", "r-test", name]).succeeds());
        }
    });
    let log = project.read("shown/run.log");
    for name in &names {
        let line = format!(" {name} ");
        assert_eq!(log.matches(&line).count(), 1, "{name}\n{log}");
    }
    assert_eq!(noted(&project), [""; 0]);
    let shown = std::fs::read_dir(project.path().join("shown")).unwrap();
    let mut files: Vec<_> = shown.map(|it| it.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(
        files,
        ["diagram.mmd", "r-test.md", "run.log", "status.json"]
    );
}

#[test]
fn a_view_that_cannot_be_written_is_one_line_and_the_commit_stands() {
    let project = project();
    project.write("shown", "a file where a folder should be");
    project.write(
        "viewed.toml",
        format!("{SMALL}[views]\nstatus = \"shown/status.json\"\n"),
    );
    start(&project, "viewed.toml").succeeds();
    let ran = run(&project, "checkpoint r-test here").succeeds();
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
    assert!(ran.stderr.contains("`shown`"), "{ran}");
    assert_eq!(noted(&project), [""; 0]);
}

#[test]
fn two_runs_do_not_fight_for_one_view() {
    let project = with_views();
    let second = r#"
name  = "second"
about = "Another pipeline, the same view."
start = "over"
[stages.over]
end = "completed"
[views]
status = "shown/status.json"
"#;
    project.write(
        "second.toml",
        second.replace("over", "work").replace(
            "end = \"completed\"",
            "allow = [\"*\"]\non.finish = \"done\"\n[stages.done]\nend = \"completed\"",
        ),
    );
    project.write(
        "third.toml",
        project
            .read("second.toml")
            .replace("shown/status.json", "shown/{run}.json"),
    );
    project.trust("second.toml");
    project.trust("third.toml");
    let start = |pipeline: &str, id: &str| {
        project.run(["start", pipeline, "--task", "x", "--by-hand", "--id", id])
    };
    let ran = start("second.toml", "r-2").exits(1);
    for fact in ["r-test", "shown/status.json"] {
        assert!(ran.stderr.contains(fact), "{ran}");
    }
    start("third.toml", "r-3").succeeds();
    assert!(project.read("shown/r-3.json").contains("\"r-3\""));
    run(&project, "cancel r-test --reason x --yes");
}

const STOP: &str = "[views]\nstatus = { path = \"stop.json\", removed = \"wait\" }\n";

fn with_stop() -> testkit::Project {
    let project = project();
    project.write("viewed.toml", format!("{SMALL}{STOP}"));
    start(&project, "viewed.toml").succeeds();
    std::fs::remove_file(project.path().join("stop.json")).unwrap();
    project
}

#[test]
fn a_removed_stop_makes_the_run_wait_until_a_person_goes_on() {
    let project = with_stop();
    project.write("note.md", "Hello\n");
    let ran = run(&project, "report").exits(1);
    for fact in [
        "GW-R17",
        "`stop.json`",
        "`gatewright answer r-test continue`",
    ] {
        assert!(ran.stderr.contains(fact), "{ran}");
    }
    assert_eq!(crate::fixture::status(&project), "waiting");
    assert_eq!(crate::fixture::stage(&project), "writing");
    assert!(
        project.read("stop.json").contains("waiting"),
        "it is there again"
    );
    let next = run(&project, "next").succeeds();
    assert!(next.stdout.contains("continue"), "{next}");
    run(&project, "answer continue").succeeds();
    run(&project, "report").succeeds();
    assert_eq!(crate::fixture::stage(&project), "testing");
}

#[test]
fn a_stop_is_noticed_by_the_first_command_that_changes_something() {
    let project = with_stop();
    run(&project, "checkpoint r-test here").succeeds();
    assert_eq!(crate::fixture::status(&project), "waiting");
    run(&project, "cancel --reason enough --yes");
    let history = run(&project, "history").succeeds();
    assert!(history.stdout.contains("`stop.json`"), "{history}");
}

#[test]
fn a_stop_that_nobody_removed_stops_nothing() {
    let project = project();
    project.write("viewed.toml", format!("{SMALL}{STOP}"));
    start(&project, "viewed.toml").succeeds();
    to_the_question(&project);
    project.write("stop.json", "edited");
    run(&project, "answer no").succeeds();
    std::fs::remove_file(project.path().join("stop.json")).unwrap();
    run(&project, "checkpoint r-test over").succeeds();
    assert_eq!(crate::fixture::status(&project), "failed");
}

#[test]
fn the_schema_of_a_workflow_is_printed() {
    let project = project();
    let schema: serde_json::Value =
        serde_json::from_str(&run(&project, "schema workflow").succeeds().stdout).unwrap();
    assert_eq!(schema["required"][0], "id");
    run(&project, "schema nothing").exits(2);
}

#[test]
fn lint_knows_what_a_view_may_say() {
    let project = project();
    for (views, code, said) in [
        (
            "status = { path = \"x\", removed = \"stop\" }",
            "GW-L114",
            "wait",
        ),
        ("status = { removed = \"wait\" }", "GW-L112", "path"),
        (
            "status = { path = \"x\", counter = \"fixes\" }",
            "GW-L110",
            "counter",
        ),
        ("loop-state = \"x\"", "GW-L113", "loop-state"),
        (
            "loop-state = { path = \"x\", counter = \"fixes\" }",
            "GW-L112",
            "promise",
        ),
        (
            "loop-state = { path = \"x\", counter = \"fixs\", promise = \"y\" }",
            "GW-L2",
            "`fixes`",
        ),
        (
            "loop-state = { path = \"x\", counter = \"fixes\", promise = \"{y}\" }",
            "GW-L2",
            "y",
        ),
        ("status = \"{step}.json\"", "GW-L250", "{step}"),
    ] {
        project.write("viewed.toml", format!("{SMALL}[views]\n{views}\n"));
        let ran = run(&project, "lint viewed.toml").exits(1);
        assert!(
            ran.stderr.contains(code) && ran.stderr.contains(said),
            "{views}\n{ran}"
        );
    }
}

const BOARD: &str = r#"
[[views.template]]
file = "boards/board.md.j2"
path = "shown/board.md"
"#;

fn with_board(template: &str) -> testkit::Project {
    let project = project();
    project.write("boards/board.md.j2", template);
    project.write("boarded.toml", format!("{SMALL}{BOARD}"));
    project
}

#[test]
fn a_template_of_ones_own_is_rendered_after_every_change() {
    let project = with_board("# {{ run.task }}\n\n{{ stage.name }}: {{ run.status }}\n");
    run(&project, "lint boarded.toml").succeeds();
    start(&project, "boarded.toml").succeeds();
    let before = project.read("shown/board.md");
    assert!(before.ends_with(": running\n"), "{before}");
    to_the_question(&project);
    let after = project.read("shown/board.md");
    assert!(after.ends_with(": waiting\n"), "{after}");
    // The run is pinned to the template that it began with.
    project.write("boards/board.md.j2", "{{ broken");
    run(&project, "cancel --reason enough").succeeds();
    let over = project.read("shown/board.md");
    assert!(over.ends_with(": cancelled\n"), "{over}");
}

#[test]
fn a_template_that_cannot_be_rendered_is_refused_at_its_place() {
    for (template, words) in [
        (
            "one\n{{ run.taks }}\n",
            "boards/board.md.j2` cannot be rendered: line 2",
        ),
        ("{% if %}", "line 1"),
        ("{% for item in steps %}{% endfor %}{{ item }}", "`item`"),
    ] {
        let project = with_board(template);
        let linted = run(&project, "lint boarded.toml").exits(1);
        assert!(linted.stderr.contains("error[GW-L259]"), "{linted}");
        assert!(linted.stderr.contains(words), "{linted}");
        assert!(
            linted.stderr.contains("file = \"boards/board.md.j2\""),
            "{linted}"
        );
        start(&project, "boarded.toml").exits(1);
    }
    let project = with_board("");
    std::fs::remove_file(project.path().join("boards/board.md.j2")).unwrap();
    let linted = run(&project, "lint boarded.toml").exits(1);
    assert!(linted.stderr.contains("error[GW-L131]"), "{linted}");
}

/// Each would take all memory of the machine long before its output is too long. `lint` itself must do
/// with a gigabyte.
#[test]
fn a_template_that_needs_much_memory_is_refused_before_it_has_it() {
    let loops = "{% for i in range(60) %}";
    for template in [
        format!("{{% set at = namespace(x='x') %}}{loops}{{% set at.x = at.x ~ at.x %}}{{% endfor %}}"),
        format!("{{% set at = namespace(x=[1]) %}}{loops}{{% set at.x = (at.x + at.x) | list %}}{{% endfor %}}"),
        "{% set all = namespace(x=[]) %}{% for i in range(99) %}\
         {% set all.x = all.x + ['x' * 90000000 ~ i] %}{% endfor %}"
            .to_owned(),
        "{% set x = 'x' * 90000000 %}{{ [x, x, x, x, x, x, x, x, x, x, x, x, x] | join(x) | length }}"
            .to_owned(),
        "{% set x = 'x' * 100000 %}{{ x | replace('x', x) | length }}".to_owned(),
        "{{ ([0] * 90000000) | list | length }}".to_owned(),
    ] {
        let project = with_board(&template);
        let mut limited = project.shell(&format!(
            "ulimit -d 1048576 && exec {} lint boarded.toml",
            env!("CARGO_BIN_EXE_gatewright")
        ));
        let linted = testkit::Ran::from(limited.output().unwrap()).exits(1);
        assert!(linted.stderr.contains("error[GW-L259]"), "{template}\n{linted}");
    }
    let modest = with_board("{{ '-' * 72 }}{% set x = run.task ~ ', ' ~ run.status %}{{ x }}\n");
    run(&modest, "lint boarded.toml").succeeds();
}
