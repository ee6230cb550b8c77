//! Installations and removals that were cut off at any step are finished by the next one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::settings_files::LOCAL;
use super::*;

/// A project with some files in it, and a state folder beside it.
struct TestInstall {
    _folder: tempfile::TempDir,
    context: Context,
    root: PathBuf,
}

const SETTINGS: &str = "{\n  \"model\": \"opus\"\n}\n";

fn place() -> TestInstall {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let root = path.join("project");
    fs::create_dir_all(root.join(".claude")).unwrap();
    fs::write(root.join(LOCAL), SETTINGS).unwrap();
    fs::write(root.join("CLAUDE.md"), "# Mine\n").unwrap();
    let variables = [
        ("HOME", path.join("home")),
        ("XDG_STATE_HOME", path.join("state")),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    TestInstall {
        context: Context::at(Environment::new(variables), root.clone()),
        _folder: folder,
        root,
    }
}

fn request() -> InstallRequest {
    InstallRequest {
        altered: Altered::Kept,
        allow: AllowRules::Offered,
        // It adds to a file of the person's, too.
        pipeline: Some("phases".to_owned()),
        target: HooksTarget::Local,
    }
}

fn prepared(context: &Context) -> PreparedInstall {
    match prepare(context, &request()) {
        Ok(prepared) => prepared,
        Err(DefinitionError::Failed(failure)) => panic!("{failure}"),
        Err(DefinitionError::Rejected { problems, .. }) => panic!("{problems:?}"),
    }
}

/// Every file below a folder with what it holds, and every folder with nothing.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tree(&path));
            found.insert(path, None);
        } else {
            let text = fs::read_to_string(&path).unwrap();
            found.insert(path, Some(text));
        }
    }
    found
}

#[test]
fn an_installation_that_was_cut_off_is_finished_by_the_next_one() {
    let whole = prepared(&place().context).installer().steps().len();
    assert!(whole > 12, "{whole}");
    for done in 0..=whole {
        let place = place();
        let before = tree(&place.root);
        let first = prepared(&place.context);
        let installer = first.installer();
        for step in installer.steps().iter().take(done) {
            installer.take(step).unwrap();
        }
        prepared(&place.context).perform().unwrap();
        assert!(prepared(&place.context).is_done(), "after {done} steps");
        let found = project(&place.context, &first.state).unwrap();
        let known = installed(&first.state, &found).unwrap();
        assert_eq!(known, first.installed, "after {done} steps");
        prepare_removal(&place.context, HooksTarget::Local)
            .unwrap()
            .perform()
            .unwrap();
        assert_eq!(tree(&place.root), before, "after {done} steps");
        assert_eq!(installed(&first.state, &found).unwrap(), None);
        assert_eq!(record::all(&first.state), []);
    }
}

#[test]
fn an_installation_that_was_cut_off_can_be_taken_back() {
    let whole = prepared(&place().context).installer().steps().len();
    for done in 0..=whole {
        let place = place();
        let before = tree(&place.root);
        let first = prepared(&place.context);
        let installer = first.installer();
        for step in installer.steps().iter().take(done) {
            installer.take(step).unwrap();
        }
        let removal = prepare_removal(&place.context, HooksTarget::Local).unwrap();
        removal.perform().unwrap();
        assert_eq!(tree(&place.root), before, "after {done} steps");
        let removal = prepare_removal(&place.context, HooksTarget::Local).unwrap();
        assert!(removal.is_done(), "after {done} steps");
    }
}

#[test]
fn a_removal_that_was_cut_off_is_finished_by_the_next_one() {
    let first = place();
    prepared(&first.context).perform().unwrap();
    let removal = prepare_removal(&first.context, HooksTarget::Local).unwrap();
    for done in 0..=removal.plan.changes.len() {
        let place = place();
        let before = tree(&place.root);
        prepared(&place.context).perform().unwrap();
        let removal = prepare_removal(&place.context, HooksTarget::Local).unwrap();
        for change in removal.plan.changes.iter().take(done) {
            perform::write(&removal.plan, change).unwrap();
        }
        let again = prepare_removal(&place.context, HooksTarget::Local).unwrap();
        again.perform().unwrap();
        assert_eq!(tree(&place.root), before, "after {done} changes");
    }
}

#[test]
fn a_file_that_changed_while_it_was_shown_is_not_overwritten() {
    let place = place();
    let shown = prepared(&place.context);
    fs::write(place.root.join(LOCAL), "{\"mine\": 1}").unwrap();
    let failure = shown.perform().unwrap_err();
    assert!(failure.message.contains("changed"), "{failure}");
    assert_eq!(
        fs::read_to_string(place.root.join(LOCAL)).unwrap(),
        "{\"mine\": 1}"
    );
    assert!(!shown.is_same(&prepared(&place.context)));
}

#[test]
fn hooks_that_are_gone_are_noticed() {
    let place = place();
    let gone = || hooks_gone(&place.context.environment, &place.root, None);
    let local = place.root.join(LOCAL);
    assert!(gone().is_some_and(|how| how.contains("SessionStart")));
    prepared(&place.context).perform().unwrap();
    assert_eq!(gone(), None);
    let installed = fs::read_to_string(&local).unwrap();
    let program = OurProgram::of_process(&place.context.environment)
        .unwrap()
        .path;
    for (from, to, expected) in [
        (program.as_str(), "/elsewhere/gatewright", "SessionStart"),
        ("\"PreToolUse\"", "\"PreToolUsed\"", "PreToolUse"),
        (
            "\"PostToolUse\": [{",
            "\"PostToolUse\": [{\"matcher\": \"Task\", ",
            "PostToolUse",
        ),
        ("{\n", "{\n  \"disableAllHooks\": true,\n", LOCAL),
        ("{\n", "{\n  // no JSON\n", "SessionStart"),
        (", \"onFailure\": \"block\"", "", "UserPromptExpansion"),
    ] {
        fs::write(&local, installed.replacen(from, to, 99)).unwrap();
        let how = gone().unwrap();
        assert!(how.contains(expected), "{how}");
    }
    fs::write(
        &local,
        installed.replace("\"timeout\": 10", "\"timeout\": 30"),
    )
    .unwrap();
    assert_eq!(gone(), None, "a person may give it more time");
}
