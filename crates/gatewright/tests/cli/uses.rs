//! Pipelines that take over from others are linted, trusted, pinned and run as one.

use testkit::{Project, Ran};

use crate::fixture::{PROGRAM, RUN, SMALL, fact, run, says_one_line, stage};

/// Our own pipeline is the small one with another test and a later end.
const OURS: &str = r#"
name    = "ours"
extends = "small.toml"

[stages.testing]
check = ["grep -q Goodbye note.md"]
"#;

fn project() -> Project {
    let project = Project::new(PROGRAM);
    project.write(".gatewright/small.toml", SMALL);
    project.write(".gatewright/ours.toml", OURS);
    project
}

fn begin(project: &Project, pipeline: &str) -> Ran {
    project.run(["start", pipeline, "--task", "x", "--by-hand", "--id", RUN])
}

#[test]
fn a_built_in_is_extended_by_a_file_of_two_lines() {
    for builtin in ["ansible", "context-first", "multi-ai", "phases"] {
        let project = Project::new(PROGRAM);
        let made = fact(&project, &format!("new mine --extends {builtin}"));
        let files = made["files"].as_array().unwrap();
        assert_eq!(files, &[".gatewright/mine.toml", ".gatewright/mine.md"]);
        let linted = run(&project, "lint .gatewright/mine.toml").succeeds();
        assert_eq!(linted.stdout, ".gatewright/mine.toml: accepted\n");
        let played = run(&project, "test mine").succeeds();
        assert!(played.stdout.ends_with(" passed, 0 failed\n"), "{played}");
        let drawn = |name: &str| {
            let graph = run(&project, &format!("graph {name} --format mermaid")).succeeds();
            graph.stdout.replacen(name, "", 1)
        };
        assert_eq!(drawn("mine"), drawn(builtin));
    }
}

#[test]
fn a_copy_of_it_has_the_files_that_are_ones_own() {
    let project = project();
    let made = fact(&project, "new copy --from ours");
    let files = made["files"].as_array().unwrap();
    assert_eq!(files.len(), 3, "{made}");
    assert!(files.contains(&".gatewright/small.toml".into()));
    run(&project, "lint .gatewright/copy.toml").succeeds();
    run(&project, "pipelines ours --out written").succeeds();
    run(&project, "lint written/ours.toml").succeeds();
}

#[test]
fn what_is_used_is_trusted_and_pinned_with_the_definition() {
    let project = project();
    says_one_line(begin(&project, "ours"), 1, &["`gatewright trust ours`"]);
    let trusted = project.trust("ours");
    for shown in ["small.toml", "testing  grep -q Goodbye note.md"] {
        assert!(trusted.stdout.contains(shown), "{shown}\n{trusted}");
    }
    // A change of the used file is a change of the whole.
    let other = SMALL.replace("Shall it be reviewed?", "Shall it?");
    project.write(".gatewright/small.toml", &other);
    says_one_line(
        begin(&project, "ours"),
        1,
        &["gatewright trust ours", "small.toml"],
    );
    project.write(".gatewright/small.toml", SMALL);
    begin(&project, "ours").succeeds();
    // The run keeps what it began with, also when the used file is gone.
    std::fs::remove_file(project.path().join(".gatewright/small.toml")).unwrap();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    run(&project, "check").exits(1);
    project.write("note.md", "Hello and Goodbye\n");
    let before = stage(&project);
    run(&project, "report").succeeds();
    run(&project, "check").succeeds();
    assert_ne!(stage(&project), before);
    run(&project, "verify").succeeds();
}

#[test]
fn a_use_that_cannot_be_is_one_line_and_starts_nothing() {
    let project = project();
    let broken = "name = 'broken'\nextends = 'small.toml'\nstart = 'gone'\n";
    project.write(".gatewright/broken.toml", broken);
    for (text, code) in [
        ("name = 'ours'\nextends = 'gone.toml'\n", "GW-L140"),
        ("name = 'ours'\nextends = 'multiai'\n", "GW-L140"),
        ("name = 'ours'\nextends = '../small.toml'\n", "GW-L140"),
        ("name = 'ours'\nextends = 'ours.toml'\n", "GW-L141"),
        ("name = 'ours'\nextends = 'broken.toml'\n", "GW-L142"),
        (
            "name = 'ours'\nextends = 'small.toml'\nwithout = ['stages.gone']\n",
            "GW-L143",
        ),
    ] {
        project.write(".gatewright/ours.toml", text);
        let linted = run(&project, "lint .gatewright/ours.toml").exits(1);
        assert_eq!(linted.stderr.matches("error[").count(), 1, "{linted}");
        assert!(linted.stderr.contains(code), "{code}\n{linted}");
        begin(&project, "ours").exits(1);
    }
    let made = run(&project, "new other --extends gone.toml").exits(1);
    assert!(made.stderr.contains("GW-L140"), "{made}");
    assert!(!project.path().join(".gatewright/other.toml").exists());
}

/// What a used pipeline says where it is shown is a command that a person can type.
#[test]
fn the_problems_of_a_used_file_are_shown_where_the_hint_says() {
    let project = project();
    project.write(".gatewright/small.toml", SMALL.replace("start", "strat"));
    let linted = run(&project, "lint .gatewright/ours.toml").exits(1);
    assert!(
        linted
            .stderr
            .contains("`gatewright lint .gatewright/small.toml`"),
        "{linted}"
    );
    run(&project, "lint .gatewright/small.toml").exits(1);
}

/// The files of the built-in reach the host, and the run has what the project changed.
#[test]
fn an_extended_built_in_is_installed_and_started() {
    let project = Project::new(PROGRAM);
    let text = "name = 'ours'\nextends = 'multi-ai'\nwithout = ['commands.multi-ai']\n\
                gives = ['commands/ours.md']\ncommands.ours = 'start'\n\
                stages.requirements_gathering.agent = 'analyst'\n";
    project.write(".gatewright/ours.toml", text);
    let command = "---\ndescription: Ours\ndisable-model-invocation: true\n---\n\nDo $ARGUMENTS\n";
    project.write(".gatewright/commands/ours.md", command);
    project.trust("ours");
    run(&project, "init ours --yes").succeeds();
    let planner =
        language::builtin::find("multi-ai").unwrap().sources().files["agents/planner.md"].clone();
    assert_eq!(
        project.read(".claude/agents/planner.md").into_bytes(),
        planner
    );
    assert_eq!(project.read(".claude/commands/ours.md"), command);
    let left_out = project.path().join(".claude/commands/multi-ai.md");
    assert!(!left_out.exists(), "a command that is left out has no file");
    begin(&project, "ours").succeeds();
    let next = run(&project, "next").succeeds();
    assert!(next.stdout.contains("'analyst'"), "{next}");
    run(&project, "cancel --reason done").succeeds();
    run(&project, "uninit --yes").succeeds();
    assert!(!project.path().join(".claude/agents/planner.md").exists());
}
