//! Whatever a command makes in the state folder has its name synced before the command ends: a power cut
//! must not take away what was acknowledged with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use testkit::pipelines::SESSION_WRITER;
use testkit::{Project, Ran};

use crate::fixture::PROGRAM;

/// What makes a name, and what makes it durable.
const CALLS: &str = "openat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,fsync,fdatasync";

/// What is made again when it is lost, or only says who is at work.
fn may_be_lost(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    file == "store.db-shm" || file.ends_with(".lock")
}

fn names(folder: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(names(&path));
        }
        all.insert(path);
    }
    all
}

/// The names that this command made in the state folder and that no sync of their folder followed.
fn unsynced(project: &Project, words: &[&str], input: &str) -> Vec<String> {
    let state = project.state_home().canonicalize().unwrap();
    let before = names(&state);
    let trace = project.path().join("trace.txt");
    let mut command = project.shell(&format!(
        "exec strace -f -y -s 4096 -e trace={CALLS} -o {} {PROGRAM} \"$@\" < input.txt",
        trace.display()
    ));
    project.write("input.txt", input);
    command.arg("sh").args(words);
    Ran::from(command.output().expect("strace is installed")).succeeds();
    let trace = fs::read_to_string(trace).unwrap();
    let lines: Vec<&str> = trace
        .lines()
        .filter(|line| !line.contains(" = -1 "))
        .collect();
    let made = names(&state);
    let new = made.difference(&before).map(|path| path.to_str().unwrap());
    let mut unsynced = Vec::new();
    for path in new.filter(|path| !may_be_lost(path)) {
        let (folder, name) = path.rsplit_once('/').unwrap();
        // By its whole path, by the descriptor of its folder, or as the descriptor that was opened.
        let shapes = [format!("\"{path}\""), format!("<{folder}>, \"{name}\"")];
        let opened = format!("<{path}>");
        let makes = |line: &&str| {
            let is_opening = line.contains("openat(") && !line.contains("O_CREAT");
            let is_making = !is_opening && !line.contains("sync(");
            let names = shapes.iter().any(|shape| line.contains(shape)) || line.ends_with(&opened);
            is_making && names
        };
        let at = lines.iter().position(makes);
        let at = at.unwrap_or_else(|| panic!("nobody made {path}\n{trace}"));
        let folder = format!("<{folder}>");
        let is_synced = |line: &&str| line.contains("fsync(") && line.contains(&folder);
        if !lines[at..].iter().any(is_synced) {
            unsynced.push(
                path.strip_prefix(state.to_str().unwrap())
                    .unwrap()
                    .to_owned(),
            );
        }
    }
    unsynced
}

#[test]
fn every_name_that_is_made_is_synced() {
    let project = Project::with_git(PROGRAM);
    project.write(".gatewright/writing.toml", SESSION_WRITER);
    let shown = project
        .run(["trust", "writing", "--show", "--json"])
        .succeeds();
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    let hash = shown["hash"].as_str().unwrap();
    let start =
        r#"{"session_id": "3f1c2a", "hook_event_name": "SessionStart", "source": "startup"}"#;
    for (words, input) in [
        (&["trust", "writing", "--hash", hash][..], ""),
        (&["init", "writing", "--yes"], ""),
        (
            &[
                "start",
                "writing",
                "--task",
                "x",
                "--by-hand",
                "--id",
                "r-1",
            ],
            "",
        ),
        (&["checkpoint", "r-1", "here"], ""),
        (&["hook", "SessionStart"], start),
    ] {
        assert_eq!(unsynced(&project, words, input), [""; 0], "{words:?}");
    }
}
