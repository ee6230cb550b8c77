//! `init --plugin`: a folder that Claude Code accepts as a plugin.

use std::fs;
use std::process::Command;

use testkit::claude;

use crate::fixture::{PROGRAM, init, project, tree};

#[test]
fn claude_code_accepts_the_plugin_of_every_pipeline() {
    for builtin in language::builtin::all() {
        let project = project();
        let folder = project.home().join("plugin");
        let folder = folder.to_str().unwrap();
        init(&project, &[builtin.name, "--plugin", folder]).succeeds();
        let mut validate = Command::new(claude::program());
        let ran = validate
            .args(["plugin", "validate", "--strict", folder])
            .env_clear()
            .env("HOME", project.home())
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{}: {said}", builtin.name);
        assert!(
            said.contains("Validation passed"),
            "{}: {said}",
            builtin.name
        );
    }
}

#[test]
fn a_plugin_names_no_path_of_this_machine_and_touches_no_project() {
    let project = project();
    let before = tree(&project.path());
    let folder = project.home().join("plugin");
    init(&project, &["ansible", "--plugin", folder.to_str().unwrap()]).succeeds();
    assert_eq!(tree(&project.path()), before);
    for (path, bytes) in tree(&folder) {
        let text = String::from_utf8(bytes.unwrap_or_default()).unwrap();
        assert!(!text.contains(PROGRAM), "{}", path.display());
    }
    assert!(folder.join("agents/ansible-validator.md").exists());
    // Made again it is the same; what is not ours is left alone.
    let made = tree(&folder);
    init(&project, &["ansible", "--plugin", folder.to_str().unwrap()]).succeeds();
    assert_eq!(tree(&folder), made);
}

#[test]
fn a_folder_with_something_else_in_it_is_refused() {
    let project = project();
    let folder = project.home().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("x"), "x").unwrap();
    let ran = init(&project, &["--plugin", folder.to_str().unwrap()]).exits(1);
    assert!(ran.stderr.contains("no plugin of ours"), "{ran}");
    assert_eq!(tree(&folder).len(), 1);
}
