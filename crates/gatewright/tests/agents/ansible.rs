//! `ansible` to its end, with Codex, and a copy of it with Claude Code.
//!
//! `ansible-playbook` and `ansible-lint` are played by scripts: what is shown is that they are run.

use testkit::Ran;
use testkit::model::{Actor, Turn, bash, say, write};

use crate::world::{World, you_are};

const BUILT_IN: &str = include_str!("../../../language/builtin/ansible.toml");

/// The head of a bundle, which all agents leave.
const HEAD: &str =
    "---\nsource_agent: it\ntarget_agent: next\ntimestamp: now\ntarget_path: site.yml\n";

/// Whoever works in the pipeline, with the bundles in this folder. The first playbook is wrong, and
/// the validator does not see it.
fn crew(folder: &str) -> Vec<Actor> {
    let place = |stage: &str| format!("{folder}/ansible-workflows.{stage}.bundle.md");
    let leaves = |stage: &str, rest: &str| {
        let place = place(stage);
        format!("mkdir -p {folder}\ncat > {place} <<'END'\n{HEAD}{rest}---\nDone.\nEND\n")
    };
    let does = |agent: &str, turn: Turn| Actor::new(&you_are(agent), [turn, say("DONE")]);
    let generates = format!("echo 'hosts: al' > site.yml\n{}", leaves("generating", ""));
    let mends = format!("echo 'hosts: all' > site.yml\n{}", leaves("debugging", ""));
    // Its second bundle must differ from the first.
    let validates = leaves("validating", "status: PASS\n");
    let validates = format!("{validates}cat site.yml >> {}", place("validating"));
    let approves = format!("{HEAD}status: APPROVED\n---\nGood.\n");
    vec![
        does("session", bash(&leaves("scaffolding", ""))),
        does("ansible-generator", bash(&generates)),
        does("ansible-validator", bash(&validates)),
        does("ansible-debugger", bash(&mends)),
        does("ansible-reviewer", write(place("reviewing"), &approves)),
    ]
}

fn lint(world: &World) {
    world.put_program("ansible-playbook", "exit 0");
    world.put_program("ansible-lint", r#"grep -q 'hosts: all$' "$1""#);
}

/// Linted twice, mended once, and reviewed: what an agent said of its work was not enough.
#[track_caller]
fn is_whole(world: &World, ran: Ran) {
    let ran = ran.succeeds();
    assert!(ran.stdout.contains("r-test completed"), "{ran}");
    let verdicts: Vec<_> = world.facts("checked");
    let verdicts: Vec<_> = verdicts.iter().map(|fact| &fact["verdict"]).collect();
    assert_eq!(verdicts, ["failed", "passed"], "{ran}");
    assert_eq!(world.facts("ended").len(), 6, "{ran}");
    assert_eq!(world.model.strangers().len(), 0, "{ran}");
    assert_eq!(world.left_over(), Vec::<String>::new());
}

#[test]
fn a_playbook_is_written_linted_mended_and_reviewed_by_codex() {
    let world = World::new(crew(".claude"));
    lint(&world);
    let words = ["--param", "target=site.yml", "--runner", "codex"];
    is_whole(&world, world.run("ansible", &words));
}

/// Claude Code lets nobody write to `.claude` without a person, and there the built-in pipeline has
/// its bundles. So this is a copy that has them elsewhere.
#[test]
fn a_copy_with_its_bundles_elsewhere_is_gone_through_by_claude_code() {
    let (head, rest) = BUILT_IN.split_once("gives = [").unwrap();
    let (_, rest) = rest.split_once("\n]\n").unwrap();
    let copy = format!("{head}{rest}").replace("\".claude/", "\".task/");
    let copy = copy.replace("\"ansible\"", "\"playbook\"");
    let world = World::with(&copy, crew(".task"));
    lint(&world);
    is_whole(
        &world,
        world.run("pipeline.toml", &["--param", "target=site.yml"]),
    );
}
