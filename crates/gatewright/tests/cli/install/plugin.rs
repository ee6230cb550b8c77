//! `init --plugin`: a folder that becomes a plugin.

use std::fs;

use super::fixture::{PROGRAM, init, project, tree};

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
    assert!(ran.stderr.contains(folder.to_str().unwrap()), "{ran}");
    assert_eq!(tree(&folder).len(), 1);
}
