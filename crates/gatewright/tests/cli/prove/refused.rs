//! What is not proved, and why; and what a new user sees.

use testkit::Project;

use super::fixture::{PROGRAM, TINY, says};

#[test]
fn a_project_without_a_pipeline_is_told_what_to_do() {
    let ran = Project::new(PROGRAM).run(["prove-guards"]);
    says(ran, 3, &["gatewright init"]);
}

#[test]
fn a_pipeline_that_is_not_there_is_told() {
    let ran = Project::new(PROGRAM).run(["prove-guards", "ansibel"]);
    says(ran, 3, &["ansibel", "ansible"]);
}

#[test]
fn a_pipeline_with_mistakes_is_not_proved() {
    let project = Project::new(PROGRAM);
    project.write("p.toml", TINY.replace("\"asking\"", "\"nowhere\""));
    says(project.run(["prove-guards", "p.toml"]), 1, &["nowhere"]);
}

#[test]
fn an_advisory_pipeline_has_nothing_to_prove() {
    let project = Project::new(PROGRAM);
    project.write(
        "p.toml",
        TINY.replace("start = ", "mode = \"advisory\"\nstart = "),
    );
    says(project.run(["prove-guards", "p.toml"]), 1, &["advisory"]);
}

#[test]
fn hooks_that_are_switched_off_guard_nothing() {
    let project = Project::new(PROGRAM);
    project.write(".claude/settings.json", "{ \"disableAllHooks\": true }");
    let ran = project.run(["prove-guards", "phases"]);
    says(ran, 1, &["settings.json"]);
}

#[test]
fn an_agent_is_refused() {
    let project = Project::new(PROGRAM);
    let mut command = project.command(["prove-guards", "phases"]);
    let output = command.env("CLAUDECODE", "1").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("GW-R66"), "{told}");
}

#[test]
fn a_new_user_installs_and_proves() {
    let project = Project::new(PROGRAM);
    project.run(["init", "phases", "--yes"]).succeeds();
    let ran = project.run(["prove-guards"]).succeeds();
    for words in ["phases", "settings.local.json"] {
        assert!(ran.stdout.contains(words), "does not say {words:?}\n{ran}");
    }
}

#[test]
fn hooks_that_are_called_by_name_go_through_a_shell() {
    let project = Project::new(PROGRAM);
    let folder = std::path::Path::new(PROGRAM).parent().unwrap();
    let search = std::env::var_os("PATH").unwrap_or_default();
    let search = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&search));
    let search = std::env::join_paths(search).unwrap();
    let run = |words: &[&str]| {
        let output = project
            .command(words)
            .env("PATH", &search)
            .output()
            .unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{words:?}: {told}");
        told
    };
    run(&["init", "phases", "--yes", "--shared"]);
    let told = run(&["prove-guards"]);
    assert!(told.contains("/.claude/settings.json"), "{told}");
}
