//! The reference in `docs/cli.md` is what the program says of itself.

use std::fs;
use std::path::Path;

use crate::fixture::{project, run};

/// Set this to write the page anew instead of comparing it.
const UPDATE: &str = "UPDATE_REFERENCE";

#[test]
fn the_reference_is_up_to_date() {
    let page = run(&project(), "man --markdown").succeeds().stdout;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        kept, page,
        "run `{UPDATE}=1 cargo test -p gatewright reference`"
    );
}

#[test]
fn every_command_has_a_man_page() {
    let project = project();
    run(&project, "man --out pages").succeeds();
    for name in ["gatewright.1", "gatewright-start.1", "gatewright-verify.1"] {
        let page = project.read(format!("pages/{name}"));
        assert!(page.contains(".SH NAME"), "{page}");
    }
    assert!(
        run(&project, "man")
            .succeeds()
            .stdout
            .contains("EXIT CODES")
    );
}
