//! `gatewright new`: pipelines of one's own, which lint, prove and play as they are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use testkit::Project;

use crate::fixture::{PROGRAM, fact, run, says_one_line};
use crate::install::tree;

const TEMPLATES: [&str; 4] = ["minimal", "checked-work", "review-loop", "task-graph"];
const RECIPES: [&str; 5] = [
    "tdd",
    "plan-first",
    "two-vendors",
    "docs-too",
    "small-change",
];
const BUILT_IN: [&str; 4] = ["ansible", "context-first", "multi-ai", "phases"];

/// The new pipeline lints without a warning, its scenarios pass, and a person can start it.
#[track_caller]
fn holds(project: &Project, name: &str) {
    let linted = run(project, &format!("lint .gatewright/{name}.toml")).succeeds();
    assert_eq!(
        linted.stdout,
        format!(".gatewright/{name}.toml: accepted\n")
    );
    let played = run(project, &format!("test {name}")).succeeds();
    assert!(played.stdout.ends_with(" passed, 0 failed\n"), "{played}");
    project.trust(name);
    let listed = run(project, "pipelines").succeeds();
    assert!(listed.stdout.contains(name), "{listed}");
}

#[test]
fn every_template_lints_plays_and_can_be_trusted_as_it_is() {
    let project = Project::new(PROGRAM);
    for template in TEMPLATES {
        let made = run(
            &project,
            &format!("new my-{template} --template {template}"),
        )
        .succeeds();
        assert!(
            made.stdout
                .starts_with(&format!(".gatewright/my-{template}.toml\n")),
            "{made}"
        );
        for next in ["lint", "test", "trust", "init", "run"] {
            let line = format!("`gatewright {next} ");
            assert!(made.stderr.contains(&line), "{line}\n{made}");
        }
        holds(&project, &format!("my-{template}"));
        let generated = fact(&project, &format!("test --generate my-{template}"));
        assert_eq!(generated["uncovered"], json!([]), "{template}");
    }
}

/// A program that was copied to another machine has the recipes with it: all of each folder in `examples`.
#[test]
fn every_recipe_is_in_the_program() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folders = fs::read_dir(&examples).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|entry| entry.path().is_dir());
    let mut names: Vec<_> = folders.map(|entry| entry.file_name()).collect();
    names.sort();
    let mut recipes = RECIPES;
    recipes.sort();
    assert_eq!(names, recipes);
    for name in RECIPES {
        let (from_file, from_program) = (Project::new(PROGRAM), Project::new(PROGRAM));
        let path = format!("{}/{name}/{name}.toml", examples.display());
        from_file.run(["new", "mine", "--from", &path]).succeeds();
        run(&from_program, &format!("new mine --template {name}")).succeeds();
        let made = |project: &Project| {
            let root = project.path();
            let files = tree(&root.join(".gatewright")).into_iter();
            files
                .map(|(path, bytes)| (path.strip_prefix(&root).unwrap().to_owned(), bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(made(&from_file), made(&from_program), "{name}");
    }
}

/// A promise that is cut out of a template is no longer kept: `lint` shows the way around.
#[test]
fn a_template_with_a_way_around_its_promise_is_refused() {
    let project = Project::new(PROGRAM);
    for (template, from, to) in [
        (
            "minimal",
            "on.done = \"agreeing\"",
            "on.done = \"agreeing\"\non.crashed = \"complete\"",
        ),
        (
            "checked-work",
            "on.stop     = \"stopped\"",
            "on.stop     = \"stopped\"\non.accept = \"complete\"",
        ),
        (
            "review-loop",
            "on.stop     = \"stopped\"",
            "on.stop     = \"stopped\"\non.accept = \"complete\"",
        ),
        (
            "task-graph",
            "on.failed    = { to = \"planning\", count = \"replans\" }",
            "on.failed    = \"checking\"",
        ),
    ] {
        run(
            &project,
            &format!("new bent-{template} --template {template}"),
        )
        .succeeds();
        let path = format!(".gatewright/bent-{template}.toml");
        let text = project.read(&path);
        assert!(text.contains(from), "{template}");
        project.write(&path, text.replacen(from, to, 1));
        let linted = run(&project, &format!("lint {path}")).exits(1);
        assert!(linted.stderr.contains("GW-L260"), "{linted}");
    }
}

#[test]
fn every_built_in_is_copied_with_all_that_belongs_to_it() {
    for builtin in BUILT_IN {
        let project = Project::new(PROGRAM);
        let made = fact(&project, &format!("new mine --from {builtin}"));
        let files = made["files"].as_array().unwrap();
        assert!(files.len() > 3, "{made}");
        for file in files {
            assert!(!project.read(file.as_str().unwrap()).is_empty());
        }
        assert!(project.read(".gatewright/mine.toml").contains("\"mine\""));
        holds(&project, "mine");
    }
}

#[test]
fn a_pipeline_of_ones_own_is_copied_too() {
    let project = Project::new(PROGRAM);
    run(&project, "new first --template checked-work").succeeds();
    run(&project, "new second --from first").succeeds();
    run(&project, "new third --from .gatewright/second.toml").succeeds();
    holds(&project, "second");
    holds(&project, "third");
}

/// From the template to a guarded project, as the output says.
#[test]
fn what_was_made_is_installed_and_started() {
    let project = Project::new(PROGRAM);
    run(&project, "new mine").succeeds();
    project.trust("mine");
    run(&project, "init mine --yes").succeeds();
    assert!(
        project
            .read(".claude/agents/mine-worker.md")
            .contains("name: mine-worker")
    );
    assert!(
        project
            .read(".claude/commands/mine.md")
            .contains("pipeline `mine`")
    );
    project
        .run(["start", "mine", "--task", "try it", "--by-hand"])
        .succeeds();
}

#[test]
fn no_file_is_ever_replaced() {
    let project = Project::new(PROGRAM);
    run(&project, "new mine").succeeds();
    let before = project.read(".gatewright/mine.toml");
    let again = run(&project, "new mine --template task-graph");
    says_one_line(again, 1, &[".gatewright/mine.toml"]);
    assert_eq!(project.read(".gatewright/mine.toml"), before);

    project.write(".gatewright/agents/other-worker.md", "mine\n");
    let other = run(&project, "new other");
    says_one_line(other, 1, &["agents/other-worker.md"]);
    assert_eq!(project.read(".gatewright/agents/other-worker.md"), "mine\n");
    assert!(!project.path().join(".gatewright/other.toml").exists());

    project.write(".gatewright/json.json", "{}");
    says_one_line(run(&project, "new json"), 1, &["json.json"]);
    symlink("nowhere", project.path().join(".gatewright/linked.toml")).unwrap();
    says_one_line(run(&project, "new linked"), 1, &["linked.toml"]);
}

#[test]
fn what_cannot_be_begun_is_told_in_one_line() {
    let project = Project::new(PROGRAM);
    let long = "x".repeat(65);
    for (line, code, words) in [
        ("new ansible", 1, ["ansible", "--from ansible"]),
        ("new a/b", 2, ["'a/b'", "'/'"]),
        ("new ../up", 2, ["'../up'", "'.'"]),
        (&format!("new {long}"), 2, [&long, "64"]),
        ("new mine --template minimla", 3, ["minimla", "minimal"]),
        ("new mine --template zzz", 3, ["zzz", "checked-work"]),
        ("new mine --from ansibel", 3, ["ansibel", "ansible"]),
        (
            "new mine --from gone.toml",
            3,
            ["gone.toml", "gatewright pipelines"],
        ),
        (
            "new mine --from nameless.toml",
            1,
            ["nameless.toml", "gatewright lint"],
        ),
    ] {
        project.write("nameless.toml", "about = 'x'\n");
        says_one_line(run(&project, line), code, &words);
    }
    for line in [
        "new",
        "new --list mine",
        "new mine --template minimal --from ansible",
    ] {
        run(&project, line).exits(2);
    }
    project.write("broken.toml", "name = 'broken'\n");
    let ran = run(&project, "new mine --from broken.toml").exits(1);
    assert!(ran.stderr.contains("error["), "{ran}");
    assert!(!project.path().join(".gatewright").exists());
}

/// A folder of the project that leads elsewhere gets nothing.
#[test]
fn nothing_is_written_through_a_link() {
    let project = Project::new(PROGRAM);
    let elsewhere = project.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    symlink(&elsewhere, project.path().join(".gatewright")).unwrap();
    run(&project, "new mine").exits(1);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn the_templates_are_listed() {
    let project = Project::new(PROGRAM);
    let listed = run(&project, "new --list").succeeds();
    let names = listed
        .stdout
        .lines()
        .map(|line| line.split(' ').next().unwrap());
    assert_eq!(
        names.collect::<Vec<_>>(),
        [&TEMPLATES[..], &RECIPES].concat()
    );
    assert_eq!(
        fact(&project, "new --list")["templates"][0]["name"],
        json!("minimal")
    );
}
