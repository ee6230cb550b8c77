//! `ansible` to its end, with one agent program and then with another, and with the real linters.

use serde_json::json;
use testkit::ansible::PLAYBOOK;
use testkit::model::{Actor, Request, Turn, bash, make, say, write};

use super::world::{World, you_are};

fn place(stage: &str) -> String {
    format!(".claude/ansible-workflows.{stage}.bundle.md")
}

/// The note of an agent about its stage, with these lines in its head.
fn bundle(agent: &str, head: &str, body: &str) -> String {
    let fields = "target_agent: next\ntimestamp: now\ntarget_path: site.yml\n";
    format!("---\nsource_agent: {agent}\n{fields}{head}---\n{body}\n")
}

fn leaves(stage: &str, agent: &str) -> Turn {
    write(place(stage), &bundle(agent, "", "Done."))
}

fn puts(playbook: &str) -> Turn {
    bash(&format!("cat > site.yml <<'PLAYBOOK'\n{playbook}PLAYBOOK"))
}

/// Finds all well each time, and says what it saw.
fn validator() -> Actor {
    // A file that is there is read before it is written anew.
    let reads = json!({ "file_path": place("validating") });
    let looks = bash("cat site.yml").and_call("Read", reads);
    let judges = |request: &Request| {
        let seen = request.tool_results().swap_remove(0).text;
        let passes = bundle("ansible-validator", "status: PASS\n", &seen);
        write(place("validating"), &passes)
    };
    let turns = [looks, make(judges), say("DONE")];
    Actor::new(&you_are("ansible-validator"), turns)
}

/// The first playbook runs, but a linter objects to it, and the validator does not see that.
fn crew() -> [Actor; 5] {
    let does = |agent: &str, turn: Turn| Actor::new(&you_are(agent), [turn, say("DONE")]);
    let broken = PLAYBOOK.replace("ansible.builtin.debug", "debug");
    let generates = puts(&broken).and_also(leaves("generating", "ansible-generator"));
    let mends = puts(PLAYBOOK).and_also(leaves("debugging", "ansible-debugger"));
    let approves = bundle("ansible-reviewer", "status: APPROVED\n", "Good.");
    [
        does("session", leaves("scaffolding", "session")),
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
        world.put_ansible();
        let words = ["--param", "target=site.yml", "--runner", runner];
        let ran = world.run("ansible", &words).succeeds();
        assert!(ran.stdout.contains("r-test completed"), "{runner}\n{ran}");
        // What the validator said of the first one was not enough.
        let checks = world.facts("checked");
        let verdicts: Vec<_> = checks.iter().map(|fact| &fact["verdict"]).collect();
        assert_eq!(verdicts, ["failed", "passed"], "{runner}\n{ran}");
        let why = checks[0].to_string();
        assert!(why.contains("fqcn[action-core]"), "{runner}: {why}");
        assert_eq!(world.facts("ended").len(), 6, "{runner}\n{ran}");
        assert_eq!(world.model.strangers().len(), 0, "{runner}\n{ran}");
        assert_eq!(world.left_over(), Vec::<String>::new(), "{runner}");
    }
}
