//! `init`: what it writes, what it keeps, and what it refuses.

use std::fs;
use std::os::unix::fs::symlink;

use super::fixture::{Deed, LOCAL, SHARED, init, json, project, tree, uninit};

#[test]
fn a_new_user_gets_a_pipeline_its_files_and_hooks() {
    let project = project();
    let ran = init(&project, &[]).succeeds();
    assert!(
        ran.stdout
            .contains("new      .gatewright/context-first.toml"),
        "{ran}"
    );
    assert!(ran.stdout.contains("+  \"hooks\": {"), "{ran}");
    assert!(ran.stdout.contains("installed: context-first\n"), "{ran}");
    assert!(ran.stderr.contains("PATH"), "{ran}");
    let shipped = language::builtin::find("context-first").unwrap();
    assert_eq!(project.read(".gatewright/context-first.toml"), shipped.text);
    for (path, text) in shipped.files {
        assert_eq!(project.read(format!(".gatewright/{path}")), *text);
        assert_eq!(project.read(format!(".claude/{path}")), *text);
    }
    let settings = json(&project, LOCAL);
    let line = settings["statusLine"]["command"].as_str().unwrap();
    assert!(line.ends_with("gatewright statusline"), "{line}");
}

#[test]
fn every_pipeline_of_the_program_can_be_installed_and_all_together() {
    let together = project();
    let before = tree(&together.path());
    for builtin in language::builtin::all() {
        let alone = project();
        let before = tree(&alone.path());
        init(&alone, &[builtin.name]).succeeds();
        uninit(&alone).succeeds();
        assert_eq!(tree(&alone.path()), before, "{}", builtin.name);
        init(&together, &[builtin.name]).succeeds();
    }
    let again = init(&together, &[]).succeeds();
    assert_eq!(again.stdout.lines().count(), 1, "{again}");
    uninit(&together).succeeds();
    assert_eq!(tree(&together.path()), before);
}

#[test]
fn without_a_terminal_and_without_yes_nothing_is_written() {
    let project = project();
    let before = tree(&project.path());
    let ran = project.run(["init"]).exits(1);
    assert!(
        ran.stdout
            .contains("new      .gatewright/context-first.toml"),
        "{ran}"
    );
    assert!(ran.stderr.contains("--yes"), "{ran}");
    assert_eq!(tree(&project.path()), before);
}

#[test]
fn a_person_chooses_and_is_asked_and_only_a_yes_counts() {
    for (arguments, typed, installed) in [
        (&["init"][..], "\ny\n", Some("context-first")),
        (&["init"], "ansible\nyes\n", Some("ansible")),
        (&["init", "phases"], "y\n", Some("phases")),
        (&["init"], "\nn\n", None),
        (&["init"], "\n\n", None),
    ] {
        let project = project();
        let ran = project.person(arguments, typed);
        let code = if installed.is_some() { 0 } else { 1 };
        assert_eq!(ran.code, Some(code), "{typed:?}\n{ran}");
        assert!(ran.stdout.contains("[y/N]"), "{ran}");
        let chosen = installed.is_none_or(|name| {
            project
                .path()
                .join(format!(".gatewright/{name}.toml"))
                .exists()
        });
        assert!(chosen, "{typed:?}");
        assert_eq!(
            project.path().join(LOCAL).exists(),
            installed.is_some(),
            "{typed:?}"
        );
    }
}

#[test]
fn files_of_the_same_name_stay_and_are_told() {
    let project = project();
    let mine = ".claude/agents/context-gatherer.md";
    project.write(mine, "mine\n");
    let before = tree(&project.path());
    let ran = init(&project, &[]).succeeds();
    assert!(ran.stderr.contains(mine), "{ran}");
    assert_eq!(project.read(mine), "mine\n");
    uninit(&project).succeeds();
    assert_eq!(tree(&project.path()), before);
}

#[test]
fn a_file_that_the_pipeline_needs_is_not_taken_from_somebody_else() {
    let project = project();
    project.write(".gatewright/agents/context-gatherer.md", "mine\n");
    let before = tree(&project.path());
    let ran = init(&project, &[]).exits(1);
    assert!(ran.stderr.contains("agents/context-gatherer.md"), "{ran}");
    assert_eq!(tree(&project.path()), before);
}

#[test]
fn settings_that_cannot_take_hooks_are_told_and_nothing_is_written() {
    for (text, expected) in [
        ("{,}", "line 1"),
        ("{\n  // mine\n}", "line 2, column 3"),
        ("[]", LOCAL),
        ("{\"hooks\": []}", "`hooks`"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop`"),
        ("{\"env\": []}", "`env`"),
        (
            "{\"permissions\": {\"defaultMode\": \"yolo\"}}",
            "defaultMode",
        ),
    ] {
        let project = project();
        project.write(LOCAL, text);
        let before = tree(&project.path());
        let ran = init(&project, &[]).exits(1);
        assert!(ran.stderr.contains(expected), "{text}\n{ran}");
        assert_eq!(tree(&project.path()), before, "{text}");
    }
}

#[test]
fn no_link_is_followed() {
    let linked: [(&str, Deed); 4] = [
        (".claude", |project| {
            fs::create_dir(project.home().join("elsewhere")).unwrap();
            symlink(
                project.home().join("elsewhere"),
                project.path().join(".claude"),
            )
            .unwrap();
        }),
        ("settings.local.json", |project| {
            fs::create_dir(project.path().join(".claude")).unwrap();
            let target = project.home().join("target.json");
            fs::write(&target, "{}").unwrap();
            symlink(target, project.path().join(LOCAL)).unwrap();
        }),
        (".gatewright", |project| {
            symlink(project.home(), project.path().join(".gatewright")).unwrap();
        }),
        ("agents", |project| {
            fs::create_dir(project.path().join(".claude")).unwrap();
            symlink(project.home(), project.path().join(".claude/agents")).unwrap();
        }),
    ];
    for (what, link) in linked {
        let project = project();
        link(&project);
        let before = tree(&project.home());
        let ran = init(&project, &[]).exits(1);
        assert!(ran.stderr.contains(what), "{what}\n{ran}");
        assert_eq!(tree(&project.home()), before, "{what}");
        assert!(
            !project
                .path()
                .join(".gatewright/context-first.toml")
                .exists()
        );
    }
}

#[test]
fn a_pipeline_of_the_project_needs_trust_first() {
    let project = project();
    let shipped = language::builtin::find("context-first").unwrap().text;
    let own = shipped.replace("\"context-first\"", "\"mine\"");
    project.write(".gatewright/mine.toml", &own);
    for (path, text) in language::builtin::find("context-first").unwrap().files {
        project.write(format!(".gatewright/{path}"), text);
    }
    let ran = init(&project, &["mine"]).exits(1);
    assert!(ran.stderr.contains("gatewright trust"), "{ran}");
    assert!(!project.path().join(".claude").exists());
    project.trust("mine");
    let ran = init(&project, &["mine"]).succeeds();
    assert!(ran.stdout.contains("installed: mine\n"), "{ran}");
    assert!(
        project
            .path()
            .join(".claude/agents/context-refiner.md")
            .exists()
    );
    uninit(&project).succeeds();
    assert_eq!(project.read(".gatewright/mine.toml"), own);
}

#[test]
fn a_copy_that_somebody_edits_becomes_the_projects_own() {
    let project = project();
    init(&project, &[]).succeeds();
    let file = ".gatewright/context-first.toml";
    let edited = project.read(file) + "# mine\n";
    project.write(file, &edited);
    let ran = init(&project, &[]).exits(1);
    assert!(ran.stderr.contains("gatewright trust"), "{ran}");
    project.trust("./.gatewright/context-first.toml");
    let ran = init(&project, &[]).succeeds();
    assert!(ran.stderr.contains("context-first"), "{ran}");
    let ran = uninit(&project).succeeds();
    assert!(ran.stderr.contains(file), "{ran}");
    assert_eq!(project.read(file), edited);
    assert!(!project.path().join(".claude").exists());
}

#[test]
fn hooks_that_stand_elsewhere_are_not_written_twice() {
    let first = project();
    init(&first, &["--user"]).succeeds();
    let ran = init(&first, &["ansible"]).succeeds();
    assert!(ran.stderr.contains(".claude/settings.json"), "{ran}");
    assert!(!first.path().join(LOCAL).exists());
    let second = project();
    let plugin = "{\"enabledPlugins\": {\"gatewright@team\": true}}";
    second.write(SHARED, plugin);
    let ran = init(&second, &[]).succeeds();
    assert!(ran.stderr.contains("plugin"), "{ran}");
    assert!(!second.path().join(LOCAL).exists());
    assert_eq!(second.read(SHARED), plugin);
}

#[test]
fn what_switches_hooks_off_is_told() {
    let project = project();
    project.write(SHARED, "{\"disableAllHooks\": true}");
    let ran = init(&project, &[]).succeeds();
    assert!(ran.stderr.contains(SHARED), "{ran}");
}

#[test]
fn facts_as_json_are_one_object() {
    let project = project();
    let ran = project.run(["init", "--yes", "--json"]).succeeds();
    let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(facts["done"], true);
    assert_eq!(facts["pipelines"], serde_json::json!(["context-first"]));
    assert_eq!(facts["plan"]["changes"][0]["action"], "new");
    let ran = project.run(["init", "--yes", "--json"]).succeeds();
    let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(facts["done"], false);
}

#[test]
fn an_unknown_pipeline_is_told() {
    let project = project();
    let ran = init(&project, &["contxt-first"]).exits(3);
    assert!(ran.stderr.contains("context-first"), "{ran}");
    assert!(!project.path().join(".claude").exists());
    let typed = project.run(["init", "--user", "ansible"]);
    assert_eq!(typed.code, Some(2), "{typed}");
}
