//! `ansible` to its end, with one agent program and then with another.
//!
//! `ansible-playbook` and `ansible-lint` are played by scripts: what is shown is that they are run.

use serde_json::json;
use testkit::model::{Actor, Request, Turn, bash, make, say, write};

use crate::world::{World, you_are};

fn place(stage: &str) -> String {
    format!(".claude/ansible-workflows.{stage}.bundle.md")
}

/// The note of one agent to the next, with these lines in its head.
fn bundle(head: &str, body: &str) -> String {
    let fields = "source_agent: it\ntarget_agent: next\ntimestamp: now\ntarget_path: site.yml\n";
    format!("---\n{fields}{head}---\n{body}\n")
}

fn leaves(stage: &str) -> Turn {
    write(place(stage), &bundle("", "Done."))
}

/// Finds all well each time, and says what it saw.
fn validator() -> Actor {
    // A file that is there is read before it is written anew.
    let reads = json!({ "file_path": place("validating") });
    let looks = bash("cat site.yml").and_call("Read", reads);
    let judges = |request: &Request| {
        let seen = request.tool_results().swap_remove(0).text;
        write(place("validating"), &bundle("status: PASS\n", &seen))
    };
    let turns = [looks, make(judges), say("DONE")];
    Actor::new(&you_are("ansible-validator"), turns)
}

/// The first playbook is wrong, and the validator does not see it.
fn crew() -> [Actor; 5] {
    let does = |agent: &str, turn: Turn| Actor::new(&you_are(agent), [turn, say("DONE")]);
    let generates = bash("echo 'hosts: al' > site.yml").and_also(leaves("generating"));
    let mends = bash("echo 'hosts: all' > site.yml").and_also(leaves("debugging"));
    let approves = bundle("status: APPROVED\n", "Good.");
    [
        does("session", leaves("scaffolding")),
        does("ansible-generator", generates),
        validator(),
        does("ansible-debugger", mends),
        does("ansible-reviewer", write(place("reviewing"), &approves)),
    ]
}

#[test]
fn a_playbook_is_written_linted_mended_and_reviewed() {
    for runner in ["claude", "codex"] {
        let world = World::new(crew());
        world.put_program("ansible-playbook", "exit 0");
        world.put_program("ansible-lint", r#"grep -q 'hosts: all$' "$1""#);
        let words = ["--param", "target=site.yml", "--runner", runner];
        let ran = world.run("ansible", &words).succeeds();
        assert!(ran.stdout.contains("r-test completed"), "{runner}\n{ran}");
        // What the validator said of the first one was not enough.
        let checks = world.facts("checked");
        let verdicts: Vec<_> = checks.iter().map(|fact| &fact["verdict"]).collect();
        assert_eq!(verdicts, ["failed", "passed"], "{runner}\n{ran}");
        assert_eq!(world.facts("ended").len(), 6, "{runner}\n{ran}");
        assert_eq!(world.model.strangers().len(), 0, "{runner}\n{ran}");
        assert_eq!(world.left_over(), Vec::<String>::new(), "{runner}");
    }
}
