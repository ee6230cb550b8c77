//! Where hooks may stand: in the project for everybody, or in a person's own settings.

use std::fs;

use super::fixture::{LOCAL, PROGRAM, SHARED, init, json, project, tree, uninit};

#[test]
fn shared_hooks_name_no_path_of_this_machine() {
    let project = project();
    project.write(SHARED, "{\n  \"model\": \"opus\"\n}\n");
    let before = tree(&project.path());
    init(&project, &["--shared"]).succeeds();
    let text = project.read(SHARED);
    assert!(!text.contains(PROGRAM), "{text}");
    assert!(
        !text.contains("statusLine"),
        "a teammate may have one of their own"
    );
    let hook = &json(&project, SHARED)["hooks"]["PreToolUse"][0]["hooks"][0];
    let line = hook["command"].as_str().unwrap();
    assert_eq!(
        line,
        "command -v gatewright >/dev/null 2>&1 || exit 0; exec gatewright hook claude PreToolUse \
         --always .gatewright/context-first.toml"
    );
    assert_eq!(hook["onFailure"], "block");
    assert!(!project.path().join(LOCAL).exists());
    let again = init(&project, &["--shared"]).succeeds();
    assert_eq!(again.stdout.lines().count(), 1, "{again}");
    uninit(&project).succeeds();
    assert_eq!(tree(&project.path()), before);
}

#[test]
fn the_shared_line_does_nothing_where_the_program_is_missing() {
    let project = project();
    init(&project, &["--shared"]).succeeds();
    let hooks = json(&project, SHARED)["hooks"].clone();
    for (event, groups) in hooks.as_object().unwrap() {
        let line = groups[0]["hooks"][0]["command"].as_str().unwrap();
        let ran = project
            .shell(line)
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap();
        assert!(
            ran.status.success() && ran.stdout.is_empty() && ran.stderr.is_empty(),
            "{event}"
        );
    }
}

#[test]
fn the_shared_line_hands_on_what_the_program_says() {
    let project = project();
    init(&project, &["--shared"]).succeeds();
    let folder = project.home().join("bin");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("gatewright");
    fs::write(&program, "#!/bin/sh\necho \"$*\"\necho no >&2\nexit 2\n").unwrap();
    testkit::make_executable(&program);
    let hooks = json(&project, SHARED)["hooks"].clone();
    let line = hooks["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let ran = project.shell(line).env("PATH", path).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert_eq!(
        (ran.stdout, ran.stderr),
        (
            b"hook claude Stop --always .gatewright/context-first.toml\n".to_vec(),
            b"no\n".to_vec()
        )
    );
}

#[test]
fn hooks_move_from_this_machine_to_everybody() {
    let mine = "{\n  \"model\": \"opus\"\n}\n";
    for before in [Some(mine), Some("{ }"), None] {
        let project = project();
        if let Some(text) = before {
            project.write(LOCAL, text);
        }
        let files = tree(&project.path());
        init(&project, &[]).succeeds();
        init(&project, &["--shared"]).succeeds();
        assert!(!project.read(LOCAL).contains("hook"), "{before:?}");
        assert!(project.read(SHARED).contains("exec gatewright hook"));
        uninit(&project).succeeds();
        assert_eq!(tree(&project.path()), files, "{before:?}");
    }
}

#[test]
fn a_person_has_hooks_for_all_projects() {
    let project = project();
    let mine = "{\n  \"theme\": \"dark\"\n}\n";
    fs::create_dir(project.home().join(".claude")).unwrap();
    let settings = project.home().join(".claude/settings.json");
    fs::write(&settings, mine).unwrap();
    init(&project, &["--user"]).succeeds();
    let text = fs::read_to_string(&settings).unwrap();
    assert!(
        text.starts_with("{\n  \"theme\": \"dark\",\n  \"hooks\": {"),
        "{text}"
    );
    assert!(text.contains(PROGRAM));
    assert!(!project.path().join(".claude").exists());
    let again = init(&project, &["--user"]).succeeds();
    assert_eq!(again.stdout.lines().count(), 1, "{again}");
    project.run(["uninit", "--yes", "--user"]).succeeds();
    assert_eq!(fs::read_to_string(&settings).unwrap(), mine);
}

#[test]
fn the_folder_of_a_persons_settings_may_be_elsewhere_and_new() {
    let project = project();
    let folder = project.home().join("config/claude");
    let with_folder = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("CLAUDE_CONFIG_DIR", &folder);
        testkit::Ran::from(command.output().unwrap()).succeeds()
    };
    with_folder(&["init", "--yes", "--user"]);
    assert!(
        fs::read_to_string(folder.join("settings.json"))
            .unwrap()
            .contains(PROGRAM)
    );
    with_folder(&["uninit", "--yes", "--user"]);
    assert!(!folder.join("settings.json").exists());
    assert!(!project.home().join(".claude").exists());
}
