//! The files of a fleet's run, seen and merged from any machine with a clone of its project.

use super::fixture::{ONE, World, says};
use super::fleet::Fleet;

/// One more machine, with a clone of the project.
fn with_clone(fleet: &Fleet, name: &str) -> World {
    let world = World::with(ONE, "exit 1");
    fleet.join(&world, name, "");
    let git = |line: &str| world.project.git(line.split(' ')).succeeds();
    git("config user.name Somebody");
    git("config user.email somebody@localhost");
    git(&format!("remote add origin {}", fleet.remote_path()));
    git("fetch --quiet origin main");
    git("checkout --quiet --force -B main FETCH_HEAD");
    world
}

fn completed(script: &str) -> (Fleet, World) {
    let fleet = Fleet::new(ONE, script);
    let git = |line: &str| fleet.laptop.project.git(line.split(' ')).succeeds();
    git("push --quiet origin main");
    let other = with_clone(&fleet, "other");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    (fleet, other)
}

#[test]
fn the_change_of_a_run_is_shown_everywhere_while_it_waits_and_when_it_is_over() {
    let fleet = Fleet::new(
        super::fleet::ASKS_AT_THE_END,
        "echo note > note.txt; echo code > b.txt",
    );
    let (build, other) = (fleet.machine("build", ""), fleet.machine("other", ""));
    fleet.queue("f-1", "").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    let shown = |world: &World| {
        let change = &world.facts("diff f-1")["diff"];
        change.as_str().unwrap().to_owned()
    };
    for machine in [&fleet.laptop, &build, &other] {
        says(&shown(machine), "+code");
    }
    fleet.laptop.gatewright("answer f-1 yes").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    fleet.is_delivered("f-1");
    for machine in [&fleet.laptop, &build, &other] {
        says(&shown(machine), "+code");
    }
    // What one piece of work changed is on the machine that did it, and others say so.
    says(
        &other.gatewright("diff f-1 d1").succeeds().stdout,
        "the machine of the fleet",
    );
}

#[test]
fn a_branch_is_merged_into_any_clone() {
    let (fleet, other) = completed("echo note > note.txt");
    let facts = other.facts("merge f-1");
    assert_eq!(
        (&facts["merged"], &facts["files"]),
        (&true.into(), &1.into())
    );
    assert_eq!(other.project.read("note.txt"), "note\n");
    assert_eq!(other.facts("merge f-1")["merged"], false);
    // The tree in which it was queued has a merge of its own.
    assert!(!fleet.laptop.is_there("note.txt"));
    fleet.laptop.gatewright("merge f-1").succeeds();
    assert_eq!(fleet.laptop.project.read("note.txt"), "note\n");
    fleet.laptop.gatewright("verify f-1").succeeds();
}

#[test]
fn conflicts_are_named_and_nothing_is_merged() {
    let (_fleet, other) = completed("echo theirs > note.txt");
    other.project.write("note.txt", "ours\n");
    let git = |line: &str| other.project.git(line.split(' ')).succeeds();
    git("add note.txt");
    git("commit --quiet --message=ours");
    let told = other.gatewright("merge f-1 --json").exits(1);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(told["conflicts"], serde_json::json!(["note.txt"]));
    assert_eq!(other.project.read("note.txt"), "ours\n");
}

#[test]
fn only_a_clone_of_the_project_takes_the_branch() {
    let (fleet, _other) = completed("echo note > note.txt");
    let elsewhere = World::with(ONE, "exit 1");
    fleet.join(&elsewhere, "elsewhere", "");
    says(
        &elsewhere.gatewright("merge f-1").exits(1).stderr,
        "has no remote origin",
    );
    let other = tempfile::TempDir::new().unwrap();
    let address = other.path().to_str().unwrap();
    elsewhere
        .project
        .git(["remote", "add", "origin", address])
        .succeeds();
    says(
        &elsewhere.gatewright("merge f-1").exits(1).stderr,
        "belongs to",
    );
    fleet.queue("f-2", "").succeeds();
    says(
        &fleet.laptop.gatewright("merge f-2").exits(1).stderr,
        "is not completed",
    );
}

/// Needs a file that git ignores, and leaves what it read.
const CARRIES: &str = r#"
name  = "carries"
about = "Write a note with the help of a file that git ignores."
start = "writing"
carry = ["key.txt", "other.txt"]

[artifacts.note]
path   = "note.txt"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
on.done = "ending"

[stages.ending]
agent   = "writer"
leaves  = ["note"]
on.done = "complete"

[stages.complete]
end = "completed"
"#;

#[test]
fn a_machine_carries_its_own_files_and_says_what_it_lacks() {
    let script = "cat key.txt >> note.txt || echo none >> note.txt";
    let fleet = Fleet::new(CARRIES, script);
    let git = |line: &str| fleet.laptop.project.git(line.split(' ')).succeeds();
    git("push --quiet origin main");
    fleet.laptop.project.write("key.txt", "laptop\n");
    let (build, bare) = (with_clone(&fleet, "build"), fleet.machine("bare", ""));
    for world in [&fleet.laptop, &build] {
        world
            .project
            .write(".git/info/exclude", "key.txt\nother.txt\n");
    }
    build.project.write("key.txt", "build\n");
    let queued = fleet.queue("f-1", "").succeeds();
    says(&queued.stderr, "does not travel");
    says(
        &queued.stderr,
        "nothing in this project matches `carry` other.txt",
    );
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.at_branch("f-1", "note.txt"), "build\nbuild");
    let remarks = |run: &str| {
        fleet
            .laptop
            .gatewright(&format!("history {run}"))
            .succeeds()
            .stdout
    };
    says(&remarks("f-1"), "build has nothing for `carry` other.txt");
    assert!(!remarks("f-1").contains("`carry` key.txt"));

    // One without a clone has nothing, and says so; the files of others do not get there.
    fleet.queue("f-2", "").succeeds();
    bare.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.at_branch("f-2", "note.txt"), "none\nnone");
    says(&remarks("f-2"), "bare has nothing for `carry` key.txt");
}

/// Asks at the end, so that the tree which is kept stays at the remote.
fn asks_and_carries(more: &str) -> String {
    super::fleet::ASKS_AT_THE_END.replacen("start =", &format!("{more}\nstart ="), 1)
}

/// A fleet whose project ignores the file that comes along, as nearly every project does.
fn ignoring(pipeline: &str, script: &str) -> (Fleet, World) {
    let fleet = Fleet::new(pipeline, script);
    let git = |line: &str| fleet.laptop.project.git(line.split(' ')).succeeds();
    fleet.laptop.project.write(".gitignore", ".env\n");
    git("add .gitignore");
    git("commit --quiet --message=ignore");
    git("push --quiet origin main");
    let build = with_clone(&fleet, "build");
    build.project.write(".env", "SECRET=1\n");
    build.project.write("lock.json", "{}\n");
    (fleet, build)
}

/// The paths in all commits that the remote has.
fn at_remote(fleet: &Fleet) -> String {
    let words = ["--git-dir", fleet.remote_path(), "log", "--all", "-m"];
    let words = [words.as_slice(), &["--format=", "--name-only", "--root"]].concat();
    fleet.laptop.project.git(words).succeeds().stdout
}

#[test]
fn work_that_carries_an_ignored_file_is_kept_without_it() {
    for script in [
        "cat .env; echo note > note.txt",
        // An agent puts all into the index.
        "git add --all --force; echo note > note.txt",
    ] {
        let (fleet, build) = ignoring(&asks_and_carries("carry = [\".env\"]"), script);
        fleet.queue("f-1", "").succeeds();
        build.gatewright("worker --fleet --once").succeeds();
        assert_eq!(fleet.laptop.status("f-1"), "waiting", "{script}");
        let kept = at_remote(&fleet);
        assert!(kept.lines().any(|path| path == "note.txt"), "{kept}");
        assert!(!kept.contains(".env"), "{script}: {kept}");
    }
}

#[test]
fn what_comes_back_and_is_not_ignored_is_kept_for_other_machines() {
    let more = "carry = [\".env\", \"lock.json\"]\ncarry_back = [\"lock.json\"]";
    let script = "echo '{1}' > lock.json; echo note > note.txt";
    let (fleet, build) = ignoring(&asks_and_carries(more), script);
    fleet.queue("f-1", "").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    let kept = at_remote(&fleet);
    assert!(kept.lines().any(|path| path == "lock.json"), "{kept}");
}

#[test]
fn a_tree_in_which_an_agent_committed_a_secret_is_not_kept_at_the_remote() {
    let script = "git add --force .env
        git -c user.name=a -c user.email=a@localhost commit --quiet --message=all
        echo note > note.txt";
    let (fleet, build) = ignoring(&asks_and_carries("carry = [\".env\"]"), script);
    fleet.queue("f-1", "").succeeds();
    let ran = build.gatewright("worker --fleet --once");
    says(&format!("{}{}", ran.stdout, ran.stderr), ".env");
    assert!(!at_remote(&fleet).contains(".env"));
}
