//! Subfolders, worktrees, and two sessions in one project.

use testkit::model::{Actor, agent_in_foreground, bash, hold, say};

use crate::stage::{Stage, is_refused};

#[test]
fn two_sessions_in_one_project_have_a_run_each() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-FIRST",
            [
                agent_in_foreground("context-gatherer", "GO-GATHER"),
                say("END"),
            ],
        ),
        Actor::new(
            "GO-SECOND",
            [
                agent_in_foreground("context-refiner", "GO-REFINE"),
                say("END"),
            ],
        ),
        Actor::new("GO-GATHER", [bash("ls"), say("GATHERED")]),
        Actor::new("GO-REFINE", [say("NEVER")]),
    ]);
    stage.claude().ask("GO-FIRST").succeeds();
    stage.claude().ask("GO-SECOND").succeeds();
    // The progress of the first session does not count for the second one.
    let told = stage.model.told("GO-SECOND");
    assert!(is_refused(&told, "GW-R11", "'context-refiner'"), "{told}");
    let runs = stage.runs();
    let mut places: Vec<String> = runs.iter().map(|run| stage.place_of(run)).collect();
    places.sort();
    assert_eq!(places, ["GATHERING running", "IDLE running"]);
}

#[test]
fn a_stop_of_another_session_is_not_held() {
    let start = format!("{} start story --task 'a story'", crate::stage::program());
    let stage = Stage::story([
        Actor::new("GO-MAIN", [bash(&start), hold("let-go", say("END"))]),
        Actor::new("GO-OTHER", [bash("ls"), say("OTHER END")]),
    ]);
    let first = stage.claude().begin("GO-MAIN: begin");
    stage.model.wait_until_held("let-go");
    let other = stage.claude().ask("GO-OTHER").succeeds();
    assert_eq!(other.result(), "OTHER END");
    assert!(!stage.model.told("GO-OTHER").contains("GW-R91"));
    // It hears of the run and does not hold it.
    stage.model.release("let-go");
    first.wait();
    assert_eq!(stage.runs().len(), 1);
}

#[test]
fn a_session_that_is_started_in_a_subfolder_is_guarded() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [agent_in_foreground("bash-expert", "GO-BASH"), say("END")],
        ),
        Actor::new("GO-BASH", [say("NEVER")]),
    ]);
    stage.project.write("deep/down/file", "x");
    let claude = stage.claude().folder(stage.path("deep/down"));
    claude.ask("GO-MAIN").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert!(told.contains("GW-R11 refused"), "{told}");
    assert_eq!(stage.place(), "IDLE running");
}

#[test]
fn a_session_that_goes_to_a_subfolder_stays_guarded() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [
                bash("mkdir -p deep/down && cd deep/down && pwd"),
                agent_in_foreground("bash-expert", "GO-BASH"),
                say("END"),
            ],
        ),
        Actor::new("GO-BASH", [say("NEVER")]),
    ]);
    stage.claude().ask("GO-MAIN").succeeds();
    assert!(stage.model.told("GO-MAIN").contains("GW-R11 refused"));
}

/// What happens to a project between two sessions, and what the second one hears.
type Happens = (&'static str, fn(&Stage), &'static str);

#[test]
fn a_project_keeps_its_guard_or_says_that_it_lost_it() {
    fn gone(path: std::path::PathBuf) {
        std::fs::remove_dir_all(path).expect("a folder is removed");
    }
    let rows: [Happens; 4] = [
        (
            "the repository is moved away",
            |stage| {
                std::fs::rename(stage.path(".git"), stage.path("x")).expect("it is moved");
            },
            "GW-R11 refused",
        ),
        (
            "the list of projects is removed",
            |stage| gone(stage.project.state().join("projects")),
            "GW-R11 refused",
        ),
        (
            "the state folder is removed",
            |stage| gone(stage.project.state()),
            "GW-R11 refused",
        ),
        (
            "the state folder and the definition are removed",
            |stage| {
                gone(stage.project.state());
                gone(stage.path(".gatewright"));
            },
            "GW-R101",
        ),
    ];
    for (what, happens, rule) in rows {
        let stage = Stage::always_on([
            Actor::new(
                "GO-MAIN",
                [
                    bash("echo ordinary > ordinary.txt"),
                    agent_in_foreground("bash-expert", "GO-BASH"),
                    say("END"),
                ],
            ),
            Actor::new("GO-BASH", [say("NEVER")]),
        ]);
        happens(&stage);
        stage.claude().ask("GO-MAIN").succeeds();
        let told = stage.model.told("GO-MAIN");
        assert!(told.contains(rule), "{what}: {told}");
        assert!(stage.path("ordinary.txt").exists(), "{what}: {told}");
    }
}

#[test]
fn a_worktree_belongs_to_the_project() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [agent_in_foreground("bash-expert", "GO-BASH"), say("END")],
        ),
        Actor::new("GO-BASH", [say("NEVER")]),
    ]);
    let tree = stage.project.path().with_file_name("tree");
    stage
        .project
        .git(["worktree", "add", "--quiet", tree.to_str().expect("text")]);
    // The host reads the local settings of the main worktree, which git does not bring here.
    assert!(!tree.join(".claude/settings.local.json").exists());
    stage.claude().folder(&tree).ask("GO-MAIN").succeeds();
    assert!(stage.model.told("GO-MAIN").contains("GW-R11 refused"));
    assert_eq!(stage.place(), "IDLE running");
}
